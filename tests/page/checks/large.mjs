// Much of everything: what is in the document stays bounded. How fast it is, bench/ measures.

import assert from "node:assert/strict";
import { makeWorld, skillMd } from "../lib/world.mjs";

/** A chat of so many messages, as an export has it. */
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

export const large = (world, browser, check, prowess) => [
  check("a chat of 2,000 messages opens at its end and is read backwards to its beginning", async () => {
    const imported = await world.api("/api/chats/import", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(longChat(2000)),
    });
    const { chats } = await world.api("/api/chats?limit=50");
    const chat = chats.find((one) => one.title === "A long one");
    assert(chat, JSON.stringify(imported));
    const page = await browser.open(await browser.person(), `${world.url}#/chat/${chat.id}`);
    await page.getByText("Answer 1999.").waitFor();
    const count = await page.locator("message-view").count();
    assert(count <= 120, `${count} messages to begin with`);
    const seen = await page.locator("message-view").last().boundingBox();
    assert(seen && seen.y < 800, "it opens at its end");
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

  check("a dialog of 5,000 skills has only the rows that can be seen", async () => {
    const place = await makeWorld(prowess, { skills: manySkills(5000) });
    try {
      await place.serve();
      const page = await browser.open(await browser.person(), place.url);
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
      await page.locator(".detail .file").first().waitFor();
      await page.fill("#skills-filter", "skill-4321");
      await page.locator(".row[data-id=skill-4321]").waitFor();
      assert.equal(await page.locator(".rows .row").count(), 1);
      await browser.accessible(page, "many skills");
      return page;
    } finally {
      place.end();
    }
  }),
];
