// The cases and messages of a report of `prowess test`.

import { h } from "../lib/dom.js";
import { firstLine, percent } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { markLegend, rowPlot } from "../lib/rate-plots.js";
import { t } from "../lib/text.js";
import { panel, RATES, row, share, table, VARIANTS } from "./report-table.js";

/** @typedef {import("../types.js").TestReport} TestReport */
/** @typedef {import("../types.js").TestCase} TestCase */

/** The maximum number of cases in the plot; the table has all of them. */
const PLOTTED = 60;

/** @param {TestCase} one */
const caseName = (one) => visible(`${one.id} · ${one.name || firstLine(one.prompt, 80)}`);

/** @param {TestCase} one @returns {(typeof VARIANTS)[number] | null} */
const baseline = ({ pass_rates }) => {
  if (pass_rates.without_skill !== undefined) return "without_skill";
  return pass_rates.old_skill !== undefined ? "old_skill" : null;
};

/** @param {number | undefined} value */
const rate = (value) => (value === undefined ? "–" : percent(value));

/** @param {TestReport} report */
export const cases = (report) => {
  const variants = VARIANTS.filter((variant) => report.cases.some((one) => one.pass_rates[variant] !== undefined));
  const rows = report.cases.slice(0, PLOTTED).map((one) => {
    const before = baseline(one);
    const [from, to] = [before ? one.pass_rates[before] : undefined, one.pass_rates.with_skill];
    const marks = [
      ...(before && from !== undefined ? [{ kind: before, value: from }] : []),
      ...(to !== undefined ? [{ kind: "with_skill", value: to }] : []),
    ];
    const text = from === undefined ? rate(to) : `${rate(from)} → ${rate(to)}`;
    return { label: caseName(one), text, title: `${caseName(one)}: ${text}`, marks, change: one.change ?? "unchanged" };
  });
  const kinds = { improved: "ok", unchanged: "", worsened: "bad" };
  return panel(
    t.tests.casesTitle,
    h("p", { class: "muted" }, t.tests.casesText),
    markLegend(variants.map((kind) => ({ kind, label: t.tests.variants[kind] }))),
    rowPlot(rows, { label: t.tests.casesTitle, scale: RATES }),
    report.cases.length > PLOTTED ? h("p", { class: "muted" }, t.overview.more(report.cases.length - PLOTTED)) : null,
    table(
      t.tests.casesTitle,
      [t.tests.case, ...variants.map((variant) => t.tests.variants[variant]), t.tests.change, t.tests.loaded],
      report.cases.map((one) =>
        row(
          caseName(one),
          ...variants.map((variant) => rate(one.pass_rates[variant])),
          one.change ? h("span", { class: `badge ${kinds[one.change]}` }, t.tests.changes[one.change]) : "–",
          share(one.triggered),
        ),
      ),
    ),
  );
};

/** @param {TestReport} report */
export const unmet = (report) => {
  const failed = report.cases.filter((one) => one.failed.length || one.errors.length);
  if (!failed.length) return panel(t.tests.unmet, h("p", { class: "all-met" }, icon("check"), t.tests.allMet));
  return panel(
    t.tests.unmet,
    ...failed.map((one) =>
      h(
        "details",
        { class: "fold unmet", open: true },
        h(
          "summary",
          {},
          h("span", {}, caseName(one)),
          h("span", { class: "fold-size" }, t.tests.unmetCount(one.failed.length)),
        ),
        h(
          "div",
          { class: "unmet-body" },
          h(
            "p",
            { class: "unmet-prompt" },
            h("span", { class: "small-title" }, t.tests.prompt),
            " ",
            visible(one.prompt),
          ),
          h(
            "ul",
            { class: "expectations" },
            ...one.failed.map(([expectation, evidence]) =>
              h(
                "li",
                {},
                icon("close"),
                h("div", {}, h("p", {}, visible(expectation)), h("p", { class: "evidence" }, visible(evidence))),
              ),
            ),
            ...one.errors.map((error) =>
              h("li", { class: "no-result" }, icon("alert"), h("p", {}, `${t.tests.noResult}: ${visible(error)}`)),
            ),
          ),
        ),
      ),
    ),
  );
};

/** @param {TestReport} report */
export const messages = (report) => {
  const order = (/** @type {boolean | null} */ passed) => (passed === false ? 0 : passed === null ? 1 : 2);
  const sorted = report.triggers.toSorted((a, b) => order(a.passed) - order(b.passed));
  const right = report.triggers.filter((one) => one.passed).length;
  const hasOld = report.triggers.some((one) => one.old_triggered);
  const result = (/** @type {boolean | null} */ passed) =>
    passed === null
      ? h("span", { class: "badge warn" }, t.tests.noResult)
      : h("span", { class: `badge ${passed ? "ok" : "bad"}` }, passed ? t.tests.asExpected : t.tests.wrong);
  return panel(
    t.tests.messages,
    h("p", { class: "muted" }, t.tests.messagesText(right, report.triggers.length)),
    table(
      t.tests.messages,
      [
        t.tests.message,
        t.tests.shouldLoad,
        t.tests.loaded,
        ...(hasOld ? [t.tests.loadedOld] : []),
        t.tests.result,
      ],
      sorted.map((one) =>
        row(
          h(
            "span",
            {},
            visible(one.query),
            ...one.errors.map((error) => h("span", { class: "message-error" }, visible(error))),
          ),
          one.should_trigger ? t.tests.yes : t.tests.no,
          share(one.triggered),
          ...(hasOld ? [share(one.old_triggered)] : []),
          result(one.passed),
        ),
      ),
    ),
  );
};
