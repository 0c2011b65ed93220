// Plots of rates and changes: points with intervals, and pairs of points. Horizontal positions are percentages, so that plots fit
// any width without scaled text. Screen readers get a description; the view shows the same figures in a table.

import { h, svg } from "./dom.js";

/** @typedef {{ kind: string, value: number }} Mark */
/** @typedef {{ label: string, text: string, title: string, marks: Mark[], interval?: [number, number] | null, change?: string }} PlotRow */
/** @typedef {{ min: number, max: number, ticks: number[], text: (value: number) => string }} Scale */

/**
 * Returns the position of a value on a scale, in percent from the start. Values outside are moved to its ends.
 * @param {Scale} scale @param {number} value
 */
export const position = ({ min, max }, value) =>
  ((Math.min(Math.max(value, min), max) - min) / (max - min)) * 100;

/** @param {number} percent */
const x = (percent) => `${Math.round(percent * 100) / 100}%`;

/**
 * A plot with a row for each label: its marks, and an interval or a line between the first and the last mark.
 * @param {PlotRow[]} rows
 * @param {{ label: string, scale: Scale }} how
 */
export const rowPlot = (rows, { label, scale }) => {
  const at = (/** @type {number} */ value) => x(position(scale, value));
  const picture = svg(
    "svg",
    { class: "rate-picture", role: "img", "aria-label": `${label}: ${rows.map((row) => row.title).join("; ")}` },
    ...scale.ticks.map((tick) => tickLine(tick, at(tick), scale)),
    ...rows.map((row, index) =>
      // The vertical center of the row; its content is positioned in pixels around it.
      svg(
        "svg",
        { y: x(((index + 0.5) / rows.length) * 100), width: "100%", height: 1, overflow: "visible" },
        svg("title", {}, row.title),
        row.interval ? intervalBar(at(row.interval[0]), at(row.interval[1])) : null,
        row.change ? connection(row, at) : null,
        ...row.marks.map((mark) => markShape(mark, at(mark.value))),
      ),
    ),
  );
  picture.style.gridRow = `1 / span ${rows.length}`;
  const texts = rows.flatMap((row, index) => {
    const cells = [
      h("span", { class: "rate-label", title: row.label }, row.label),
      h("span", { class: "rate-value" }, row.text),
    ];
    for (const cell of cells) {
      cell.style.gridRow = String(index + 1);
      cell.setAttribute("aria-hidden", "true");
    }
    return cells;
  });
  return h("div", { class: "rate-plot" }, picture, ...texts);
};

/** @param {number} tick @param {string} at @param {Scale} scale */
const tickLine = (tick, at, scale) => {
  const isZero = tick === 0 && scale.min < 0;
  const isMinor = tick !== scale.min && tick !== scale.max && tick !== (scale.min + scale.max) / 2;
  return svg(
    "g",
    { class: `tick${isZero ? " zero" : ""}${isMinor ? " minor" : ""}` },
    svg("line", { x1: at, x2: at, y1: 0, y2: "100%" }),
    svg("text", { x: at, y: "100%", dy: 18, "text-anchor": "middle" }, scale.text(tick)),
  );
};

/** @param {string} low @param {string} high */
const intervalBar = (low, high) =>
  svg(
    "g",
    { class: "interval" },
    svg("line", { x1: low, x2: high, y1: 0, y2: 0 }),
    ...[low, high].map((end) => svg("line", { x1: end, x2: end, y1: -5, y2: 5 })),
  );

/** @param {PlotRow} row @param {(value: number) => string} at */
const connection = (row, at) => {
  const [first, last] = [row.marks[0], row.marks.at(-1)];
  if (!first || !last) return null;
  return svg("line", { class: `connection ${row.change}`, x1: at(first.value), x2: at(last.value), y1: 0, y2: 0 });
};

/** Marks differ in their shape, not only in their color. @param {Mark} mark @param {string} at */
const markShape = ({ kind }, at) => {
  if (kind === "old_skill") {
    return svg(
      "svg",
      { x: at, width: 1, height: 1, overflow: "visible" },
      svg("path", { class: "mark old_skill", d: "M0-7 7 0 0 7-7 0Z" }),
    );
  }
  return svg("circle", { class: `mark ${kind}`, cx: at, cy: 0, r: kind === "without_skill" ? 7 : 5 });
};

/**
 * The legend of the marks.
 * @param {{ kind: string, label: string }[]} kinds
 */
export const markLegend = (kinds) =>
  h(
    "ul",
    { class: "legend", "aria-hidden": "true" },
    ...kinds.map(({ kind, label }) =>
      h(
        "li",
        {},
        svg(
          "svg",
          { class: "mark-sample", viewBox: "-9 -9 18 18" },
          markShape({ kind, value: 0 }, "0"),
        ),
        h("span", {}, label),
      ),
    ),
  );
