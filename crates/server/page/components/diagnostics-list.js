// A list of diagnostics with their lines.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/** @typedef {import("../types.js").Diagnostic} Diagnostic */

/**
 * @param {Diagnostic[]} diagnostics
 * @param {{ open?: (diagnostic: Diagnostic) => void, path?: (diagnostic: Diagnostic) => string }} [how]
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
          place &&
            (how.open && one.line
              ? h("button", { class: "link mono", onclick: () => how.open?.(one) }, place)
              : h("span", { class: "mono muted" }, place)),
          one.help && h("p", { class: "muted" }, one.help),
        ),
      );
    }),
  );
