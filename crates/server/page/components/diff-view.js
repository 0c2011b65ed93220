// The differences of two texts: removed and added lines, with some lines around them.

import { h } from "../lib/dom.js";
import { diffLines, hunksOf } from "../lib/diff.js";
import { e } from "../lib/editor-text.js";
import { visible } from "../lib/hidden.js";

/** The maximum number of lines that are shown. */
const LINES_MAX = 3000;

/** The number of added and removed lines. @param {import("../lib/diff.js").DiffLine[]} lines */
const counts = (lines) => ({
  added: lines.filter((line) => line.kind === "added").length,
  removed: lines.filter((line) => line.kind === "removed").length,
});

const SIGNS = { same: "", added: "+", removed: "−" };

/**
 * @param {string} before @param {string} after
 * @param {string} label
 * @returns {{ element: HTMLElement, added: number, removed: number }}
 */
export const diffView = (before, after, label) => {
  const lines = diffLines(before, after);
  const { hunks, rest } = hunksOf(lines);
  const gap = (/** @type {number} */ count) =>
    h("tr", { class: "gap" }, h("td", { colspan: 4 }, e.unchanged(count)));
  let left = LINES_MAX;
  const rows = hunks.flatMap((hunk) => {
    const shown = hunk.lines.slice(0, left);
    left -= shown.length;
    return [...(hunk.skipped > 0 ? [gap(hunk.skipped)] : []), ...shown.map(row)];
  });
  const number = counts(lines);
  const table = h(
    "table",
    { class: "diff" },
    h("caption", { class: "unseen" }, label),
    h("tbody", {}, ...rows, ...(rest > 0 && left > 0 ? [gap(rest)] : [])),
  );
  const element = h(
    "div",
    { class: "diff-scroll", tabindex: "0", role: "region", "aria-label": label },
    hunks.length > 0 ? table : h("p", { class: "muted diff-none" }, before === after ? e.noDifferences : e.onlyLineBreaks),
    left <= 0 && h("p", { class: "muted diff-none" }, e.diffCut),
  );
  return { element, ...number };
};

/** @param {import("../lib/diff.js").DiffLine} line */
const row = (line) =>
  h(
    "tr",
    { class: line.kind },
    h("td", { class: "no" }, line.before ?? ""),
    h("td", { class: "no" }, line.after ?? ""),
    h(
      "td",
      { class: "sign" },
      h("span", { "aria-hidden": "true" }, SIGNS[line.kind]),
      line.kind !== "same" && h("span", { class: "unseen" }, e.diffKinds[line.kind]),
    ),
    h("td", { class: "code-cell" }, h("code", {}, visible(line.text))),
  );
