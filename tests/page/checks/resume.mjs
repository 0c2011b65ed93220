// Nothing is lost: reloading during a reply, several tabs, restarts of the server.

import assert from "node:assert/strict";
import { chatMenu, send, waitForReply, waitForText } from "../lib/browser.mjs";
import { numberedWords } from "../lib/script.mjs";

const replyShows = (page, text) =>
  waitForText(page.locator(".message.assistant .markdown").last(), text);

export const resume = (env, browser, check) => [
  check("a reload during a reply continues it", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Count slowly.");
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    await page.reload();
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 1);
    await env.model.release();
    await waitForReply(page);
    await replyShows(page, numberedWords(60));
    return page;
  }),

  check("two tabs follow each other", async () => {
    const context = await browser.newContext();
    const one = await browser.open(context, env.url);
    await send(one, "Hello, other tab.");
    await waitForReply(one);
    const two = await browser.open(context, one.url());
    await waitForReply(two);
    await send(one, "Count slowly.");
    await two.locator(".message.user", { hasText: "Count slowly." }).waitFor();
    await two.locator(".message.writing", { hasText: "w10" }).waitFor();
    // The other tab can stop the reply.
    await two.getByRole("button", { name: "Stop" }).click();
    await one.getByText("Stopped", { exact: true }).waitFor();
    await env.model.release();
    await send(two, "Count on.");
    await one.locator(".message.user", { hasText: "Count on." }).waitFor();
    await waitForReply(one, 3);
    await waitForReply(two, 3);
    await replyShows(one, numberedWords(40));
    await replyShows(two, numberedWords(40));
    // The list of chats is the same in both tabs.
    const row = one.locator(".chat-row", { has: one.locator("[aria-current=page]") });
    await chatMenu(one, row, "Rename");
    await one.locator(".chat-rename").fill("Seen from two sides");
    await one.keyboard.press("Enter");
    await two.locator(".chat-title", { hasText: "Seen from two sides" }).waitFor();
    assert.deepEqual(two.problems, []);
    return one;
  }),

  check("a server that is killed during a reply: a banner, the partial reply, and a retry", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Count slowly.");
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    await env.crash();
    await page.getByText("The server is not responding.").waitFor();
    await browser.checkAccessibility(page, "without a server");
    await env.model.release();
    await env.serve();
    await page.getByText("Reconnected.").waitFor({ timeout: 30_000 });
    await page.locator(".message-end.error").waitFor();
    await waitForText(page.locator(".message.assistant"), /w1 w2 w3/);
    await page.getByRole("button", { name: "Retry" }).click();
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    await env.model.release();
    await waitForReply(page);
    await replyShows(page, numberedWords(60));
    return page;
  }),

  check("the notice about an unavailable server disappears when it is back", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Hello.");
    await waitForReply(page);
    await env.crash();
    await send(page, "Are you there?");
    const notice = page.locator(".dock .notice");
    await notice.waitFor();
    assert.equal(await page.inputValue("#prompt"), "Are you there?");
    await env.serve();
    await notice.waitFor({ state: "hidden" });
    await page.press("#prompt", "Enter");
    await waitForReply(page, 2);
    return page;
  }),

  check("eight tabs with different chats all receive events", async () => {
    const context = await browser.newContext();
    const tabs = [];
    for (let index = 0; index < 8; index++) {
      const tab = await browser.open(context, env.url);
      await send(tab, `Tab ${index}.`);
      await waitForReply(tab);
      tabs.push(tab);
    }
    // All tabs send at the same time, and follow their chats at the same time.
    await Promise.all(tabs.map((tab) => send(tab, "Count slowly.")));
    for (const tab of tabs) await tab.locator(".message.writing", { hasText: "w10" }).waitFor();
    await env.model.release();
    for (const tab of tabs) {
      await waitForReply(tab, 2);
      // Browsers do not lay out background tabs, so innerText is not available.
      const text = await tab.locator(".message.assistant .markdown").last().textContent();
      assert.equal(text.trim(), numberedWords(60));
      assert.deepEqual(tab.problems, []);
    }
    // The other tabs continue after one is closed.
    await tabs[0].close();
    await send(tabs[7], "Still there?");
    await waitForReply(tabs[7], 3);
    return tabs[7];
  }),

  check("a browser without shared workers has one stream per tab", async () => {
    const context = await browser.newContext();
    await context.addInitScript(() => delete globalThis.SharedWorker);
    const one = await browser.open(context, env.url);
    await send(one, "Hello.");
    await waitForReply(one);
    const two = await browser.open(context, one.url());
    await send(one, "Count slowly.");
    await two.locator(".message.writing", { hasText: "w10" }).waitFor();
    await env.model.release();
    await waitForReply(two, 2);
    await replyShows(two, numberedWords(60));
    return one;
  }),
];
