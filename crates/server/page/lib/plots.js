// SVG plots. Colors come from the stylesheet, so that they fit both themes; every plot also has its figures as text, for
// screen readers.

import { h, svg } from "./dom.js";
import { number } from "./format.js";

/** @typedef {{ label: string, value: number, kind: string }} Slice */

/**
 * A stacked bar with a legend.
 * @param {Slice[]} slices
 * @param {{ label: string, whole?: number, unit?: (value: number) => string }} how
 */
export const stackedBar = (slices, how) => {
  const present = slices.filter((slice) => slice.value > 0);
  const sum = present.reduce((total, slice) => total + slice.value, 0);
  const whole = Math.max(how.whole ?? sum, sum) || 1;
  const unit = how.unit ?? number;
  let from = 0;
  const bars = present.map((slice) => {
    const width = (slice.value / whole) * 1000;
    const bar = svg(
      "rect",
      { x: from, y: 0, width: Math.max(width - 2, 1), height: 20, class: `fill-${slice.kind}` },
      svg("title", {}, `${slice.label}: ${unit(slice.value)}`),
    );
    from += width;
    return bar;
  });
  const picture = svg(
    "svg",
    {
      class: "stacked",
      viewBox: "0 0 1000 20",
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${how.label}: ${present.map((slice) => `${slice.label} ${unit(slice.value)}`).join(", ")}`,
    },
    svg("rect", { x: 0, y: 0, width: 1000, height: 20, class: "fill-rest" }),
    ...bars,
  );
  const legend = h(
    "ul",
    { class: "legend" },
    ...present.map((slice) =>
      h(
        "li",
        {},
        swatch(slice.kind),
        h("span", {}, slice.label),
        h("span", { class: "legend-value" }, unit(slice.value)),
      ),
    ),
  );
  return h("div", { class: "plot" }, picture, legend);
};

/** @param {string} kind */
const swatch = (kind) =>
  svg(
    "svg",
    { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" },
    svg("rect", { width: 10, height: 10, rx: 2, class: `fill-${kind}` }),
  );

/**
 * A bar chart; each bar may be stacked.
 * @param {{ label: string, title?: string, href?: string, slices: Slice[], text: string }[]} rows
 * @param {string} label
 */
export const bars = (rows, label) => {
  const most = Math.max(1, ...rows.map((row) => row.slices.reduce((sum, slice) => sum + slice.value, 0)));
  return h(
    "ul",
    { class: "bars", "aria-label": label },
    ...rows.map((row) => {
      let from = 0;
      const parts = row.slices
        .filter((slice) => slice.value > 0)
        .map((slice) => {
          const width = (slice.value / most) * 1000;
          const part = svg(
            "rect",
            { x: from, y: 0, width: Math.max(width - 2, 2), height: 10, class: `fill-${slice.kind}` },
            svg("title", {}, `${slice.label}: ${number(slice.value)}`),
          );
          from += width;
          return part;
        });
      return h(
        "li",
        { class: "bar-row" },
        row.href
          ? h("a", { class: "bar-label", title: row.title ?? row.label, href: row.href }, row.label)
          : h("span", { class: "bar-label", title: row.title ?? row.label }, row.label),
        svg(
          "svg",
          {
            class: "bar-picture",
            viewBox: "0 0 1000 10",
            preserveAspectRatio: "none",
            "aria-hidden": "true",
          },
          ...parts,
        ),
        h("span", { class: "bar-value" }, row.text),
      );
    }),
  );
};
