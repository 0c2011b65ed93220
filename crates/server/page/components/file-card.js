// A file of a chat: its name, size and type, a preview, and a download. Files are untrusted: only images and PDF files are
// displayed by the browser, and everything else is shown as text.

import { at, request, withQuery } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { size } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { readTable, separatorOf } from "../lib/tables.js";
import { t } from "../lib/text.js";

/** @typedef {import("../types.js").FileInfo} FileInfo */

/** The maximum size of a previewed text. */
const TEXT_MAX = 512 * 1024;

/** The number of characters of a text that are shown. */
const SHOWN_MAX = 20_000;

/** The maximum size of an image that is shown without a click. */
const IMAGE_OPEN_MAX = 4 * 1024 * 1024;

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const TABLES = ["text/csv", "text/tab-separated-values"];
const TEXTS = ["application/json", "application/jsonl", "application/yaml", "application/toml", "application/xml", "image/svg+xml"];

/** What a preview shows. @param {FileInfo} file @returns {"image" | "table" | "text" | "pdf" | null} */
export const previewOf = (file) => {
  if (IMAGES.includes(file.media_type)) return "image";
  if (file.media_type === "application/pdf") return "pdf";
  if (file.size > TEXT_MAX) return null;
  if (TABLES.includes(file.media_type)) return "table";
  return TEXTS.includes(file.media_type) || file.media_type.startsWith("text/") ? "text" : null;
};

export class FileCard extends HTMLElement {
  /** @type {FileInfo | null} */
  #file = null;
  /** The file as it is now, if that is known. @type {FileInfo | null} */
  #now = null;
  #chat = "";
  #state = h("span", { class: "badge warn", hidden: true });

  get path() {
    return this.#file?.path ?? "";
  }

  /**
   * @param {string} chat
   * @param {FileInfo} file
   * @param {{ open?: boolean, remove?: () => void }} [options]
   */
  show(chat, file, { open = true, remove } = {}) {
    this.#chat = chat;
    this.#file = file;
    this.className = "file-card";
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", t.files.label(visible(file.path)));
    const address = at.chatFile(chat, file.path);
    const name = file.path.split("/").at(-1) ?? file.path;
    const download = { title: t.files.download(visible(file.path)), "aria-label": t.files.download(visible(file.path)) };
    this.replaceChildren(
      h(
        "div",
        { class: "artifact-head" },
        icon("file"),
        h("span", { class: "artifact-name" }, visible(file.path)),
        h("span", { class: "file-about" }, `${size(file.size)}, ${visible(file.media_type)}`),
        this.#state,
        h("a", { class: "icon-button small", href: address, download: name, ...download }, icon("download")),
        remove && this.#removeButton(file.path, remove),
      ),
    );
    const kind = previewOf(file);
    if (kind) this.append(this.#preview(kind, file, open && kind === "image" && file.size <= IMAGE_OPEN_MAX));
  }

  /** The file as it is now, or `null` if it was deleted. @param {FileInfo | null} now */
  set current(now) {
    this.#now = now;
    const text = now === null ? t.files.deleted : now.digest === this.#file?.digest ? "" : t.files.changed;
    this.#state.textContent = text;
    this.#state.hidden = text === "";
  }

  /** @param {string} path @param {() => void} remove */
  #removeButton(path, remove) {
    const label = t.files.remove(visible(path));
    return h(
      "button",
      { class: "icon-button small", type: "button", title: label, "aria-label": label, onclick: remove },
      icon("trash"),
    );
  }

  /** @param {"image" | "table" | "text" | "pdf"} kind @param {FileInfo} file @param {boolean} open */
  #preview(kind, file, open) {
    const body = h("div", { class: "fold-body file-preview" });
    const fold = h("details", { class: "fold", open }, h("summary", {}, t.files.preview), body);
    const load = async () => {
      if (body.firstChild) return;
      body.replaceChildren(h("p", { class: "muted" }, t.files.loading));
      try {
        body.replaceChildren(...(await this.#content(kind, file)));
      } catch (error) {
        body.replaceChildren(h("p", { class: "card-note" }, visible(t.problem(/** @type {any} */ (error)))));
      }
    };
    fold.addEventListener("toggle", () => fold.open && load());
    if (open) load();
    return fold;
  }

  /** @param {"image" | "table" | "text" | "pdf"} kind @param {FileInfo} file @returns {Promise<HTMLElement[]>} */
  async #content(kind, file) {
    const address = at.chatFile(this.#chat, file.path);
    const inline = withQuery(address, { inline: 1 });
    if (kind === "image") {
      const image = h("img", { class: "file-image", alt: visible(file.path), loading: "lazy", src: inline });
      image.addEventListener("error", () => image.replaceWith(h("p", { class: "card-note" }, t.files.noPreview)));
      return [image];
    }
    if (kind === "pdf") {
      const link = h("a", { href: inline, target: "_blank", rel: "noopener" }, t.files.openPdf);
      if (!navigator.pdfViewerEnabled) return [h("p", { class: "file-link" }, link)];
      const frame = h("iframe", { class: "file-pdf", src: inline, title: visible(file.path) });
      return [frame, h("p", { class: "file-link" }, link)];
    }
    // The file may have grown since the message was written.
    if (this.#now && this.#now.size > TEXT_MAX) return [h("p", { class: "card-note" }, t.files.noPreview)];
    const text = await (await request(address)).text();
    return kind === "table" ? this.#table(text, file) : this.#text(text, file);
  }

  /** @param {string} text @param {FileInfo} file */
  #table(text, file) {
    const separator = file.media_type === "text/csv" ? separatorOf(text) : "\t";
    const { rows, more } = readTable(text, separator);
    const [head = [], ...body] = rows;
    const cells = (/** @type {"th" | "td"} */ tag, /** @type {string[]} */ row) =>
      row.map((cell) => h(tag, tag === "th" ? { scope: "col" } : {}, visible(cell)));
    const table = h(
      "table",
      { class: "plain-table" },
      h("thead", {}, h("tr", {}, ...cells("th", head))),
      h("tbody", {}, ...body.map((row) => h("tr", {}, ...cells("td", row)))),
    );
    const region = { class: "wide-table", tabindex: "0", role: "region", "aria-label": visible(file.path) };
    const note = more ? [h("p", { class: "muted" }, t.files.firstRows(rows.length))] : [];
    return [h("div", region, table), ...note];
  }

  /** @param {string} text @param {FileInfo} file */
  #text(text, file) {
    const shown = file.media_type === "application/json" ? pretty(text) : text;
    const cut = shown.length > SHOWN_MAX;
    const pre = h("pre", { class: "card-text", tabindex: "0" }, visible(cut ? shown.slice(0, SHOWN_MAX) : shown));
    return cut ? [pre, h("p", { class: "muted" }, t.files.firstPart)] : [pre];
  }
}
customElements.define("file-card", FileCard);

/** JSON with line breaks, or the text as it is. @param {string} text */
const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};
