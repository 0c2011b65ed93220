// The list of chats: open, create, rename, export and delete.

import { at } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { when } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { address, go, route } from "../lib/route.js";
import { t } from "../lib/text.js";
import { chats } from "../state/chats.js";
import { confirmDialog } from "./confirm-dialog.js";

/** @typedef {import("../types.js").Chat} Chat */

export class ChatList extends HTMLElement {
  #list = h("ul", { class: "chats" });
  /** List items by chat, so that a reload does not move unchanged items. @type {Map<string, HTMLLIElement>} */
  #rows = new Map();

  connectedCallback() {
    this.className = "chat-list";
    const begin = h(
      "button",
      { class: "button wide", onclick: () => this.#begin() },
      icon("add"),
      t.chats.new,
    );
    const scroll = h("div", { class: "chats-scroll" }, this.#list);
    scroll.addEventListener("scroll", () => {
      if (scroll.scrollTop + scroll.clientHeight > scroll.scrollHeight - 400) chats.more().catch(() => {});
    });
    this.replaceChildren(begin, h("h2", { class: "side-title", id: "chats-title" }, t.chats.title), scroll);
    this.#list.setAttribute("aria-labelledby", "chats-title");
    chats.addEventListener("change", () => this.#render());
    addEventListener("hashchange", () => this.#mark());
    // Updates relative times once a minute.
    setInterval(() => document.hidden || this.#render(), 60_000);
    chats.read();
  }

  #begin() {
    go(address("chat"));
    dispatchEvent(new Event("prowess:write"));
  }

  #render() {
    if (chats.ready && chats.list.length === 0) {
      this.#rows.clear();
      return this.#list.replaceChildren(h("li", { class: "side-note" }, t.chats.none));
    }
    const rows = chats.list.map((chat) => this.#row(chat));
    for (const id of this.#rows.keys()) if (!chats.list.some((chat) => chat.id === id)) this.#rows.delete(id);
    const focused = document.activeElement;
    rows.forEach((row, index) => {
      if (this.#list.children[index] !== row)
        this.#list.insertBefore(row, this.#list.children[index] ?? null);
    });
    while (this.#list.children.length > rows.length) this.#list.lastElementChild?.remove();
    if (focused instanceof HTMLElement && this.contains(focused)) focused.focus();
    this.#mark();
  }

  /** @param {Chat} chat @returns {HTMLLIElement} */
  #row(chat) {
    const title = chat.title || t.chats.untitled;
    let row = this.#rows.get(chat.id);
    if (!row) {
      row = this.#newRow(chat.id);
      this.#rows.set(chat.id, row);
    }
    const link = /** @type {HTMLElement} */ (row.querySelector(".chat-link"));
    const name = /** @type {HTMLElement} */ (link.querySelector(".chat-title"));
    if (name.textContent !== title) {
      name.textContent = title;
      link.title = title;
    }
    /** @type {HTMLElement} */ (link.querySelector(".chat-time")).textContent = chat.writing
      ? t.chats.writing
      : when(chat.updated);
    link.classList.toggle("writing", Boolean(chat.writing));
    row.dataset.title = title;
    return row;
  }

  /** @param {string} id */
  #newRow(id) {
    const link = h(
      "a",
      { class: "chat-link", href: address("chat", id) },
      h("span", { class: "chat-title" }),
      h("span", { class: "chat-time" }),
    );
    const row = h("li", { class: "chat-row" }, link);
    const tool = (
      /** @type {any} */ picture,
      /** @type {string} */ label,
      /** @type {() => void} */ onclick,
    ) =>
      h("button", { class: "icon-button small", title: label, "aria-label": label, onclick }, icon(picture));
    row.append(
      h(
        "span",
        { class: "chat-tools" },
        tool("edit", t.chats.rename, () => this.#rename(row, id)),
        h(
          "a",
          {
            class: "icon-button small",
            href: `${at.chat(id)}/export`,
            download: `chat-${id}.json`,
            title: t.chats.export,
            "aria-label": t.chats.export,
          },
          icon("download"),
        ),
        tool("trash", t.chats.remove, () => this.#remove(row, id)),
      ),
    );
    return row;
  }

  /** @param {HTMLLIElement} row @param {string} id */
  #rename(row, id) {
    const before = row.dataset.title ?? "";
    const input = h("input", {
      class: "input chat-rename",
      value: before,
      maxlength: 200,
      "aria-label": t.chats.title,
    });
    let over = false;
    const end = (/** @type {boolean} */ keep) => {
      // Removing the field causes a blur event, which also ends the renaming.
      if (over) return;
      over = true;
      const title = input.value.trim();
      input.remove();
      row.classList.remove("renaming");
      if (keep && title && title !== before) chats.rename(id, title).catch(() => {});
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) end(true);
      else if (event.key === "Escape") end(false);
      else return;
      event.stopPropagation();
      row.querySelector("a")?.focus();
    });
    input.addEventListener("blur", () => end(true));
    row.classList.add("renaming");
    row.append(input);
    input.select();
  }

  /** @param {HTMLLIElement} row @param {string} id */
  async #remove(row, id) {
    const title = row.dataset.title ?? "";
    const yes = await confirmDialog({
      title: t.chats.removeTitle,
      text: t.chats.removeText(title),
      yes: t.common.delete,
      danger: true,
    });
    if (!yes) return;
    await chats.remove(id).catch(() => {});
    if (route().id === id) go(address("chat"), { replace: true });
  }

  #mark() {
    const { view, id } = route();
    for (const [chat, row] of this.#rows) {
      const link = row.querySelector("a");
      if (view === "chat" && chat === id) link?.setAttribute("aria-current", "page");
      else link?.removeAttribute("aria-current");
    }
  }
}
customElements.define("chat-list", ChatList);
