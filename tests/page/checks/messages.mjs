// Messages: quotations, editing, versions, deleting, and the export as Markdown.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chatMenu, send, waitForReply, waitForText } from "../lib/browser.mjs";
import { message, openFakeChat } from "../lib/fake-chat.mjs";

/** Waits until the page has sent a request for the made-up chat. */
const requested = async (page, chat, expected) => {
  for (let tries = 0; tries < 200 && chat.requests.length < expected.length; tries++) await page.waitForTimeout(25);
  assert.deepEqual(chat.requests, expected);
};

export const messages = (env, browser, check) => [
  check("messages: a selection or a whole message is quoted in the input", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "One word.\n\nSecond paragraph.");
    await waitForReply(page);
    const said = page.locator(".message.user");
    await said.getByRole("button", { name: "Quote" }).click();
    assert.equal(await page.inputValue("#prompt"), "> One word.\n>\n> Second paragraph.\n\n");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "prompt");
    await page.fill("#prompt", "Before");
    await page.evaluate(() => {
      const text = document.querySelector(".message.user .said-text p").firstChild;
      getSelection().setBaseAndExtent(text, 4, text, 8);
    });
    await said.getByRole("button", { name: "Quote" }).click();
    assert.equal(await page.inputValue("#prompt"), "Before\n\n> word\n\n");
    return page;
  }),

  check("messages: the last message is edited in place, and answered again", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "First version.");
    await waitForReply(page);
    const said = page.locator(".message.user");
    await said.getByRole("button", { name: "Edit message" }).click();
    const editor = page.getByLabel("Edited message");
    assert.equal(await editor.inputValue(), "First version.");
    await browser.checkAccessibility(page, "an editor");
    await editor.press("Escape");
    await editor.waitFor({ state: "detached" });
    await waitForText(said.locator(".said-text"), "First version.");
    await said.getByRole("button", { name: "Edit message" }).click();
    await editor.fill("Second version.");
    await editor.press("Enter");
    await page.locator(".message.assistant", { hasText: "You said: Second version." }).waitFor();
    await waitForReply(page);
    await page.reload();
    await waitForReply(page);
    await waitForText(page.locator(".message.user .said-text"), "Second version.");
    return page;
  }),

  check("messages: versions are switched without moving the view; any message is edited, regenerated and deleted", async () => {
    const versions = { index: 2, count: 3, previous: "q-old", next: "q-new" };
    const before = [
      message("q", "user", "Question two", { versions }),
      message("a", "assistant", "Answer two"),
      message("q3", "user", "More?"),
      message("a3", "assistant", "No."),
    ];
    const { page, chat } = await openFakeChat(browser, env, before);
    await waitForText(page.locator(".version span").first(), "2/3");
    assert.equal(await page.locator(".versions").count(), 1);
    await browser.checkAccessibility(page, "versions");
    chat.answer = () => {
      chat.messages = [
        message("q-new", "user", "Question three", { versions: { index: 3, count: 3, previous: "q", next: null } }),
        message("a-new", "assistant", "Answer three"),
      ];
    };
    await page.getByRole("button", { name: "Next version" }).click();
    await requested(page, chat, [{ method: "POST", path: "/branch", body: { message: "q-new" } }]);
    await page.locator(".message.assistant", { hasText: "Answer three" }).waitFor();
    assert.equal(await page.locator("message-view").count(), 2);
    assert.equal(await page.getByRole("button", { name: "Next version" }).isDisabled(), true);
    // Back, edit the first question.
    chat.answer = () => void (chat.messages = before);
    await page.getByRole("button", { name: "Previous version" }).click();
    await page.locator(".message.assistant", { hasText: "No." }).waitFor();
    chat.requests.length = 0;
    const first = page.locator(".message.user").first();
    await first.getByRole("button", { name: "Edit message" }).click();
    await page.getByLabel("Edited message").fill("Question four");
    await page.getByLabel("Edited message").press("Enter");
    await requested(page, chat, [{ method: "POST", path: "/messages", body: { text: "Question four", replaces: "q" } }]);
    chat.requests.length = 0;
    await page.locator(".message.assistant").first().getByRole("button", { name: "Regenerate" }).click();
    await requested(page, chat, [{ method: "POST", path: "/messages", body: { regenerate: "a" } }]);
    chat.requests.length = 0;
    await page.locator(".message.user").nth(1).getByRole("button", { name: "Delete message" }).click();
    await page.keyboard.press("Escape");
    assert.deepEqual(chat.requests, []);
    chat.answer = () => void (chat.messages = before.slice(0, 2));
    await page.locator(".message.user").nth(1).getByRole("button", { name: "Delete message" }).click();
    await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
    await requested(page, chat, [{ method: "DELETE", path: "/messages/q3", body: null }]);
    await page.waitForFunction(() => document.querySelectorAll("message-view").length === 2);
    return page;
  }),

  check("messages: a chat is exported as Markdown with its tool calls", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Review this, please.");
    await waitForReply(page);
    const row = page.locator(".chat-row", { has: page.locator("[aria-current=page]") });
    const [saved] = await Promise.all([page.waitForEvent("download"), chatMenu(page, row, "Export as Markdown")]);
    assert.equal(saved.suggestedFilename(), "Review-this-please.md");
    const text = readFileSync(await saved.path(), "utf8").replace(/(You|Reply), .*/g, "$1");
    assert.equal(
      text,
      "# Review this, please.\n\n## You\n\nReview this, please.\n\n## Reply\n\n> `skills.activate` `code-review`: success\n\nNo findings.\n",
    );
    return page;
  }),
];
