// The official TypeScript client, second generation (`@modelcontextprotocol/client`), behind the same
// interface. It supports both eras: with a handshake up to 2025-11-25, and without one since 2026-07-28.

/** A result schema that accepts anything. */
const anyResult = { "~standard": { version: 1, vendor: "prowess-test", validate: (value) => ({ value }) } };

/** Connects. `mode` is the client's mode of version negotiation. */
export const connect = async ({ load, sdk, mode, server }) => {
  const { Client, StreamableHTTPClientTransport } = load(sdk);
  const { StdioClientTransport } = load(`${sdk}/stdio`);
  const { SkillsClient } = load(`${sdk}/ext/skills`);

  const transport = server.url
    ? new StreamableHTTPClientTransport(new URL(server.url))
    : new StdioClientTransport({ ...server, stderr: "ignore" });
  const client = new Client(
    { name: "prowess-test", version: "2.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  const questions = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params);
    return { action: "accept", content: { decision: "once" } };
  });
  const notifications = [];
  client.fallbackNotificationHandler = async (notification) => void notifications.push(notification);
  await client.connect(transport);
  const era = client.getProtocolEra();
  const fresh = { cacheMode: "refresh" };
  return {
    era,
    // For missing resources, this client reports the error code of later protocol versions.
    missing: -32602,
    version: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    notifications,
    questions,
    tools: () => client.listTools(undefined, fresh),
    call: (name, args, { level, ...options } = {}) =>
      client.callTool(
        {
          name,
          arguments: args,
          ...(level && { _meta: { "io.modelcontextprotocol/logLevel": level } }),
        },
        options,
      ),
    resources: () => client.listResources(undefined, fresh),
    templates: () => client.listResourceTemplates(undefined, fresh),
    read: (uri) => client.readResource({ uri }, fresh),
    prompts: () => client.listPrompts(undefined, fresh),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: (params) => client.complete(params),
    ping: () => client.ping(),
    setLevel: (level) => client.setLoggingLevel(level),
    listen: async (uri) => {
      if (era === "legacy") {
        await client.subscribeResource({ uri });
        return () => client.unsubscribeResource({ uri });
      }
      const changes = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      const subscription = await client.listen({ ...changes, resourceSubscriptions: [uri] });
      return () => subscription.close();
    },
    request: (method, params) => client.request({ method, params }, anyResult),
    skills: new SkillsClient(client),
    close: async () => {
      if (era === "legacy") await transport.terminateSession?.();
      await client.close();
    },
  };
};
