// The skill menu that opens with `/` and `$`. The focus stays in the text field.

import { api } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";

const MOST = 8;

/** Whether a name, or a word in it, begins with a text. @param {string} name @param {string} text */
const beginsWith = (name, text) => {
  const [lower, query] = [name.toLowerCase(), text.toLowerCase()];
  return lower.startsWith(query) || lower.split(/[-_:. ]/).some((word) => word.startsWith(query));
};

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

  get isOpen() {
    return this.#isOpen;
  }

  /**
   * `isWord`: within a text, where words may begin with a slash or a dollar sign, only names that begin so are offered.
   * @param {string} query @param {boolean} [isWord]
   */
  async open(query, isWord = false) {
    this.#isOpen = true;
    this.#query = query;
    this.#asking?.abort();
    const asking = (this.#asking = new AbortController());
    try {
      const found = await api.get(
        `/api/complete?${new URLSearchParams({ query, k: String(isWord ? 4 * MOST : MOST) })}`,
        {},
        asking.signal,
      );
      if (!this.#isOpen || this.#asking !== asking) return;
      const all = /** @type {{ name: string, description: string }[]} */ (found.skills);
      this.#skills = isWord ? all.filter((skill) => beginsWith(skill.name, query)).slice(0, MOST) : all;
      // After a single character, Enter still sends the message.
      this.#at = isWord && query === "" ? -1 : 0;
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
      const count = this.#skills.length;
      this.#at = this.#at < 0 && step < 0 ? count - 1 : (this.#at + step + count) % count;
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
    if (this.#at < 0) this.#area?.removeAttribute("aria-activedescendant");
    else this.#area?.setAttribute("aria-activedescendant", `skill-option-${this.#at}`);
  }
}
customElements.define("skill-menu", SkillMenu);
