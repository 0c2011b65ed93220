// A list of diagnostics with their lines.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/** @typedef {import("../types.js").Diagnostic} Diagnostic */

/**
 * @template {Diagnostic & { fix?: unknown }} D
 * @param {D[]} diagnostics
 * @param {{ open?: (diagnostic: D) => void, path?: (diagnostic: D) => string, href?: (diagnostic: D) => string | null,
 *   fix?: (diagnostic: D) => void }} [how]
 */
export const diagnosticsList = (diagnostics, how = {}) =>
  h(
    "ul",
    { class: "diagnostics" },
    ...diagnostics.map((one) => {
      const place = [how.path ? how.path(one) : one.path, one.line, one.column]
        .filter((part) => part !== undefined && part !== null && part !== "")
        .join(":");
      return h(
        "li",
        { class: `diagnostic ${one.severity}` },
        icon("alert"),
        h(
          "div",
          {},
          h(
            "p",
            { class: "diagnostic-text" },
            h("span", { class: "unseen" }, `${t.severity[one.severity] ?? one.severity}: `),
            h("code", { class: "diagnostic-code" }, one.code),
            " ",
            one.message,
          ),
          place && placeOf(one, place, how),
          one.help && h("p", { class: "muted" }, one.help),
          how.fix !== undefined &&
            Boolean(one.fix) &&
            h(
              "button",
              { class: "button small", "aria-label": `${t.skills.fix}: ${one.message}`, onclick: () => how.fix?.(one) },
              t.skills.fix,
            ),
        ),
      );
    }),
  );

/**
 * @template {Diagnostic} D
 * @param {D} one @param {string} place
 * @param {{ open?: (diagnostic: D) => void, href?: (diagnostic: D) => string | null }} how
 */
const placeOf = (one, place, how) => {
  const href = how.href?.(one);
  if (href) return h("a", { class: "mono", href }, place);
  if (how.open && one.line) return h("button", { class: "link mono", onclick: () => how.open?.(one) }, place);
  return h("span", { class: "mono muted" }, place);
};
