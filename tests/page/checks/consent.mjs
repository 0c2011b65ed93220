// Questions about scripts: what a script may access, the answers, reloads and other tabs.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { send, waitForReply, waitForText } from "../lib/browser.mjs";
import { makeTestEnv, skillMd } from "../lib/test-env.mjs";

const SKILLS = {
  upper: {
    "SKILL.md": skillMd("upper", "Writes text in upper case. Use for headings."),
    "scripts/upper.sh": '#!/bin/sh\ntr a-z A-Z < "$1" > upper.txt\necho done\n',
  },
};

/** The model runs the script once, then replies. */
const script = (message, step) =>
  step === 0
    ? { call: { name: "skills_run", arguments: { name: "upper", script: "scripts/upper.sh", args: ["in.txt"] } } }
    : { text: `Result for: ${message}` };

const attach = async (page) => {
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("button", { name: "Attach files" }).click(),
  ]);
  await chooser.setFiles([{ name: "in.txt", mimeType: "text/plain", buffer: Buffer.from("text") }]);
  await waitForText(page.locator(".files-count"), "1 file, 4 B");
};

export const consent = (browser, check, prowess) => [
  check("a script runs after the user allowed it, and its file appears as a card", async () => {
    const env = await makeTestEnv(prowess, { script, skills: SKILLS, env: { PROWESS_ALLOW_SCRIPTS: undefined } });
    try {
      await env.serve();
      const context = await browser.newContext();
      const page = await browser.open(context, env.url);
      await attach(page);
      await send(page, "Make it loud.");
      const question = page.getByRole("group", { name: "Allow upper to run scripts/upper.sh?" });
      await question.waitFor();
      const access = await question.locator("dl").innerText();
      assert.match(access, /Reads\s+the skill, system files, in\.txt\s+Writes\s+the files of this conversation\s+Network\s+no access/);
      await browser.checkAccessibility(page, "a question about a script");
      // The question is still there after a reload, even if the access level becomes known later, and in another tab.
      const about = Promise.withResolvers();
      const delay = async (route) => {
        await about.promise;
        await route.continue();
      };
      await page.route("**/api/about", delay, { times: 1 });
      await page.reload();
      await question.waitFor();
      about.resolve();
      await question.getByRole("button", { name: "Allow once" }).waitFor();
      const other = await browser.open(context, page.url());
      const otherQuestion = other.getByRole("group", { name: "Allow upper to run scripts/upper.sh?" });
      await otherQuestion.waitFor();
      // The first answer counts. Other answers, also to another question, have no effect.
      const chat = page.url().split("/").at(-1);
      const { consent: asked } = await env.api(`/api/chats/${chat}`);
      const forged = await fetch(`${env.url}api/chats/${chat}/consents/${asked.id}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ decision: "always" }),
      });
      assert.equal(forged.status, 404);
      await other.route("**/consents/*", async (route) => {
        const answered = page.waitForResponse("**/consents/*");
        await question.getByRole("button", { name: "Allow once" }).press("Enter");
        assert.equal((await answered).status(), 204);
        await route.continue();
      });
      await otherQuestion.getByRole("button", { name: "Always allow" }).click();
      await waitForReply(page);
      await otherQuestion.waitFor({ state: "detached" });
      const card = page.locator(".card file-card", { hasText: "upper.txt" });
      await card.locator("summary").click();
      await waitForText(card.locator("pre"), "TEXT");

      await send(page, "Not again.");
      await question.getByRole("button", { name: "Not now" }).click();
      await waitForReply(page, 2);
      await waitForText(page.locator(".card.error"), /not allowed to run/);

      await send(page, "Always.");
      await question.getByRole("button", { name: "Always allow" }).click();
      await waitForReply(page, 3);
      await send(page, "Without a question.");
      await waitForReply(page, 4);
      assert.equal(await question.count(), 0);
      const config = join(env.home, ".prowess/config.toml");
      assert.match(readFileSync(config, "utf8"), /allowed-skills = \["upper@sha256-tree-v1:[0-9a-f]{64}"\]/);
      // A change of the skill ends the permission.
      writeFileSync(join(env.userSkills, "upper/notes.md"), "New.");
      await send(page, "After a change.");
      await question.getByRole("button", { name: "Never allow" }).click();
      await waitForReply(page, 5);
      assert.match(readFileSync(config, "utf8"), /denied-skills = \["upper"\]/);
      return page;
    } finally {
      env.end();
    }
  }),
];
