// Large amounts of data: the size of the document stays bounded. The speed is measured in bench.

import assert from "node:assert/strict";
import { makeTestEnv, skillMd } from "../lib/test-env.mjs";

/** Returns an export of a chat with this many messages. */
export const longChat = (count) => ({
  format: "prowess-chats",
  version: 1,
  exported: 1,
  chats: [
    {
      id: "long",
      title: "A long one",
      preset: "standard",
      created: 1,
      updated: Date.now(),
      activated_skill_names: [],
      messages: Array.from({ length: count }, (_, index) => ({
        id: `m${index}`,
        role: index % 2 ? "assistant" : "user",
        parts: [
          {
            type: "text",
            text:
              index % 2
                ? `Answer ${index}.\n\n- one\n- two\n\n\`\`\`sh\necho ${index}\n\`\`\``
                : `Question ${index}`,
          },
        ],
        state: "complete",
        at: index + 1,
      })),
    },
  ],
});

export const manySkills = (count) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `skill-${index}`,
      { "SKILL.md": skillMd(`skill-${index}`, `Number ${index} of many. Use when ${index} is asked for.`) },
    ]),
  );

export const large = (env, browser, check, prowess) => [
  check("a chat of 2,000 messages opens at its end and loads earlier messages on scrolling", async () => {
    const imported = await env.api("/api/chats/import", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(longChat(2000)),
    });
    const { chats } = await env.api("/api/chats?limit=50");
    const chat = chats.find((one) => one.title === "A long one");
    assert(chat, JSON.stringify(imported));
    const page = await browser.open(await browser.newContext(), `${env.url}#/chat/${chat.id}`);
    await page.getByText("Answer 1999.").waitFor();
    const count = await page.locator("message-view").count();
    assert(count <= 120, `${count} messages at first`);
    const last = await page.locator("message-view").last().boundingBox();
    assert(last && last.y < 800, "it opens at its end");
    for (let tries = 0; tries < 200 && (await page.locator("message-view").count()) < 2000; tries++) {
      await page.evaluate(() => document.querySelector(".transcript").scrollTo(0, 0));
      await page.waitForTimeout(60);
    }
    assert.equal(await page.locator("message-view").count(), 2000);
    assert.equal(
      await page.locator("message-view").first().locator(".said-text").textContent(),
      "Question 0",
    );
    const order = await page.evaluate(() =>
      [...document.querySelectorAll(".message.user .said-text")].map((one) =>
        Number(one.textContent.split(" ")[1]),
      ),
    );
    assert.deepEqual(
      order,
      Array.from({ length: 1000 }, (_, index) => 2 * index),
    );
    return page;
  }),

  check("a dialog of 5,000 skills contains only visible rows", async () => {
    const other = await makeTestEnv(prowess, { skills: manySkills(5000) });
    try {
      await other.serve();
      const page = await browser.open(await browser.newContext(), other.url);
      await page.click("#open-skills");
      await page.locator(".rows .row").first().waitFor({ timeout: 30_000 });
      assert((await page.locator(".rows .row").count()) < 60);
      await page.focus(".row-open");
      await page.keyboard.press("End");
      await page.waitForFunction(
        () =>
          document.activeElement?.matches(".row-open") &&
          document.querySelector(".table-scroll").scrollTop > 200_000,
      );
      assert((await page.locator(".rows .row").count()) < 60);
      await page.keyboard.press("Enter");
      await page.locator(".detail").waitFor();
      await page.locator(".detail .file").first().waitFor();
      await page.fill("#skills-filter", "skill-4321");
      await page.locator(".row[data-id=skill-4321]").waitFor();
      assert.equal(await page.locator(".rows .row").count(), 1);
      await browser.checkAccessibility(page, "many skills");
      return page;
    } finally {
      other.end();
    }
  }),
];
