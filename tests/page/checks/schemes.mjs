// Every state of a chat in light and dark, in English and Chinese, on a large screen and on a phone.

import assert from "node:assert/strict";
import { checkNoOverflow } from "../lib/browser.mjs";
import { message, openFakeChat } from "../lib/fake-chat.mjs";

const CODE = '<p>So:</p>\n<pre><code class="language-python"># note\ndef f(n: int) -&gt; str:\n    return "x" * n + str(1)\n</code></pre>\n';

const everything = () => [
  message("q", "user", "Question", { versions: { index: 2, count: 3, previous: "q-old", next: "q-new" } }),
  message("a", "assistant", null, {
    usage: { input: 1234, output: 56, cached: 1000 },
    parts: [
      { type: "thinking", text: "A long thought.\nWith two lines." },
      { type: "text", text: "…", html: `${CODE}<p>Note<sup class="footnote-ref">1</sup></p>\n<div class="footnote-text"><sup>1</sup>\n<p>The note.</p>\n</div>` },
    ],
  }),
  message("q2", "user", Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n")),
  message("a2", "assistant", null, { state: "interrupted", reason: "declined" }),
  message("q3", "user", "More?"),
  message("a3", "assistant", "Half", { state: "interrupted", reason: "MODEL_ERROR: the provider is overloaded" }),
];

const VARIANTS = [
  { colorScheme: "light", locale: "en-GB" },
  { colorScheme: "dark", locale: "zh-CN" },
  { colorScheme: "light", locale: "zh-CN", viewport: { width: 360, height: 740 }, hasTouch: true },
  { colorScheme: "dark", locale: "en-GB", viewport: { width: 360, height: 740 }, hasTouch: true },
];

export const schemes = (env, browser, check) =>
  VARIANTS.map((options) => {
    const isNarrow = options.viewport !== undefined;
    const name = `${options.colorScheme}, ${options.locale}, ${isNarrow ? "a phone" : "a large screen"}`;
    return check(`schemes: every state of a chat is accessible: ${name}`, async () => {
      const { page, chat } = await openFakeChat(browser, env, everything(), options);
      const checkState = async (what) => {
        await browser.checkAccessibility(page, `${what}: ${name}`);
        await checkNoOverflow(page, `${what}: ${name}`);
      };
      chat.usage = { input: 123456, output: 7890 };
      await page.locator(".message-error").waitFor();
      await checkState("errors");
      await page.evaluate(() => document.querySelector(".transcript").scrollTo(0, 0));
      await page.locator("thinking-view summary").click();
      await page.locator("pre .tok-keyword").first().waitFor();
      await checkState("thinking, code and versions");
      await page.evaluate(() => document.querySelector("message-view").edit());
      await page.locator(".message-editor").waitFor();
      await checkState("an editor");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.locator(".palette-option").first().waitFor();
      await checkState("the palette");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+/");
      await page.locator(".shortcuts").waitFor();
      await checkState("the help");
      await page.keyboard.press("Escape");
      if (isNarrow) await page.locator("button[aria-controls=side]").click();
      const row = page.locator(".chat-row").first();
      await row.hover();
      await row.locator(".chat-more").click();
      await page.getByRole("menu").waitFor();
      await checkState("the menu of a chat");
      await page.getByRole("menuitem").nth(5).click();
      await page.locator(".select-bar button").first().waitFor();
      await checkState("selecting chats");
      assert.deepEqual(chat.requests, []);
      return page;
    });
  });
