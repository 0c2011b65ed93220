// A chat in the list: its title, its time, and a menu.

import { h } from "../lib/dom.js";
import { when } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { address } from "../lib/route.js";
import { t } from "../lib/text.js";
import { chats } from "../state/chats.js";

/** @typedef {import("../types.js").Chat} Chat */

/** A text with the words of a search marked. @param {string} text @param {string} search @returns {(Node | string)[]} */
const marked = (text, search) => {
  const words = search.split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (words.length === 0) return [text];
  // Every second piece is a match.
  return text.split(new RegExp(`(${words.join("|")})`, "giu")).map((piece, index) => (index % 2 === 1 ? h("mark", {}, piece) : piece));
};

export class ChatRow {
  /** @type {Chat} */
  chat;
  element = h("li", { class: "chat-row" });
  #name = h("span", { class: "chat-title" });
  #note = h("span", { class: "chat-time" });
  #pin = h("span", { class: "chat-pin", hidden: true }, icon("pin"), h("span", { class: "unseen" }, t.chats.pinned));
  #link;
  #check = h("input", { type: "checkbox", class: "chat-check", hidden: true });

  /**
   * @param {Chat} chat
   * @param {{ select: () => void, toggle: (id: string, on: boolean) => void }} list
   */
  constructor(chat, list) {
    this.chat = chat;
    this.#link = h("a", { class: "chat-link", href: address("chat", chat.id) }, this.#name, this.#note);
    const more = h(
      "button",
      { class: "icon-button small chat-more", type: "button", title: t.chats.more, "aria-haspopup": "menu", "aria-expanded": "false" },
      icon("more"),
    );
    more.addEventListener("click", async () => {
      const [{ chatActions }, { openMenu }] = await Promise.all([import("./chat-actions.js"), import("./popup-menu.js")]);
      const [pin, ...others] = chatActions(this.chat);
      const remove = others.pop();
      openMenu(more, t.chats.more, [
        ...(pin ? [pin] : []),
        { label: t.chats.rename, icon: "edit", run: () => this.#rename() },
        ...others,
        { label: t.chats.select, icon: "select", run: () => list.select() },
        ...(remove ? [remove] : []),
      ]);
    });
    this.#check.addEventListener("change", () => list.toggle(chat.id, this.#check.checked));
    this.#link.addEventListener("click", (event) => {
      if (this.#check.hidden) return;
      event.preventDefault();
      this.#check.click();
    });
    this.element.append(this.#check, this.#link, this.#pin, h("span", { class: "chat-tools" }, more));
  }

  /** @param {Chat} chat @param {{ search: string, selected: boolean | null }} how `selected`: null if chats are not being selected */
  show(chat, { search, selected }) {
    this.chat = chat;
    const title = chat.title || t.chats.untitled;
    const key = JSON.stringify([title, search]);
    if (this.#name.dataset.key !== key) {
      this.#name.dataset.key = key;
      this.#name.replaceChildren(...marked(title, search));
      this.#link.title = title;
      this.#check.setAttribute("aria-label", t.chats.selectChat(title));
      this.element.querySelector(".chat-more")?.setAttribute("aria-label", t.chats.moreOf(title));
    }
    const excerpt = search ? chat.excerpt : null;
    this.#note.replaceChildren(...(excerpt ? marked(excerpt, search) : [chat.writing ? t.chats.writing : when(chat.updated)]));
    this.#note.classList.toggle("excerpt", Boolean(excerpt));
    this.#link.classList.toggle("writing", Boolean(chat.writing) && !excerpt);
    this.#pin.hidden = !chat.pinned;
    this.#check.hidden = selected === null;
    this.#check.checked = Boolean(selected);
  }

  /** @param {boolean} current */
  set current(current) {
    if (current) this.#link.setAttribute("aria-current", "page");
    else this.#link.removeAttribute("aria-current");
  }

  #rename() {
    const before = this.chat.title;
    const input = h("input", { class: "input chat-rename", value: before, maxlength: 200, "aria-label": t.chats.name });
    let over = false;
    const end = (/** @type {boolean} */ keep) => {
      // Removing the field causes a blur event, which also ends the renaming.
      if (over) return;
      over = true;
      const title = input.value.trim();
      input.remove();
      if (keep && title && title !== before) chats.change(this.chat.id, { title }).catch(() => {});
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) end(true);
      else if (event.key === "Escape") end(false);
      else return;
      event.stopPropagation();
      this.#link.focus();
    });
    input.addEventListener("blur", () => end(true));
    this.element.append(input);
    input.select();
    input.focus();
  }
}
