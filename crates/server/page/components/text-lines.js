// A text with line numbers and notes at its lines.

import { h } from "../lib/dom.js";
import { visible } from "../lib/hidden.js";

/** The maximum number of lines shown with line numbers. */
const LINES = 3000;

/** @typedef {{ line?: number, severity: string, text: string }} LineNote */

/**
 * @param {string} content
 * @param {{ label: string, notes: LineNote[], marked?: number }} how
 */
export const textLines = (content, { label, notes, marked }) => {
  const lines = content.replace(/\n$/, "").split("\n");
  if (lines.length > LINES) return h("pre", { class: "card-text", tabindex: "0", "aria-label": label }, visible(content));
  /** @type {Map<number | undefined, LineNote[]>} */
  const byLine = Map.groupBy(notes, (note) => note.line);
  return h(
    "ol",
    { class: "lines", tabindex: "0", "aria-label": label },
    ...lines.map((text, index) => {
      const here = byLine.get(index + 1) ?? [];
      const worst = here.find((note) => note.severity === "error") ?? here[0];
      const kind = [worst?.severity ?? "", index + 1 === marked ? "marked" : ""].join(" ").trim();
      return h(
        "li",
        { class: kind || null },
        h("code", {}, visible(text) || " "),
        ...here.map((note) => h("span", { class: "line-said" }, note.text)),
      );
    }),
  );
};
