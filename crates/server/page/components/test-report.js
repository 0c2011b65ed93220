// The sections of a report of `prowess test`: the change, pass rates, costs, cases, messages and notes.

import { h } from "../lib/dom.js";
import { decimal, number, percent, pValue, points } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { rowPlot } from "../lib/rate-plots.js";
import { t } from "../lib/text.js";
import { panel, pointsText, RATES, row, share, table, VARIANTS } from "./report-table.js";
import { cases, messages, unmet } from "./test-cases.js";

/** @typedef {import("../types.js").TestReport} TestReport */
/** @typedef {import("../types.js").TestVariant} Variant */
/** @typedef {import("../types.js").Distribution} Distribution */

/** The p-value below which a change is unlikely to be due to chance. */
export const SIGNIFICANT = 0.05;

const CHANGES = { min: -1, max: 1, ticks: [-1, -0.5, 0, 0.5, 1], text: points };

/** @param {TestReport} report */
export const reportSections = (report) => [
  ...report.comparisons.map(comparison),
  ...(Object.keys(report.variants).length ? [rates(report), costs(report)] : []),
  ...(report.cases.length ? [cases(report), unmet(report)] : []),
  ...(report.triggers.length ? [messages(report)] : []),
  ...(report.notes.length ? [notes(report)] : []),
];

/** @param {[number, number]} interval @param {(value: number) => string} text */
const range = ([low, high], text) => t.tests.range(text(low), text(high));

/** @param {TestReport} report */
const present = (report) => VARIANTS.filter((variant) => report.variants[variant]);

/** @param {TestReport["comparisons"][number]} one */
const comparison = (one) => {
  const { mean, cases: count, p_value: p } = one.pass_rate;
  const interval = one.pass_rate.interval
    ? /** @type {[number, number]} */ (one.pass_rate.interval.map((end) => Math.min(1, Math.max(-1, end))))
    : null;
  const verdict = p >= SIGNIFICANT ? "unclear" : mean > 0 ? "better" : "worse";
  const other = t.tests.others[/** @type {"old_skill"} */ (one.with)] ?? one.with;
  const certainty = interval
    ? t.tests.interval(range(interval, points))
    : count < 2
      ? t.tests.oneCase
      : t.tests.noSpread;
  const outcome = (/** @type {"improved" | "unchanged" | "worsened"} */ change, /** @type {string} */ kind) =>
    h("span", { class: `badge ${one[change].length ? kind : ""}` }, t.tests.outcome[change](one[change].length));
  const text = pointsText(mean);
  return h(
    "section",
    { class: `panel headline ${verdict}`, "data-with": one.with },
    h("h2", {}, t.tests.changeAgainst(other)),
    h(
      "div",
      { class: "headline-figures" },
      h(
        "p",
        { class: "headline-value" },
        h("span", { class: "headline-number" }, points(mean)),
        " ",
        h("span", { class: "headline-unit" }, t.tests.points(points(mean))),
      ),
      h(
        "div",
        { class: "headline-text" },
        h("p", { class: "headline-verdict" }, t.tests.verdicts[verdict]),
        h("p", { class: "muted" }, `${certainty} · ${pValue(p)} · ${t.tests.cases(count)}`),
        h(
          "p",
          { class: "outcomes" },
          outcome("improved", "ok"),
          outcome("unchanged", ""),
          outcome("worsened", "bad"),
        ),
      ),
    ),
    rowPlot(
      [
        {
          label: t.tests.change,
          text,
          title: `${text}, ${certainty}`,
          marks: [{ kind: "with_skill", value: mean }],
          interval,
        },
      ],
      { label: t.tests.changeAgainst(other), scale: CHANGES },
    ),
  );
};

/** @param {TestReport} report */
const rates = (report) => {
  const shown = present(report).flatMap((variant) => {
    const passed = /** @type {Variant} */ (report.variants[variant]).passed;
    return passed ? [{ variant, passed }] : [];
  });
  if (!shown.length) return panel(t.tests.passedRuns, h("p", { class: "muted" }, t.tests.noResults));
  const rows = shown.map(({ variant, passed }) => ({
    label: t.tests.variants[variant],
    text: percent(passed.rate),
    title: `${t.tests.variants[variant]} ${percent(passed.rate)}, ${t.tests.interval(range(passed.interval, percent))}`,
    marks: [{ kind: variant, value: passed.rate }],
    interval: passed.interval,
  }));
  return panel(
    t.tests.passedRuns,
    h("p", { class: "muted" }, t.tests.passedRunsText),
    rowPlot(rows, { label: t.tests.passedRuns, scale: RATES }),
    table(
      t.tests.passedRuns,
      [t.tests.variant, t.tests.runs, t.tests.rate, t.tests.intervalHead],
      shown.map(({ variant, passed }) =>
        row(t.tests.variants[variant], share(passed), percent(passed.rate), range(passed.interval, percent)),
      ),
    ),
  );
};

/** @param {Distribution} values @param {(value: number) => string} text */
const spread = (values, text) =>
  h("span", {}, text(values.mean), values.stddev > 0 ? h("span", { class: "spread" }, ` ± ${text(values.stddev)}`) : "");

/** @param {TestReport} report */
const costs = (report) => {
  const whole = (/** @type {number} */ value) => number(Math.round(value));
  const hasPrices = present(report).some((variant) => (report.variants[variant]?.dollars.max ?? 0) > 0);
  const errors = present(report).reduce((sum, variant) => sum + (report.variants[variant]?.errors ?? 0), 0);
  const rows = present(report).map((variant) => {
    const numbers = /** @type {Variant} */ (report.variants[variant]);
    return row(
      t.tests.variants[variant],
      spread(numbers.pass_rate, percent),
      spread(numbers.tokens, whole),
      spread(numbers.time_seconds, decimal),
      spread(numbers.tool_calls, decimal),
      ...(hasPrices ? [spread(numbers.dollars, (value) => `$${value.toFixed(3)}`)] : []),
      share(numbers.triggered),
      ...(errors ? [number(numbers.errors)] : []),
    );
  });
  const head = [
    t.tests.variant,
    t.tests.expectations,
    t.tests.tokens,
    t.tests.seconds,
    t.tests.toolCalls,
    ...(hasPrices ? [t.tests.dollars] : []),
    t.tests.loaded,
    ...(errors ? [t.tests.errors] : []),
  ];
  return panel(
    t.tests.perRun,
    h("p", { class: "muted" }, t.tests.perRunText),
    table(t.tests.perRun, head, rows),
    errors ? h("p", { class: "muted" }, t.tests.errorsText(errors)) : null,
  );
};

/** @param {TestReport} report */
const notes = (report) =>
  panel(t.tests.notes, h("ul", { class: "notes" }, ...report.notes.map((note) => h("li", {}, visible(note)))));
