// A chat that the tests make up, for states that a scripted model cannot produce: thinking, delays, versions of messages. The page
// is real; requests for this chat and the event stream are answered by the test.

const NOW = Date.now();

/** A message with one text, which is its own HTML. */
export const message = (id, role, text, more = {}) => ({
  id,
  role,
  state: "complete",
  at: NOW,
  parts: text === null ? [] : [{ type: "text", text, html: `<p>${text}</p>` }],
  ...more,
});

/**
 * Opens the page with a made-up chat. `messages` are what the server has; change `chat.messages` and call `chat.push` to tell the page.
 * `chat.requests` has the method, the path and the body of every other request for the chat.
 */
export const openFakeChat = async (browser, env, messages, options = {}) => {
  const context = await browser.newContext(options);
  const chat = { id: "made-up", messages, seq: 1, usage: undefined, requests: [] };
  const whole = () => ({
    schema: 1,
    id: chat.id,
    title: "A made-up chat",
    preset: "standard",
    created: NOW,
    updated: NOW,
    activated_skill_names: [],
    usage: chat.usage,
    seq: chat.seq,
    before: null,
    messages: chat.messages,
  });
  await context.route(/\/api\/chats\/made-up(\/|\?|$)/, async (route) => {
    const request = route.request();
    const path = new URL(request.url()).pathname.replace("/api/chats/made-up", "");
    if (request.method() === "GET" && path === "") return route.fulfill({ json: whole() });
    if (request.method() === "GET") return route.fulfill({ json: { files: [] } });
    const body = request.postData() ? request.postDataJSON() : null;
    chat.requests.push({ method: request.method(), path, body });
    const answer = (await chat.answer?.(request.method(), path, body)) ?? {};
    return route.fulfill({ status: 200, json: {}, ...answer });
  });
  await context.addInitScript(() => {
    delete globalThis.SharedWorker;
    const real = globalThis.fetch;
    const streams = [];
    globalThis.pushEvent = (text) => {
      for (const stream of streams) stream.enqueue(new TextEncoder().encode(text));
    };
    globalThis.fetch = (address, init) => {
      if (!String(address).startsWith("/api/events")) return real(address, init);
      globalThis.isFollowed ||= String(address).includes("made-up");
      const body = new ReadableStream({ start: (stream) => void streams.push(stream) });
      return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
    };
  });
  const page = await browser.open(context, `${env.url}#/chat/${chat.id}`);
  await page.locator("message-view").first().waitFor();
  /** Sends an event of the chat to the page. */
  chat.push = async (name, data = {}) => {
    await page.waitForFunction(() => globalThis.isFollowed);
    chat.seq++;
    const text = `id: ${chat.seq}\nevent: ${name}\ndata: ${JSON.stringify({ ...data, chat: chat.id })}\n\n`;
    await page.evaluate((text) => globalThis.pushEvent(text), text);
  };
  return { page, chat };
};
