// The skill menu that opens with `/`. The focus stays in the text field.

import { api } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";

const MOST = 8;

export class SkillMenu extends HTMLElement {
  /** @type {HTMLTextAreaElement | null} */
  #area = null;
  /** @type {{ name: string, description: string, argument_hint?: string | null }[]} */
  #skills = [];
  #at = 0;
  #query = "";
  #isOpen = false;
  /** @type {AbortController | null} */
  #asking = null;
  #list = h("div", {
    class: "menu",
    id: "skill-menu",
    role: "listbox",
    tabindex: "0",
    "aria-label": t.prompt.skills,
    hidden: true,
  });
  #said = h("span", { class: "unseen", role: "status" });

  connectedCallback() {
    this.replaceChildren(this.#list, this.#said);
    // The text field must keep the focus until the click is handled.
    this.#list.addEventListener("mousedown", (event) => event.preventDefault());
  }

  /** @param {HTMLTextAreaElement} area */
  attach(area) {
    this.#area = area;
  }

  /** @param {string} name */
  offers(name) {
    return (
      this.#skills.some((skill) => skill.name === name) ||
      Boolean(app.skills.find((skill) => skill.name === name))
    );
  }

  /** @param {string} query */
  async open(query) {
    this.#isOpen = true;
    this.#query = query;
    this.#asking?.abort();
    const asking = (this.#asking = new AbortController());
    try {
      const found = await api.get(
        `/api/complete?${new URLSearchParams({ query, k: String(MOST) })}`,
        {},
        asking.signal,
      );
      if (!this.#isOpen || this.#asking !== asking) return;
      this.#skills = found.skills;
      this.#at = 0;
      this.#render();
    } catch (error) {
      if (/** @type {any} */ (error)?.name !== "AbortError") this.close();
    }
  }

  close() {
    this.#isOpen = false;
    this.#asking?.abort();
    this.#list.hidden = true;
    this.#said.textContent = "";
    this.#area?.removeAttribute("aria-activedescendant");
    this.#area?.removeAttribute("aria-controls");
  }

  /** Whether the key was for the list. @param {KeyboardEvent} event */
  key(event) {
    if (this.#list.hidden) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.#skills.length > 0) {
      this.#at = (this.#at + step + this.#skills.length) % this.#skills.length;
      this.#mark();
    } else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && this.#skills[this.#at]) {
      this.#choose(this.#at);
    } else if (event.key === "Escape") {
      this.close();
    } else return false;
    event.preventDefault();
    return true;
  }

  /** @param {number} index */
  #choose(index) {
    const skill = this.#skills[index];
    if (skill) this.dispatchEvent(new CustomEvent("choose", { detail: skill }));
  }

  #render() {
    const options = this.#skills.map((skill, index) =>
      h(
        "div",
        { class: "option", role: "option", id: `skill-option-${index}`, onclick: () => this.#choose(index) },
        h(
          "span",
          { class: "option-name" },
          skill.name,
          skill.argument_hint ? h("span", { class: "option-hint" }, ` ${skill.argument_hint}`) : "",
        ),
        h("span", { class: "option-text" }, skill.description),
      ),
    );
    // A word that starts with a slash and is not a skill is plain text.
    this.#list.hidden = options.length === 0;
    this.#list.replaceChildren(...options);
    this.#said.textContent =
      options.length > 0 ? t.prompt.found(options.length) : this.#query ? t.prompt.foundNone : "";
    if (options.length > 0) {
      this.#area?.setAttribute("aria-controls", "skill-menu");
      this.#mark();
    } else this.#area?.removeAttribute("aria-activedescendant");
  }

  #mark() {
    [...this.#list.children].forEach((option, index) => {
      option.setAttribute("aria-selected", String(index === this.#at));
      if (index === this.#at) option.scrollIntoView({ block: "nearest" });
    });
    this.#area?.setAttribute("aria-activedescendant", `skill-option-${this.#at}`);
  }
}
customElements.define("skill-menu", SkillMenu);
