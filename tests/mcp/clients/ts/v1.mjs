// The official TypeScript client, first generation (`@modelcontextprotocol/sdk`), behind a common interface.

/** Connects. `load` requires a module of the SDK by its installed name. */
export const connect = async ({ load, sdk, server }) => {
  const { Client } = load(`${sdk}/client/index.js`);
  const { StdioClientTransport } = load(`${sdk}/client/stdio.js`);
  const { StreamableHTTPClientTransport } = load(`${sdk}/client/streamableHttp.js`);
  const { ResultSchema, CallToolResultSchema, ElicitRequestSchema } = load(`${sdk}/types.js`);

  const transport = server.url
    ? new StreamableHTTPClientTransport(new URL(server.url))
    : new StdioClientTransport({ ...server, stderr: "ignore" });
  // Record the first response, because this client does not expose the negotiated version and unknown capabilities.
  let first;
  let deliver;
  Object.defineProperty(transport, "onmessage", {
    get: () => deliver,
    set: (handler) => {
      deliver = (message, extra) => {
        first ??= message.result;
        handler(message, extra);
      };
    },
  });

  const client = new Client({ name: "prowess-test", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  const questions = [];
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    questions.push(params);
    return { action: "accept", content: { decision: "once" } };
  });
  const notifications = [];
  client.fallbackNotificationHandler = async (notification) => void notifications.push(notification);
  await client.connect(transport);
  return {
    era: "legacy",
    missing: -32002,
    version: first.protocolVersion,
    server: client.getServerVersion(),
    capabilities: first.capabilities,
    instructions: client.getInstructions(),
    notifications,
    questions,
    tools: () => client.listTools(),
    call: (name, args, options) => client.callTool({ name, arguments: args }, CallToolResultSchema, options),
    resources: () => client.listResources(),
    templates: () => client.listResourceTemplates(),
    read: (uri) => client.readResource({ uri }),
    prompts: () => client.listPrompts(),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: (params) => client.complete(params),
    ping: () => client.ping(),
    setLevel: (level) => client.setLoggingLevel(level),
    listen: async (uri) => {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    request: (method, params) => client.request({ method, params }, ResultSchema),
    close: async () => {
      await transport.terminateSession?.();
      await client.close();
    },
  };
};
