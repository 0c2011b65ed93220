// The list of chats: groups by date, selecting and deleting several, and drafts in two tabs.

import assert from "node:assert/strict";
import { chatMenu, checkNoOverflow, send, waitForReply } from "../lib/browser.mjs";

const DAY = 86_400_000;

const newChat = (env, title) =>
  env.api("/api/chats", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ title }),
  });

export const sidebar = (env, browser, check) => [
  check("sidebar: chats are grouped by date", async () => {
    const context = await browser.newContext();
    const now = new Date();
    now.setHours(12, 0, 0, 0);
    const ages = [0, 1, 3, 20, 400];
    await context.route(/\/api\/chats\?/, (route) =>
      route.fulfill({
        json: {
          chats: ages.map((days, index) => ({
            id: `chat-${index}`,
            title: `Chat ${index}`,
            preset: "standard",
            created: 0,
            updated: Math.min(Date.now(), now.getTime()) - days * DAY,
            activated_skill_names: [],
            seq: 0,
          })),
          next: null,
        },
      }),
    );
    const page = await browser.open(context, env.url);
    await page.locator(".chat-row").nth(4).waitFor();
    const year = new Date(now.getTime() - 400 * DAY);
    const month = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" }).format(year);
    const titles = await page.locator(".chat-group-title").allInnerTexts();
    assert.deepEqual(titles, ["Today", "Yesterday", "Previous 7 days", "Previous 30 days", month]);
    await browser.checkAccessibility(page, "groups of chats");
    return page;
  }),

  check("sidebar: several chats are selected and, after a confirmation, deleted", async () => {
    for (const title of ["Bulk one", "Bulk two", "Bulk three"]) await newChat(env, title);
    for (const width of [1200, 360]) {
      const page = await browser.open(await browser.newContext({ viewport: { width, height: 740 } }), env.url);
      if (width < 760) await page.getByRole("button", { name: "Chats and pages" }).click();
      const row = (title) => page.locator(".chat-row", { hasText: title });
      if (width === 1200) {
        await chatMenu(page, row("Bulk one"), "Select chats");
        await page.locator(".select-count", { hasText: "1 selected" }).waitFor();
        await row("Bulk two").locator(".chat-link").click();
        await page.locator(".select-count", { hasText: "2 selected" }).waitFor();
        await browser.checkAccessibility(page, "selecting chats");
        await page.locator(".select-bar").getByRole("button", { name: "Delete" }).click();
        await page.locator("dialog", { hasText: "Delete 2 chats?" }).waitFor();
        await page.keyboard.press("Escape");
        assert.equal(await row("Bulk").count(), 3);
        await page.locator(".select-bar").getByRole("button", { name: "Delete" }).click();
        await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
        await row("Bulk one").waitFor({ state: "detached" });
        await row("Bulk two").waitFor({ state: "detached" });
        assert.equal(await row("Bulk three").count(), 1);
        await page.locator(".select-bar").waitFor({ state: "hidden" });
        assert.deepEqual(page.problems, []);
      } else {
        await chatMenu(page, row("Bulk three"), "Select chats");
        await page.locator(".select-bar").getByRole("button", { name: "Cancel" }).waitFor();
        await checkNoOverflow(page, "selecting on a phone");
        await browser.checkAccessibility(page, "selecting on a phone");
        return page;
      }
    }
  }),

  check("sidebar: the menu of a chat works with the keyboard", async () => {
    await newChat(env, "Keys only");
    const page = await browser.open(await browser.newContext(), env.url);
    const row = page.locator(".chat-row", { hasText: "Keys only" });
    await row.locator(".chat-link").focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const menu = page.getByRole("menu");
    await menu.waitFor();
    await browser.checkAccessibility(page, "the menu of a chat");
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    assert.equal(await focused(), "Pin");
    await page.keyboard.press("ArrowUp");
    assert.equal(await focused(), "Delete chat");
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "detached" });
    assert.match(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), /^More actions for Keys only/);
    return page;
  }),

  check("sidebar: a draft belongs to its chat in all tabs, and is gone once it is sent or the chat is deleted", async () => {
    const context = await browser.newContext();
    const one = await browser.open(context, env.url);
    await send(one, "A chat with a draft in two tabs.");
    await waitForReply(one);
    await one.fill("#prompt", "Half a thought");
    const two = await browser.open(context, one.url());
    await waitForReply(two);
    assert.equal(await two.inputValue("#prompt"), "Half a thought");
    await two.fill("#prompt", "A whole thought");
    await one.waitForFunction(() => document.querySelector("#prompt").value === "A whole thought");
    await two.press("#prompt", "Enter");
    await waitForReply(two, 2);
    await one.waitForFunction(() => document.querySelector("#prompt").value === "");
    // New chats of two tabs have different drafts.
    for (const [page, text] of [[one, "of one"], [two, "of two"]]) {
      await page.goto(`${env.url}#/chat`);
      await page.locator(".empty-chat").waitFor();
      await page.fill("#prompt", text);
    }
    for (const [page, text] of [[one, "of one"], [two, "of two"]]) {
      await page.reload();
      await page.locator(".empty-chat").waitFor();
      assert.equal(await page.inputValue("#prompt"), text);
    }
    assert.deepEqual(two.problems, []);
    return one;
  }),
];
