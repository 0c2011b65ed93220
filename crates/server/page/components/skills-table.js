// All skills in a table. Only the rows that can be seen are in the document, however many there are.

import { h, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { heightOf, rowsBetween, topOf } from "../lib/window.js";
import { SkillDetail } from "./skill-detail.js";

/** @typedef {import("../types.js").Skill} Skill */
/** @typedef {import("../types.js").Diagnostic} Diagnostic */

/** Rows are as high as the stylesheet says; on narrow screens a row has more lines. */
const NARROW = matchMedia("(max-width: 759px)");
const heightOfRow = () => (NARROW.matches ? 92 : 52);

export class SkillsTable extends HTMLElement {
  /** @type {Skill[]} */
  skills = [];
  /** @type {Diagnostic[]} */
  diagnostics = [];
  /** @type {Skill[]} */
  #shown = [];
  /** Where the open skill lies: the one thing that no other has. @type {string | null} */
  #open = null;
  #extra = 0;
  /** @type {SkillDetail | null} */
  #detail = null;
  #body = h("div", { class: "rows", role: "rowgroup" });
  #none = h("p", { class: "side-note", hidden: true }, t.skills.none);
  #scroll = h("div", { class: "table-scroll", tabindex: "-1" });
  #table = h("div", { class: "table", role: "table", "aria-label": t.skills.title });
  #grown = new ResizeObserver(([entry]) => this.#measured(entry));
  #words = new WeakMap();

  connectedCallback() {
    const cell = (/** @type {string} */ text) => h("div", { role: "columnheader", class: "cell" }, text);
    const head = h(
      "div",
      { class: "row head", role: "row", "aria-rowindex": "1" },
      cell(t.skills.name),
      cell(t.skills.description),
      cell(t.skills.source),
      cell(t.skills.status),
    );
    this.#table.replaceChildren(h("div", { role: "rowgroup", class: "table-head" }, head), this.#body);
    this.#scroll.replaceChildren(this.#table, this.#none);
    this.replaceChildren(this.#scroll);
    this.#scroll.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.#scroll.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this.#scroll);
    NARROW.addEventListener("change", () => this.refresh());
    this.refresh();
  }

  /** Shows those that fit; gives how many. @param {string} text @param {string} status */
  filter(text, status) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.#shown = this.skills.filter(
      (skill) =>
        (!status || skill.status === status) && words.every((word) => this.#wordsOf(skill).includes(word)),
    );
    if (this.#open && !this.#shown.some((skill) => skill.location === this.#open)) this.#close();
    else if (this.#open)
      this.#detail?.update(/** @type {Skill} */ (this.#shown.find((skill) => skill.location === this.#open)));
    this.refresh();
    return this.#shown.length;
  }

  /** @param {Skill} skill @returns {string} */
  #wordsOf(skill) {
    const known = this.#words.get(skill);
    if (known) return known;
    const words = [
      skill.id,
      skill.name,
      skill.description,
      skill.scope,
      t.skills.scopes[skill.scope],
      skill.source,
    ]
      .join(" ")
      .toLowerCase();
    this.#words.set(skill, words);
    return words;
  }

  get #measures() {
    const open = this.#open === null ? -1 : this.#shown.findIndex((skill) => skill.location === this.#open);
    return { count: this.#shown.length, height: heightOfRow(), open, extra: this.#extra };
  }

  /** Draws everything anew. */
  refresh() {
    this.#body.replaceChildren();
    this.#none.hidden = this.#shown.length > 0;
    this.#table.setAttribute("aria-rowcount", String(this.#shown.length + 1));
    this.#draw();
  }

  #draw() {
    if (!this.isConnected) return;
    const m = this.#measures;
    this.#body.style.height = `${heightOf(m)}px`;
    const top = this.#scroll.scrollTop;
    const [first, last] = rowsBetween(m, top, top + this.#scroll.clientHeight);
    /** @type {Map<number, HTMLElement>} */
    const there = new Map();
    for (const row of /** @type {Iterable<HTMLElement>} */ ([...this.#body.children])) {
      const index = Number(row.dataset.index);
      const focused = row.contains(document.activeElement);
      // A row with the keyboard in it stays, wherever one scrolls.
      if ((index >= first && index < last) || focused || index === m.open) there.set(index, row);
      else row.remove();
    }
    for (let index = first; index < last; index++) {
      const row = there.get(index) ?? this.#row(index);
      if (!there.has(index)) {
        const next = [...this.#body.children].find(
          (other) => Number(/** @type {HTMLElement} */ (other).dataset.index) > index,
        );
        this.#body.insertBefore(row, next ?? null);
        there.set(index, row);
      }
    }
    for (const [index, row] of there) row.style.transform = `translateY(${topOf(m, index)}px)`;
  }

  /** @param {number} index */
  #row(index) {
    const skill = /** @type {Skill} */ (this.#shown[index]);
    const open = skill.location === this.#open;
    const problems = (skill.errors ?? 0) + (skill.warnings ?? 0);
    const button = h(
      "button",
      { class: "row-open", "aria-expanded": String(open) },
      icon("down"),
      h("span", { class: "row-name" }, skill.name || skill.id),
      skill.name !== skill.id && h("span", { class: "row-id" }, skill.id),
    );
    const row = h(
      "div",
      {
        class: `row ${open ? "open" : ""}`,
        role: "row",
        "aria-rowindex": index + 2,
        "data-index": index,
        "data-id": skill.id,
      },
      h("div", { class: "cell name", role: "cell" }, button),
      h("div", { class: "cell description", role: "cell", title: skill.description }, skill.description),
      h(
        "div",
        { class: "cell source", role: "cell", title: skill.source },
        t.skills.scopes[skill.scope] ?? skill.scope,
      ),
      h(
        "div",
        { class: "cell status", role: "cell" },
        h("span", { class: `status-dot ${skill.status}` }),
        h(
          "span",
          { class: "status-text", title: skill.reason ?? "" },
          t.skills.statuses[skill.status] ?? skill.status,
          skill.reason && h("span", { class: "reason" }, ` · ${skill.reason}`),
        ),
        problems > 0 &&
          h(
            "span",
            { class: `badge ${skill.errors ? "bad" : "warn"}`, title: t.skills.problems(problems) },
            String(problems),
          ),
      ),
    );
    button.addEventListener("click", () => this.#toggle(skill.location));
    if (open && this.#detail) row.append(this.#detail);
    return row;
  }

  /** @param {string} location */
  #toggle(location) {
    const again = this.#open === location;
    const focus = document.activeElement?.matches(".row-open") ?? false;
    this.#close();
    if (!again) {
      const skill = this.#shown.find((one) => one.location === location);
      if (!skill) return;
      this.#open = location;
      this.#extra = 220;
      this.#detail = make(SkillDetail);
      this.#detail.setAttribute("role", "cell");
      this.#detail.show(skill, this.diagnostics);
      this.#grown.observe(this.#detail);
    }
    const index = this.#shown.findIndex((one) => one.location === location);
    this.refresh();
    if (focus) this.#focus(index);
  }

  #close() {
    if (this.#detail) this.#grown.unobserve(this.#detail);
    this.#detail = null;
    this.#open = null;
    this.#extra = 0;
  }

  /** @param {ResizeObserverEntry | undefined} entry */
  #measured(entry) {
    const height = entry?.target instanceof HTMLElement ? entry.target.offsetHeight : 0;
    if (!height || height === this.#extra) return;
    this.#extra = height;
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const button = event.target instanceof Element ? event.target.closest(".row-open") : null;
    if (!button) return;
    const index = Number(/** @type {HTMLElement} */ (button.closest(".row")).dataset.index);
    const page = Math.max(1, Math.floor(this.#scroll.clientHeight / heightOfRow()) - 1);
    const to = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + page,
      PageUp: index - page,
      Home: 0,
      End: this.#shown.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#focus(Math.max(0, Math.min(this.#shown.length - 1, to)));
  }

  focusFirst() {
    this.#focus(0);
  }

  /** @param {number} index */
  #focus(index) {
    const m = this.#measures;
    if (index < 0 || index >= m.count) return;
    const top = topOf(m, index);
    const head = 40;
    if (top < this.#scroll.scrollTop) this.#scroll.scrollTop = top;
    else if (top + m.height + head > this.#scroll.scrollTop + this.#scroll.clientHeight)
      this.#scroll.scrollTop = top + m.height + head - this.#scroll.clientHeight;
    this.#draw();
    /** @type {HTMLElement | null} */ (
      this.#body.querySelector(`.row[data-index="${index}"] .row-open`)
    )?.focus({ preventScroll: true });
  }

  /** Opens a skill and brings it into view. @param {string} id */
  reveal(id) {
    const index = this.#shown.findIndex((skill) => skill.id === id && skill.status !== "shadowed");
    const skill = this.#shown[index];
    if (!skill) return;
    if (this.#open !== skill.location) this.#toggle(skill.location);
    this.#focus(index);
  }
}
customElements.define("skills-table", SkillsTable);
