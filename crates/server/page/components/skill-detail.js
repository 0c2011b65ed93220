// The details of an open row: diagnostics, files and actions.

import { api, at } from "../lib/api.js";
import { h, make } from "../lib/dom.js";
import { fullTime, number, size } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { address, editAddress, go } from "../lib/route.js";
import { t } from "../lib/text.js";
import { workspace } from "../lib/workspace.js";
import { app } from "../state/app.js";
import { drafts } from "../state/drafts.js";
import { confirmDialog } from "./confirm-dialog.js";
import { diagnosticsList } from "./diagnostics-list.js";
import { SkillFileView } from "./skill-file.js";

/** @typedef {import("../types.js").Skill} Skill */
/** @typedef {import("../types.js").SkillFile} SkillFile */
/** @typedef {import("../types.js").Diagnostic} Diagnostic */

/** The directory of a skill, from its location. @param {string} location */
const dirOf = (location) => location.replace(/\/[^/]*$/, "/");

export class SkillDetail extends HTMLElement {
  /** @type {Skill | null} */
  #skill = null;
  /** @type {Diagnostic[]} */
  #diagnostics = [];
  /** The access level of the shown actions, which may become known later. @type {boolean | undefined} */
  #admin;
  #description = h("p", { class: "detail-description" });
  #actions = h("div", { class: "detail-actions" });
  #facts = h("dl", { class: "facts" });
  #problems = h("div", { class: "detail-problems" });
  #files = h("ul", { class: "files", "aria-label": t.skills.files });
  #file = h("div", { class: "detail-file" });
  #notice = h("p", { class: "notice error", role: "alert", hidden: true });

  connectedCallback() {
    this.classList.add("detail");
    if (!this.#file.isConnected) {
      this.replaceChildren(
        this.#description,
        this.#notice,
        this.#actions,
        this.#problems,
        this.#facts,
        h("h3", { class: "small-title" }, t.skills.files),
        this.#files,
        this.#file,
      );
    }
  }

  /** @param {Skill} skill @param {Diagnostic[]} diagnostics of all skills */
  show(skill, diagnostics) {
    this.#skill = skill;
    const dir = dirOf(skill.location);
    this.#diagnostics = diagnostics.filter((one) => one.path?.startsWith(dir));
    this.#render();
    this.#read();
  }

  /** The same skill, as it is now. @param {Skill} skill */
  update(skill) {
    const unchanged = JSON.stringify(skill) === JSON.stringify(this.#skill);
    if (unchanged && this.#admin === app.about?.admin) return;
    this.#skill = skill;
    this.#render();
    // Replacing an equal skill would discard what is being read for it.
    if (!unchanged) this.#read();
  }

  #render() {
    const skill = /** @type {Skill} */ (this.#skill);
    this.#description.textContent = skill.description;
    const admin = (this.#admin = app.about?.admin);
    const action = (
      /** @type {any} */ picture,
      /** @type {string} */ text,
      /** @type {() => void} */ onclick,
      kind = "",
    ) => h("button", { class: `button small ${kind}`, onclick }, icon(picture), text);
    const actions = [];
    if (admin && skill.status === "enabled")
      actions.push(action("stop", t.skills.disable, () => this.#switch("disable")));
    if (admin && skill.status === "disabled")
      actions.push(action("check", t.skills.enable, () => this.#switch("enable")));
    if (skill.status === "enabled") actions.push(action("chat", t.skills.try, () => this.#tryIt()));
    if (admin && skill.editable) {
      actions.push(action("edit", t.skills.edit, () => this.#edit("SKILL.md")));
      actions.push(action("trash", t.common.delete, () => this.#remove(), "danger-text"));
    }
    if (!skill.editable)
      actions.push(
        h("span", { class: "muted read-only", title: skill.not_editable_because ?? "" }, t.skills.readOnly),
      );
    this.#actions.replaceChildren(...actions);
    this.#said();
  }

  #said() {
    const reason = this.#skill?.reason ? [h("p", { class: "detail-reason" }, this.#skill.reason)] : [];
    const list = this.#diagnostics.length
      ? [
          diagnosticsList(this.#diagnostics, {
            path: (one) => this.#inside(one),
            open: (one) => this.#open(this.#inside(one), { line: one.line }),
          }),
        ]
      : [];
    this.#problems.replaceChildren(...reason, ...list);
  }

  /** The path of a diagnostic inside the skill. @param {Diagnostic} one */
  #inside(one) {
    const dir = dirOf(this.#skill?.location ?? "");
    const path = one.path ?? "SKILL.md";
    return path.startsWith(dir) ? path.slice(dir.length) : path.split("/").pop() || "SKILL.md";
  }

  async #read() {
    const skill = /** @type {Skill} */ (this.#skill);
    const mine = () => this.#skill === skill;
    // The API returns only the available one of several skills with the same id.
    if (skill.status === "shadowed")
      return this.#files.replaceChildren(h("li", { class: "muted" }, t.skills.shadowed));
    api.get(at.skill(skill.id)).then(
      (info) => mine() && this.#info(info),
      () => mine() && this.#facts.replaceChildren(),
    );
    try {
      const { files, truncated } = await api.get(`${at.skill(skill.id)}/files`);
      if (mine()) this.#list(files, truncated);
    } catch (error) {
      if (mine())
        this.#files.replaceChildren(h("li", { class: "muted" }, t.problem(/** @type {any} */ (error))));
    }
  }

  /** @param {any} info */
  #info(info) {
    if (Array.isArray(info.diagnostics)) {
      this.#diagnostics = info.diagnostics;
      this.#said();
    }
    const skill = /** @type {Skill} */ (this.#skill);
    const facts = /** @type {[string, any][]} */ ([
      [t.skills.location, skill.location],
      [
        t.skills.tokens,
        info.tokens
          ? t.skills.tokensText(number(info.tokens.catalog ?? 0), number(info.tokens.skill_md ?? 0))
          : null,
      ],
      [t.skills.license, info.fields?.license],
      [t.skills.compatibility, info.fields?.compatibility],
      [
        t.skills.used,
        skill.uses ? t.skills.usedText(skill.uses, skill.last_used ? fullTime(skill.last_used) : "") : null,
      ],
    ]);
    this.#facts.replaceChildren(
      ...facts
        .filter(([, value]) => value)
        .flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]),
    );
  }

  /** @param {SkillFile[]} files @param {boolean} truncated */
  #list(files, truncated) {
    const rows = files.map((file) =>
      h(
        "li",
        {},
        h(
          "button",
          { class: "file", onclick: () => this.#open(file.path), "data-path": file.path },
          icon("file"),
          h("span", { class: "file-path" }, file.path),
          h("span", { class: "muted" }, size(file.bytes)),
        ),
      ),
    );
    this.#files.replaceChildren(
      ...rows,
      ...(truncated ? [h("li", { class: "muted" }, t.skills.filesCut)] : []),
    );
  }

  /** Leaves the dialog. @param {string} hash */
  #goTo(hash) {
    this.closest("dialog")?.close();
    go(hash);
  }

  /** @param {string} path @param {number} [line] */
  #edit(path, line) {
    workspace.fromDialog = true;
    this.#goTo(editAddress(/** @type {Skill} */ (this.#skill).id, path, line));
  }

  /** Opens a new chat with the skill. */
  #tryIt() {
    const skill = /** @type {Skill} */ (this.#skill);
    drafts.set(null, `/${skill.name} `);
    this.#goTo(address("chat"));
    // The new chat may already be open.
    dispatchEvent(new HashChangeEvent("hashchange"));
  }

  /** @param {string} path @param {{ line?: number }} [how] */
  #open(path, how = {}) {
    const skill = /** @type {Skill} */ (this.#skill);
    for (const button of this.#files.querySelectorAll(".file")) {
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.path === path));
    }
    const view = make(SkillFileView);
    view.addEventListener("close", () => {
      this.#file.replaceChildren();
      const button = [...this.#files.querySelectorAll(".file")].find(
        (one) => /** @type {HTMLElement} */ (one).dataset.path === path,
      );
      button?.setAttribute("aria-pressed", "false");
      /** @type {HTMLElement | undefined} */ (button)?.focus();
    });
    view.addEventListener("edit", () => this.#edit(path, how.line));
    this.#file.replaceChildren(view);
    const editable = Boolean(skill.editable && app.about?.admin);
    view.show({
      skill,
      path,
      editable,
      ...how,
      diagnostics: this.#diagnostics.filter((one) => this.#inside(one) === path),
    });
  }

  /** @param {"enable" | "disable"} what */
  async #switch(what) {
    await this.#try(() => api.post(`${at.skill(/** @type {Skill} */ (this.#skill).id)}/${what}`));
  }

  async #remove() {
    const skill = /** @type {Skill} */ (this.#skill);
    const yes = await confirmDialog({
      title: t.skills.removeTitle(skill.name),
      text: t.skills.removeText(skill.location),
      yes: t.common.delete,
      danger: true,
    });
    if (yes) await this.#try(() => api.remove(at.skill(skill.id)));
  }

  /** @param {() => Promise<any>} work */
  async #try(work) {
    this.#notice.hidden = true;
    try {
      await work();
      this.#changed();
    } catch (error) {
      this.#notice.hidden = false;
      this.#notice.textContent = t.problem(/** @type {any} */ (error));
    }
  }

  #changed() {
    this.dispatchEvent(new Event("changed", { bubbles: true }));
    app.readSkills();
  }
}
customElements.define("skill-detail", SkillDetail);
