// Generates the table of scenarios in README.md from the list of the suite and the exceptions.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { here } from "../lib/test-env.mjs";
import { CHECKS, EMPTY, FIXTURES, SCENARIOS } from "./exceptions.mjs";

const README = join(here, "README.md");
const [BEGIN, END] = ["<!-- scenarios -->\n", "<!-- end of scenarios -->\n"];

const resultOf = ({ name, unsupported }) => {
  if (unsupported) return `skipped: ${unsupported}`;
  const exception = SCENARIOS[name] ?? EMPTY[name];
  if (exception) return `skipped: ${exception}`;
  const passes = FIXTURES.scenarios.includes(name) ? "passes, with a fixture skill" : "passes";
  const checks = Object.entries(CHECKS).filter(([key]) => key.startsWith(`${name}:`));
  return [passes, ...checks.map(([key, why]) => `except \`${key.split(":")[1]}\`: ${why}`)].join("; ");
};

const table = (scenarios) => {
  const rows = scenarios.map((scenario) => {
    const versions = scenario.extension ? "extension" : scenario.versions.join(", ");
    return `| \`${scenario.name}\` | ${versions} | ${resultOf(scenario)} |\n`;
  });
  return `| scenario | for | |\n|---|---|---|\n${rows.join("")}`;
};

/** Fails if the table is outdated. With UPDATE_DOCS=1, updates it instead. */
export const checkTable = (scenarios) => {
  const text = readFileSync(README, "utf8");
  const [begin, end] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)];
  const expected = text.slice(0, begin) + table(scenarios) + text.slice(end);
  if (expected === text) return;
  if (process.env.UPDATE_DOCS !== "1") throw new Error("the table is outdated; run with UPDATE_DOCS=1 to update it");
  writeFileSync(README, expected);
};
