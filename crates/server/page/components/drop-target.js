// Files can be dropped anywhere on a conversation.

import { h } from "../lib/dom.js";
import { dropped, TooManyFiles } from "../lib/files.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/** The maximum number of files of a message, as on the server. */
export const FILES_MAX = 100;

/**
 * Returns the hint that is shown while files are dragged over an element.
 * @param {HTMLElement} element
 * @param {(files: { path: string, file: File }[]) => Promise<void>} attach
 * @param {(error: unknown) => void} fail
 */
export const dropTarget = (element, attach, fail) => {
  const hint = h("div", { class: "drop-hint", hidden: true, "aria-hidden": "true" }, icon("upload"), t.files.drop);
  const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
  element.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    hint.hidden = false;
  });
  element.addEventListener("dragleave", (event) => {
    if (!element.contains(/** @type {Node | null} */ (event.relatedTarget))) hint.hidden = true;
  });
  element.addEventListener("drop", async (event) => {
    hint.hidden = true;
    if (!hasFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    try {
      const found = await dropped(event.dataTransfer, FILES_MAX);
      if (!found) throw new Error(t.files.nothing);
      await attach(found.files);
    } catch (error) {
      const many = error instanceof TooManyFiles;
      const unreadable = error instanceof DOMException;
      fail(many ? new Error(t.files.tooMany(FILES_MAX)) : unreadable ? new Error(t.files.unreadable) : error);
    }
  });
  return hint;
};
