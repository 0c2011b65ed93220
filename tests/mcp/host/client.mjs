// What the conformance suite starts as the client, with the URL of its server as the last argument: Prowess takes the
// skill that the server lists, approves it, and where told to load it, loads it as an agent would: the instructions, and
// only if they could be had, a file that they refer to. Usage: client.mjs PROWESS HOME URL.

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

/** Calls Prowess; says what came of it, and whether it went well. */
const call = (...args) => {
  const { status, stdout, stderr } = spawnSync(prowess, ["--home", home, "--project", home, ...args], {
    env: { PATH: process.env.PATH, HOME: home },
    encoding: "utf8",
  });
  console.log(JSON.stringify({ args, status, stdout, stderr }));
  return status === 0;
};

const found = call("list", "--all") && call("trust", "--mcp", SKILL);
if (found && process.env.MCP_CONFORMANCE_SCENARIO !== "sep-2640-client-no-prefetch")
  process.exitCode = call("activate", SKILL) && call("read", SKILL, FILE) ? 0 : 1;
