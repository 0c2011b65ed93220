// Replies: coloured code, streaming without flicker, footnotes, formulas, thinking, delays and errors; the user's Markdown.

import assert from "node:assert/strict";
import { checkNoOverflow, send, waitForReply, waitForText } from "../lib/browser.mjs";
import { message, openFakeChat } from "../lib/fake-chat.mjs";

/** What the server makes of footnotes, a formula and an aligned table. */
const RICH = [
  '<p>Water boils<sup class="footnote-ref">1</sup> at 100 °C, and <math><msup><mi>E</mi><mn>2</mn></msup></math> holds<sup class="footnote-ref">2</sup>.</p>',
  '<table><thead><tr><th class="align-left">a</th><th class="align-right">b</th></tr></thead><tbody><tr><td class="align-left">x</td><td class="align-right">1</td></tr></tbody></table>',
  '<div class="footnote-text"><sup>1</sup>\n<p>At sea level.</p>\n</div>',
  '<div class="footnote-text"><sup>2</sup>\n<p>Second note.</p>\n</div>',
].join("\n");

const rich = (id) => message(id, "assistant", null, { parts: [{ type: "text", text: "…", html: RICH }] });

const writing = (id, parts = []) => message(id, "assistant", null, { state: "writing", parts });

const SCHEMES = ["light", "dark"];

export const answers = (env, browser, check) => [
  check("answers: code is coloured by a library that is loaded with the first code block", async () => {
    const context = await browser.newContext();
    const loaded = [];
    context.on("request", (request) => /vendor/.test(request.url()) && loaded.push(request.url()));
    const page = await browser.open(context, env.url);
    await send(page, "Hello.");
    await waitForReply(page);
    assert.deepEqual(loaded, []);
    await send(page, "Show me markdown.");
    await waitForReply(page, 2);
    await page.locator("pre code").waitFor();
    for (let tries = 0; tries < 100 && loaded.length === 0; tries++) await page.waitForTimeout(20);
    assert.equal(loaded.length, 1, `${loaded}`);
    return page;
  }),

  check("answers: markup in coloured code is text", async () => {
    const code = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
    const escaped = code.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const html = `<pre><code class="language-html">${escaped}\n</code></pre>`;
    const answer = message("a", "assistant", null, { parts: [{ type: "text", text: "…", html }] });
    const { page } = await openFakeChat(browser, env, [message("q", "user", "Why?"), answer]);
    await page.locator("pre .tok-tag").first().waitFor();
    assert.equal(await page.locator("pre").textContent(), `${code}\n`);
    assert.equal(await page.locator("pre img, pre script").count(), 0);
    return page;
  }),

  check("answers: streaming keeps finished blocks, scroll positions and colours", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Write code.");
    await page.locator(".message.writing pre .tok-keyword", { hasText: "fn" }).waitFor();
    await page.locator(".message.writing pre .tok-keyword", { hasText: "def" }).waitFor();
    await page.evaluate(() => {
      globalThis.blocks = [...document.querySelectorAll(".message.writing pre")];
      for (const pre of globalThis.blocks) pre.scrollLeft = 120;
      globalThis.keyword = globalThis.blocks[0].querySelector(".tok-keyword");
      globalThis.paragraph = document.querySelector(".message.writing .markdown p");
    });
    await env.model.release();
    await waitForReply(page);
    await page.locator(".markdown p", { hasText: "Done." }).waitFor();
    const state = await page.evaluate(() => ({
      same: globalThis.blocks.map((pre) => pre.isConnected),
      scrolled: globalThis.blocks.map((pre) => pre.scrollLeft),
      keyword: globalThis.keyword.isConnected,
      paragraph: globalThis.paragraph.isConnected,
    }));
    assert.deepEqual(state, { same: [true, true], scrolled: [120, 120], keyword: true, paragraph: true });
    assert.match(await page.locator("pre").nth(1).textContent(), /def second\(n\):\n {4}return n \+ 1\n$/);
    await browser.checkAccessibility(page, "coloured code");
    return page;
  }),

  check("answers: in a long reply, finished blocks are neither replaced nor rendered again", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    const lengths = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/api/render")) lengths.push(request.postDataJSON().text.length);
    });
    await send(page, "Write much.");
    await page.locator(".message.writing .markdown p", { hasText: "Paragraph 3" }).waitFor();
    await page.evaluate(() => (globalThis.paragraphs = [...document.querySelectorAll(".message.writing .markdown > p")].slice(0, 3)));
    await waitForReply(page);
    assert.equal(await page.locator(".message.assistant .markdown > p").count(), 80);
    const texts = await page.locator(".message.assistant .markdown > p").evaluateAll((all) => all.map((one) => one.textContent.split(" ")[1]));
    assert.deepEqual(texts, Array.from({ length: 80 }, (_, index) => String(index)));
    assert.deepEqual(await page.evaluate(() => globalThis.paragraphs.map((one) => one.isConnected)), [true, true, true]);
    assert(Math.max(...lengths) < 6000, `${Math.max(...lengths)} characters are rendered at once`);
    return page;
  }),

  check("answers: a footnote is focused from its reference, and leads back", async () => {
    for (const colorScheme of SCHEMES) {
      const { page } = await openFakeChat(browser, env, [message("q", "user", "Why?"), rich("a")], { colorScheme });
      await page.getByRole("button", { name: "Footnote 2" }).click();
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
      assert.equal(await focused(), "Back to reference 2");
      await page.keyboard.press("Enter");
      assert.equal(await focused(), "Footnote 2");
      const align = await page.locator("td").evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).textAlign));
      assert.deepEqual(align, ["left", "right"]);
      await browser.checkAccessibility(page, `footnotes, ${colorScheme}`);
      assert.deepEqual(page.problems, []);
      if (colorScheme === "dark") return page;
    }
  }),

  check("answers: thinking is collapsed, grows while it is open, and is never copied", async () => {
    const context = { permissions: ["clipboard-read", "clipboard-write"] };
    const { page, chat } = await openFakeChat(browser, env, [message("q", "user", "Why?"), writing("a")], context);
    await chat.push("thinking", { text: "First " });
    await waitForText(page.locator("thinking-view summary"), "Thinking…");
    assert.equal(await page.locator(".thought-text").isVisible(), false);
    await page.locator("thinking-view summary").click();
    await waitForText(page.locator(".thought-text"), "First");
    await chat.push("thinking", { text: "second." });
    await waitForText(page.locator(".thought-text"), "First second.");
    await browser.checkAccessibility(page, "open thinking");
    await chat.push("delta", { text: "Because." });
    await waitForText(page.locator("thinking-view summary"), /^Thought for \d+ s$/);
    const parts = [
      { type: "thinking", text: "First second." },
      { type: "text", text: "Because.", html: "<p>Because.</p>" },
    ];
    chat.messages = [chat.messages[0], message("a", "assistant", null, { parts })];
    await chat.push("done", {});
    await waitForReply(page);
    await waitForText(page.locator("thinking-view summary"), /^Thought for \d+ s$/);
    assert.equal(await page.locator(".thought-text").isVisible(), true, "it stays open");
    await page.locator(".message.assistant").getByRole("button", { name: "Copy message" }).click();
    await page.locator(".message.assistant").getByText("Copied").waitFor({ state: "attached" });
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "Because.");
    await page.reload();
    await waitForText(page.locator("thinking-view summary"), "Thought");
    return page;
  }),

  check("answers: a delay counts down until the next event; a model without tools has a notice", async () => {
    const { page, chat } = await openFakeChat(browser, env, [message("q", "user", "Why?"), writing("a")]);
    await chat.push("waiting", { reason: "the provider is overloaded", seconds: 30 });
    const note = page.locator("waiting-note");
    await waitForText(note.locator("span").first(), /^Retrying in (30|29) s: the provider is overloaded$/);
    await waitForText(note.locator("span").first(), /^Retrying in (28|27|26) s/);
    await browser.checkAccessibility(page, "a delay");
    await chat.push("tools_disabled", { reason: "no tools here" });
    await note.waitFor({ state: "detached" });
    await page.getByText("This model cannot call tools, so it replies without them.").waitFor();
    await chat.push("delta", { text: "Because." });
    await page.locator(".markdown", { hasText: "Because." }).waitFor();
    const order = await page.locator(".message.assistant .message-body > *").evaluateAll((all) => all.map((one) => one.tagName));
    assert.deepEqual(order, ["P", "MARKDOWN-VIEW"]);
    return page;
  }),

  check("answers: an interrupted reply has a card with the reason and a retry; a refusal is a calm notice", async () => {
    for (const colorScheme of SCHEMES) {
      const messages = [
        message("q", "user", "Why?"),
        message("a", "assistant", null, { state: "interrupted", reason: "declined" }),
        message("q2", "user", "Why not?"),
        message("a2", "assistant", "Half", { state: "interrupted", reason: "MODEL_ERROR: overloaded <b>" }),
      ];
      const { page, chat } = await openFakeChat(browser, env, messages, { colorScheme });
      await waitForText(page.locator(".message-error"), /The reply was interrupted\s+MODEL_ERROR: overloaded <b>\s+Retry/);
      await page.locator(".declined", { hasText: "The model declined to reply." }).waitFor();
      assert.equal(await page.locator(".message-error").count(), 1);
      await browser.checkAccessibility(page, `errors, ${colorScheme}`);
      await page.getByRole("button", { name: "Retry" }).click();
      await page.waitForFunction(() => true);
      while (chat.requests.length === 0) await page.waitForTimeout(20);
      assert.deepEqual(chat.requests, [{ method: "POST", path: "/messages", body: { regenerate: "a2" } }]);
      assert.deepEqual(page.problems, []);
      if (colorScheme === "dark") return page;
    }
  }),

  check("answers: costs of a message and of the chat include cached tokens", async () => {
    const usage = { input: 1234, output: 56, cached: 1000, cache_writes: 12 };
    const { page, chat } = await openFakeChat(browser, env, [message("q", "user", "Why?"), message("a", "assistant", "So.", { usage })]);
    await waitForText(page.locator(".message-cost"), "1,234 input tokens (1,000 cached), 56 output tokens");
    assert.equal(await page.locator(".message-cost").getAttribute("title"), "12 tokens written to the cache");
    chat.usage = usage;
    await page.reload();
    await waitForText(page.locator(".chat-costs"), "1,234 input and 56 output tokens so far");
    return page;
  }),

  check("messages of the user: Markdown with line breaks, the skill as a chip, and long ones folded", async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 800 } });
    const page = await browser.open(context, env.url);
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
    await page.fill("#prompt", `/notes **Bold**\nnext\n\n- item\n\n${lines}`);
    await page.press("#prompt", "Enter");
    await waitForReply(page);
    const said = page.locator(".message.user");
    await waitForText(said.locator("strong"), "Bold");
    await waitForText(said.locator("li"), "item");
    await said.locator(".said-skill", { hasText: "/notes" }).waitFor();
    assert.equal((await said.locator(".said-text").textContent()).includes("/notes"), false);
    await waitForText(said.locator(".said-text p").first(), "Bold\nnext");
    const height = async () => (await said.locator(".said-content").boundingBox()).height;
    const folded = await height();
    const more = said.getByRole("button", { name: "Show more" });
    assert.equal(await more.getAttribute("aria-expanded"), "false");
    await browser.checkAccessibility(page, "a folded message");
    await more.click();
    assert((await height()) > folded * 2, `${await height()} ${folded}`);
    await said.getByRole("button", { name: "Show less" }).click();
    assert.equal(await height(), folded);
    await checkNoOverflow(page, "a long message");
    return page;
  }),
];
