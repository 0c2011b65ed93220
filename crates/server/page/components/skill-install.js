// Installs skills from an address, or updates installed ones: a preview first, then the confirmed change.

import { api } from "../lib/api.js";
import { h, make } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { t } from "../lib/text.js";
import { field } from "./field.js";
import { SkillPlan } from "./skill-plan.js";

/** @typedef {import("../types.js").PlannedSkill} PlannedSkill */

export class SkillInstall extends HTMLElement {
  /** Whether installed skills are updated. */
  updates = false;
  #address = field(
    e.install.address,
    h("input", { class: "input mono", id: "install-address", autocomplete: "off", spellcheck: "false", placeholder: e.install.placeholder }),
    e.install.addressHint,
  );
  #look = h("button", { class: "button" }, e.install.look);
  #said = h("p", { class: "muted", role: "status" });
  #problem = h("p", { class: "notice error", role: "alert", hidden: true });
  #plan = make(SkillPlan);
  #go = h("button", { class: "button primary", type: "button", disabled: true, onclick: () => this.#install() });
  #actions = h("div", { class: "actions", hidden: true }, this.#go);
  #source = "";

  connectedCallback() {
    this.classList.add("skill-install");
    this.#plan.updates = this.updates;
    const form = h("form", { class: "address-form", novalidate: true }, this.#address.element, this.#look);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#preview();
    });
    this.#plan.addEventListener("change", () => this.#ready());
    this.replaceChildren(...(this.updates ? [] : [form]), this.#said, this.#problem, this.#plan, this.#actions);
    if (this.updates) this.#preview();
  }

  /** @param {any} request */
  #post(request) {
    return this.updates
      ? api.post("/api/skills/update", request)
      : api.post("/api/skills/install", { ...request, source: this.#source });
  }

  async #preview() {
    this.#source = this.#address.input.value.trim();
    if (!this.updates && !this.#source) return this.#address.error(t.form.needed);
    this.#address.error(null);
    this.#problem.hidden = true;
    this.#look.disabled = true;
    this.#said.textContent = e.install.looking;
    try {
      const planned = await this.#post({ dry_run: true });
      const skills = /** @type {PlannedSkill[]} */ (planned.skills).filter(
        (skill) => !this.updates || skill.action !== "unchanged",
      );
      this.#plan.show(skills);
      this.#said.textContent = this.updates && skills.length === 0 ? e.install.upToDate : e.install.found(skills.length);
      this.#actions.hidden = skills.length === 0;
    } catch (error) {
      this.#fail(error);
    }
    this.#look.disabled = false;
  }

  #ready() {
    this.#go.disabled = !this.#plan.ready;
    this.#go.textContent = this.updates ? e.install.updateGo(this.#plan.count) : e.install.go(this.#plan.count);
  }

  async #install() {
    this.#go.disabled = true;
    this.#problem.hidden = true;
    try {
      const { request } = this.#plan;
      await this.#post(request);
      this.dispatchEvent(new CustomEvent("done", { detail: { id: request.skills[0] } }));
    } catch (error) {
      this.#fail(error);
      this.#ready();
    }
  }

  /** @param {any} error */
  #fail(error) {
    this.#said.textContent = "";
    this.#problem.hidden = false;
    this.#problem.textContent = t.problem(error);
  }
}
customElements.define("skill-install", SkillInstall);
