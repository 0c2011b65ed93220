// The files of a chat, in a section that opens below its title.

import { h, make } from "../lib/dom.js";
import { size } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { confirmDialog } from "./confirm-dialog.js";
import { FileCard } from "./file-card.js";

/** @typedef {import("../types.js").ChatFile} ChatFile */

/** The number of files that are listed. */
const LISTED_MAX = 500;

export class FilesPanel extends HTMLElement {
  #summary = h("summary", {}, icon("folder"), h("span", { class: "files-count" }));
  #list = h("ul", { class: "files-list" });
  #fold = h("details", { class: "files-fold" }, this.#summary, this.#list);
  /** The last rendered files, so that an update does not close previews. */
  #key = "";

  connectedCallback() {
    this.className = "files-panel";
    this.replaceChildren(this.#fold);
  }

  /**
   * @param {string} chat
   * @param {ChatFile[]} files
   * @param {(path: string) => Promise<void>} remove
   */
  show(chat, files, remove) {
    this.hidden = files.length === 0;
    const key = JSON.stringify([chat, files]);
    if (key === this.#key) return;
    this.#key = key;
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    const count = this.#summary.querySelector(".files-count");
    if (count) count.textContent = t.files.count(files.length, size(bytes));
    const omitted = files.length - LISTED_MAX;
    this.#list.replaceChildren(
      ...files.slice(0, LISTED_MAX).map((file) => {
        const card = make(FileCard);
        const ask = async () => {
          const text = t.files.removeText(visible(file.path));
          const yes = await confirmDialog({ title: t.files.removeTitle, text, yes: t.common.delete, danger: true });
          if (yes) await remove(file.path);
        };
        card.show(chat, file, { open: false, remove: ask });
        return h("li", {}, card);
      }),
      ...(omitted > 0 ? [h("li", { class: "muted" }, t.files.notListed(omitted))] : []),
    );
  }

  close() {
    this.#fold.open = false;
  }
}
customElements.define("files-panel", FilesPanel);
