// The command palette, shortcuts, the help, and skills anywhere in a message.

import assert from "node:assert/strict";
import { checkNoOverflow, send, waitForReply, waitForText } from "../lib/browser.mjs";

/** Opens the palette and types a query. */
const openPalette = async (page, query = "") => {
  await page.keyboard.press("Control+k");
  await page.locator(".palette-option").first().waitFor();
  await page.keyboard.type(query);
};

export const keyboard = (env, browser, check) => [
  check("keyboard: the palette finds chats, skills and actions, in both languages and schemes", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Talk about zebras.");
    await waitForReply(page);
    await page.keyboard.press("Control+Shift+O");
    await page.locator(".empty-chat").waitFor();
    await page.keyboard.press("Control+k");
    const input = page.getByRole("combobox", { name: "Commands" });
    await page.getByRole("option", { name: "New chat" }).waitFor();
    assert.equal(await input.getAttribute("aria-activedescendant"), "palette-option-0");
    await browser.checkAccessibility(page, "the palette");
    await page.keyboard.type("zbra");
    const first = page.locator(".palette-option[aria-selected=true]");
    await waitForText(first, /Talk about zebras\./);
    await page.keyboard.press("Enter");
    await page.locator(".chat-name", { hasText: "Talk about zebras." }).waitFor();
    // A skill goes into the input.
    await openPalette(page, "code-rev");
    await waitForText(first, /code-review/);
    await page.keyboard.press("Enter");
    await page.locator(".prompt-chips .chip", { hasText: "code-review" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.id), "prompt");
    // Arrows move, Escape closes, and the shortcut closes, too.
    await openPalette(page);
    await page.keyboard.press("ArrowDown");
    assert.equal(await input.getAttribute("aria-activedescendant"), "palette-option-1");
    await page.keyboard.press("Escape");
    await page.locator(".palette").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.locator(".palette").waitFor();
    await page.keyboard.press("Control+k");
    await page.locator(".palette").waitFor({ state: "detached" });
    // The theme is changed at once.
    await openPalette(page, "theme dark");
    await waitForText(first, "Theme: Dark");
    await page.keyboard.press("Enter");
    assert.equal(await page.getAttribute("html", "data-theme"), "dark");
    await openPalette(page, "nothing like this");
    await page.getByText("Nothing found.").first().waitFor({ state: "attached" });
    await browser.checkAccessibility(page, "the palette in dark colours");
    await page.keyboard.press("Escape");
    const chinese = await browser.open(
      await browser.newContext({ locale: "zh-CN", viewport: { width: 360, height: 740 } }),
      env.url,
    );
    await chinese.getByRole("button", { name: "搜索与命令" }).click();
    await chinese.getByRole("option", { name: "新对话" }).waitFor();
    await checkNoOverflow(chinese, "the palette on a phone");
    await browser.checkAccessibility(chinese, "the palette in Chinese");
    assert.deepEqual(chinese.problems, []);
    return page;
  }),

  check("keyboard: a skill chosen outside of a chat is in the input of a new one", async () => {
    const page = await browser.open(await browser.newContext(), `${env.url}#/overview`);
    await page.locator(".figure").first().waitFor();
    await openPalette(page, "code-review");
    await page.locator(".palette-option[aria-selected=true]", { hasText: "code-review" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".prompt-chips .chip", { hasText: "code-review" }).waitFor();
    return page;
  }),

  check("keyboard: the help lists all shortcuts, and a question mark in the input is text", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const page = await browser.open(await browser.newContext({ colorScheme }), env.url);
      await page.locator(".try").first().waitFor();
      await page.focus("#prompt");
      await page.keyboard.press("?");
      assert.equal(await page.inputValue("#prompt"), "?");
      assert.equal(await page.locator(".shortcuts").count(), 0);
      await page.keyboard.press("Control+/");
      await waitForText(page.locator(".shortcuts"), /Keyboard shortcuts[\s\S]*New chat\s+Ctrl\s*Shift\s*O/);
      await browser.checkAccessibility(page, `shortcuts, ${colorScheme}`);
      await page.keyboard.press("Escape");
      await page.locator(".shortcuts").waitFor({ state: "detached" });
      await page.locator(".brand").focus();
      await page.keyboard.press("?");
      await page.locator(".shortcuts").waitFor();
      assert.deepEqual(page.problems, []);
      if (colorScheme === "dark") return page;
    }
  }),

  check("keyboard: the arrow up in an empty input recalls the last message", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await page.focus("#prompt");
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.inputValue("#prompt"), "");
    await send(page, "Say it again.");
    await waitForReply(page);
    await page.focus("#prompt");
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.inputValue("#prompt"), "Say it again.");
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.inputValue("#prompt"), "Say it again.");
    return page;
  }),

  check("keyboard: a slash or a dollar sign completes skills anywhere, and Enter still sends other text", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await page.locator(".try").first().waitFor();
    await page.focus("#prompt");
    await page.keyboard.type("Please use $code-re");
    await page.locator(".option", { hasText: "code-review" }).first().waitFor();
    await browser.checkAccessibility(page, "skills within a text");
    await page.keyboard.press("Enter");
    assert.equal(await page.inputValue("#prompt"), "Please use $code-review ");
    // A slash within the text becomes a mention that the server understands.
    await page.keyboard.type("and /weekly");
    await page.locator(".option", { hasText: "weekly-report-generator" }).first().waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.inputValue("#prompt"), "Please use $code-review and $weekly-report-generator ");
    // In the middle of a text.
    await page.fill("#prompt", "Before  after");
    await page.evaluate(() => document.querySelector("#prompt").setSelectionRange(7, 7));
    await page.keyboard.type("$hello");
    await page.locator(".option", { hasText: "hello-world" }).first().waitFor();
    await page.keyboard.press("Enter");
    assert.equal(await page.inputValue("#prompt"), "Before $hello-world  after");
    // Other words with a slash are text.
    await page.fill("#prompt", "");
    await page.keyboard.type("List /etc");
    await page.waitForTimeout(300);
    await page.keyboard.press("Enter");
    await waitForReply(page);
    await waitForText(page.locator(".message.user .said-text"), "List /etc");
    return page;
  }),
];
