// Talking: cards, Markdown, the list of skills, chips, stopping, asking again, the list of chats.

import assert from "node:assert/strict";
import { join } from "node:path";
import { answered, say } from "../lib/browser.mjs";
import { makeWorld, write } from "../lib/world.mjs";

const card = (page, tool, nth = 0) => page.locator(`tool-card[data-tool="${tool}"]`).nth(nth);

/** What a card of this chat shows; the same after a reload. */
const cardsOfTheValidation = async (page) => {
  const activate = card(page, "skills.activate");
  assert.match(await activate.innerText(), /You used\s+skills-system-validation\s+complete/);
  assert.equal(await activate.locator(".card-text").count(), 0, "the body is folded away");
  await activate.locator("summary").first().click();
  await activate.getByText("PROWESS_SKILL_MARKER_7F3A91D2").waitFor();
  const read = card(page, "skills.readResource");
  assert.match(
    await read.innerText(),
    /Read\s+references\/REFERENCE.md\s+in skills-system-validation\s+complete/,
  );
  const refused = card(page, "skills.readResource", 1);
  assert.match(await refused.getAttribute("class"), /error/);
  assert.match(await refused.innerText(), /\.\.\/SKILL\.md/);
  assert.match(await refused.locator(".badge.bad").innerText(), /^[A-Z_]+$/);
  const run = card(page, "skills.run");
  assert.match(await run.innerText(), /Ran\s+scripts\/echo.sh/);
  assert.match(await run.innerText(), /exit code 0/);
  assert.match(await run.innerText(), /sandbox tier\s?[12]/);
  assert.match(await run.innerText(), /arg: two words/);
};

export const chat = (world, browser, check, prowess) => [
  check(
    "s004_20 s004_24 an explicit call shows both cards, the script's and an error, and so it does after a reload",
    async () => {
      const page = await browser.open(await browser.person(), world.url);
      await say(page, "/skills-system-validation Check this system.");
      await answered(page);
      await cardsOfTheValidation(page);
      assert.match(
        await page.locator(".message.user").innerText(),
        /\/skills-system-validation\s+Check this system\./,
      );
      await page.reload();
      await answered(page);
      await cardsOfTheValidation(page);
      await browser.accessible(page, "a chat with cards");
      return page;
    },
  ),

  check("instructions and small files can be copied from their cards", async () => {
    const person = await browser.person({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await browser.open(person, world.url);
    await say(page, "/skills-system-validation Check this system.");
    await answered(page);
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    const activate = card(page, "skills.activate");
    await activate.locator("summary").first().click();
    await activate.getByRole("button", { name: "Copy" }).click();
    await activate.getByText("Copied").waitFor({ state: "attached" });
    assert.match(await clipboard(), /PROWESS_SKILL_MARKER_7F3A91D2/);
    // A file this small is there without being asked for.
    const read = card(page, "skills.readResource");
    await read.scrollIntoViewIfNeeded();
    await read.getByText("PROWESS_REFERENCE_MARKER_").waitFor();
    await page.getByRole("button", { name: "Copy code" }).click();
    assert.equal((await clipboard()).trim(), "prowess list --json");
    return page;
  }),

  check("a skill that the model chooses shows its card, and is active until it is let go", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "Greet me, please.");
    await answered(page);
    assert.match(await card(page, "skills.activate").innerText(), /Loaded skill\s+hello-world/);
    await page.locator(".active-skills .chip", { hasText: "hello-world" }).waitFor();
    await page.reload();
    await page.locator(".active-skills .chip", { hasText: "hello-world" }).waitFor();
    await page.getByRole("button", { name: "Deactivate hello-world" }).click();
    await page.locator(".active-skills .chip").waitFor({ state: "detached" });
    await page.reload();
    await answered(page);
    assert.equal(await page.locator(".active-skills .chip").count(), 0);
    return page;
  }),

  check("Markdown has its form while it is written and afterwards", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "Show me markdown.");
    await page.locator(".message.writing .markdown strong").waitFor();
    await answered(page);
    const answer = page.locator(".message.assistant .markdown");
    assert.equal(await answer.locator("h2").innerText(), "What was done");
    assert.deepEqual(await answer.locator("li").allInnerTexts(), ["one", "two"]);
    assert.equal((await answer.locator("pre code").innerText()).trim(), "prowess list --json");
    assert.equal((await answer.innerText()).includes("**"), false);
    return page;
  }),

  check("the empty state shows three things to try, and who would answer", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await page.locator(".model-name").waitFor();
    assert.equal(await page.locator(".try").count(), 3);
    assert.match(await page.locator(".bar").innerText(), /scripted\s+standard/);
    await page.locator(".try").first().click();
    await page.locator(".prompt-chips .chip", { hasText: "skills-system-validation" }).waitFor();
    assert.match(await page.inputValue("#prompt"), /^Check this system/);
    await browser.accessible(page, "the empty state");
    return page;
  }),

  check(
    "a slash lists skills by name and description; arrows, Enter and Escape do what they should",
    async () => {
      const page = await browser.open(await browser.person(), world.url);
      const names = () => page.locator(".option-name").allInnerTexts();
      const chosen = () => page.locator(".option[aria-selected=true] .option-name").innerText();
      await page.focus("#prompt");
      await page.keyboard.type("/");
      await page.waitForFunction(() => document.querySelectorAll(".option").length > 2);
      const first = await chosen();
      await page.keyboard.press("ArrowDown");
      assert.notEqual(await chosen(), first);
      await page.keyboard.press("ArrowUp");
      assert.equal(await chosen(), first);
      await browser.accessible(page, "the list of skills");
      await page.keyboard.press("Escape");
      await page.locator(".menu").waitFor({ state: "hidden" });
      assert.equal(await page.inputValue("#prompt"), "/", "what was written stays");
      // Letters of the name, with some left out.
      await page.fill("#prompt", "");
      await page.keyboard.type("/wklyrep");
      await page.waitForFunction(
        () => document.querySelector(".option-name")?.textContent === "weekly-report-generator",
      );
      // A word that only the description has.
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
      // A whole name and a space is as good as choosing.
      await page.keyboard.type("/hello-world ");
      await page.locator(".prompt-chips .chip", { hasText: "hello-world" }).waitFor();
      return page;
    },
  ),

  check("an answer can be stopped, and asked for again", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "Count slowly.");
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped", { exact: true }).waitFor();
    await page.locator(".message.assistant", { hasText: /w1 w2/ }).waitFor();
    await page.getByRole("button", { name: "Retry" }).click();
    await page.locator(".message.writing", { hasText: "w10" }).waitFor();
    world.model.release();
    await answered(page);
    assert.match(await page.locator(".message.assistant").innerText(), /w60/);
    // It took the place of what was answered: the model was asked once, and so it is after a reload.
    const asked = () => world.model.requests.at(-1).messages.filter((one) => one.role === "user");
    assert.equal(asked().length, 1, JSON.stringify(asked()));
    await page.reload();
    await answered(page);
    assert.equal(await page.locator(".message").count(), 2);
    await say(page, "And now?");
    await answered(page, 2);
    assert.equal(asked().length, 2, JSON.stringify(asked()));
    return page;
  }),

  check("a skill that was loaded by an answer is not active when it is asked again", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "Hello.");
    await answered(page);
    await say(page, "Greet me, please.");
    await answered(page, 2);
    await page.locator(".active-skills .chip", { hasText: "hello-world" }).waitFor();
    const before = world.model.requests.length;
    await page.getByRole("button", { name: "Retry" }).click();
    while (world.model.requests.length < before + 2) await page.waitForTimeout(50);
    await answered(page, 2);
    assert.equal(await page.locator(".message").count(), 4);
    const first = world.model.requests[before];
    assert.equal(JSON.stringify(first.messages).includes("Greet me"), true);
    assert.equal(first.messages.filter((one) => one.role === "tool").length, 0, "nothing is left of the answer");
    await card(page, "skills.activate").filter({ hasText: /Loaded skill\s*hello-world\s*complete/ }).waitFor();
    return page;
  }),

  check("each chat has its own draft, and a reload keeps it", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "A chat with a draft.");
    await answered(page);
    const chat = page.url();
    await page.fill("#prompt", "Half a thought");
    await page.getByRole("button", { name: "New chat" }).click();
    await page.locator(".empty-chat").waitFor();
    assert.equal(await page.inputValue("#prompt"), "");
    await page.keyboard.type("/hello-world Something else");
    await page.locator(".prompt-chips .chip").waitFor();
    await page.goto(chat);
    await answered(page);
    assert.equal(await page.inputValue("#prompt"), "Half a thought");
    assert.equal(await page.locator(".prompt-chips .chip").count(), 0);
    await page.goto(`${world.url}#/overview`);
    await page.locator(".figure").first().waitFor();
    await page.goto(chat);
    await page.reload();
    await answered(page);
    assert.equal(await page.inputValue("#prompt"), "Half a thought");
    await page.press("#prompt", "Enter");
    await answered(page, 2);
    await page.reload();
    await answered(page, 2);
    assert.equal(await page.inputValue("#prompt"), "", "what was sent is no draft");
    await page.goto(`${world.url}#/chat`);
    await page.locator(".prompt-chips .chip", { hasText: "hello-world" }).waitFor();
    assert.equal(await page.inputValue("#prompt"), "Something else");
    return page;
  }),

  check("a call that failed does not read as if it had worked", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "load nope");
    await answered(page);
    const text = await card(page, "skills.activate").innerText();
    assert.match(text, /Could not load skill\s+nope/);
    assert.equal(text.includes("Loaded skill"), false);
    return page;
  }),

  check("several cards that arrive at once do not stop the view from following", async () => {
    const page = await browser.open(await browser.person({ viewport: { width: 1200, height: 500 } }), world.url);
    await say(page, "Show me markdown.");
    await answered(page);
    const rest = () =>
      page.evaluate(() => {
        const { scrollHeight, clientHeight, scrollTop } = document.querySelector(".transcript");
        return scrollHeight - clientHeight - scrollTop;
      });
    for (let round = 2; round <= 4; round++) {
      await say(page, "Show me many cards.");
      await answered(page, round);
      await page.waitForTimeout(300);
      assert((await rest()) < 5, `${await rest()} pixels from the end`);
    }
    // Who scrolls up stays there, whatever comes.
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -900);
    await page.waitForFunction(() => {
      const { scrollHeight, clientHeight, scrollTop } = document.querySelector(".transcript");
      return scrollHeight - clientHeight - scrollTop > 600;
    });
    await page.evaluate(() => document.querySelector(".messages").append("more ".repeat(2000)));
    await page.waitForTimeout(300);
    assert((await rest()) > 600, `${await rest()} pixels from the end is where nobody scrolled to`);
    return page;
  }),

  check("without a model, the page says what to put into which file", async () => {
    const place = await makeWorld(prowess);
    try {
      await place.serve();
      const person = await browser.person({ permissions: ["clipboard-read", "clipboard-write"] });
      const page = await browser.open(person, place.url);
      const setup = page.locator("model-setup");
      await setup.waitFor();
      assert.match(await setup.innerText(), new RegExp(`${place.home}/\\.prowess/config\\.toml`));
      // It begins at its top.
      await page.waitForFunction(() => (document.querySelector(".empty-title")?.getBoundingClientRect().top ?? 0) > 52);
      await setup.getByRole("radio", { name: /On this machine/ }).focus();
      await page.keyboard.press("Space");
      await setup.getByRole("button", { name: "Copy: Configuration" }).click();
      const snippet = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(snippet, /^\[chat\]\nprovider = "openai-chat"\nmodel = /);
      await browser.accessible(page, "setting up a model");
      await page.goto(`${place.url}#/settings`);
      await page.locator("settings-view model-setup").waitFor();
      await browser.accessible(page, "settings without a model");
      // What it says to write is a configuration that works.
      await place.crash();
      write(join(place.home, ".prowess"), { "config.toml": snippet });
      await place.serve();
      await page.reload();
      await page.locator(".model-name", { hasText: "qwen3:8b" }).waitFor();
      assert.equal(await page.locator("model-setup").isVisible(), false);
      return page;
    } finally {
      place.end();
    }
  }),

  check("a configuration that becomes invalid: the last one stays, and the page says so until it is fixed", async () => {
    const place = await makeWorld(prowess);
    try {
      await place.serve();
      const page = await browser.open(await browser.person(), place.url);
      const banner = page.locator("status-banner", { hasText: "Using the last valid configuration" });
      write(join(place.home, ".prowess"), { "config.toml": "no configuration" });
      await place.api("/api/rescan", { method: "POST" });
      await banner.waitFor();
      await browser.accessible(page, "an invalid configuration");
      write(join(place.home, ".prowess"), { "config.toml": "" });
      await place.api("/api/rescan", { method: "POST" });
      await banner.waitFor({ state: "hidden" });
      return page;
    } finally {
      place.end();
    }
  }),

  check("chats are listed, renamed and, after a question, deleted", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await say(page, "A chat of its own.");
    await answered(page);
    const row = page.locator(".chat-row", { has: page.locator("[aria-current=page]") });
    assert.match(await row.innerText(), /A chat of its own\./);
    await row.hover();
    await row.getByRole("button", { name: "Rename" }).click();
    await page.locator(".chat-rename").fill("Another name");
    await page.keyboard.press("Enter");
    await page.locator(".chat-title", { hasText: "Another name" }).waitFor();
    await page.locator(".chat-name", { hasText: "Another name" }).waitFor();
    assert.equal(await page.title(), "Another name · Prowess");
    await row.hover();
    // The buttons are beside the title, not over it.
    const [title, tools] = await Promise.all(
      [".chat-title", ".chat-tools"].map((selector) => row.locator(selector).boundingBox()),
    );
    assert(title.x + title.width <= tools.x, `${JSON.stringify(title)} ${JSON.stringify(tools)}`);
    await row.getByRole("button", { name: "Delete chat" }).click();
    await browser.accessible(page, "a question");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".chat-title", { hasText: "Another name" }).count(), 1);
    await row.hover();
    await row.getByRole("button", { name: "Delete chat" }).click();
    await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
    await page.locator(".chat-title", { hasText: "Another name" }).waitFor({ state: "detached" });
    await page.locator(".empty-chat").waitFor();
    return page;
  }),

  check("what cannot be sent is said, and not lost", async () => {
    const page = await browser.open(await browser.person(), world.url);
    await page.route("**/api/chats", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            status: 503,
            contentType: "application/problem+json",
            body: JSON.stringify({ code: "UNAVAILABLE", detail: "the disk is full" }),
          })
        : route.continue(),
    );
    await say(page, "Precious words.");
    await page.getByText("the disk is full").waitFor();
    assert.equal(await page.inputValue("#prompt"), "Precious words.");
    return page;
  }),
];
