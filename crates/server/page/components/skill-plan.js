// Skills that would be installed or updated: which of them, what they contain, and what has to be confirmed.

import { freshId, h } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { capabilityList, planFiles } from "./plan-files.js";

/** @typedef {import("../types.js").PlannedSkill} PlannedSkill */

/** @param {PlannedSkill} skill */
const isChange = (skill) => ["installed", "updated"].includes(skill.action);

export class SkillPlan extends HTMLElement {
  /** @type {PlannedSkill[]} */
  #skills = [];
  /** @type {Set<string>} */
  #chosen = new Set();
  #overwrite = h("input", { type: "checkbox", id: freshId("overwrite") });
  #risk = h("input", { type: "checkbox", id: freshId("risk") });
  #overwriteRow = h("label", { class: "check", for: this.#overwrite.id, hidden: true }, this.#overwrite, h("span", {}, e.install.overwrite));
  #riskRow = h("label", { class: "check", for: this.#risk.id, hidden: true }, this.#risk, h("span", {}, e.install.risk));
  /** Whether existing skills are updated, which needs no confirmation. */
  updates = false;

  connectedCallback() {
    this.classList.add("skill-plan");
    for (const box of [this.#overwrite, this.#risk]) box.addEventListener("change", () => this.#changed());
  }

  /** @param {PlannedSkill[]} skills */
  show(skills) {
    this.#skills = skills;
    this.#chosen = new Set(skills.filter(isChange).map((skill) => skill.id));
    this.#overwrite.checked = this.#risk.checked = false;
    this.replaceChildren(
      h("ul", { class: "plan" }, ...skills.map((skill) => this.#row(skill))),
      this.#overwriteRow,
      this.#riskRow,
    );
    this.#changed();
  }

  /** @returns {PlannedSkill[]} */
  get #selected() {
    return this.#skills.filter((skill) => this.#chosen.has(skill.id));
  }

  get count() {
    return this.#chosen.size;
  }

  /** Whether everything is confirmed. */
  get ready() {
    return (
      this.#chosen.size > 0 &&
      (this.#overwriteRow.hidden || this.#overwrite.checked) &&
      (this.#riskRow.hidden || this.#risk.checked)
    );
  }

  /** What to send to the server. */
  get request() {
    const selected = this.#selected;
    return {
      skills: selected.map((skill) => skill.id),
      accept: {
        overwrite: this.updates || this.#overwrite.checked,
        findings: this.#risk.checked,
        risk: this.#risk.checked && selected.some((skill) => skill.refused),
        trees: Object.fromEntries(selected.flatMap((skill) => (skill.tree ? [[skill.id, skill.tree]] : []))),
      },
    };
  }

  #changed() {
    const selected = this.#selected;
    this.#overwriteRow.hidden = this.updates || !selected.some((skill) => skill.action === "updated");
    this.#riskRow.hidden = !selected.some((skill) => skill.refused || skill.needs_confirmation);
    this.dispatchEvent(new Event("change"));
  }

  /** @param {PlannedSkill} skill */
  #row(skill) {
    const id = freshId("skill");
    const possible = isChange(skill);
    const box = h("input", { type: "checkbox", id, checked: possible, disabled: !possible });
    box.addEventListener("change", () => {
      if (box.checked) this.#chosen.add(skill.id);
      else this.#chosen.delete(skill.id);
      this.#changed();
    });
    const kind = skill.refused ? "bad" : skill.needs_confirmation ? "warn" : possible ? "ok" : "quiet";
    return h(
      "li",
      { class: "plan-skill", "data-id": skill.id },
      h(
        "div",
        { class: "plan-head" },
        h("label", { class: "check", for: id }, box, h("strong", {}, skill.name || skill.id)),
        h("span", { class: `badge ${kind}` }, e.install.actions[skill.action] ?? skill.action),
        skill.findings.length > 0 && h("span", { class: "badge warn" }, e.install.findings(skill.findings.length)),
      ),
      skill.description && h("p", {}, skill.description),
      skill.reason && h("p", { class: "notice error" }, skill.reason),
      possible && capabilityList(skill.gained ?? skill.capabilities, skill.gained ? e.install.gains : e.install.can),
      skill.files.length > 0 &&
        h("div", {}, h("h3", { class: "small-title" }, e.install.files(skill.files.length)), planFiles(skill.files, skill.findings)),
    );
  }
}
customElements.define("skill-plan", SkillPlan);
