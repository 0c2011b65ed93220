// The files for the next message: they are uploaded at once, and shown as chips with their progress. The event `removed` has the
// path of a file that was uploaded and is not wanted any more.

import { at, Problem } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { size } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { numbered, upload } from "../lib/upload.js";

/** How many names are tried if files with the same name exist. */
const NAMES_MAX = 50;

/** @typedef {{ path: string, state: "waiting" | "done" | "failed", item: HTMLElement, stop: AbortController }} Chip */

export class FileChips extends HTMLElement {
  /** @type {Chip[]} */
  #chips = [];
  #list = h("ul", { class: "file-chips", "aria-label": t.files.attached });
  #said = h("div", { class: "unseen", role: "status" });
  /** Uploads one after the other. @type {Promise<unknown>} */
  #queue = Promise.resolve();

  connectedCallback() {
    this.className = "file-chips-box";
    this.replaceChildren(this.#list, this.#said);
    this.#changed();
  }

  /** The paths of the files that are ready. */
  get paths() {
    return this.#chips.filter((chip) => chip.state === "done").map((chip) => chip.path);
  }

  /** Waits until no file is being uploaded. */
  async settled() {
    await this.#queue;
  }

  clear() {
    for (const chip of this.#chips) chip.stop.abort();
    this.#chips = [];
    this.#changed();
  }

  /**
   * Uploads files to a chat.
   * @param {string} chat
   * @param {{ path: string, file: File }[]} files
   * @param {number} max the maximum size of a file
   */
  add(chat, files, max) {
    for (const { path, file } of files) this.#add(chat, path, file, max);
    return this.#queue;
  }

  /** @param {string} chat @param {string} path @param {File} file @param {number} max */
  #add(chat, path, file, max) {
    const name = h("span", { class: "chip-name" }, visible(path));
    const progress = h("progress", { class: "file-progress", max: 1, value: 0, "aria-label": t.files.uploading(path) });
    const note = h("span", { class: "file-note" }, size(file.size));
    const remove = h(
      "button",
      { class: "chip-close", type: "button", title: t.files.detach(path), "aria-label": t.files.detach(path) },
      icon("close"),
    );
    const item = h("li", { class: "chip file-chip" }, icon("file"), name, note, progress, remove);
    /** @type {Chip} */
    const chip = { path, state: "waiting", item, stop: new AbortController() };
    remove.addEventListener("click", () => {
      chip.stop.abort();
      this.#chips = this.#chips.filter((other) => other !== chip);
      this.#changed();
      this.dispatchEvent(new CustomEvent("removed", { detail: chip.state === "done" ? chip.path : null }));
    });
    this.#chips.push(chip);
    this.#changed();
    const work = async () => {
      if (chip.stop.signal.aborted) return;
      try {
        if (file.size > max) throw new Problem(413, { detail: t.files.tooLarge(size(max)) });
        chip.path = await this.#upload(chat, path, file, progress, chip.stop.signal);
        chip.state = "done";
        name.textContent = visible(chip.path);
        this.#said.textContent = t.files.added(chip.path);
        this.dispatchEvent(new Event("uploaded"));
      } catch (error) {
        if (chip.stop.signal.aborted) return;
        chip.state = "failed";
        item.classList.add("failed");
        const text = t.problem(/** @type {any} */ (error));
        note.textContent = visible(text);
        this.#said.textContent = `${visible(path)}: ${visible(text)}`;
      } finally {
        progress.remove();
        this.#changed();
      }
    };
    this.#queue = this.#queue.then(work);
  }

  /**
   * Uploads a file under its name, or a numbered one if it is taken.
   * @param {string} chat @param {string} path @param {File} file @param {HTMLProgressElement} progress @param {AbortSignal} signal
   */
  async #upload(chat, path, file, progress, signal) {
    for (let number = 1; ; number++) {
      const name = numbered(path, number);
      try {
        const written = await upload(at.chatFile(chat, name), file, (part) => (progress.value = part), signal);
        return String(written.file.path);
      } catch (error) {
        if (!(error instanceof Problem && error.status === 409) || number === NAMES_MAX) throw error;
      }
    }
  }

  #changed() {
    this.#list.replaceChildren(...this.#chips.map((chip) => chip.item));
    this.hidden = this.#chips.length === 0;
    this.dispatchEvent(new Event("change"));
  }
}
customElements.define("file-chips", FileChips);
