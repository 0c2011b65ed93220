// Edits a message of the user in place. Enter sends it, Escape cancels.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";

/**
 * @param {string} text
 * @param {(text: string | null) => void} done called with the new text, or null
 */
export const messageEditor = (text, done) => {
  const area = h("textarea", { class: "input message-edit", rows: 2, "aria-label": t.message.editLabel, value: text });
  const send = () => {
    const value = area.value.trim();
    if (value) done(value);
  };
  area.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") done(null);
    else if (event.key === "Enter" && !event.shiftKey) send();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return h(
    "form",
    {
      class: "message-editor",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        send();
      },
    },
    area,
    h("p", { class: "hint" }, t.message.editHelp),
    h(
      "div",
      { class: "actions" },
      h("button", { class: "button small", type: "button", onclick: () => done(null) }, t.common.cancel),
      h("button", { class: "button small primary", type: "submit" }, t.prompt.send),
    ),
  );
};
