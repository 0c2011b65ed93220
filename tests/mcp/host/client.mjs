// The client that the conformance suite starts, with the URL of its server as the last argument. Prowess lists and approves
// the skill of the server. Unless the scenario forbids loading, it then activates the skill and, if that succeeds, reads a file.
// Usage: client.mjs PROWESS HOME URL.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [prowess, home, url] = process.argv.slice(2);
const SKILL = "suite/pdf-processing";
const FILE = "references/FORMS.md";

mkdirSync(join(home, ".prowess"), { recursive: true });
writeFileSync(
  join(home, ".prowess/config.toml"),
  `[[sources.mcp]]\nlabel = "suite"\nurl = ${JSON.stringify(url)}\n`,
);

/** Runs Prowess and prints the result as JSON. Returns whether it succeeded. */
const call = (...args) => {
  const { status, stdout, stderr } = spawnSync(prowess, ["--home", home, "--project", home, ...args], {
    env: { PATH: process.env.PATH, HOME: home },
    encoding: "utf8",
  });
  console.log(JSON.stringify({ args, status, stdout, stderr }));
  return status === 0;
};

const approved = call("list", "--all") && call("trust", "--mcp", SKILL);
if (approved && process.env.MCP_CONFORMANCE_SCENARIO !== "sep-2640-client-no-prefetch")
  process.exitCode = call("activate", SKILL) && call("read", SKILL, FILE) ? 0 : 1;
