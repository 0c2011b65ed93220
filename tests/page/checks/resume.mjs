// Nothing is lost: reloading in the middle of an answer, several tabs, a server that goes away and comes back.

import assert from "node:assert/strict";
import { answered, say } from "../lib/browser.mjs";
import { counted } from "../lib/script.mjs";

const answerText = async (page) =>
  (await page.locator(".message.assistant .markdown").last().innerText()).trim();

export const resume = (world, browser, check) => [
  check("a reload in the middle of an answer goes on where it was", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "Count slowly.");
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    await page.reload();
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 1);
    world.model.release();
    await answered(page);
    assert.equal(await answerText(page), counted(60), "each word once, in order");
    return page;
  }),

  check("two tabs follow each other", async () => {
    const person = await browser.person();
    const one = await browser.open(person, world.url);
    await say(one, "Hello, other tab.");
    await answered(one);
    const two = await browser.open(person, one.url());
    await answered(two);
    await say(one, "Count slowly.");
    await two.locator(".message.user", { hasText: "Count slowly." }).waitFor();
    await two.locator(".message.writing", { hasText: "w10" }).waitFor();
    // The other tab can stop what this one began.
    await two.getByRole("button", { name: "Stop" }).click();
    await one.getByText("Stopped", { exact: true }).waitFor();
    world.model.release();
    await say(two, "Count on.");
    await one.locator(".message.user", { hasText: "Count on." }).waitFor();
    await answered(one, 3);
    await answered(two, 3);
    assert.equal(await answerText(one), counted(40));
    assert.equal(await answerText(two), counted(40));
    // What the list of chats says is the same in both.
    const row = one.locator(".chat-row", { has: one.locator("[aria-current=page]") });
    await row.hover();
    await row.getByRole("button", { name: "Rename" }).click();
    await one.locator(".chat-rename").fill("Seen from two sides");
    await one.keyboard.press("Enter");
    await two.locator(".chat-title", { hasText: "Seen from two sides" }).waitFor();
    assert.deepEqual(two.told, []);
    return one;
  }),

  check("a server that is killed while it answers: a calm banner, what was said, and going on", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "Count slowly.");
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    await world.crash();
    await page.getByText("The server is not responding.").waitFor();
    await browser.accessible(page, "without a server");
    world.model.release();
    await world.serve();
    await page.getByText("Reconnected.").waitFor({ timeout: 30_000 });
    await page.locator(".message-end.error").waitFor();
    assert.match(await page.locator(".message.assistant").innerText(), /w1 w2 w3/);
    await page.getByRole("button", { name: "Retry" }).click();
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    world.model.release();
    await answered(page);
    assert.equal(await answerText(page), counted(60));
    return page;
  }),

  check("what was said about a server that is away goes when it is back", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "Hello.");
    await answered(page);
    await world.crash();
    await say(page, "Are you there?");
    const notice = page.locator(".dock .notice");
    await notice.waitFor();
    assert.equal(await page.inputValue("#prompt"), "Are you there?");
    await world.serve();
    await notice.waitFor({ state: "hidden" });
    await page.press("#prompt", "Enter");
    await answered(page, 2);
    return page;
  }),

  check("eight tabs, each with a chat of its own, all hear what happens", async () => {
    const person = await browser.person();
    const tabs = [];
    for (let index = 0; index < 8; index++) {
      const tab = await browser.open(person, world.url);
      await say(tab, `Tab ${index}.`);
      await answered(tab);
      tabs.push(tab);
    }
    // All of them follow their chats at once.
    for (const tab of tabs) await say(tab, "Count slowly.");
    for (const tab of tabs) await tab.locator(".message.writing", { hasText: "w10" }).waitFor();
    world.model.release();
    for (const tab of tabs) {
      await answered(tab, 2);
      // Browsers lay out what is in front only.
      const text = await tab.locator(".message.assistant .markdown").last().textContent();
      assert.equal(text.trim(), counted(60));
      assert.deepEqual(tab.told, []);
    }
    // One is closed, the others go on.
    await tabs[0].close();
    await say(tabs[7], "Still there?");
    await answered(tabs[7], 3);
    return tabs[7];
  }),

  check("a browser without shared workers has a stream for each tab", async () => {
    const person = await browser.person();
    await person.addInitScript(() => delete globalThis.SharedWorker);
    const one = await browser.open(person, world.url);
    await say(one, "Hello.");
    await answered(one);
    const two = await browser.open(person, one.url());
    await say(one, "Count slowly.");
    await two.locator(".message.writing", { hasText: "w10" }).waitFor();
    world.model.release();
    await answered(two, 2);
    assert.equal(await answerText(two), counted(60));
    return one;
  }),
];
