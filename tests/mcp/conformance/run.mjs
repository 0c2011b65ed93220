// Runs the official conformance suite for servers over HTTP, with every protocol version of the suite.
// Usage: run.mjs PROWESS TOOLS, where TOOLS is the directory into which scripts/test installs the suite.
//
// Every scenario must pass without a warning, unless exceptions.mjs contains the reason why it cannot. An exception that
// passes is a failure, too, and must be removed.

import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "../lib/report.mjs";
import { environment, makeTestEnv, run, startHttp } from "../lib/test-env.mjs";
import { CHECKS, EMPTY, FIXTURES, SCENARIOS } from "./exceptions.mjs";
import { checkTable } from "./table.mjs";

const [prowess, tools] = process.argv.slice(2);
const suite = join(tools, "clients/node_modules/.bin/conformance");
// The first skill has a subdirectory, which the suite requires.
const SKILLS = ["skills/pictures", "skills-system-validation", "skills/temperature"];
const SKILLS_EXTENSION = "sep-2640-";
const OTHER_EXTENSION = "it belongs to an extension that Prowess does not implement";

const conformance = async (home, ...args) => {
  const { stdout, stderr, timedOut } = await run(process.execPath, [suite, ...args], {
    seconds: 300,
    env: environment(home),
  });
  if (timedOut) throw new Error(`conformance ${args.join(" ")} timed out: ${stderr}`);
  return stdout;
};

/** Returns all server scenarios with their protocol versions. Scenarios of extensions run with the versions that have them. */
const listScenarios = async (home) =>
  [...(await conformance(home, "list", "--server")).matchAll(/^ +- (\S+) \[(.*)\]$/gm)].map(
    ([, name, versions]) => ({
      name,
      versions: versions === "extension" ? ["2025-11-25", "2026-07-28"] : versions.split(","),
      extension: versions === "extension",
      unsupported: versions === "extension" && !name.startsWith(SKILLS_EXTENSION) ? OTHER_EXTENSION : null,
    }),
  );

/** Reads the checks of each scenario from the directory of the results. */
const readResults = (directory) =>
  Object.fromEntries(
    readdirSync(directory).map((entry) => [
      entry.match(/^server-(.*)-\d{4}-\d\d-\d\dT.*$/)[1],
      JSON.parse(readFileSync(join(directory, entry, "checks.json"), "utf8")),
    ]),
  );

/** Returns the failed checks of a scenario, those without an exception, and the used and unused exceptions. */
const applyExceptions = (scenario, checks) => {
  const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const excepted = Object.keys(CHECKS).filter((key) => key.startsWith(`${scenario}:`));
  const wrong = bad.filter(({ id }) => !excepted.includes(`${scenario}:${id}`));
  const stale = excepted
    .filter((key) => checks.some(({ id }) => key === `${scenario}:${id}`))
    .filter((key) => !bad.some(({ id }) => key === `${scenario}:${id}`));
  return {
    bad,
    wrong,
    stale,
    used: excepted.filter((key) => bad.some(({ id }) => key === `${scenario}:${id}`)),
  };
};

/** Returns whether a check is specific to its scenario. The schema of messages is checked in every scenario. */
const isSpecific = ({ id }) => !id.startsWith("wire-schema-");

const reportScenario = (label, name, checks) => {
  if (!checks) return report.failed(label, "the suite returned no result");
  const { bad, wrong, stale, used } = applyExceptions(name, checks);
  const passed = checks.filter((check) => check.status === "SUCCESS" && isSpecific(check)).length;
  const failures = wrong.map(({ id, status, errorMessage }) => `${id} ${status}: ${errorMessage}`);
  if (EMPTY[name]) return report.skipped(label, EMPTY[name]);
  if (SCENARIOS[name]) {
    if (!bad.every(isSpecific)) return report.failed(label, failures.join("; "));
    if (bad.length === 0 && passed > 0) return report.failed(label, "it passes; remove its exception");
    return report.skipped(label, SCENARIOS[name]);
  }
  for (const key of used) report.skipped(`${label}, check ${key.split(":")[1]}`, CHECKS[key]);
  if (stale.length > 0) return report.failed(label, `these checks pass; remove their exceptions: ${stale}`);
  if (wrong.length > 0) return report.failed(label, failures.join("; "));
  if (passed === 0) return report.failed(label, "no check passed");
  return report.ok(`${label}, ${passed} checks`);
};

// Two servers: one with ordinary skills, and one with skills that provide what some scenarios require by name.
const plain = makeTestEnv(SKILLS);
const special = makeTestEnv([...SKILLS, ...FIXTURES.skills.map((skill) => `conformance/skills/${skill}`)]);
const servers = {
  plain: await startHttp(prowess, plain),
  special: await startHttp(prowess, special, FIXTURES.flags),
};
const listed = await listScenarios(plain.home);
const serverFor = (name) => (FIXTURES.scenarios.includes(name) ? "special" : "plain");

for (const version of ["2025-06-18", "2025-11-25", "2026-07-28"]) {
  const results = {};
  for (const [kind, { url }] of Object.entries(servers)) {
    const directory = mkdtempSync(join(plain.base, "results-"));
    const args = ["--url", url, "--suite", "all", "--spec-version", version, "-o", directory];
    await conformance(plain.home, "server", ...args);
    results[kind] = readResults(directory);
  }
  for (const { name, versions, extension, unsupported } of listed) {
    const label = `conformance ${version}: ${name}`;
    if (!versions.includes(version)) continue;
    if (unsupported) {
      report.skipped(label, unsupported);
    } else if (extension) {
      const directory = mkdtempSync(join(plain.base, "results-"));
      const args = ["--scenario", name, "--spec-version", version, "--force", "-o", directory];
      await conformance(plain.home, "server", "--url", servers.plain.url, ...args);
      reportScenario(label, name, readResults(directory)[name]);
    } else {
      reportScenario(label, name, results[serverFor(name)][name]);
    }
  }
}
await report.check("conformance: the table in tests/mcp/README.md", () => checkTable(listed));
const unknown = [...Object.keys(SCENARIOS), ...Object.keys(EMPTY), ...FIXTURES.scenarios].filter(
  (name) => !listed.some((scenario) => scenario.name === name),
);
if (unknown.length > 0)
  report.failed("conformance: exceptions", `the suite has no such scenarios: ${unknown}`);
process.exit(report.end());
