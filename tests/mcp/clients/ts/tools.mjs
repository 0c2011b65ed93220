// Helpers for the checks.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

/** Thrown by a check that does not apply, with the reason. */
export class Skipped extends Error {}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until a condition holds. Fails with a description of the missing event. */
export const until = async (what, condition, seconds = 15) => {
  for (let tries = 0; tries < seconds * 20; tries++) {
    if (await condition()) return;
    await sleep(50);
  }
  assert.fail(`no ${what} within ${seconds} s`);
};

/** Returns the text of a tool result. */
export const textOf = (result) =>
  result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** Returns the error of a request. Fails if it succeeds. */
export const errorOf = async (request) => {
  try {
    await request;
  } catch (error) {
    return error;
  }
  return assert.fail("the request succeeded");
};

/** Returns whether a process with this text in its command line is running. */
export const running = (text) => execFileSync("ps", ["-A", "-ww", "-o", "args"]).toString().includes(text);

/** Returns the URI of the `SKILL.md` of a skill from the resources of the server. */
export const uriOf = async (client, skill) => {
  const { resources } = await client.resources();
  const found = resources.find(({ uri }) => uri.endsWith(`/${skill}/SKILL.md`));
  assert(found, `no resource is the SKILL.md of ${skill}: ${resources.map(({ uri }) => uri)}`);
  return found.uri;
};
