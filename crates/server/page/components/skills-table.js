// The skill table. Only visible rows are in the document.

import { h, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { heightOf, rowsBetween, topOf } from "../lib/window.js";
import { SkillDetail } from "./skill-detail.js";
import { skillRow } from "./skill-row.js";
import { hasUnsaved, mayDiscard } from "./unsaved.js";

/** @typedef {import("../types.js").Skill} Skill */
/** @typedef {import("../types.js").Diagnostic} Diagnostic */
/** @typedef {import("./skill-row.js").SkillRow} SkillRow */

/** Row heights, as in the stylesheet; rows on narrow screens have more lines. */
const NARROW = matchMedia("(max-width: 759px)");
const heightOfRow = () => (NARROW.matches ? 92 : 52);
const HEAD = 40;

/** What rows can be sorted by. @type {Record<string, (skill: Skill) => string | number>} */
const KEYS = {
  name: (skill) => (skill.name || skill.id).toLowerCase(),
  description: (skill) => skill.description.toLowerCase(),
  source: (skill) => `${skill.scope} ${skill.source}`,
  status: (skill) => `${Object.keys(t.skills.statuses).indexOf(skill.status)} ${skill.reason ?? ""}`,
};

/** How well a skill matches: lower is better. @param {Skill} skill @param {string} text */
const distance = (skill, text) => {
  const names = [skill.name, skill.id].map((name) => name.toLowerCase());
  if (names.includes(text)) return 0;
  if (names.some((name) => name.startsWith(text))) return 1;
  if (names.some((name) => name.includes(text))) return 2;
  return skill.description.toLowerCase().includes(text) ? 3 : 4;
};

export class SkillsTable extends HTMLElement {
  /** @type {Skill[]} */
  skills = [];
  /** @type {Diagnostic[]} */
  diagnostics = [];
  /** @type {Skill[]} */
  #shown = [];
  /** The location of the open skill, which identifies it. @type {string | null} */
  #open = null;
  #extra = 0;
  /** @type {SkillDetail | null} */
  #detail = null;
  /** The rendered rows, by the location of their skills. @type {Map<string, SkillRow>} */
  #rows = new Map();
  #body = h("div", { class: "rows", role: "rowgroup" });
  #none = h("p", { class: "side-note", hidden: true }, t.skills.none);
  #scroll = h("div", { class: "table-scroll", tabindex: "-1" });
  #table = h("div", { class: "table", role: "table", "aria-label": t.skills.title });
  #grown = new ResizeObserver(([entry]) => this.#measured(entry));
  /** @type {WeakMap<Skill, string>} */
  #words = new WeakMap();
  /** The locations of the selected skills. @type {Set<string>} */
  #chosen = new Set();
  /** @type {string | null} */
  #lastChosen = null;
  /** @type {{ by: string, down: boolean } | null} */
  #sort = null;
  #all = h("input", { type: "checkbox", class: "row-check", "aria-label": t.skills.selectAll });

  connectedCallback() {
    const cell = (/** @type {string} */ key, /** @type {string} */ text) =>
      h(
        "div",
        { role: "columnheader", class: "cell", "data-key": key },
        h("button", { class: "sort", onclick: () => this.#sortBy(key) }, text, icon("down")),
      );
    this.#all.addEventListener("change", () => this.#chooseAll(this.#all.checked));
    const head = h(
      "div",
      { class: "row head", role: "row", "aria-rowindex": "1" },
      h("div", { role: "columnheader", class: "cell select" }, this.#all),
      cell("name", t.skills.name),
      cell("description", t.skills.description),
      cell("source", t.skills.source),
      cell("status", t.skills.status),
    );
    this.#table.replaceChildren(h("div", { role: "rowgroup", class: "table-head" }, head), this.#body);
    this.#scroll.replaceChildren(this.#table, this.#none);
    this.replaceChildren(this.#scroll);
    this.#scroll.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.#scroll.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this.#scroll);
    NARROW.addEventListener("change", () => this.#draw());
    this.refresh();
  }

  /**
   * Shows skills that contain the text, then the named ones; returns the number of both.
   * @param {string} text
   * @param {string} status
   * @param {string[]} [named] matches from the server, best first
   */
  filter(text, status, named = []) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (/** @type {Skill} */ skill) =>
      (!status || skill.status === status) && words.every((word) => this.#wordsOf(skill).includes(word));
    const whole = text.toLowerCase();
    const having = this.skills.filter(has);
    // The best match first; equal ones keep their order.
    if (whole) having.sort((a, b) => distance(a, whole) - distance(b, whole));
    const others = this.#named(named, status, new Set(having));
    const edited = this.#edited();
    this.#shown = this.#sorted([...having, ...others]);
    // A filter must not discard unsaved changes.
    if (edited && !this.#shown.some((skill) => skill.location === edited.location))
      this.#shown.unshift(this.skills.find((skill) => skill.location === edited.location) ?? edited);
    const open = this.#shown.find((skill) => skill.location === this.#open);
    if (!open) this.#close();
    else this.#detail?.update(open);
    this.refresh();
    return { having: having.length, others: others.length };
  }

  /** @param {Skill[]} skills */
  #sorted(skills) {
    if (!this.#sort) return skills;
    const { by, down } = this.#sort;
    const key = KEYS[by] ?? (() => 0);
    const order = (/** @type {Skill} */ a, /** @type {Skill} */ b) =>
      String(key(a)).localeCompare(String(key(b)), undefined, { numeric: true });
    return skills.sort((a, b) => (down ? order(b, a) : order(a, b)));
  }

  /** The first click sorts up, the second down, the third not at all. @param {string} by */
  #sortBy(by) {
    const again = this.#sort?.by === by;
    this.#sort = again && this.#sort?.down ? null : { by, down: again };
    for (const cell of this.#table.querySelectorAll("[data-key]")) {
      const here = this.#sort?.by === /** @type {HTMLElement} */ (cell).dataset.key;
      if (here) cell.setAttribute("aria-sort", this.#sort?.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    this.dispatchEvent(new Event("sorted"));
  }

  /** The selected skills, in the order of the table. @returns {Skill[]} */
  get chosen() {
    return this.#shown.filter((skill) => this.#chosen.has(skill.location));
  }

  /** @param {boolean} chosen */
  #chooseAll(chosen) {
    this.#chosen = new Set(chosen ? this.#shown.map((skill) => skill.location) : []);
    this.#selected();
  }

  clearChosen() {
    this.#chooseAll(false);
  }

  /** @param {string} location @param {boolean} chosen @param {boolean} range from the last one that was selected */
  #choose(location, chosen, range) {
    const at = (/** @type {string | null} */ one) => this.#shown.findIndex((skill) => skill.location === one);
    const [from, to] = [range ? at(this.#lastChosen) : -1, at(location)];
    const all = from < 0 ? [location] : this.#shown.slice(Math.min(from, to), Math.max(from, to) + 1).map((skill) => skill.location);
    for (const one of all) {
      if (chosen) this.#chosen.add(one);
      else this.#chosen.delete(one);
    }
    this.#lastChosen = location;
    this.#selected();
  }

  #selected() {
    this.refresh();
    this.dispatchEvent(new Event("selected"));
  }

  /** The skills of these names that a model is offered, in this order. @param {string[]} names @param {string} status @param {Set<Skill>} but */
  #named(names, status, but) {
    if (names.length === 0 || (status && status !== "enabled")) return [];
    const wanted = new Set(names);
    /** @type {Map<string, Skill>} */
    const found = new Map();
    for (const skill of this.skills) {
      if (skill.status !== "enabled" || but.has(skill)) continue;
      for (const name of [skill.name, skill.id]) if (wanted.has(name) && !found.has(name)) found.set(name, skill);
    }
    return [...new Set(names.flatMap((name) => found.get(name) ?? []))];
  }

  /** @param {Skill} skill */
  #wordsOf(skill) {
    const known = this.#words.get(skill);
    if (known) return known;
    const scope = t.skills.scopes[skill.scope];
    const words = [skill.id, skill.name, skill.description, skill.scope, scope, skill.source]
      .join(" ")
      .toLowerCase();
    this.#words.set(skill, words);
    return words;
  }

  get #measures() {
    const open = this.#open === null ? -1 : this.#shown.findIndex((skill) => skill.location === this.#open);
    return { count: this.#shown.length, height: heightOfRow(), open, extra: this.#extra };
  }

  /** Updates the table after a change of the shown skills. */
  refresh() {
    this.#none.hidden = this.#shown.length > 0;
    const count = this.chosen.length;
    this.#all.checked = count > 0 && count === this.#shown.length;
    this.#all.indeterminate = count > 0 && count < this.#shown.length;
    this.#table.setAttribute("aria-rowcount", String(this.#shown.length + 1));
    this.#draw();
  }

  #draw() {
    if (!this.isConnected) return;
    const m = this.#measures;
    this.#body.style.height = `${heightOf(m)}px`;
    const top = this.#scroll.scrollTop;
    const [first, last] = rowsBetween(m, top, top + this.#scroll.clientHeight);
    /** @type {Map<string, number>} */
    const wanted = new Map();
    for (let index = first; index < last; index++)
      wanted.set(/** @type {Skill} */ (this.#shown[index]).location, index);
    if (m.open >= 0) wanted.set(/** @type {string} */ (this.#open), m.open);
    this.#keepFocused(wanted);
    for (const [location, row] of this.#rows) {
      if (wanted.has(location)) continue;
      row.element.remove();
      this.#rows.delete(location);
    }
    /** @type {Element | null} */
    let at = this.#body.firstElementChild;
    for (const [location, index] of [...wanted].sort((a, b) => a[1] - b[1])) {
      const row = this.#row(location);
      row.fill(/** @type {Skill} */ (this.#shown[index]), index, location === this.#open, this.#chosen.has(location));
      row.element.style.transform = `translateY(${topOf(m, index)}px)`;
      // Keeps table order for keyboard navigation, without moving rows that are already in place.
      if (row.element === at) at = at.nextElementSibling;
      else this.#body.insertBefore(row.element, at);
    }
  }

  /** A row with the keyboard in it stays, wherever one scrolls. @param {Map<string, number>} wanted */
  #keepFocused(wanted) {
    const row = document.activeElement?.closest?.(".rows > .row");
    const location = row instanceof HTMLElement && this.contains(row) ? row.dataset.location : undefined;
    if (location === undefined || wanted.has(location)) return;
    const index = this.#shown.findIndex((skill) => skill.location === location);
    if (index >= 0) wanted.set(location, index);
  }

  /** @param {string} location */
  #row(location) {
    const known = this.#rows.get(location);
    if (known) return known;
    const choose = (/** @type {boolean} */ chosen, /** @type {boolean} */ range) => this.#choose(location, chosen, range);
    const row = skillRow(location, () => this.#toggle(location), choose);
    if (location === this.#open && this.#detail) row.element.append(this.#detail);
    this.#rows.set(location, row);
    return row;
  }

  /** The open skill, if it has unsaved changes. */
  #edited() {
    return this.#detail && hasUnsaved(this.#detail)
      ? this.#shown.find((skill) => skill.location === this.#open)
      : undefined;
  }

  /** @param {string} location */
  async #toggle(location) {
    if (this.#detail && !(await mayDiscard(this.#detail))) return;
    const again = this.#open === location;
    this.#close();
    const skill = this.#shown.find((one) => one.location === location);
    if (!again && skill) {
      this.#open = location;
      this.#extra = 220;
      this.#detail = make(SkillDetail);
      this.#detail.setAttribute("role", "cell");
      this.#detail.show(skill, this.diagnostics);
      this.#grown.observe(this.#detail);
      this.#rows.get(location)?.element.append(this.#detail);
    }
    this.refresh();
  }

  #close() {
    if (this.#detail) this.#grown.unobserve(this.#detail);
    this.#detail?.remove();
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
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (step === undefined) return;
    event.preventDefault();
    this.#focus(Math.max(0, Math.min(this.#shown.length - 1, index + step)));
  }

  focusFirst() {
    this.#focus(0);
  }

  /** @param {number} index */
  #focus(index) {
    const m = this.#measures;
    const skill = this.#shown[index];
    if (!skill) return;
    const top = topOf(m, index);
    const { scrollTop, clientHeight } = this.#scroll;
    if (top < scrollTop) this.#scroll.scrollTop = top;
    else if (top + m.height + HEAD > scrollTop + clientHeight)
      this.#scroll.scrollTop = top + m.height + HEAD - clientHeight;
    this.#draw();
    this.#rows.get(skill.location)?.button.focus({ preventScroll: true });
  }

  /** Opens a skill and brings it into view. @param {string} id */
  async reveal(id) {
    const index = this.#shown.findIndex((skill) => skill.id === id && skill.status !== "shadowed");
    const skill = this.#shown[index];
    if (!skill) return;
    if (this.#open !== skill.location) await this.#toggle(skill.location);
    this.#focus(index);
  }
}
customElements.define("skills-table", SkillsTable);
