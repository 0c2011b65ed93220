// A viewer for a file of a skill, which marks lines with diagnostics.

import { api, at, Problem } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { copyButton } from "./copy-button.js";
import { textLines } from "./text-lines.js";

/** @typedef {import("../types.js").Diagnostic} Diagnostic */
/** @typedef {{ skill: import("../types.js").Skill, path: string, editable: boolean, line?: number, diagnostics: Diagnostic[] }} What */

/** @typedef {{ content: string, truncated: boolean }} Read */

export class SkillFileView extends HTMLElement {
  /** @type {What | null} */
  #what = null;
  /** @type {Read | null} */
  #read = null;
  #head = h("div", { class: "file-head" });
  #body = h("div", { class: "file-body" });

  connectedCallback() {
    this.classList.add("file-view");
    if (!this.#head.isConnected) this.replaceChildren(this.#head, this.#body);
  }

  /** @param {What} what */
  async show(what) {
    this.#what = what;
    this.#header([]);
    try {
      this.#read = await api.get(at.file(what.skill.id, what.path));
      this.#view(what.line);
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
        onclick: () => this.dispatchEvent(new Event("close")),
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
    const what = /** @type {What} */ (this.#what);
    const file = /** @type {Read} */ (this.#read);
    const edit = h(
      "button",
      { class: "button small", onclick: () => this.dispatchEvent(new Event("edit")) },
      icon("edit"),
      t.skills.edit,
    );
    const cut = file.truncated ? [h("span", { class: "badge warn" }, t.card.truncated)] : [];
    this.#header([
      ...cut,
      copyButton(() => file.content),
      ...(what.editable && !file.truncated ? [edit] : []),
    ]);
    const notes = what.diagnostics.map((one) => ({
      line: one.line,
      severity: one.severity,
      text: `${one.code} ${one.message}`,
    }));
    this.#body.replaceChildren(textLines(file.content, { label: what.path, notes, marked: line }));
    const marked = this.#body.querySelector(".marked");
    if (line && marked) marked.scrollIntoView({ block: "center" });
    else this.scrollIntoView({ block: "nearest" });
    this.#head.querySelector("button")?.focus({ preventScroll: true });
  }
}
customElements.define("skill-file", SkillFileView);
