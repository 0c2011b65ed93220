// Runs the official conformance suite for servers against the server over HTTP, in every version of the protocol that the
// suite has scenarios for. Usage: run.mjs PROWESS TOOLS, where TOOLS is the folder that scripts/test installs it into.
//
// Every scenario of the suite is run, and is held to this: it passes, without a warning, or exceptions.mjs says why it
// cannot. What is said there and passes all the same is a failure, too: the line has to go.

import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "../lib/report.mjs";
import { environment, makeWorld, run, startHttp } from "../lib/world.mjs";
import { CHECKS, EMPTY, FIXTURES, SCENARIOS } from "./exceptions.mjs";
import { checkTable } from "./table.mjs";

const [prowess, tools] = process.argv.slice(2);
const suite = join(tools, "clients/node_modules/.bin/conformance");
// The first of them has a folder, which the suite wants to see.
const SKILLS = ["skills/pictures", "skills-system-validation", "skills/temperature"];
const OURS = "sep-2640-";
const FOREIGN = "it is of an extension that Prowess does not have";

const conformance = async (home, ...args) => {
  const { stdout, stderr, timedOut } = await run(process.execPath, [suite, ...args], {
    seconds: 300,
    env: environment(home),
  });
  if (timedOut) throw new Error(`conformance ${args.join(" ")} was too slow: ${stderr}`);
  return stdout;
};

/** Every scenario for servers, with the versions it is for; one of an extension is tried in those that extensions are for. */
const scenarios = async (home) =>
  [...(await conformance(home, "list", "--server")).matchAll(/^ +- (\S+) \[(.*)\]$/gm)].map(
    ([, name, versions]) => ({
      name,
      versions: versions === "extension" ? ["2025-11-25", "2026-07-28"] : versions.split(","),
      extension: versions === "extension",
      foreign: versions === "extension" && !name.startsWith(OURS) ? FOREIGN : null,
    }),
  );

/** The checks of each scenario, out of the folder that the suite wrote its results to. */
const resultsIn = (folder) =>
  Object.fromEntries(
    readdirSync(folder).map((entry) => [
      entry.match(/^server-(.*)-\d{4}-\d\d-\d\dT.*$/)[1],
      JSON.parse(readFileSync(join(folder, entry, "checks.json"), "utf8")),
    ]),
  );

/** What is wrong in the checks of a scenario, less the exceptions; and which exceptions were not needed. */
const verdict = (scenario, checks) => {
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

/** Messages are checked against the schema of the protocol in every scenario; that alone shows nothing of its subject. */
const isOfScenario = ({ id }) => !id.startsWith("wire-schema-");

const judge = (label, name, checks) => {
  if (!checks) return report.failed(label, "the suite gave no result");
  const { bad, wrong, stale, used } = verdict(name, checks);
  const passed = checks.filter((check) => check.status === "SUCCESS" && isOfScenario(check)).length;
  const told = wrong.map(({ id, status, errorMessage }) => `${id} ${status}: ${errorMessage}`);
  if (EMPTY[name]) return report.leftOut(label, EMPTY[name]);
  if (SCENARIOS[name]) {
    if (!bad.every(isOfScenario)) return report.failed(label, told.join("; "));
    if (bad.length === 0 && passed > 0) return report.failed(label, "it passes; its exception has to go");
    return report.leftOut(label, SCENARIOS[name]);
  }
  for (const key of used) report.leftOut(`${label}, check ${key.split(":")[1]}`, CHECKS[key]);
  if (stale.length > 0) return report.failed(label, `these pass; their exceptions have to go: ${stale}`);
  if (wrong.length > 0) return report.failed(label, told.join("; "));
  if (passed === 0) return report.failed(label, "no check of it was made");
  return report.ok(`${label}, ${passed} checks`);
};

// Two servers: one with ordinary skills, and one with skills that bring what some scenarios ask for by name.
const plain = makeWorld(SKILLS);
const special = makeWorld([...SKILLS, ...FIXTURES.skills.map((skill) => `conformance/skills/${skill}`)]);
const servers = {
  plain: await startHttp(prowess, plain),
  special: await startHttp(prowess, special, FIXTURES.flags),
};
const listed = await scenarios(plain.home);
const serverFor = (name) => (FIXTURES.scenarios.includes(name) ? "special" : "plain");

for (const version of ["2025-06-18", "2025-11-25", "2026-07-28"]) {
  const results = {};
  for (const [kind, { url }] of Object.entries(servers)) {
    const folder = mkdtempSync(join(plain.world, "results-"));
    const args = ["--url", url, "--suite", "all", "--spec-version", version, "-o", folder];
    await conformance(plain.home, "server", ...args);
    results[kind] = resultsIn(folder);
  }
  for (const { name, versions, extension, foreign } of listed) {
    const label = `conformance ${version}: ${name}`;
    if (!versions.includes(version)) continue;
    if (foreign) {
      report.leftOut(label, foreign);
    } else if (extension) {
      const folder = mkdtempSync(join(plain.world, "results-"));
      const args = ["--scenario", name, "--spec-version", version, "--force", "-o", folder];
      await conformance(plain.home, "server", "--url", servers.plain.url, ...args);
      judge(label, name, resultsIn(folder)[name]);
    } else {
      judge(label, name, results[serverFor(name)][name]);
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
