// The page in a real browser, against the real server. Usage: run.mjs PROWESS TOOLS [WORDS…], where TOOLS is the folder that
// scripts/test installs the packages into; with words, only the checks whose name has one of them.

import assert from "node:assert/strict";
import { report } from "../mcp/lib/report.mjs";
import { chat } from "./checks/chat.mjs";
import { hostile, hostileSkills } from "./checks/hostile.mjs";
import { large } from "./checks/large.mjs";
import { resume } from "./checks/resume.mjs";
import { skills } from "./checks/skills.mjs";
import { units } from "./checks/units.mjs";
import { views } from "./checks/views.mjs";
import { startBrowser } from "./lib/browser.mjs";
import { script } from "./lib/script.mjs";
import { makeWorld, skillMd } from "./lib/world.mjs";

const [prowess, tools, ...words] = process.argv.slice(2);

/** A check is a name and what to do; if it gives a page, that page must have nothing to tell. */
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

const world = await makeWorld(prowess, { script, skills: SKILLS });
const browser = await startBrowser(tools);
try {
  await world.serve();
  const all = [
    ...units(check),
    ...chat(world, browser, check, prowess),
    ...resume(world, browser, check),
    ...skills(world, browser, check),
    ...views(world, browser, check),
    ...hostile(world, browser, check, prowess),
    ...large(world, browser, check, prowess),
  ];
  const wanted = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  for (const { name, work } of wanted) {
    await report.check(name, async () => {
      const page = await work().catch(async (error) => {
        if (process.env.PAGE_SHOTS) await browser.picture(name);
        throw error;
      });
      if (page) assert.deepEqual(page.told, [], "what the browser told");
    });
    world.model.release();
    await browser.clear();
  }
} finally {
  await browser.close();
  world.end();
}
process.exit(report.end());
