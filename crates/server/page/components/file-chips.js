// The files for the next message: they are uploaded at once, and shown as chips with their progress. The event `removed` has the
// path of a file that was uploaded and is not wanted any more.

import { at, Problem } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { size } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { freePath, upload } from "../lib/upload.js";

/** How often another name is tried if a file with the same name was added meanwhile. */
const ATTEMPTS_MAX = 5;

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

  /** The number of files that could not be uploaded. */
  get failed() {
    return this.#chips.filter((chip) => chip.state === "failed").length;
  }

  /** The number of files, uploaded or not. */
  get count() {
    return this.#chips.length;
  }

  /** Waits until no file is being uploaded. */
  async settled() {
    await this.#queue;
  }

  clear() {
    for (const chip of this.#chips) chip.stop.abort();
    this.#chips = [];
    this.#list.replaceChildren();
    this.#changed();
  }

  /**
   * Uploads files to a chat.
   * @param {string} chat
   * @param {{ path: string, file: File }[]} files
   * @param {number} max the maximum size of a file
   * @param {() => string[]} known the paths of the files that the chat has
   */
  add(chat, files, max, known) {
    for (const { path, file } of files) this.#add(chat, path, file, max, known);
    return this.#queue;
  }

  /** @param {string} chat @param {string} path @param {File} file @param {number} max @param {() => string[]} known */
  #add(chat, path, file, max, known) {
    const shown = visible(path);
    const name = h("span", { class: "chip-name" }, shown);
    const progress = h("progress", { class: "file-progress", max: 1, value: 0, "aria-label": t.files.uploading(shown) });
    const note = h("span", { class: "file-note" }, size(file.size));
    const label = { title: t.files.detach(shown), "aria-label": t.files.detach(shown) };
    const remove = h("button", { class: "chip-close", type: "button", ...label }, icon("close"));
    const item = h("li", { class: "chip file-chip" }, icon("file"), name, note, progress, remove);
    /** @type {Chip} */
    const chip = { path, state: "waiting", item, stop: new AbortController() };
    remove.addEventListener("click", () => {
      chip.stop.abort();
      this.#chips = this.#chips.filter((other) => other !== chip);
      item.remove();
      this.#changed();
      this.dispatchEvent(new CustomEvent("removed", { detail: chip.state === "done" ? chip.path : null }));
    });
    this.#chips.push(chip);
    this.#list.append(item);
    this.#changed();
    const work = async () => {
      if (chip.stop.signal.aborted) return;
      try {
        if (file.size > max) throw new Problem(413, { detail: t.files.tooLarge(size(max)) });
        const report = (/** @type {number} */ part) => (progress.value = part);
        chip.path = await this.#upload(chat, path, file, known(), report, chip.stop.signal);
        chip.state = "done";
        name.textContent = visible(chip.path);
        this.#said.textContent = t.files.added(visible(chip.path));
        this.dispatchEvent(new Event("uploaded"));
      } catch (error) {
        if (chip.stop.signal.aborted) return;
        chip.state = "failed";
        item.classList.add("failed");
        const text = t.problem(/** @type {any} */ (error));
        note.textContent = visible(text);
        this.#said.textContent = `${shown}: ${visible(text)}`;
      } finally {
        progress.remove();
        this.#changed();
      }
    };
    this.#queue = this.#queue.then(work);
  }

  /**
   * Uploads a file under its name, or a numbered one if it is taken.
   * @param {string} chat @param {string} path @param {File} file @param {string[]} known
   * @param {(part: number) => void} report @param {AbortSignal} signal
   */
  async #upload(chat, path, file, known, report, signal) {
    const taken = new Set([...known, ...this.paths]);
    for (let attempt = 1; ; attempt++) {
      const name = freePath(path, taken);
      try {
        const written = await upload(at.chatFile(chat, name), file, report, signal);
        return String(written.file.path);
      } catch (error) {
        // A script or another tab was faster.
        if (!(error instanceof Problem && error.status === 409) || attempt === ATTEMPTS_MAX) throw error;
        taken.add(name);
      }
    }
  }

  #changed() {
    this.hidden = this.#chips.length === 0;
    this.dispatchEvent(new Event("change"));
  }
}
customElements.define("file-chips", FileChips);
