// A viewer and editor for a file of a skill, which marks lines with diagnostics.

import { api, at, Problem } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { digestOf } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { copyButton } from "./copy-button.js";
import { mayDiscard } from "./unsaved.js";

/** @typedef {import("../types.js").Diagnostic} Diagnostic */
/** @typedef {{ skill: import("../types.js").Skill, path: string, editable: boolean, edit?: boolean, line?: number, diagnostics: Diagnostic[] }} What */

/** @typedef {{ content: string, truncated: boolean, digest?: string }} Read */

/** The maximum number of lines shown with line numbers. */
const LINES = 3000;

export class SkillFileView extends HTMLElement {
  /** @type {What | null} */
  #what = null;
  /** @type {Read | null} */
  #read = null;
  #head = h("div", { class: "file-head" });
  #body = h("div", { class: "file-body" });
  /** Above the text, so that it is always visible. */
  #said = h("div", { class: "file-said", role: "status" });
  #problem = h("div", { class: "file-said error", role: "alert" });
  /** @type {HTMLTextAreaElement | null} */
  #area = null;

  connectedCallback() {
    this.classList.add("file-view");
    if (!this.#head.isConnected) this.replaceChildren(this.#head, this.#said, this.#problem, this.#body);
  }

  /** Whether there are unsaved changes. */
  get unsaved() {
    return this.#area !== null && this.#area.value !== this.#read?.content;
  }

  /** Asks before what was written goes. @param {() => void} then */
  async #leave(then) {
    if (await mayDiscard(/** @type {ParentNode} */ (this.parentNode))) then();
  }

  /** @param {What} what */
  async show(what) {
    this.#what = what;
    this.#header([]);
    try {
      this.#read = await api.get(at.file(what.skill.id, what.path));
      if (what.edit && !this.#read?.truncated) this.#edit();
      else this.#view(what.line);
    } catch (error) {
      const binary = error instanceof Problem && error.code === "BINARY_FILE";
      const save = h(
        "a",
        { href: `${at.file(what.skill.id, what.path)}?raw=1`, download: true },
        t.skills.download,
      );
      const said = binary ? t.skills.binary : t.problem(/** @type {any} */ (error));
      this.#body.replaceChildren(h("p", { class: "muted" }, said, " ", binary && save));
    }
  }

  /** @param {(Node | string)[]} tools */
  #header(tools) {
    const close = h(
      "button",
      {
        class: "icon-button small",
        title: t.common.close,
        "aria-label": t.skills.closeFile,
        onclick: () => this.#leave(() => this.dispatchEvent(new Event("close"))),
      },
      icon("close"),
    );
    this.#head.replaceChildren(
      h("code", { class: "file-name" }, this.#what?.path ?? ""),
      h("span", { class: "spring" }),
      ...tools,
      close,
    );
  }

  /** @param {number} [line] */
  #view(line) {
    this.#area = null;
    this.#problem.replaceChildren();
    const what = /** @type {What} */ (this.#what);
    const file = /** @type {Read} */ (this.#read);
    const edit = h(
      "button",
      { class: "button small", onclick: () => this.#edit() },
      icon("edit"),
      t.skills.edit,
    );
    const cut = file.truncated ? [h("span", { class: "badge warn" }, t.card.truncated)] : [];
    this.#header([
      ...cut,
      copyButton(() => file.content),
      ...(what.editable && !file.truncated ? [edit] : []),
    ]);
    this.#body.replaceChildren(this.#lines(file.content, what.diagnostics, line));
    const marked = this.#body.querySelector(".marked");
    if (line && marked) marked.scrollIntoView({ block: "center" });
    else this.scrollIntoView({ block: "nearest" });
    this.#head.querySelector("button")?.focus({ preventScroll: true });
  }

  /** @param {string} content @param {Diagnostic[]} diagnostics @param {number} [line] */
  #lines(content, diagnostics, line) {
    const lines = content.replace(/\n$/, "").split("\n");
    if (lines.length > LINES) return h("pre", { class: "card-text", tabindex: "0" }, visible(content));
    const said = new Map(diagnostics.map((one) => [one.line, one]));
    return h(
      "ol",
      { class: "lines", tabindex: "0", "aria-label": this.#what?.path },
      ...lines.map((text, index) => {
        const one = said.get(index + 1);
        const kind = [one ? one.severity : "", index + 1 === line ? "marked" : ""].join(" ").trim();
        return h(
          "li",
          { class: kind || null },
          h("code", {}, visible(text) || " "),
          one && h("span", { class: "line-said" }, `${one.code} ${one.message}`),
        );
      }),
    );
  }

  #edit() {
    const file = /** @type {Read} */ (this.#read);
    const area = h("textarea", {
      class: "input editor",
      rows: 18,
      spellcheck: "false",
      "aria-label": this.#what?.path,
      value: file.content,
    });
    const save = h(
      "button",
      { class: "button small primary", onclick: () => this.#save(area.value) },
      t.common.save,
    );
    const stop = () => this.#leave(() => this.#view());
    const cancel = h("button", { class: "button small", onclick: stop }, t.common.cancel);
    this.#area = area;
    this.#said.textContent = "";
    this.#header([cancel, save]);
    this.#body.replaceChildren(area);
    area.addEventListener("keydown", (event) => {
      if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.#save(area.value);
      }
      // Escape ends editing instead of closing the dialog.
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        stop();
      }
    });
    area.focus();
    area.setSelectionRange(0, 0);
  }

  /** @param {string} content */
  async #save(content) {
    const what = /** @type {What} */ (this.#what);
    const before = /** @type {Read} */ (this.#read);
    this.#said.textContent = "";
    this.#problem.replaceChildren();
    try {
      const digest = before.digest ?? (await digestOf(before.content)) ?? undefined;
      const kept = await api.put(at.file(what.skill.id, what.path), { content, digest });
      this.#read = { content, truncated: false, digest: kept?.digest };
      what.diagnostics = kept?.diagnostics ?? what.diagnostics;
      this.#view();
      this.#said.textContent = t.skills.saved;
      this.dispatchEvent(new CustomEvent("saved", { detail: { diagnostics: kept?.diagnostics } }));
    } catch (error) {
      this.#refused(error);
    }
  }

  /** What the server would not write, with the lines that it is about. @param {any} error */
  #refused(error) {
    const lines = error instanceof Problem ? error.errors : [];
    const changed = error instanceof Problem && error.status === 409;
    const line = (/** @type {{ field: string, message: string }} */ one) =>
      h(
        "li",
        {},
        `${one.field.replace(/^content:?/, `${this.#what?.path}:`).replace(/:$/, "")} ${one.message}`,
      );
    this.#problem.replaceChildren(
      h("span", {}, changed ? t.skills.changedMeanwhile : t.problem(error)),
      ...(lines.length > 0 ? [h("ul", {}, ...lines.map(line))] : []),
    );
    this.#head.scrollIntoView({ block: "nearest" });
    this.#problem.scrollIntoView({ block: "nearest" });
  }
}
customElements.define("skill-file", SkillFileView);
