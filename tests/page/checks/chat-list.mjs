// The list of chats with the server's search, pins and archive.

import assert from "node:assert/strict";
import { chatMenu, send, waitForReply, waitForText } from "../lib/browser.mjs";

const titles = (page) => page.locator(".chat-title").allInnerTexts();

export const chatList = (env, browser, check) => [
  check("chat list: the search finds titles and messages", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Where do quokkas live?");
    await waitForReply(page);
    await page.getByRole("button", { name: "New chat" }).click();
    await send(page, "Unrelated.");
    await waitForReply(page);
    await page.getByRole("searchbox", { name: "Search chats" }).fill("quokkas");
    await page.locator(".chat-group-title", { hasText: "Results" }).waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".chat-row").length === 1);
    await waitForText(page.locator(".chat-row"), /Where do quokkas live\?/);
    await waitForText(page.locator(".chat-row mark").first(), "quokkas");
    await browser.checkAccessibility(page, "a search");
    // A word that only the reply has.
    await page.getByRole("searchbox").fill("You said quokkas");
    await waitForText(page.locator(".chat-row .excerpt"), /quokkas/);
    await page.getByRole("searchbox").fill("no chat has this");
    await page.getByText("No chats found.").waitFor();
    await page.getByRole("searchbox").press("Escape");
    await page.waitForFunction(() => document.querySelectorAll(".chat-row").length > 1);
    // From the palette.
    await page.keyboard.press("Control+k");
    await page.locator(".palette-option").first().waitFor();
    await page.keyboard.type("quokkas live");
    await page.getByRole("option", { name: /^Search all messages/ }).click();
    await page.waitForFunction(() => document.querySelectorAll(".chat-row").length === 1);
    assert.equal(await page.getByRole("searchbox").inputValue(), "quokkas live");
    return page;
  }),

  check("chat list: pinned chats come first", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    for (const text of ["Pin me.", "Newer than the pinned one."]) {
      await page.getByRole("button", { name: "New chat" }).click();
      await page.locator(".empty-chat").waitFor();
      await send(page, text);
      await waitForReply(page);
    }
    const row = page.locator(".chat-row", { hasText: "Pin me." });
    await chatMenu(page, row, "Pin");
    await page.locator(".chat-group-title", { hasText: "Pinned" }).waitFor();
    assert.equal((await titles(page))[0], "Pin me.");
    await browser.checkAccessibility(page, "a pinned chat");
    await page.reload();
    await page.locator(".chat-group-title", { hasText: "Pinned" }).waitFor();
    assert.equal((await titles(page))[0], "Pin me.");
    await chatMenu(page, row, "Unpin");
    await page.locator(".chat-group-title", { hasText: "Pinned" }).waitFor({ state: "detached" });
    return page;
  }),

  check("chat list: archived chats are listed apart, and come back", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "To be archived.");
    await waitForReply(page);
    const row = page.locator(".chat-row", { hasText: "To be archived." });
    await row.waitFor();
    await chatMenu(page, row, "Archive");
    await row.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Archived chats" }).click();
    await page.getByRole("heading", { name: "Archived chats" }).waitFor();
    await row.waitFor();
    await browser.checkAccessibility(page, "the archive");
    await chatMenu(page, row, "Move out of the archive");
    await page.getByText("No archived chats.").waitFor();
    await page.getByRole("button", { name: "Archived chats" }).click();
    await row.waitFor();
    return page;
  }),
];
