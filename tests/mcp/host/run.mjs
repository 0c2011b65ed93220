// Runs the official conformance suite for clients against Prowess as a host: it takes skills from the suite's servers, which
// serve something else than they list. Usage: run.mjs PROWESS TOOLS, where TOOLS is where scripts/test installs the suite.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "../lib/report.mjs";
import { environment, here, makeWorld, run } from "../lib/world.mjs";

const [prowess, tools] = process.argv.slice(2);
const suite = join(tools, "clients/node_modules/.bin/conformance");
const EXTENSION = ["2025-11-25", "2026-07-28"];

/** The scenarios for a host that takes skills, with the versions they are run in. */
const SCENARIOS = {
  initialize: ["2025-06-18", "2025-11-25"],
  "request-metadata": ["2026-07-28"],
  "sep-2640-client-no-prefetch": EXTENSION,
  "sep-2640-client-verify-digest": EXTENSION,
  "sep-2640-client-verify-size": EXTENSION,
  "sep-2640-client-verify-frontmatter": EXTENSION,
};

const { world } = makeWorld([]);
const conformance = (...args) =>
  run(process.execPath, [suite, ...args], { seconds: 120, env: environment(world), cwd: world });

/** Runs a scenario; gives its checks, and what the host did: each call with its exit code. */
const tried = async (scenario, version) => {
  const home = mkdtempSync(join(world, "home-"));
  const results = mkdtempSync(join(world, "results-"));
  const command = [process.execPath, join(here, "host/client.mjs"), prowess, home].join(" ");
  const args = ["--scenario", scenario, "--spec-version", version, "--force", "-o", results];
  const { stderr } = await conformance("client", "--command", command, ...args);
  const [folder] = readdirSync(results);
  assert(folder, `the suite gave no result: ${stderr}`);
  const read = (name) => readFileSync(join(results, folder, name), "utf8");
  const calls = read("stdout.txt").split("\n").filter(Boolean);
  return { checks: JSON.parse(read("checks.json")), calls: calls.map((line) => JSON.parse(line)) };
};

for (const [scenario, versions] of Object.entries(SCENARIOS)) {
  for (const version of versions) {
    await report.check(`host ${version}: ${scenario}`, async () => {
      const { checks, calls } = await tried(scenario, version);
      const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
      assert.deepEqual(
        bad.map(({ id, errorMessage }) => `${id}: ${errorMessage}`),
        [],
      );
      assert(
        checks.some(({ status }) => status === "SUCCESS"),
        "no check was made",
      );
      if (!scenario.startsWith("sep-2640-client-verify-")) return;
      // The suite sees only that the host does not go on. That it says so, and shows nothing, is seen here.
      const { status, stdout, stderr } = calls.find(({ args }) => args[0] === "activate");
      assert.equal(status, 1, stderr);
      assert.equal(stdout, "", "something of it was shown");
      assert.match(stderr, /is not used/);
    });
  }
}

const listed = (await conformance("list", "--client")).stdout;
for (const [, name] of listed.matchAll(/^ +- (\S+) \[/gm))
  if (!SCENARIOS[name])
    report.leftOut(
      `host: ${name}`,
      name.startsWith("auth/")
        ? "a host shows the token that it is given, and asks no authorization server for one"
        : "it is about calling tools or answering a server, and a host takes skills and nothing else",
    );
process.exit(report.end());
