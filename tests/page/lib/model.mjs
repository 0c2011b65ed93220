// A model that follows a script, on loopback, speaking OpenAI's Chat Completions as a stream. What it does depends on the last
// thing a person said and on how many tools have answered since.

import { createServer } from "node:http";

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");

/** Words with the white space before them, so that they come one by one. */
/** What is not a text gives its words itself. */
const words = (text) => (typeof text !== "string" ? text : (text.match(/\s*\S+\s*$|\s*\S+/g) ?? []));

/**
 * Starts it. `script(asked, step, request)` gives `{ text, pause, hold }`, `{ call: { name, arguments } }` or `{ calls: […] }`: `pause` is the time between words,
 * and after `hold` words it waits until `release` is called.
 */
export const startModel = (script) =>
  new Promise((started) => {
    const requests = [];
    let waiting = [];
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const piece of request) body += piece;
      const asked = JSON.parse(body);
      requests.push(asked);
      const at = asked.messages.findLastIndex((message) => message.role === "user");
      const said = textOf(asked.messages[at]?.content);
      const step = asked.messages.slice(at + 1).filter((message) => message.role === "tool").length;
      const answer = script(said, step, asked);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const send = (delta, finish = null) =>
        response.write(
          `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", model: "scripted", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        );
      const calls = answer.calls ?? (answer.call ? [answer.call] : []);
      if (calls.length > 0) {
        for (const [index, { name, arguments: given }] of calls.entries()) {
          const called = { name, arguments: JSON.stringify(given) };
          const id = `call_${requests.length}_${index}`;
          send({ tool_calls: [{ index, id, type: "function", function: called }] });
        }
        send({}, "tool_calls");
      } else {
        let count = 0;
        for (const word of words(answer.text)) {
          if (response.destroyed) return;
          if (count++ === answer.hold) await new Promise((go) => waiting.push(go));
          send({ content: word });
          if (answer.pause) await new Promise((go) => setTimeout(go, answer.pause));
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
      started({
        url: `http://127.0.0.1:${server.address().port}/v1`,
        requests,
        /** Lets answers go on that are held. */
        release() {
          for (const go of waiting) go();
          waiting = [];
        },
        stop() {
          this.release();
          server.closeAllConnections();
          server.close();
        },
      }),
    );
  });
