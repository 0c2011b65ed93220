// Chats: cards, Markdown, the list of skills, chips, stopping, retrying, the list of chats.

import assert from "node:assert/strict";
import { join } from "node:path";
import { chatMenu, send, waitForReply, waitForText } from "../lib/browser.mjs";
import { makeTestEnv, write } from "../lib/test-env.mjs";

const card = (page, tool, nth = 0) => page.locator(`tool-card[data-tool="${tool}"]`).nth(nth);

/** Checks the cards of the validation chat, which are the same after a reload. */
const checkValidationCards = async (page) => {
  const activate = card(page, "skills.activate");
  await waitForText(activate, /You used\s+skills-system-validation\s+complete/);
  assert.equal(await activate.locator(".card-text").count(), 0, "the body is collapsed");
  await activate.locator("summary").first().click();
  await activate.getByText("PROWESS_SKILL_MARKER_7F3A91D2").waitFor();
  const read = card(page, "skills.readResource");
  await waitForText(read, /Read\s+references\/REFERENCE.md\s+in skills-system-validation\s+complete/);
  const refused = card(page, "skills.readResource", 1);
  assert.match(await refused.getAttribute("class"), /error/);
  await waitForText(refused, /\.\.\/SKILL\.md/);
  await waitForText(refused.locator(".badge.bad"), /^[A-Z_]+$/);
  const run = card(page, "skills.run");
  await waitForText(run, /Ran\s+scripts\/echo.sh/);
  await waitForText(run, /exit code 0/);
  await waitForText(run, /sandbox tier\s?[12]/);
  await waitForText(run, /arg: two words/);
};

export const chat = (env, browser, check, prowess) => [
  check(
    "s004_20 s004_24 an explicit call shows the cards of both tools, a script and an error, also after a reload",
    async () => {
      const page = await browser.open(await browser.newContext(), env.url);
      await send(page, "/skills-system-validation Check this system.");
      await waitForReply(page);
      await checkValidationCards(page);
      await waitForText(
        page.locator(".message.user"),
        /\/skills-system-validation\s+Check this system\./,
      );
      await page.reload();
      await waitForReply(page);
      await checkValidationCards(page);
      await browser.checkAccessibility(page, "a chat with cards");
      return page;
    },
  ),

  check("instructions and small files can be copied from their cards", async () => {
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await browser.open(context, env.url);
    await send(page, "/skills-system-validation Check this system.");
    await waitForReply(page);
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    const activate = card(page, "skills.activate");
    await activate.locator("summary").first().click();
    await activate.getByRole("button", { name: "Copy" }).click();
    await activate.getByText("Copied").waitFor({ state: "attached" });
    assert.match(await clipboard(), /PROWESS_SKILL_MARKER_7F3A91D2/);
    // Small files are shown without a click.
    const read = card(page, "skills.readResource");
    await read.scrollIntoViewIfNeeded();
    await read.getByText("PROWESS_REFERENCE_MARKER_").waitFor();
    await page.getByRole("button", { name: "Copy code" }).click();
    assert.equal((await clipboard()).trim(), "prowess list --json");
    return page;
  }),

  check("a skill that the model loads has a card and is active until it is deactivated", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Review this, please.");
    await waitForReply(page);
    await waitForText(card(page, "skills.activate"), /Loaded skill\s+code-review/);
    await page.locator(".active-skills .chip", { hasText: "code-review" }).waitFor();
    await page.reload();
    await page.locator(".active-skills .chip", { hasText: "code-review" }).waitFor();
    await page.getByRole("button", { name: "Deactivate code-review" }).click();
    await page.locator(".active-skills .chip").waitFor({ state: "detached" });
    await page.reload();
    await waitForReply(page);
    assert.equal(await page.locator(".active-skills .chip").count(), 0);
    return page;
  }),

  check("Markdown is rendered during and after streaming", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Show me markdown.");
    await page.locator(".message.writing .markdown strong").waitFor();
    await waitForReply(page);
    const answer = page.locator(".message.assistant .markdown");
    await waitForText(answer.locator("h2"), "What was done");
    assert.deepEqual(await answer.locator("li").allInnerTexts(), ["one", "two"]);
    await waitForText(answer.locator("pre code"), "prowess list --json");
    assert.equal((await answer.innerText()).includes("**"), false);
    return page;
  }),

  check("the empty state shows three suggestions and the model", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await page.locator(".model-name").waitFor();
    assert.equal(await page.locator(".try").count(), 3);
    await waitForText(page.locator(".bar"), /scripted\s+standard/);
    await page.locator(".try").first().click();
    await page.locator(".prompt-chips .chip", { hasText: "code-review" }).waitFor();
    assert.match(await page.inputValue("#prompt"), /^Review this change/);
    await browser.checkAccessibility(page, "the empty state");
    return page;
  }),

  check(
    "a slash lists skills by name and description; arrows, Enter and Escape work",
    async () => {
      const page = await browser.open(await browser.newContext(), env.url);
      const names = () => page.locator(".option-name").allInnerTexts();
      const selected = () => page.locator(".option[aria-selected=true] .option-name").innerText();
      await page.focus("#prompt");
      await page.keyboard.type("/");
      await page.waitForFunction(() => document.querySelectorAll(".option").length > 2);
      const first = await selected();
      await page.keyboard.press("ArrowDown");
      assert.notEqual(await selected(), first);
      await page.keyboard.press("ArrowUp");
      assert.equal(await selected(), first);
      await browser.checkAccessibility(page, "the list of skills");
      await page.keyboard.press("Escape");
      await page.locator(".menu").waitFor({ state: "hidden" });
      assert.equal(await page.inputValue("#prompt"), "/", "the text is kept");
      // Some letters of the name.
      await page.fill("#prompt", "");
      await page.keyboard.type("/wklyrep");
      await page.waitForFunction(
        () => document.querySelector(".option-name")?.textContent === "weekly-report-generator",
      );
      // A word that is only in the description.
      await page.fill("#prompt", "");
      await page.keyboard.type("/conformance");
      await page.waitForFunction(
        () => document.querySelector(".option-name")?.textContent === "skills-system-validation",
      );
      assert((await names()).length >= 1);
      await page.keyboard.press("Enter");
      await page.locator(".prompt-chips .chip", { hasText: "skills-system-validation" }).waitFor();
      assert.equal(await page.inputValue("#prompt"), "");
      await page.keyboard.press("Backspace");
      assert.equal(await page.locator(".prompt-chips .chip").count(), 0);
      // A complete name followed by a space selects the skill.
      await page.keyboard.type("/hello-world ");
      await page.locator(".prompt-chips .chip", { hasText: "hello-world" }).waitFor();
      return page;
    },
  ),

  check("a reply can be stopped and retried", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Count slowly.");
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped", { exact: true }).waitFor();
    await page.locator(".message.assistant", { hasText: /w1 w2/ }).waitFor();
    await page.getByRole("button", { name: "Regenerate" }).click();
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    await env.model.release();
    await waitForReply(page);
    await waitForText(page.locator(".message.assistant"), /w60/);
    // The new reply replaces the old one, also after a reload.
    const userMessages = () => env.model.requests.at(-1).messages.filter((one) => one.role === "user");
    assert.equal(userMessages().length, 1, JSON.stringify(userMessages()));
    await page.reload();
    await waitForReply(page);
    assert.equal(await page.locator(".message").count(), 2);
    await send(page, "And now?");
    await waitForReply(page, 2);
    assert.equal(userMessages().length, 2, JSON.stringify(userMessages()));
    return page;
  }),

  check("a skill that a reply loaded is not active when the reply is retried", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "Hello.");
    await waitForReply(page);
    await send(page, "Review this, please.");
    await waitForReply(page, 2);
    await page.locator(".active-skills .chip", { hasText: "code-review" }).waitFor();
    const before = env.model.requests.length;
    await page.getByRole("button", { name: "Regenerate" }).last().click();
    while (env.model.requests.length < before + 2) await page.waitForTimeout(50);
    await waitForReply(page, 2);
    assert.equal(await page.locator(".message").count(), 4);
    const first = env.model.requests[before];
    assert.equal(JSON.stringify(first.messages).includes("Review this"), true);
    assert.equal(first.messages.filter((one) => one.role === "tool").length, 0, "the old reply is removed");
    await card(page, "skills.activate").filter({ hasText: /Loaded skill\s*code-review\s*complete/ }).waitFor();
    return page;
  }),

  check("each chat has its own draft, and a reload keeps it", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "A chat with a draft.");
    await waitForReply(page);
    const chat = page.url();
    await page.fill("#prompt", "Half a thought");
    await page.getByRole("button", { name: "New chat" }).click();
    await page.locator(".empty-chat").waitFor();
    assert.equal(await page.inputValue("#prompt"), "");
    await page.keyboard.type("/hello-world Something else");
    await page.locator(".prompt-chips .chip").waitFor();
    await page.goto(chat);
    await waitForReply(page);
    assert.equal(await page.inputValue("#prompt"), "Half a thought");
    assert.equal(await page.locator(".prompt-chips .chip").count(), 0);
    await page.goto(`${env.url}#/overview`);
    await page.locator(".figure").first().waitFor();
    await page.goto(chat);
    await page.reload();
    await waitForReply(page);
    assert.equal(await page.inputValue("#prompt"), "Half a thought");
    await page.press("#prompt", "Enter");
    await waitForReply(page, 2);
    await page.reload();
    await waitForReply(page, 2);
    assert.equal(await page.inputValue("#prompt"), "", "a sent message is not a draft");
    await page.goto(`${env.url}#/chat`);
    await page.locator(".prompt-chips .chip", { hasText: "hello-world" }).waitFor();
    assert.equal(await page.inputValue("#prompt"), "Something else");
    return page;
  }),

  check("a failed call is not shown as successful", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "load nope");
    await waitForReply(page);
    const call = card(page, "skills.activate");
    await waitForText(call, /Could not load skill\s+nope/);
    assert.equal((await call.innerText()).includes("Loaded skill"), false);
    return page;
  }),

  check("the view follows several cards that arrive at once", async () => {
    const page = await browser.open(await browser.newContext({ viewport: { width: 1200, height: 500 } }), env.url);
    await send(page, "Show me markdown.");
    await waitForReply(page);
    const rest = () =>
      page.evaluate(() => {
        const { scrollHeight, clientHeight, scrollTop } = document.querySelector(".transcript");
        return scrollHeight - clientHeight - scrollTop;
      });
    for (let round = 2; round <= 4; round++) {
      await send(page, "Show me many cards.");
      await waitForReply(page, round);
      await page.waitForTimeout(300);
      assert((await rest()) < 5, `${await rest()} pixels from the end`);
    }
    // After scrolling up, the view does not follow.
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -900);
    await page.waitForFunction(() => {
      const { scrollHeight, clientHeight, scrollTop } = document.querySelector(".transcript");
      return scrollHeight - clientHeight - scrollTop > 600;
    });
    await page.evaluate(() => document.querySelector(".messages").append("more ".repeat(2000)));
    await page.waitForTimeout(300);
    assert((await rest()) > 600, `${await rest()} pixels from the end, but the view must not follow`);
    return page;
  }),

  check("a model is set up on the page", async () => {
    const other = await makeTestEnv(prowess);
    try {
      await other.serve();
      const page = await browser.open(await browser.newContext(), other.url);
      const setup = page.locator("empty-chat model-setup");
      await setup.waitFor();
      // The top is visible.
      await page.waitForFunction(() => (document.querySelector(".empty-title")?.getBoundingClientRect().top ?? 0) > 52);
      await browser.checkAccessibility(page, "setting up a model");
      // Mistakes are shown at their fields.
      await setup.getByLabel("Provider").selectOption("anthropic");
      await setup.getByRole("button", { name: "Use this model" }).click();
      await waitForText(setup, /enter the key of the provider/);
      assert.equal(await setup.getByLabel("Key", { exact: true }).getAttribute("aria-invalid"), "true");
      await setup.getByLabel("Provider").selectOption("openai-chat");
      await setup.getByLabel("Address").fill("http://127.0.0.1:9/v1");
      await setup.getByRole("button", { name: "Test connection" }).click();
      await waitForText(setup, /nothing answers at/);
      await setup.getByLabel("Address").fill(env.model.url);
      await setup.getByLabel("Key", { exact: true }).fill("sk-entered-on-the-page");
      await setup.getByRole("button", { name: "Test connection" }).click();
      await waitForText(setup, /The connection works: 2 models/);
      await setup.getByLabel("Model name").fill("scripted");
      await setup.getByRole("button", { name: "Use this model" }).click();
      await page.locator(".model-name", { hasText: "scripted" }).waitFor();
      await setup.waitFor({ state: "detached" });
      await page.goto(`${other.url}#/settings`);
      const settings = page.locator("settings-view model-setup");
      await settings.getByPlaceholder("A key is stored").waitFor();
      assert.equal(await settings.getByLabel("Key", { exact: true }).inputValue(), "");
      assert.equal(await settings.getByLabel("Model name").inputValue(), "scripted");
      await browser.checkAccessibility(page, "settings with a model");
      return page;
    } finally {
      other.end();
    }
  }),

  check("an invalid configuration is reported until it is fixed, and the previous one stays in use", async () => {
    const other = await makeTestEnv(prowess);
    try {
      await other.serve();
      const page = await browser.open(await browser.newContext(), other.url);
      const banner = page.locator("status-banner", { hasText: "Using the last valid configuration" });
      write(join(other.home, ".prowess"), { "config.toml": "no configuration" });
      await other.api("/api/rescan", { method: "POST" });
      await banner.waitFor();
      await browser.checkAccessibility(page, "an invalid configuration");
      write(join(other.home, ".prowess"), { "config.toml": "" });
      await other.api("/api/rescan", { method: "POST" });
      await banner.waitFor({ state: "hidden" });
      return page;
    } finally {
      other.end();
    }
  }),

  check("chats are listed, renamed and, after a confirmation, deleted", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await send(page, "A chat of its own.");
    await waitForReply(page);
    const row = page.locator(".chat-row", { has: page.locator("[aria-current=page]") });
    await waitForText(row, /A chat of its own\./);
    await row.hover();
    await chatMenu(page, row, "Rename");
    await page.locator(".chat-rename").fill("Another name");
    await page.keyboard.press("Enter");
    await page.locator(".chat-title", { hasText: "Another name" }).waitFor();
    await page.locator(".chat-name", { hasText: "Another name" }).waitFor();
    assert.equal(await page.title(), "Another name · Prowess");
    await row.hover();
    // The buttons do not overlap the title.
    const [title, tools] = await Promise.all(
      [".chat-title", ".chat-tools"].map((selector) => row.locator(selector).boundingBox()),
    );
    assert(title.x + title.width <= tools.x, `${JSON.stringify(title)} ${JSON.stringify(tools)}`);
    await chatMenu(page, row, "Delete chat");
    await browser.checkAccessibility(page, "a confirmation");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".chat-title", { hasText: "Another name" }).count(), 1);
    await row.hover();
    await chatMenu(page, row, "Delete chat");
    await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
    await page.locator(".chat-title", { hasText: "Another name" }).waitFor({ state: "detached" });
    await page.locator(".empty-chat").waitFor();
    return page;
  }),

  check("a message that cannot be sent is kept, and the error is shown", async () => {
    const page = await browser.open(await browser.newContext(), env.url);
    await page.route("**/api/chats", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            status: 503,
            contentType: "application/problem+json",
            body: JSON.stringify({ code: "UNAVAILABLE", detail: "the disk is full" }),
          })
        : route.continue(),
    );
    await send(page, "Precious words.");
    await page.getByText("the disk is full").waitFor();
    assert.equal(await page.inputValue("#prompt"), "Precious words.");
    return page;
  }),
];
