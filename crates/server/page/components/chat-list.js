// The list of chats by date: search, archive, and selecting several to delete them.

import { afterPause, h } from "../lib/dom.js";
import { groupOf } from "../lib/groups.js";
import { icon } from "../lib/icons.js";
import { address, go, route } from "../lib/route.js";
import { t } from "../lib/text.js";
import { chats } from "../state/chats.js";
import { ChatRow } from "./chat-row.js";

/** @typedef {import("../types.js").Chat} Chat */

const SEARCH_PAUSE = 200;

/** The group of a chat; results of a search are not grouped. @param {Chat} chat @param {string} search */
const groupFor = (chat, search) => {
  if (search) return { key: "found", title: t.chats.found };
  return chat.pinned ? { key: "pinned", title: t.chats.groups.pinned } : groupOf(chat.updated);
};

export class ChatList extends HTMLElement {
  #groups = h("div", { class: "chat-groups" });
  #note = h("p", { class: "side-note", hidden: true });
  #said = h("span", { class: "unseen", role: "status" });
  #title = h("h2", { class: "side-title", id: "chats-title" }, t.chats.title);
  #search = h("input", {
    class: "input chat-search",
    type: "search",
    placeholder: t.chats.search,
    "aria-label": t.chats.search,
    autocomplete: "off",
    enterkeyhint: "search",
  });
  #archive = h(
    "button",
    { class: "icon-button small", type: "button", title: t.chats.archived, "aria-label": t.chats.archived, "aria-pressed": "false" },
    icon("archive"),
  );
  #bar = h("div", { class: "select-bar", role: "group", "aria-label": t.chats.select, hidden: true });
  /** Rows by chat, so that a reload does not move unchanged ones. @type {Map<string, ChatRow>} */
  #rows = new Map();
  /** The selected chats, or null. @type {Set<string> | null} */
  #selected = null;

  connectedCallback() {
    this.className = "chat-list";
    const begin = h("button", { class: "button wide", onclick: () => this.#begin() }, icon("add"), t.chats.new);
    const scroll = h("div", { class: "chats-scroll" }, this.#groups, this.#note);
    scroll.addEventListener("scroll", () => {
      if (scroll.scrollTop + scroll.clientHeight > scroll.scrollHeight - 400) chats.more().catch(() => {});
    });
    this.replaceChildren(
      begin,
      h("div", { class: "search-field" }, icon("search"), this.#search),
      h("div", { class: "side-head" }, this.#title, this.#archive),
      scroll,
      this.#bar,
      this.#said,
    );
    const search = afterPause(SEARCH_PAUSE, () => chats.show({ search: this.#search.value.trim() }));
    this.#search.addEventListener("input", search);
    this.#search.addEventListener("keydown", (event) => this.#searchKey(event));
    this.#archive.addEventListener("click", () => {
      this.#select(null);
      chats.show({ archived: !chats.filter.archived });
    });
    chats.addEventListener("change", () => this.#render());
    addEventListener("hashchange", () => this.#mark());
    addEventListener("prowess:search", (event) => this.search(/** @type {CustomEvent} */ (event).detail));
    // Updates relative times once a minute.
    setInterval(() => document.hidden || this.#render(), 60_000);
    chats.read();
  }

  /** @param {string} text */
  search(text) {
    this.#search.value = text;
    this.#search.focus();
    chats.show({ search: text.trim() });
  }

  #begin() {
    go(address("chat"));
    dispatchEvent(new Event("prowess:write"));
  }

  /** @param {KeyboardEvent} event */
  #searchKey(event) {
    if (event.key === "Escape" && this.#search.value) {
      event.stopPropagation();
      this.#search.value = "";
      chats.show({ search: "" });
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.querySelector("a")?.focus();
    }
  }

  #render() {
    const { search, archived } = chats.filter;
    const { shown } = chats;
    const focused = document.activeElement;
    this.#title.textContent = archived ? t.chats.archived : t.chats.title;
    this.#archive.setAttribute("aria-pressed", String(archived));
    const ids = new Set(shown.map((chat) => chat.id));
    for (const id of this.#rows.keys()) if (!ids.has(id)) this.#rows.delete(id);
    /** @type {Map<string, { title: string, rows: HTMLElement[] }>} */
    const groups = new Map();
    for (const chat of shown) {
      const { key, title } = groupFor(chat, search);
      const group = groups.get(key) ?? { title, rows: [] };
      group.rows.push(this.#row(chat).element);
      groups.set(key, group);
    }
    placeAll(
      this.#groups,
      [...groups].map(([key, { title, rows }]) => {
        const section = this.#section(key, title);
        placeAll(/** @type {Element} */ (section.lastElementChild), rows);
        return section;
      }),
    );
    if (focused instanceof HTMLElement && focused !== document.activeElement && this.contains(focused)) focused.focus();
    this.#notes(shown.length, search, archived);
    this.#renderBar();
    this.#mark();
  }

  /** @param {number} count @param {string} search @param {boolean} archived */
  #notes(count, search, archived) {
    const none = search ? t.chats.foundNone : archived ? t.chats.archivedNone : t.chats.none;
    const text = chats.problem ? t.problem(chats.problem) : chats.ready && count === 0 ? none : "";
    this.#note.hidden = !text;
    this.#note.textContent = text;
    this.#said.textContent = search && !chats.problem && chats.ready ? t.chats.foundCount(count) : "";
  }

  /** @param {Chat} chat */
  #row(chat) {
    let row = this.#rows.get(chat.id);
    if (!row) {
      row = new ChatRow(chat, {
        select: () => this.#select(new Set([chat.id])),
        toggle: (id, on) => this.#toggle(id, on),
      });
      this.#rows.set(chat.id, row);
    }
    row.show(chat, { search: chats.filter.search, selected: this.#selected?.has(chat.id) ?? null });
    return row;
  }

  /** The section of a group. @param {string} key @param {string} title */
  #section(key, title) {
    const known = [...this.#groups.children].find((one) => /** @type {HTMLElement} */ (one).dataset.key === key);
    if (known) {
      const head = known.querySelector("h3");
      if (head && head.textContent !== title) head.textContent = title;
      return /** @type {HTMLElement} */ (known);
    }
    const id = `chats-${key}`;
    return h(
      "section",
      { class: "chat-group", "data-key": key },
      h("h3", { class: "chat-group-title", id }, title),
      h("ul", { class: "chats", "aria-labelledby": id }),
    );
  }

  /** Starts or ends selecting. @param {Set<string> | null} selected */
  #select(selected) {
    this.#selected = selected;
    this.classList.toggle("selecting", selected !== null);
    this.#render();
    if (selected) this.#bar.querySelector("button")?.focus();
  }

  /** @param {string} id @param {boolean} on */
  #toggle(id, on) {
    if (on) this.#selected?.add(id);
    else this.#selected?.delete(id);
    this.#renderBar();
  }

  #renderBar() {
    const selected = this.#selected;
    this.#bar.hidden = selected === null;
    if (!selected) return this.#bar.replaceChildren();
    const some = chats.shown.filter((chat) => selected.has(chat.id));
    const all = chats.shown.map((chat) => chat.id);
    const button = (/** @type {string} */ text, /** @type {() => void} */ onclick, /** @type {string} */ kind) =>
      h("button", { class: `button small ${kind}`, type: "button", onclick }, text);
    const remove = button(t.common.delete, () => this.#removeSelected(some), "danger-text");
    remove.disabled = some.length === 0;
    const focused = [...this.#bar.querySelectorAll("button")].indexOf(/** @type {any} */ (document.activeElement));
    this.#bar.replaceChildren(
      h("span", { class: "select-count", role: "status" }, t.chats.selected(some.length)),
      button(t.chats.selectAll, () => this.#select(new Set(all)), "quiet"),
      remove,
      button(t.common.cancel, () => this.#select(null), "quiet"),
    );
    if (focused >= 0) this.#bar.querySelectorAll("button")[focused]?.focus();
  }

  /** @param {Chat[]} some */
  async #removeSelected(some) {
    const { removeChats } = await import("./chat-actions.js");
    if (await removeChats(some)) this.#select(null);
  }

  #mark() {
    const { view, id } = route();
    for (const [chat, row] of this.#rows) row.current = view === "chat" && chat === id;
  }
}
customElements.define("chat-list", ChatList);

/** Makes the children of an element the given ones, and moves only those that are elsewhere. @param {Element} parent @param {Element[]} children */
const placeAll = (parent, children) => {
  children.forEach((child, index) => {
    const at = parent.children[index] ?? null;
    if (at !== child) parent.insertBefore(child, at);
  });
  while (parent.children.length > children.length) parent.lastElementChild?.remove();
};
