// A dialog with the differences of two texts, and a choice.

import { freshId, h } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { diffView } from "./diff-view.js";

/**
 * Shows the differences and returns the chosen value; null if the dialog is closed. The last choice is the main one.
 * @param {{ title: string, text?: string, before: string, after: string, choices: { value: string, label: string, danger?: boolean }[] }} what
 * @returns {Promise<string | null>}
 */
export const reviewDialog = ({ title, text, before, after, choices }) =>
  new Promise((answer) => {
    const id = freshId("review");
    const main = choices.at(-1);
    const diff = diffView(before, after, title);
    const buttons = choices.map(({ value, label, danger }) =>
      h(
        "button",
        {
          class: `button ${value === main?.value ? "primary" : ""} ${danger ? "danger-text" : ""}`,
          type: "button",
          onclick: () => dialog.close(value),
        },
        label,
      ),
    );
    const close = h(
      "button",
      { class: "icon-button", title: t.common.close, "aria-label": t.common.close, onclick: () => dialog.close() },
      icon("close"),
    );
    const dialog = h(
      "dialog",
      { class: "dialog large review", "aria-labelledby": id },
      h(
        "header",
        { class: "dialog-head" },
        h("h2", { id, class: "dialog-title" }, title),
        h("span", { class: "diff-counts" }, h("span", { class: "plus" }, `+${diff.added}`), " ", h("span", { class: "minus" }, `−${diff.removed}`)),
        close,
      ),
      text && h("p", { class: "review-text" }, text),
      diff.element,
      h("div", { class: "actions review-actions" }, ...buttons),
    );
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        dialog.close(main?.value);
      }
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(dialog.returnValue || null);
    });
    document.body.append(dialog);
    dialog.showModal();
    buttons.at(-1)?.focus();
  });

/** Asks before a text is saved. @param {string} path @param {string} before @param {string} after */
export const reviewSave = async (path, before, after) =>
  (await reviewDialog({
    title: e.saveTitle(path),
    before,
    after,
    choices: [
      { value: "no", label: t.common.cancel },
      { value: "save", label: t.common.save },
    ],
  })) === "save";
