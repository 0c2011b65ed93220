// The skill manager: a filtered table with expandable rows, and forms to add and import skills.

import { api, at } from "../lib/api.js";
import { afterPause, h, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { loadStyles } from "../lib/workspace.js";
import { app } from "../state/app.js";
import { confirmDialog } from "./confirm-dialog.js";
import { SkillForm } from "./skill-form.js";
import { SkillsTable } from "./skills-table.js";
import { hasUnsaved, mayDiscard } from "./unsaved.js";

/** @typedef {import("../types.js").Skill} Skill */
/** @typedef {import("../types.js").Match} Match */

/** The minimum length of a text to match. */
const SHORTEST = 3;
/** The number of matches to request. */
const MOST = 10;

export class SkillsDialog extends HTMLElement {
  #filter = h("input", {
    class: "input filter",
    type: "search",
    id: "skills-filter",
    placeholder: t.skills.filter,
    "aria-label": t.skills.filter,
    autocomplete: "off",
  });
  #status = h("select", { class: "input status-filter", "aria-label": t.skills.byStatus });
  #count = h("span", { class: "count", role: "status" });
  #table = make(SkillsTable);
  #stage = h("div", { class: "dialog-stage" });
  #title = h("h2", { id: "skills-title", class: "dialog-title", tabindex: "-1" }, t.skills.title);
  #back = h(
    "button",
    { class: "icon-button", hidden: true, title: t.common.back, "aria-label": t.common.back },
    icon("back"),
  );
  #problem = h("p", { class: "notice error", role: "alert", hidden: true });
  #dialog = h("dialog", { class: "dialog large", "aria-labelledby": "skills-title" });
  #list = h("div", { class: "skills-list" });
  #admin = h("span", { class: "skills-admin" });
  #bulk = h("div", { class: "skills-bulk", hidden: true, role: "region", "aria-label": t.skills.bulk });
  /** @type {(() => void)[]} */
  #ends = [];
  /** The matches of the server for the typed text. @type {{ text: string, fits: boolean, names: string[] }} */
  #meant = { text: "", fits: false, names: [] };
  /** @type {AbortController | null} */
  #asking = null;

  connectedCallback() {
    const close = h(
      "button",
      {
        class: "icon-button",
        title: t.common.close,
        "aria-label": t.common.close,
        onclick: () => this.#close(),
      },
      icon("close"),
    );
    this.#status.append(
      h("option", { value: "" }, t.skills.anyStatus),
      ...Object.entries(t.skills.statuses).map(([value, text]) => h("option", { value }, text)),
    );
    const tools = h(
      "div",
      { class: "skills-tools" },
      this.#filter,
      this.#status,
      this.#count,
      h("span", { class: "spring" }),
      this.#admin,
    );
    this.#offer();
    this.#list.replaceChildren(tools, this.#bulk, this.#problem, this.#table);
    this.#stage.replaceChildren(this.#list);
    this.#dialog.replaceChildren(
      h("header", { class: "dialog-head" }, this.#back, this.#title, close),
      this.#stage,
    );
    this.replaceChildren(this.#dialog);
    const filter = afterPause(60, () => this.#narrow());
    const ask = afterPause(200, () => this.#ask());
    this.#filter.addEventListener("input", () => {
      this.#asking?.abort();
      filter();
      ask();
    });
    this.#status.addEventListener("change", () => this.#narrow());
    this.#filter.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") {
        event.preventDefault();
        this.#table.focusFirst();
      }
    });
    this.#back.addEventListener("click", () => this.#leave());
    // Browsers close a dialog on the second Escape even if `cancel` is prevented, so the key is handled first.
    this.#dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || !hasUnsaved(this)) return;
      event.preventDefault();
      this.#close();
    });
    this.#dialog.addEventListener("cancel", (event) => {
      if (event.target !== this.#dialog || !hasUnsaved(this)) return;
      event.preventDefault();
      this.#close();
    });
    this.#table.addEventListener("changed", () => this.read());
    this.#table.addEventListener("sorted", () => this.#narrow());
    this.#table.addEventListener("selected", () => this.#renderBulk());
    // The browser has already restored the focus. Moving it later would interrupt typing.
    this.#dialog.addEventListener("close", () => this.remove());
    this.#ends = [
      app.on("skills-changed", () => this.read()),
      // The dialog may open before the access level is known.
      app.on("about", () => {
        this.#offer();
        this.read();
      }),
    ];
    this.#dialog.showModal();
    this.#filter.focus();
    this.read();
  }

  disconnectedCallback() {
    for (const end of this.#ends) end();
    this.#asking?.abort();
  }

  /** The buttons for administrators. */
  #offer() {
    if (!app.about?.admin) return this.#admin.replaceChildren();
    if (this.#admin.childElementCount > 0) return;
    this.#admin.replaceChildren(
      h(
        "button",
        { class: "button", id: "update-skills", onclick: () => this.#update() },
        icon("retry"),
        t.skills.updates,
      ),
      h(
        "button",
        { class: "button", id: "import-skill", onclick: () => this.#import() },
        icon("upload"),
        t.skills.import,
      ),
      h(
        "button",
        { class: "button primary", id: "add-skill", onclick: () => this.#add() },
        icon("add"),
        t.skills.add,
      ),
    );
  }

  /** The actions for the selected skills. */
  #renderBulk() {
    const chosen = this.#table.chosen;
    this.#bulk.hidden = chosen.length === 0 || !app.about?.admin;
    if (this.#bulk.hidden) return;
    const count = (/** @type {Skill[]} */ skills) => (skills.length > 0 ? ` (${skills.length})` : "");
    const action = (
      /** @type {string} */ text,
      /** @type {Skill[]} */ skills,
      /** @type {(skills: Skill[]) => void} */ call,
      kind = "",
    ) =>
      h(
        "button",
        { class: `button small ${kind}`, disabled: skills.length === 0, onclick: () => call(skills) },
        `${text}${count(skills)}`,
      );
    const having = (/** @type {string} */ status) => chosen.filter((skill) => skill.status === status);
    this.#bulk.replaceChildren(
      h("span", { role: "status" }, t.skills.selected(chosen.length)),
      action(t.skills.enable, having("disabled"), (skills) => this.#each(skills, (one) => api.post(`${at.skill(one.id)}/enable`))),
      action(t.skills.disable, having("enabled"), (skills) => this.#each(skills, (one) => api.post(`${at.skill(one.id)}/disable`))),
      action(t.common.delete, chosen.filter((skill) => skill.editable), (skills) => this.#removeAll(skills), "danger-text"),
      h("span", { class: "spring" }),
      h("button", { class: "button small quiet", onclick: () => this.#table.clearChosen() }, t.skills.clear),
    );
  }

  /** @param {Skill[]} skills */
  async #removeAll(skills) {
    const yes = await confirmDialog({
      title: t.skills.removeAllTitle(skills.length),
      text: skills.map((skill) => skill.name || skill.id).join(", "),
      yes: t.common.delete,
      danger: true,
    });
    if (yes) await this.#each(skills, (one) => api.remove(at.skill(one.id)));
  }

  /** Does the same for each skill, and shows the errors of all. @param {Skill[]} skills @param {(one: Skill) => Promise<any>} work */
  async #each(skills, work) {
    const errors = [];
    for (const one of skills) {
      try {
        await work(one);
      } catch (error) {
        errors.push(`${one.name || one.id}: ${t.problem(/** @type {any} */ (error))}`);
      }
    }
    this.#table.clearChosen();
    await this.read();
    app.readSkills();
    if (errors.length === 0) return;
    this.#problem.hidden = false;
    this.#problem.textContent = errors.join(" ");
  }

  async #close() {
    if (await mayDiscard(this)) this.#dialog.close();
  }

  /** Returns to the table. */
  async #leave() {
    if (await mayDiscard(this.#stage)) this.#home();
  }

  /** Opens a skill in the table. @param {string} id */
  async reveal(id) {
    await this.read();
    await this.#table.reveal(id);
  }

  async read() {
    try {
      const all = app.about?.admin
        ? await api.get("/api/admin/skills")
        : await api.get("/api/skills", { all: 1 });
      this.#problem.hidden = true;
      this.#table.diagnostics = all.diagnostics ?? [];
      this.#table.skills = all.skills;
      this.#narrow();
    } catch (error) {
      this.#problem.hidden = false;
      this.#problem.textContent = t.problem(/** @type {any} */ (error));
    }
  }

  #narrow() {
    const [text, status] = [this.#filter.value.trim(), this.#status.value];
    const { fits, names } = this.#meant.text === text ? this.#meant : { fits: false, names: [] };
    let shown = this.#table.filter(text, status, fits ? names : []);
    // A weak match is better than none.
    if (shown.having + shown.others === 0 && !fits && names.length > 0)
      shown = this.#table.filter(text, status, names);
    this.#renderBulk();
    const all = this.#table.skills.length;
    this.#count.textContent = t.skills.count(shown.having + shown.others, all, shown.others);
  }

  /** Requests skills that match the typed text by meaning, even if they do not contain it. */
  async #ask() {
    const text = this.#filter.value.trim();
    if (text.length < SHORTEST || !this.isConnected) return;
    const asking = (this.#asking = new AbortController());
    try {
      const found = await api.get("/api/match", { query: text, k: MOST }, asking.signal);
      if (this.#asking !== asking) return;
      /** @type {Match[]} */
      const matches = found.matches;
      const likely = matches.filter((one) => one.confidence >= (matches[0]?.confidence ?? 0) / 2);
      this.#meant = { text, fits: found.fits, names: likely.map((one) => one.name) };
      this.#narrow();
    } catch {
      // The text changed or the server is unreachable: skills that contain the text are shown anyway.
    }
  }

  /** @param {string} title @param {HTMLElement} view */
  #show(title, view) {
    this.#title.textContent = title;
    this.#back.hidden = false;
    this.#stage.replaceChildren(view);
    this.#title.focus();
    view.addEventListener("cancel", () => this.#leave());
    view.addEventListener("done", async (event) => {
      const { id } = /** @type {CustomEvent} */ (event).detail;
      this.#filter.value = "";
      this.#status.value = "";
      this.#home();
      await this.read();
      app.readSkills();
      await this.#table.reveal(id);
    });
  }

  #home() {
    this.#title.textContent = t.skills.title;
    this.#back.hidden = true;
    this.#stage.replaceChildren(this.#list);
    this.#table.refresh();
    this.#filter.focus();
  }

  async #add() {
    if (await mayDiscard(this)) this.#show(t.skills.add, make(SkillForm));
  }

  async #import() {
    const [{ SkillImport }] = await Promise.all([import("./skill-import.js"), loadStyles("editor.css")]);
    if (await mayDiscard(this)) this.#show(t.skills.import, make(SkillImport));
  }

  async #update() {
    const [{ SkillInstall }] = await Promise.all([import("./skill-install.js"), loadStyles("editor.css")]);
    if (await mayDiscard(this)) this.#show(t.skills.updates, make(SkillInstall, { updates: true }));
  }
}
customElements.define("skills-dialog", SkillsDialog);
