// What the checks have in common.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

/** Thrown by a check that does not apply, with the reason. */
export class skipped extends Error {}

export const sleep = (milliseconds) => new Promise((wake) => setTimeout(wake, milliseconds));

/** Waits until a condition holds; says what was missing if it never does. */
export const until = async (what, condition, seconds = 15) => {
  for (let tries = 0; tries < seconds * 20; tries++) {
    if (await condition()) return;
    await sleep(50);
  }
  assert.fail(`after ${seconds} s there is still no ${what}`);
};

/** The text of a tool's result. */
export const textOf = (result) =>
  result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** The error that a request ends with. */
export const errorOf = async (request) => {
  try {
    await request;
  } catch (error) {
    return error;
  }
  return assert.fail("it succeeded");
};

/** Whether a process with these words in its call is there. */
export const running = (words) => execFileSync("ps", ["-A", "-ww", "-o", "args"]).toString().includes(words);

/** Where the `SKILL.md` of a skill is, by what the server lists. */
export const uriOf = async (client, skill) => {
  const { resources } = await client.resources();
  const found = resources.find(({ uri }) => uri.endsWith(`/${skill}/SKILL.md`));
  assert(found, `no resource is the SKILL.md of ${skill}: ${resources.map(({ uri }) => uri)}`);
  return found.uri;
};
