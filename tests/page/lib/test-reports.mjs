// Reports of `prowess test`, as files in the state of a home directory.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { write } from "./test-env.mjs";

const share = (passed, total, interval) => ({ passed, total, rate: passed / total, interval });
const values = (mean, stddev = 0) => ({ mean, stddev, min: mean - stddev, max: mean + stddev });

const variant = (passed, rate, tokens, seconds, calls, triggered) => ({
  runs: 18,
  errors: 0,
  passed,
  pass_rate: values(rate, 0.2),
  tokens: values(tokens, 410),
  time_seconds: values(seconds, 2.4),
  tool_calls: values(calls, 0.8),
  dollars: values(0.012, 0.004),
  triggered,
});

const testCase = (id, name, prompt, withSkill, without, failed = []) => ({
  id,
  name,
  prompt,
  pass_rates: { with_skill: withSkill, without_skill: without },
  change: withSkill > without ? "improved" : withSkill < without ? "worsened" : "unchanged",
  triggered: share(withSkill > 0.4 ? 3 : 2, 3, [0.44, 1]),
  should_trigger: null,
  failed,
  errors: [],
  passed: withSkill === 1,
});

const message = (query, should, loaded, errors = []) => ({
  query,
  should_trigger: should,
  triggered: loaded === null ? null : share(loaded, 3, [0.1, 0.9]),
  old_triggered: null,
  errors,
  passed: loaded === null ? null : loaded >= 2 === should,
});

/** Returns a report with six cases and five messages; `changes` replaces fields. */
export const testReport = (skill, changes = {}) => ({
  schema: 1,
  skill,
  path: `/skills/${skill}`,
  info: {
    agent: "prowess chat",
    model: "scripted",
    judge: "scripted-judge",
    timestamp: "2026-01-31T12:00:00Z",
    runs: 3,
    against: null,
    stopped: null,
    ...changes.info,
  },
  variants: {
    with_skill: variant(share(14, 18, [0.548, 0.91]), 0.861, 4210, 11.4, 3.2, share(17, 18, [0.742, 0.99])),
    without_skill: variant(share(5, 18, [0.125, 0.509]), 0.472, 2980, 9.1, 2.1, share(0, 18, [0, 0.176])),
  },
  comparisons: [
    {
      with: "without_skill",
      pass_rate: { cases: 6, mean: 0.389, interval: [0.061, 0.717], p_value: 0.031 },
      tokens: { cases: 6, mean: 1230, interval: [310, 2150], p_value: 0.031 },
      time_seconds: { cases: 6, mean: 2.3, interval: [-0.4, 5], p_value: 0.094 },
      improved: ["1", "2", "4", "6"],
      unchanged: ["3"],
      worsened: ["5"],
    },
  ],
  cases: [
    testCase("1", "Group changes by audience", "Write the notes of 2.4", 1, 0.333),
    testCase("2", "Name breaking changes first", "Write the notes of 3.0", 1, 0.25),
    testCase("3", "Keep the tone of earlier notes", "Write the notes like those of 2.3", 1, 1),
    testCase("4", "Link every issue", "Write the notes of 2.5 with links", 0.833, 0.167, [
      ["notes.md links the issue #412", "notes.md has 11 links; none of them ends in /412"],
    ]),
    testCase("5", "Leave internal changes out", "Write the notes of 2.6", 0.333, 0.667, [
      ["notes.md does not mention refactorings", "“Refactored the parser” is in the section Other"],
      ["notes.md has at most 20 lines", "it has 34 lines"],
    ]),
    testCase("6", null, "Write the notes for the hotfix 2.6.1", 1, 0.417),
  ],
  triggers: [
    message("Write release notes for 2.4", true, 3),
    message("What changed since last week?", true, 1),
    message("Translate this paragraph", false, 0),
    message("Review this pull request", false, null, ["the model did not reply within 60 s"]),
    message("Announce the release in the blog", false, 2),
  ],
  notes: ["Only 6 cases: an effect smaller than 30 points would not be visible."],
  ...changes.report,
});

/** Replaces all reports of a home directory: `{ skill: [report, …] }`, the first one is iteration 1. */
export const writeReports = (home, reports) => {
  const directory = join(home, ".prowess/state/tests/reports");
  rmSync(directory, { recursive: true, force: true });
  for (const [skill, list] of Object.entries(reports)) {
    for (const [index, report] of list.entries()) {
      write(join(directory, skill, `iteration-${index + 1}`), { "benchmark.json": JSON.stringify({ report }) });
    }
  }
};
