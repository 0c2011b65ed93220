// The files of the skill that is edited: opens, adds, uploads, renames and deletes them.

import { api, at, isInnerPath } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { size } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { freePath, upload } from "../lib/upload.js";
import { confirmDialog } from "./confirm-dialog.js";
import { pathDialog } from "./path-dialog.js";

/** @typedef {import("../types.js").SkillFile} SkillFile */

export class EditorFiles extends HTMLElement {
  /** @type {SkillFile[]} */
  #files = [];
  #skill = "";
  #current = "";
  #editable = false;
  /** The paths with unsaved changes. @type {Set<string>} */
  #unsaved = new Set();
  #list = h("ul", { class: "tree", "aria-label": t.skills.files });
  #tools = h("div", { class: "pane-tools" });
  #said = h("p", { class: "pane-said", role: "status" });
  #problem = h("p", { class: "notice error", role: "alert", hidden: true });
  #input = h("input", { type: "file", multiple: true, class: "unseen", tabindex: "-1", "aria-label": e.upload });

  connectedCallback() {
    this.classList.add("pane", "work-files");
    this.#input.addEventListener("change", () => {
      const files = [...(this.#input.files ?? [])];
      this.#input.value = "";
      this.#upload(files);
    });
    this.addEventListener("dragover", (event) => {
      if (!this.#editable || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      this.classList.add("over");
    });
    this.addEventListener("dragleave", () => this.classList.remove("over"));
    this.addEventListener("drop", (event) => {
      if (!this.#editable) return;
      event.preventDefault();
      this.classList.remove("over");
      this.#upload([...(event.dataTransfer?.files ?? [])]);
    });
    this.replaceChildren(
      h("div", { class: "pane-head" }, h("h2", { class: "pane-title" }, t.skills.files), this.#tools),
      this.#problem,
      this.#list,
      this.#said,
      this.#input,
    );
    this.#renderTools();
  }

  /** @param {{ skill: string, files: SkillFile[], current: string, editable: boolean, unsaved: Set<string> }} what */
  show({ skill, files, current, editable, unsaved }) {
    this.#skill = skill;
    this.#files = files;
    this.#current = current;
    this.#unsaved = unsaved;
    if (editable !== this.#editable) {
      this.#editable = editable;
      this.#renderTools();
    }
    // Files that exist only as unsaved changes are listed as well.
    const known = new Set(files.map((file) => file.path));
    const drafts = [...unsaved, current].filter((path) => !known.has(path)).map((path) => ({ path, bytes: 0 }));
    const all = [...files, ...drafts].sort((a, b) => order(a.path, b.path));
    const focused = /** @type {HTMLElement | null} */ (this.#list.querySelector(":focus"))?.dataset.path;
    this.#list.replaceChildren(...all.map((file) => this.#row(file)));
    if (focused) this.#button(focused)?.focus();
  }

  /** @param {string} path @returns {HTMLElement | null} */
  #button(path) {
    return this.#list.querySelector(`.tree-file[data-path="${CSS.escape(path)}"]`);
  }

  #renderTools() {
    const tool = (/** @type {any} */ picture, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
      h("button", { class: "icon-button small", title: text, "aria-label": text, onclick }, icon(picture));
    if (!this.#editable) return this.#tools.replaceChildren();
    this.#tools.replaceChildren(
      tool("add", e.newFile, () => this.#create()),
      tool("upload", e.upload, () => this.#input.click()),
    );
  }

  /** @param {SkillFile} file */
  #row(file) {
    const slash = file.path.lastIndexOf("/") + 1;
    const isManifest = file.path === "SKILL.md";
    const unsaved = this.#unsaved.has(file.path);
    const button = h(
      "button",
      {
        class: "tree-file",
        "data-path": file.path,
        "aria-current": file.path === this.#current ? "true" : null,
        title: `${file.path} · ${size(file.bytes)}`,
        onclick: () => this.#tell("open", file.path),
      },
      icon("file"),
      h("span", { class: "tree-name" }, h("span", { class: "tree-dir" }, file.path.slice(0, slash)), file.path.slice(slash)),
      unsaved && h("span", { class: "dot", title: e.unsaved }, h("span", { class: "unseen" }, e.unsaved)),
    );
    const tool = (/** @type {any} */ picture, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
      h("button", { class: "icon-button small", title: text, "aria-label": text, onclick }, icon(picture));
    const tools =
      this.#editable && !isManifest
        ? h(
            "span",
            { class: "tree-tools" },
            tool("edit", e.rename(file.path), () => this.#rename(file.path)),
            tool("trash", e.remove(file.path), () => this.#remove(file.path)),
          )
        : null;
    return h("li", { class: "tree-row" }, button, tools);
  }

  /** @param {string} what @param {any} detail */
  #tell(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }

  /** @param {string | null} error @param {string} [said] */
  #say(error, said = "") {
    this.#problem.hidden = !error;
    this.#problem.textContent = error ?? "";
    this.#said.textContent = said;
  }

  async #create() {
    this.#say(null);
    const path = await pathDialog({
      title: e.newFile,
      label: e.path,
      hint: e.pathHint,
      value: "references/notes.md",
      yes: e.create,
      submit: (chosen) => this.#put(chosen),
    });
    if (path) this.#tell("created", path);
  }

  /** @param {string} path */
  async #put(path) {
    if (!isInnerPath(path)) throw new Error(e.badPath);
    await api.put(at.file(this.#skill, path), { content: "", digest: "" });
  }

  /** @param {File[]} files */
  async #upload(files) {
    if (files.length === 0) return;
    const dir = this.#current.slice(0, this.#current.lastIndexOf("/") + 1);
    const taken = new Set(this.#files.map((file) => file.path));
    const done = [];
    this.#say(null);
    for (const file of files) {
      const path = freePath(dir + file.name, taken);
      taken.add(path);
      this.#said.textContent = t.files.uploading(path);
      try {
        await upload(at.file(this.#skill, path), file, () => {}, new AbortController().signal);
        done.push(path);
      } catch (error) {
        this.#say(`${path}: ${t.problem(/** @type {any} */ (error))}`);
        break;
      }
    }
    this.#said.textContent = done.length > 0 ? e.uploaded(done.length) : "";
    if (done.length > 0) this.#tell("uploaded", done);
  }

  /** @param {string} from */
  async #rename(from) {
    this.#say(null);
    const to = await pathDialog({
      title: e.rename(from),
      label: e.path,
      hint: e.pathHint,
      value: from,
      yes: e.renameGo,
      submit: async (chosen) => {
        if (!isInnerPath(chosen)) throw new Error(e.badPath);
        await api.post(`${at.skill(this.#skill)}/rename`, { from, to: chosen });
      },
    });
    if (to) this.#tell("renamed", { from, to });
  }

  /** @param {string} path */
  async #remove(path) {
    this.#say(null);
    const yes = await confirmDialog({ title: e.removeTitle(path), text: e.removeText, yes: t.common.delete, danger: true });
    if (!yes) return;
    try {
      await api.remove(at.file(this.#skill, path));
      this.#tell("removed", path);
    } catch (error) {
      this.#say(t.problem(/** @type {any} */ (error)));
    }
  }
}
customElements.define("editor-files", EditorFiles);

/** The manifest first, then by path. @param {string} a @param {string} b */
const order = (a, b) => {
  if (a === "SKILL.md" || b === "SKILL.md") return a === b ? 0 : a === "SKILL.md" ? -1 : 1;
  const inDir = (/** @type {string} */ path) => path.includes("/");
  return inDir(a) === inDir(b) ? a.localeCompare(b) : inDir(a) ? 1 : -1;
};
