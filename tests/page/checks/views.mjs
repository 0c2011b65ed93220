// Inspector, overview and settings; both languages; light and dark; the narrow screen; the keyboard alone.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answered, fits, say } from "../lib/browser.mjs";

export const views = (world, browser, check) => [
  check("the inspector shows what a model would be given, and sends nothing", async () => {
    const page = await browser.open(await browser.person(), `${world.url}#/inspect`);
    const before = world.model.requests.length;
    await page.getByLabel("Text").fill("Please write my weekly report");
    await page.locator("tr", { hasText: "weekly-report-generator" }).waitFor();
    const catalog = page.locator(".fold[data-part=catalog]");
    await catalog.locator("summary").click();
    assert.match(await catalog.innerText(), /weekly-report-generator/);
    // Skills are listed as the catalog has them, then those that it leaves out.
    const listed = await page
      .locator(".plain-table tbody tr")
      .evaluateAll((rows) => rows.map((one) => [one.children[0].textContent, one.querySelector(".badge").className]));
    const text = await catalog.locator("pre").textContent();
    const shown = listed.filter(([, badge]) => badge.includes("ok")).map(([name]) => text.indexOf(`<name>${name}<`));
    assert(shown.length > 3 && shown.every((at) => at >= 0), `${shown}`);
    assert.deepEqual(shown, shown.toSorted((a, b) => a - b));
    const message = page.locator(".fold[data-part=message]");
    await message.locator("summary").click();
    await message.getByText("Please write my weekly report").waitFor();
    assert.match(await page.locator(".inspect-total").innerText(), /\d+ tokens/);
    assert.equal(world.model.requests.length, before);
    await browser.accessible(page, "the inspector");
    return page;
  }),

  check("the inspector shows what the model was given for a message", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "Greet me, please.");
    await answered(page);
    await page.locator(".message.user").getByRole("link", { name: "Show model input" }).click();
    await page.locator(".inspect-total").waitFor();
    const message = page.locator(".fold[data-part=message]");
    await message.locator("summary").click();
    await message.getByText("Greet me, please.").waitFor();
    await page.getByRole("link", { name: "Back to the chat" }).click();
    await answered(page);
    return page;
  }),

  check("the overview counts skills, costs and uses, and names what is to be mended", async () => {
    const page = await browser.open(await browser.person(), `${world.url}#/overview`);
    await page.locator(".figure").first().waitFor();
    assert((await page.locator(".stacked").count()) >= 2);
    assert.match(await page.locator(".panel", { hasText: "Problems to fix" }).innerText(), /SK\d{3}/);
    await browser.accessible(page, "the overview");
    return page;
  }),

  check("settings are changed in the user's file, comments kept, and shown with their origin", async () => {
    const page = await browser.open(await browser.person(), `${world.url}#/settings`);
    await page.getByLabel("Model", { exact: true }).fill("scripted-two");
    // Where keys come from is nothing for a page to decide.
    assert.equal(await page.getByLabel("API key", { exact: true }).getAttribute("readonly"), "");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const file = readFileSync(join(world.home, ".prowess/config.toml"), "utf8");
    assert.match(file, /^# Kept\.$/m);
    assert.match(file, /scripted-two/);
    await page.locator(".model-name", { hasText: "scripted-two" }).waitFor();
    await page.getByPlaceholder("Filter settings").fill("chat.model");
    assert.match(await page.locator(".plain-table tbody").innerText(), /chat\.model\s+scripted-two/);
    await browser.accessible(page, "the settings");
    await page.getByLabel("Model", { exact: true }).fill("scripted");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".model-name", { hasText: /^scripted$/ }).waitFor();
    return page;
  }),

  check("Chinese: every text, and the dialog that is called Skills 配置", async () => {
    const page = await browser.open(await browser.person({ locale: "zh-CN" }), world.url);
    await page.getByRole("button", { name: "Skills 配置" }).click();
    await page.locator("dialog h2", { hasText: "Skills 配置" }).waitFor();
    assert.equal(await page.getAttribute("html", "lang"), "zh");
    await page.locator(".row[data-id=code-review]", { hasText: "系统" }).waitFor();
    await browser.accessible(page, "the dialog in Chinese");
    await page.keyboard.press("Escape");
    await say(page, "你好");
    await answered(page);
    assert.match(await page.locator(".message.assistant").innerText(), /你好/);
    for (const view of ["overview", "inspect", "settings"]) {
      await page.goto(`${world.url}#/${view}`);
      await page.locator(".panel").first().waitFor();
    }
    // And back, without the browser's say.
    await page.getByLabel("语言").selectOption("en");
    await page.getByRole("button", { name: "Skills" }).waitFor();
    return page;
  }),

  check("dark is as readable as light, and what moves keeps still for those who want that", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const page = await browser.open(
        await browser.person({ colorScheme, reducedMotion: "reduce" }),
        world.url,
      );
      await say(page, "Think first.");
      await page.locator(".thinking i").first().waitFor();
      const times = await page.evaluate(() =>
        document.getAnimations().map((one) => one.effect?.getComputedTiming().activeDuration ?? 0),
      );
      assert.equal(
        times.every((time) => time <= 1),
        true,
        `${times}`,
      );
      world.model.release();
      await answered(page);
      await say(page, "/skills-system-validation Check this system.");
      await answered(page);
      await browser.accessible(page, `a chat, ${colorScheme}`);
      for (const view of ["overview", "inspect", "settings"]) {
        await page.goto(`${world.url}#/${view}`);
        await page.locator(".panel h2").first().waitFor();
        await page.waitForTimeout(300);
        await browser.accessible(page, `${view}, ${colorScheme}`);
      }
      await page.click("#open-skills");
      await page.locator(".row[data-id=notes] .row-open").click();
      await page.locator(".detail .file").first().click();
      await page.locator(".lines li").first().waitFor();
      await browser.accessible(page, `the dialog, ${colorScheme}`);
      assert.deepEqual(page.told, []);
      if (colorScheme === "dark") return page;
    }
  }),

  check("everything fits on screens of 360 and 1,600 pixels", async () => {
    for (const width of [360, 1600]) {
      const page = await browser.open(await browser.person({ viewport: { width, height: 740 } }), world.url);
      await fits(page, `empty, ${width}`);
      await say(page, "/skills-system-validation Check this system.");
      await answered(page);
      await fits(page, `chat, ${width}`);
      if (width < 760) {
        assert.equal(await page.locator(".side").isVisible(), false);
        await page.getByRole("button", { name: "Chats and pages" }).click();
        await page.getByRole("link", { name: "Overview" }).click();
        await page.locator(".panel").first().waitFor();
        await page.locator(".side").waitFor({ state: "hidden" });
        await browser.accessible(page, "narrow");
      }
      for (const view of ["overview", "inspect?query=report", "settings"]) {
        await page.goto(`${world.url}#/${view}`);
        await page.locator(".panel h2").first().waitFor();
        await page.waitForTimeout(300);
        await fits(page, `${view}, ${width}`);
      }
      await page.click("#open-skills");
      await page.locator(".row[data-id=notes] .row-open").click();
      await page.locator(".detail .file").first().click();
      await page.locator(".lines li").first().waitFor();
      await fits(page, `dialog, ${width}`);
      await page.click("#add-skill");
      await fits(page, `form, ${width}`);
      assert.deepEqual(page.told, []);
      if (width === 1600) return page;
    }
  }),

  check("the keyboard is enough for everything", async () => {
    const page = await browser.open(await browser.person(), world.url);
    const press = async (...keys) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    /** Goes on with Tab until what has the keyboard fits. */
    const reach = async (selector, most = 60) => {
      for (let steps = 0; steps < most; steps++) {
        await press("Tab");
        const there = await page.evaluate((wanted) => {
          const element = document.activeElement;
          const seen =
            element &&
            (getComputedStyle(element).outlineStyle !== "none" || element.closest(".prompt-frame"));
          return element?.matches(wanted) ? (seen ? "seen" : "unseen") : "";
        }, selector);
        if (there === "unseen") assert.fail(`${selector} has the keyboard, and nobody can see it`);
        if (there) return;
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
    await answered(page);
    await page.evaluate(() => /** @type {any} */ (document.activeElement)?.blur());
    await reach("a.brand");
    await reach("#open-skills");
    await press("Enter");
    await page.locator(".rows .row").first().waitFor();
    // From the filter into the table, down, and a row open.
    await page.keyboard.type("notes meeting after");
    await page.waitForFunction(() => document.querySelectorAll(".rows .row").length === 1);
    await press("ArrowDown", "Enter");
    await page.locator(".detail .file").first().waitFor();
    await reach(".file");
    await press("Enter");
    await page.locator(".lines li").first().waitFor();
    await press("Escape");
    await page.locator("skills-dialog").waitFor({ state: "detached" });
    assert.equal(
      await page.evaluate(() => document.activeElement?.id),
      "open-skills",
      "the keyboard is where it was",
    );
    await reach(".nav-link[data-view=settings]", 200);
    await press("Enter");
    await page.locator("form .field").first().waitFor();
    await reach("form .field select");
    return page;
  }),
];
