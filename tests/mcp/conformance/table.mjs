// The table of scenarios in README.md, made from what the suite lists and from the exceptions, so that it stays true.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { here } from "../lib/world.mjs";
import { CHECKS, EMPTY, FIXTURES, SCENARIOS } from "./exceptions.mjs";

const README = join(here, "README.md");
const [BEGIN, END] = ["<!-- scenarios -->\n", "<!-- end of scenarios -->\n"];

const verdict = ({ name, foreign }) => {
  if (foreign) return `left out: ${foreign}`;
  const exception = SCENARIOS[name] ?? EMPTY[name];
  if (exception) return `left out: ${exception}`;
  const passes = FIXTURES.scenarios.includes(name) ? "passes, with a fixture skill" : "passes";
  const checks = Object.entries(CHECKS).filter(([key]) => key.startsWith(`${name}:`));
  return [passes, ...checks.map(([key, why]) => `but for \`${key.split(":")[1]}\`: ${why}`)].join("; ");
};

const table = (scenarios) => {
  const rows = scenarios.map((scenario) => {
    const versions = scenario.extension ? "extension" : scenario.versions.join(", ");
    return `| \`${scenario.name}\` | ${versions} | ${verdict(scenario)} |\n`;
  });
  return `| scenario | for | |\n|---|---|---|\n${rows.join("")}`;
};

/** Fails where the table is another; with UPDATE_DOCS=1 it is written. */
export const checkTable = (scenarios) => {
  const text = readFileSync(README, "utf8");
  const [begin, end] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)];
  const wanted = text.slice(0, begin) + table(scenarios) + text.slice(end);
  if (wanted === text) return;
  if (process.env.UPDATE_DOCS !== "1") throw new Error("it is another; UPDATE_DOCS=1 writes it");
  writeFileSync(README, wanted);
};
