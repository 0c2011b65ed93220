// Panels and tables of a report of `prowess test`.

import { h } from "../lib/dom.js";
import { number, percent, points } from "../lib/format.js";
import { t } from "../lib/text.js";

/** @typedef {import("../types.js").Proportion} Proportion */

/** The variants of a run, in the order in which they are shown. */
export const VARIANTS = /** @type {const} */ (["with_skill", "without_skill", "old_skill"]);

/** The scale of pass rates. */
export const RATES = { min: 0, max: 1, ticks: [0, 0.25, 0.5, 0.75, 1], text: percent };

/** A difference of shares with its unit. @param {number} change */
export const pointsText = (change) => `${points(change)} ${t.tests.points(points(change))}`;

/** @param {string} title @param {...(Node | string | null)} content */
export const panel = (title, ...content) =>
  h("section", { class: "panel" }, h("h2", {}, title), ...content.filter((one) => one !== null));

/** @param {string} label @param {(string | Node)[]} head @param {HTMLTableRowElement[]} rows */
export const table = (label, head, rows) =>
  h(
    "div",
    { class: "wide-table", tabindex: "0", role: "region", "aria-label": label },
    h(
      "table",
      { class: "plain-table figures-table" },
      h(
        "thead",
        {},
        h("tr", {}, ...head.map((text, index) => h("th", { scope: "col", class: index ? "number" : "" }, text))),
      ),
      h("tbody", {}, ...rows),
    ),
  );

/** @param {string | Node} head @param {(string | Node)[]} cells */
export const row = (head, ...cells) =>
  h("tr", {}, h("th", { scope: "row" }, head), ...cells.map((cell) => h("td", { class: "number" }, cell)));

/** @param {Proportion | null} proportion */
export const share = (proportion) => (proportion ? `${number(proportion.passed)}/${number(proportion.total)}` : "–");
