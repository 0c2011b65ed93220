// Runs the official conformance suite for clients against Prowess as a host of skills. The servers of the suite serve other
// files than they list. Usage: run.mjs PROWESS TOOLS, where TOOLS is the directory into which scripts/test installs the suite.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "../lib/report.mjs";
import { environment, here, makeTestEnv, run } from "../lib/test-env.mjs";

const [prowess, tools] = process.argv.slice(2);
const suite = join(tools, "clients/node_modules/.bin/conformance");
const EXTENSION = ["2025-11-25", "2026-07-28"];

/** The scenarios for a host of skills, with their protocol versions. */
const SCENARIOS = {
  initialize: ["2025-06-18", "2025-11-25"],
  "request-metadata": ["2026-07-28"],
  "sep-2640-client-no-prefetch": EXTENSION,
  "sep-2640-client-verify-digest": EXTENSION,
  "sep-2640-client-verify-size": EXTENSION,
  "sep-2640-client-verify-frontmatter": EXTENSION,
};

const { base } = makeTestEnv([]);
const conformance = (...args) =>
  run(process.execPath, [suite, ...args], { seconds: 120, env: environment(base), cwd: base });

/** Runs a scenario. Returns its checks and the calls of the host with their exit codes. */
const runScenario = async (scenario, version) => {
  const home = mkdtempSync(join(base, "home-"));
  const results = mkdtempSync(join(base, "results-"));
  const command = [process.execPath, join(here, "host/client.mjs"), prowess, home].join(" ");
  const args = ["--scenario", scenario, "--spec-version", version, "--force", "-o", results];
  const { stderr } = await conformance("client", "--command", command, ...args);
  const [directory] = readdirSync(results);
  assert(directory, `the suite returned no result: ${stderr}`);
  const read = (name) => readFileSync(join(results, directory, name), "utf8");
  const calls = read("stdout.txt").split("\n").filter(Boolean);
  return { checks: JSON.parse(read("checks.json")), calls: calls.map((line) => JSON.parse(line)) };
};

for (const [scenario, versions] of Object.entries(SCENARIOS)) {
  for (const version of versions) {
    await report.check(`host ${version}: ${scenario}`, async () => {
      const { checks, calls } = await runScenario(scenario, version);
      const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
      assert.deepEqual(
        bad.map(({ id, errorMessage }) => `${id}: ${errorMessage}`),
        [],
      );
      assert(
        checks.some(({ status }) => status === "SUCCESS"),
        "no check passed",
      );
      if (!scenario.startsWith("sep-2640-client-verify-")) return;
      // The suite only checks that the host stops. Also check that it reports an error and prints nothing.
      const { status, stdout, stderr } = calls.find(({ args }) => args[0] === "activate");
      assert.equal(status, 1, stderr);
      assert.equal(stdout, "", "content was printed");
      assert.match(stderr, /is not used/);
    });
  }
}

const listed = (await conformance("list", "--client")).stdout;
for (const [, name] of listed.matchAll(/^ +- (\S+) \[/gm))
  if (!SCENARIOS[name])
    report.skipped(
      `host: ${name}`,
      name.startsWith("auth/")
        ? "a host sends its configured token and does not contact an authorization server"
        : "it tests tool calls or requests of a server, but a host only reads skills",
    );
process.exit(report.end());
