// Inspector, overview and settings; both languages; light and dark; narrow screens; keyboard only.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkNoOverflow, send, waitForReply, waitForText } from "../lib/browser.mjs";

export const views = (env, browser, check) => [
  check("the inspector shows the input of the model without sending it", async () => {
    const page = await browser.open(await browser.newContext(), `${env.url}#/inspect`);
    const before = env.model.requests.length;
    await page.getByLabel("Message to inspect").fill("Please write my weekly report");
    await page.locator("tr", { hasText: "weekly-report-generator" }).waitFor();
    const catalog = page.locator(".fold[data-part=catalog]");
    await catalog.locator("summary").click();
    await waitForText(catalog, /weekly-report-generator/);
    await waitForText(page.locator(".plain-table tbody tr").first(), /weekly-report-generator/);
    // Skills are listed by their rank, followed by those that do not match.
    const listed = await page
      .locator(".plain-table tbody tr")
      .evaluateAll((rows) => rows.map((one) => [...one.children].map((cell) => cell.textContent)));
    assert.deepEqual(listed[0].slice(0, 2), ["1", "weekly-report-generator"]);
    const scores = listed.map((cells) => (cells[3] === "–" ? -Infinity : Number(cells[3])));
    assert.deepEqual(scores, scores.toSorted((a, b) => b - a));
    assert.equal(listed.at(-1)[0], "–");
    const message = page.locator(".fold[data-part=message]");
    await message.locator("summary").click();
    await message.getByText("Please write my weekly report").waitFor();
    await waitForText(page.locator(".inspect-total"), /\d+ tokens/);
    assert.equal(env.model.requests.length, before);
    await browser.checkAccessibility(page, "the inspector");
    return page;
  }),

  check("the inspector shows the model input of a message", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Review this, please.");
    await waitForReply(page);
    await page.locator(".message.user").getByRole("link", { name: "Show model input" }).click();
    await page.locator(".inspect-total").waitFor();
    const message = page.locator(".fold[data-part=message]");
    await message.locator("summary").click();
    await message.getByText("Review this, please.").waitFor();
    await page.getByRole("link", { name: "Back to the chat" }).click();
    await waitForReply(page);
    return page;
  }),

  check("the overview shows skills, costs, usage and problems to fix", async () => {
    const page = await browser.open(await browser.newContext(), `${env.url}#/overview`);
    await page.locator(".figure").first().waitFor();
    assert((await page.locator(".stacked").count()) >= 2);
    await waitForText(page.locator(".panel", { hasText: "Problems to fix" }), /SK\d{3}/);
    await browser.checkAccessibility(page, "the overview");
    return page;
  }),

  check("settings are saved in the user's file with its comments, and shown with their origin", async () => {
    const page = await browser.open(await browser.newContext(), `${env.url}#/settings`);
    await page.getByLabel("Model", { exact: true }).fill("scripted-two");
    // The page cannot change the source of API keys.
    assert.equal(await page.getByLabel("API key", { exact: true }).getAttribute("readonly"), "");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const file = readFileSync(join(env.home, ".prowess/config.toml"), "utf8");
    assert.match(file, /^# Kept\.$/m);
    assert.match(file, /scripted-two/);
    await page.locator(".model-name", { hasText: "scripted-two" }).waitFor();
    await page.getByPlaceholder("Filter settings").fill("chat.model");
    await waitForText(page.locator(".plain-table tbody"), /chat\.model\s+scripted-two/);
    await browser.checkAccessibility(page, "the settings");
    await page.getByLabel("Model", { exact: true }).fill("scripted");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".model-name", { hasText: /^scripted$/ }).waitFor();
    return page;
  }),

  check("Chinese: all texts, and the title Skills 配置 of the dialog", async () => {
    const page = await browser.open(await browser.newContext({ locale: "zh-CN" }), env.url);
    await page.getByRole("button", { name: "Skills 配置" }).click();
    await page.locator("dialog h2", { hasText: "Skills 配置" }).waitFor();
    assert.equal(await page.getAttribute("html", "lang"), "zh");
    await page.locator(".row[data-id=code-review]", { hasText: "系统" }).waitFor();
    await browser.checkAccessibility(page, "the dialog in Chinese");
    await page.keyboard.press("Escape");
    await send(page, "你好");
    await waitForReply(page);
    await waitForText(page.locator(".message.assistant"), /你好/);
    for (const view of ["overview", "inspect", "settings"]) {
      await page.goto(`${env.url}#/${view}`);
      await page.locator(".panel").first().waitFor();
    }
    // Switch back, regardless of the language of the browser.
    await page.getByLabel("语言").selectOption("en");
    await page.getByRole("button", { name: "Skills" }).waitFor();
    return page;
  }),

  check("dark colours are readable, and reduced motion is respected", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const page = await browser.open(
        await browser.newContext({ colorScheme, reducedMotion: "reduce" }),
        env.url,
      );
      await send(page, "Think first.");
      await page.locator(".thinking i").first().waitFor();
      const times = await page.evaluate(() =>
        document.getAnimations().map((one) => one.effect?.getComputedTiming().activeDuration ?? 0),
      );
      assert.equal(
        times.every((time) => time <= 1),
        true,
        `${times}`,
      );
      await env.model.release();
      await waitForReply(page);
      await send(page, "/skills-system-validation Check this system.");
      await waitForReply(page);
      await browser.checkAccessibility(page, `a chat, ${colorScheme}`);
      for (const view of ["overview", "inspect", "settings"]) {
        await page.goto(`${env.url}#/${view}`);
        await page.locator(".panel h2").first().waitFor();
        await page.waitForTimeout(300);
        await browser.checkAccessibility(page, `${view}, ${colorScheme}`);
      }
      await page.click("#open-skills");
      await page.locator(".row[data-id=notes] .row-open").click();
      await page.locator(".detail .file").first().click();
      await page.locator(".lines li").first().waitFor();
      await browser.checkAccessibility(page, `the dialog, ${colorScheme}`);
      assert.deepEqual(page.problems, []);
      if (colorScheme === "dark") return page;
    }
  }),

  check("everything fits on screens of 360 and 1,600 pixels", async () => {
    for (const width of [360, 1600]) {
      const page = await browser.open(await browser.newContext({ viewport: { width, height: 740 } }), env.url);
      await checkNoOverflow(page, `empty, ${width}`);
      await send(page, "/skills-system-validation Check this system.");
      await waitForReply(page);
      await checkNoOverflow(page, `chat, ${width}`);
      if (width < 760) {
        assert.equal(await page.locator(".side").isVisible(), false);
        await page.getByRole("button", { name: "Chats and pages" }).click();
        await page.getByRole("link", { name: "Overview" }).click();
        await page.locator(".panel").first().waitFor();
        await page.locator(".side").waitFor({ state: "hidden" });
        await browser.checkAccessibility(page, "narrow");
      }
      for (const view of ["overview", "inspect?query=report", "settings"]) {
        await page.goto(`${env.url}#/${view}`);
        await page.locator(".panel h2").first().waitFor();
        await page.waitForTimeout(300);
        await checkNoOverflow(page, `${view}, ${width}`);
      }
      await page.click("#open-skills");
      await page.locator(".row[data-id=notes] .row-open").click();
      await page.locator(".detail .file").first().click();
      await page.locator(".lines li").first().waitFor();
      await checkNoOverflow(page, `dialog, ${width}`);
      await page.click("#add-skill");
      await checkNoOverflow(page, `form, ${width}`);
      assert.deepEqual(page.problems, []);
      if (width === 1600) return page;
    }
  }),

  check("everything can be used with the keyboard", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    const press = async (...keys) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    /** Presses Tab until an element that matches the selector has the focus. */
    const tabTo = async (selector, most = 60) => {
      for (let steps = 0; steps < most; steps++) {
        await press("Tab");
        const focus = await page.evaluate((selector) => {
          const element = document.activeElement;
          const visible =
            element &&
            (getComputedStyle(element).outlineStyle !== "none" || element.closest(".prompt-frame"));
          return element?.matches(selector) ? (visible ? "visible" : "invisible") : "";
        }, selector);
        if (focus === "invisible") assert.fail(`the focus on ${selector} is not visible`);
        if (focus) return;
      }
      assert.fail(`${selector} cannot be reached`);
    };
    await page.locator(".try").first().waitFor();
    // A message with a skill, and its card.
    await page.keyboard.type("/skills-sys");
    await page.locator(".option").first().waitFor();
    await press("Enter");
    await page.keyboard.type("Check this system.");
    await press("Enter");
    await waitForReply(page);
    await page.evaluate(() => /** @type {any} */ (document.activeElement)?.blur());
    await tabTo("a.brand");
    await tabTo("#open-skills");
    await press("Enter");
    await page.locator(".rows .row").first().waitFor();
    // From the filter into the table, and open a row.
    await page.keyboard.type("notes meeting after");
    await page.waitForFunction(() => document.querySelectorAll(".rows .row").length === 1);
    await press("ArrowDown", "Enter");
    await page.locator(".detail .file").first().waitFor();
    await tabTo(".file");
    await press("Enter");
    await page.locator(".lines li").first().waitFor();
    await press("Escape");
    await page.locator("skills-dialog").waitFor({ state: "detached" });
    assert.equal(
      await page.evaluate(() => document.activeElement?.id),
      "open-skills",
      "the focus is restored",
    );
    await tabTo(".nav-link[data-view=settings]", 200);
    await press("Enter");
    await page.locator("form .field").first().waitFor();
    await tabTo("form .field select");
    return page;
  }),
];
