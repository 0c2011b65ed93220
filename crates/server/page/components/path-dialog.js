// Asks for a path inside a skill, and shows why it cannot be used.

import { freshId, h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { field } from "./field.js";

/**
 * @param {{ title: string, label: string, hint: string, value: string, yes: string, submit: (path: string) => Promise<void> }} what
 * @returns {Promise<string | null>} the path that `submit` accepted
 */
export const pathDialog = ({ title, label, hint, value, yes, submit }) =>
  new Promise((answer) => {
    const id = freshId("path");
    const input = h("input", { class: "input mono", value, autocomplete: "off", spellcheck: "false" });
    const path = field(label, input, hint);
    const go = h("button", { class: "button primary" }, yes);
    const form = h(
      "form",
      { class: "dialog-body", novalidate: true },
      h("h2", { id }, title),
      path.element,
      h(
        "div",
        { class: "actions" },
        h("button", { class: "button", type: "button", onclick: () => dialog.close() }, t.common.cancel),
        go,
      ),
    );
    const dialog = h("dialog", { class: "dialog small", "aria-labelledby": id }, form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const chosen = input.value.trim();
      if (!chosen) return path.error(t.form.needed);
      go.disabled = true;
      try {
        await submit(chosen);
        dialog.close(chosen);
      } catch (error) {
        path.error(t.problem(/** @type {any} */ (error)));
        input.focus();
      }
      go.disabled = false;
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(dialog.returnValue || null);
    });
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
    const name = value.lastIndexOf("/") + 1;
    const end = value.lastIndexOf(".");
    input.setSelectionRange(name, end > name ? end : value.length);
  });
