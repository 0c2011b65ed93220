// A confirmation dialog. Escape means no.

import { freshId, h } from "../lib/dom.js";
import { t } from "../lib/text.js";

/**
 * @param {{ title: string, text: string, yes: string, no?: string, danger?: boolean }} question
 * @returns {Promise<boolean>}
 */
export const confirmDialog = ({ title, text, yes, no: otherwise = t.common.cancel, danger }) =>
  new Promise((answer) => {
    const id = freshId("question");
    const no = h(
      "button",
      { class: "button", type: "button", onclick: () => dialog.close() },
      otherwise,
    );
    const go = h(
      "button",
      {
        class: `button ${danger ? "danger" : "primary"}`,
        type: "button",
        onclick: () => dialog.close("yes"),
      },
      yes,
    );
    const dialog = h(
      "dialog",
      { class: "dialog small", "aria-labelledby": id, "aria-describedby": `${id}-text` },
      h(
        "div",
        { class: "dialog-body" },
        h("h2", { id }, title),
        h("p", { id: `${id}-text` }, text),
        h("div", { class: "actions" }, no, go),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
    (danger ? no : go).focus();
  });
