// A scripted local model server with four APIs: Responses and Chat Completions of OpenAI, Messages of Anthropic, and
// GenerateContent of Google. For each request, the script receives the tools and the tool results, and returns a text or
// one tool call.

import { createServer } from "node:http";

/** Returns all text in a value. */
const textOf = (value) => {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  if (typeof value === "object") return Object.values(value).map(textOf).join("\n");
  return String(value);
};

/** Returns the names and descriptions of tools, including those in namespaces. */
const toolsOf = (tools, namespace) =>
  (tools ?? []).flatMap((tool) => {
    const { name, description } = tool.function ?? tool;
    if (tool.type === "namespace") return toolsOf(tool.tools, { name, description });
    return name
      ? [{ name, namespace: namespace?.name, description: [namespace?.description, description].join("\n") }]
      : [];
  });

/** For each API: `read` parses a request, and `write` returns the events of a reply. */
const apis = {
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
    write: (reply, id) => {
      const item = reply.call
        ? {
            type: "function_call",
            id: `fc_${id}`,
            call_id: `call_${id}`,
            name: reply.call.name,
            ...(reply.call.namespace && { namespace: reply.call.namespace }),
            arguments: JSON.stringify(reply.call.arguments),
            status: "completed",
          }
        : {
            type: "message",
            id: `msg_${id}`,
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: reply.text, annotations: [] }],
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
    write: (reply, id) => {
      const chunk = (delta, finish_reason = null) => [
        null,
        {
          id: `chat_${id}`,
          object: "chat.completion.chunk",
          model: "scripted",
          choices: [{ index: 0, delta, finish_reason }],
        },
      ];
      if (!reply.call)
        return [chunk({ role: "assistant", content: reply.text }), chunk({}, "stop"), [null, "[DONE]"]];
      const called = { name: reply.call.name, arguments: JSON.stringify(reply.call.arguments) };
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
    write: (reply, id) => {
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = {
        id: `msg_${id}`,
        type: "message",
        role: "assistant",
        model: "scripted",
        content: [],
        usage,
      };
      const [block, delta] = reply.call
        ? [
            { type: "tool_use", id: `call_${id}`, name: reply.call.name, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(reply.call.arguments) },
          ]
        : [
            { type: "text", text: "" },
            { type: "text_delta", text: reply.text },
          ];
      const stop_reason = reply.call ? "tool_use" : "end_turn";
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
  streamGenerateContent: {
    read: (body) => {
      const parts = (body.contents ?? []).flatMap((content) => content.parts ?? []);
      return {
        tools: toolsOf((body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? [])),
        system: [body.systemInstruction],
        results: parts
          .filter((part) => part.functionResponse)
          .map((part) => ({ id: part.functionResponse.id, text: textOf(part.functionResponse.response) })),
      };
    },
    write: (reply, id) => {
      const part = reply.call
        ? { functionCall: { id: `call_${id}`, name: reply.call.name, args: reply.call.arguments } }
        : { text: reply.text };
      const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
      const candidate = { index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" };
      return [[null, { candidates: [candidate], usageMetadata }]];
    },
  },
};

/** Returns the API of a path, which may begin with a token. Paths of Google contain the name of the model. */
const apiOf = (path) => apis[path.replace(/^\/[^/]+(?=\/v1\/)/, "")] ?? apis[path.split(":")[1]];

/**
 * Starts the model. `script` is called with each parsed request and returns `{text}` or `{call: {name, arguments}}`.
 * The requests are in `requests`, in order; requests to other paths are in `unknownRequests`.
 */
export const startModel = async (script) => {
  const requests = [];
  const unknownRequests = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const path = new URL(request.url, "http://model").pathname;
    const api = apiOf(path);
    if (request.method !== "POST" || !api) {
      unknownRequests.push(`${request.method} ${path}`);
      response.writeHead(404).end();
      return;
    }
    const sent = JSON.parse(body);
    const parsed = { path, body: sent, text: textOf(sent), ...api.read(sent) };
    parsed.reply = script(parsed, requests);
    requests.push(parsed);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [event, data] of api.write(parsed.reply, requests.length)) {
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
  const base = `http://127.0.0.1:${server.address().port}`;
  return { base, url: `${base}/v1`, requests, unknownRequests, stop };
};
