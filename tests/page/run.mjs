// Tests the page in a real browser with the real server. Usage: run.mjs PROWESS TOOLS [FILTER…], where TOOLS is the directory
// into which scripts/test installs the packages. With filters, only checks whose name contains one of them run.

import assert from "node:assert/strict";
import { report } from "../mcp/lib/report.mjs";
import { answers } from "./checks/answers.mjs";
import { chatList } from "./checks/chat-list.mjs";
import { chat } from "./checks/chat.mjs";
import { consent } from "./checks/consent.mjs";
import { editor } from "./checks/editor.mjs";
import { files } from "./checks/files.mjs";
import { hostile, hostileSkills } from "./checks/hostile.mjs";
import { keyboard } from "./checks/keyboard.mjs";
import { large } from "./checks/large.mjs";
import { messages } from "./checks/messages.mjs";
import { pageUnits } from "./checks/page-units.mjs";
import { resume } from "./checks/resume.mjs";
import { schemes } from "./checks/schemes.mjs";
import { sidebar } from "./checks/sidebar.mjs";
import { skills } from "./checks/skills.mjs";
import { tests } from "./checks/tests.mjs";
import { units } from "./checks/units.mjs";
import { views } from "./checks/views.mjs";
import { startBrowser } from "./lib/browser.mjs";
import { script } from "./lib/script.mjs";
import { makeTestEnv, skillMd } from "./lib/test-env.mjs";

const [prowess, tools, ...filters] = process.argv.slice(2);

/** A check has a name and a function. If the function returns a page, that page must have no problems. */
const check = (name, work) => ({ name, work });

const SKILLS = {
  notes: {
    "SKILL.md": skillMd(
      "notes",
      "Turn notes into tasks. Use after a meeting.",
      "# Notes\n\nRead references/guide.md.",
      "colour: blue\n",
    ),
    "references/guide.md": "# Guide\nThe guide's second line\n",
  },
  "short-lived": { "SKILL.md": skillMd("short-lived", "Will be deleted. Use never.") },
  "no-description": { "SKILL.md": "---\nname: no-description\n---\nNothing.\n" },
  ...hostileSkills,
};

const env = await makeTestEnv(prowess, { script, skills: SKILLS, env: { PROWESS_ALLOW_FILE_URLS: "1" } });
// The checks of the editor add many skills.
const editorEnv = await makeTestEnv(prowess, { script, skills: SKILLS });
const browser = await startBrowser(tools);
try {
  await env.serve();
  await editorEnv.serve();
  const all = [
    ...units(check),
    ...pageUnits(check),
    ...chat(env, browser, check, prowess),
    ...answers(env, browser, check),
    ...messages(env, browser, check),
    ...keyboard(env, browser, check),
    ...sidebar(env, browser, check),
    ...schemes(env, browser, check),
    ...chatList(env, browser, check),
    ...consent(browser, check, prowess),
    ...files(env, browser, check),
    ...resume(env, browser, check),
    ...skills(env, browser, check),
    ...editor(editorEnv, browser, check),
    ...views(env, browser, check),
    ...tests(env, browser, check),
    ...hostile(env, browser, check, prowess),
    ...large(env, browser, check, prowess),
  ];
  const selected = all.filter(
    ({ name }) => filters.length === 0 || filters.some((filter) => name.includes(filter)),
  );
  for (const { name, work } of selected) {
    await report.check(name, async () => {
      const page = await work().catch(async (error) => {
        if (process.env.PAGE_SHOTS) await browser.saveScreenshots(name);
        throw error;
      });
      if (page) assert.deepEqual(page.problems, [], "problems reported by the browser");
    });
    env.model.releaseWaiting();
    await browser.closeContexts();
  }
} finally {
  await browser.close();
  env.end();
  editorEnv.end();
}
process.exit(report.end());
