// A scripted local model server with the streaming Chat Completions API of OpenAI. The reply depends on the last message of the
// user and on the number of tool results since then.

import { createServer } from "node:http";

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");

/** Splits a text into words with their leading white space. Other values are iterated as they are. */
const splitWords = (text) => (typeof text !== "string" ? text : (text.match(/\s*\S+\s*$|\s*\S+/g) ?? []));

/**
 * Starts the model. `script(message, step, request)` returns `{ text, pause, hold }`, `{ call: { name, arguments } }` or
 * `{ calls: […] }`. `pause` is the time between words; after `hold` words, the model waits until `release` is called.
 */
export const startModel = (script) =>
  new Promise((resolve) => {
    const requests = [];
    let waiting = [];
    const releaseWaiting = () => {
      for (const resume of waiting) resume();
      waiting = [];
    };
    const server = createServer(async (request, response) => {
      if (request.method === "GET") {
        response.writeHead(200, { "content-type": "application/json" });
        return response.end(JSON.stringify({ object: "list", data: [{ id: "scripted" }, { id: "other" }] }));
      }
      let body = "";
      for await (const piece of request) body += piece;
      const parsed = JSON.parse(body);
      requests.push(parsed);
      const at = parsed.messages.findLastIndex((message) => message.role === "user");
      const message = textOf(parsed.messages[at]?.content);
      const step = parsed.messages.slice(at + 1).filter((message) => message.role === "tool").length;
      const reply = script(message, step, parsed);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const send = (delta, finish = null) =>
        response.write(
          `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", model: "scripted", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        );
      const calls = reply.calls ?? (reply.call ? [reply.call] : []);
      if (calls.length > 0) {
        for (const [index, { name, arguments: given }] of calls.entries()) {
          const called = { name, arguments: JSON.stringify(given) };
          const id = `call_${requests.length}_${index}`;
          send({ tool_calls: [{ index, id, type: "function", function: called }] });
        }
        send({}, "tool_calls");
      } else {
        const untilReleased = (sent) => sent === reply.hold && new Promise((resume) => waiting.push(resume));
        await untilReleased(0);
        let count = 0;
        for (const word of splitWords(reply.text)) {
          if (response.destroyed) return;
          // A check that sees the last of these words may call `release` at once.
          const released = untilReleased(++count);
          send({ content: word });
          await released;
          if (reply.pause) await new Promise((resume) => setTimeout(resume, reply.pause));
        }
        send({}, "stop");
      }
      const usage = { prompt_tokens: 1200, completion_tokens: 34, total_tokens: 1234 };
      response.write(
        `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [], usage })}\n\n`,
      );
      response.end("data: [DONE]\n\n");
    });
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${server.address().port}/v1`,
        requests,
        /** Continues replies that wait after `hold` words. If there is none yet, waits for one. */
        async release() {
          while (waiting.length === 0) await new Promise((resume) => setTimeout(resume, 10));
          releaseWaiting();
        },
        /** Continues the replies that wait now. */
        releaseWaiting,
        stop() {
          releaseWaiting();
          server.closeAllConnections();
          server.close();
        },
      }),
    );
  });
