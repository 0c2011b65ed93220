// A row of the skill table. It is updated in place when its skill changes, so that it keeps the focus.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/** @typedef {import("../types.js").Skill} Skill */

/** @param {string} location @param {() => void} toggle @param {(chosen: boolean, range: boolean) => void} choose */
export const skillRow = (location, toggle, choose) => {
  const box = h("input", { type: "checkbox", class: "row-check" });
  box.addEventListener("click", (event) => choose(box.checked, event.shiftKey));
  const name = h("span", { class: "row-name" });
  const id = h("span", { class: "row-id" });
  const button = h("button", { class: "row-open", onclick: toggle }, icon("down"), name, id);
  const description = h("div", { class: "cell description", role: "cell" });
  const source = h("div", { class: "cell source", role: "cell" });
  const dot = h("span");
  const text = h("span", { class: "status-text" });
  const badge = h("span");
  const element = h(
    "div",
    { role: "row", "data-location": location },
    h("div", { class: "cell select", role: "cell" }, box),
    h("div", { class: "cell name", role: "cell" }, button),
    description,
    source,
    h("div", { class: "cell status", role: "cell" }, dot, text, badge),
  );
  /** @type {Skill | null} */
  let shown = null;
  let shownAt = "";
  return {
    element,
    button,
    /** @param {Skill} skill @param {number} index @param {boolean} open @param {boolean} chosen */
    fill(skill, index, open, chosen) {
      box.checked = chosen;
      const place = `${index} ${open}`;
      if (skill === shown && place === shownAt) return;
      shown = skill;
      shownAt = place;
      element.className = open ? "row open" : "row";
      element.dataset.index = String(index);
      element.dataset.id = skill.id;
      element.setAttribute("aria-rowindex", String(index + 2));
      button.setAttribute("aria-expanded", String(open));
      box.setAttribute("aria-label", t.skills.select(skill.name || skill.id));
      name.textContent = skill.name || skill.id;
      id.textContent = skill.name && skill.name !== skill.id ? skill.id : "";
      id.hidden = !id.textContent;
      description.textContent = description.title = skill.description;
      source.textContent = t.skills.scopes[skill.scope] ?? skill.scope;
      source.title = skill.source;
      dot.className = `status-dot ${skill.status}`;
      const status = t.skills.statuses[skill.status] ?? skill.status;
      text.replaceChildren(
        status,
        ...(skill.reason ? [h("span", { class: "reason" }, ` · ${skill.reason}`)] : []),
      );
      text.title = skill.reason ?? "";
      const problems = (skill.errors ?? 0) + (skill.warnings ?? 0);
      badge.hidden = problems === 0;
      badge.className = `badge ${skill.errors ? "bad" : "warn"}`;
      badge.textContent = String(problems);
      badge.title = t.skills.problems(problems);
    },
  };
};

/** @typedef {ReturnType<typeof skillRow>} SkillRow */
