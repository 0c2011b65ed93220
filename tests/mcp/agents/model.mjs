// A model that follows a script, on loopback, in the three protocols agents speak: OpenAI's Responses, OpenAI's Chat
// Completions and Anthropic's Messages. It knows nothing but what it is asked: each turn of the script looks at the
// request (which tools it offers, what the tools gave) and answers with a text or with one call of a tool.

import { createServer } from "node:http";

/** The text in a value of any shape, as a model would read it. */
const textOf = (value) => {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  if (typeof value === "object") return Object.values(value).map(textOf).join("\n");
  return String(value);
};

/** Names and descriptions of the tools on offer; a namespace holds tools of its own. */
const toolsOf = (tools, namespace) =>
  (tools ?? []).flatMap((tool) => {
    const { name, description } = tool.function ?? tool;
    if (tool.type === "namespace") return toolsOf(tool.tools, { name, description });
    return name
      ? [{ name, namespace: namespace?.name, description: [namespace?.description, description].join("\n") }]
      : [];
  });

/** Each protocol: how a request is read, and how an answer is written as events. */
const protocols = {
  "/v1/responses": {
    read: (body) => ({
      tools: toolsOf(body.tools),
      system: [
        body.instructions,
        ...(body.input ?? []).filter((item) => item.role !== "user").map((item) => item.content),
      ],
      results: (body.input ?? [])
        .filter((item) => item.type?.endsWith("_call_output"))
        .map((item) => ({ id: item.call_id, text: textOf(item.output) })),
    }),
    write: (answer, id) => {
      const item = answer.call
        ? {
            type: "function_call",
            id: `fc_${id}`,
            call_id: `call_${id}`,
            name: answer.call.name,
            ...(answer.call.namespace && { namespace: answer.call.namespace }),
            arguments: JSON.stringify(answer.call.arguments),
            status: "completed",
          }
        : {
            type: "message",
            id: `msg_${id}`,
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: answer.text, annotations: [] }],
          };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const response = { id: `resp_${id}`, object: "response", model: "scripted", output: [] };
      return [
        { type: "response.created", response: { ...response, status: "in_progress" } },
        { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
      ].map((event) => [event.type, event]);
    },
  },
  "/v1/chat/completions": {
    read: (body) => ({
      tools: toolsOf(body.tools),
      system: body.messages.filter((message) => message.role === "system").map((message) => message.content),
      results: body.messages
        .filter((message) => message.role === "tool")
        .map((message) => ({ id: message.tool_call_id, text: textOf(message.content) })),
    }),
    write: (answer, id) => {
      const chunk = (delta, finish_reason = null) => [
        null,
        {
          id: `chat_${id}`,
          object: "chat.completion.chunk",
          model: "scripted",
          choices: [{ index: 0, delta, finish_reason }],
        },
      ];
      if (!answer.call)
        return [chunk({ role: "assistant", content: answer.text }), chunk({}, "stop"), [null, "[DONE]"]];
      const called = { name: answer.call.name, arguments: JSON.stringify(answer.call.arguments) };
      const call = { index: 0, id: `call_${id}`, type: "function", function: called };
      return [chunk({ role: "assistant", tool_calls: [call] }), chunk({}, "tool_calls"), [null, "[DONE]"]];
    },
  },
  "/v1/messages": {
    read: (body) => ({
      tools: toolsOf(body.tools),
      system: [body.system],
      results: body.messages
        .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
        .filter((part) => part.type === "tool_result")
        .map((part) => ({ id: part.tool_use_id, text: textOf(part.content) })),
    }),
    write: (answer, id) => {
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = {
        id: `msg_${id}`,
        type: "message",
        role: "assistant",
        model: "scripted",
        content: [],
        usage,
      };
      const [block, delta] = answer.call
        ? [
            { type: "tool_use", id: `call_${id}`, name: answer.call.name, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(answer.call.arguments) },
          ]
        : [
            { type: "text", text: "" },
            { type: "text_delta", text: answer.text },
          ];
      const stop_reason = answer.call ? "tool_use" : "end_turn";
      return [
        { type: "message_start", message },
        { type: "content_block_start", index: 0, content_block: block },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
        { type: "message_stop" },
      ].map((event) => [event.type, event]);
    },
  },
};

/**
 * Starts the model. `script` is called with each request read, and gives `{text}` or `{call: {name, arguments}}`.
 * What was asked is kept in `asked`, in order; requests to any other path are kept in `strange`.
 */
export const startModel = async (script) => {
  const asked = [];
  const strange = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const path = new URL(request.url, "http://model").pathname;
    const protocol = protocols[path];
    if (request.method !== "POST" || !protocol) {
      strange.push(`${request.method} ${path}`);
      response.writeHead(404).end();
      return;
    }
    const sent = JSON.parse(body);
    const read = { path, body: sent, text: textOf(sent), ...protocol.read(sent) };
    read.answer = script(read, asked);
    asked.push(read);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [event, data] of protocol.write(read.answer, asked.length)) {
      if (event) response.write(`event: ${event}\n`);
      response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, asked, strange, stop };
};
