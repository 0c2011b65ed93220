// Asks before unsaved changes are discarded.

import { t } from "../lib/text.js";
import { confirmDialog } from "./confirm-dialog.js";

/** Elements that hold what a person writes have `unsaved`. @param {ParentNode} root */
export const hasUnsaved = (root) =>
  [...root.querySelectorAll("skill-form")].some((one) => /** @type {any} */ (one).unsaved);

/** Returns whether unsaved changes inside an element may be discarded: there are none, or the user agrees. @param {ParentNode} root @returns {Promise<boolean>} */
export const mayDiscard = async (root) =>
  !hasUnsaved(root) ||
  confirmDialog({ title: t.unsaved.title, text: t.unsaved.text, yes: t.unsaved.discard, no: t.unsaved.keep, danger: true });

addEventListener("beforeunload", (event) => {
  if (hasUnsaved(document)) event.preventDefault();
});
