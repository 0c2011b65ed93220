// A message: user text, or a reply with its thinking and tool calls.

import { at } from "../lib/api.js";
import { h, make } from "../lib/dom.js";
import { fullTime, size } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { MarkdownView } from "./markdown-view.js";
import { endNote, toolsDisabledNote, WaitingNote } from "./message-notes.js";
import { messageFoot } from "./message-tools.js";
import { calledSkill, saidText } from "./said-text.js";
import { ThinkingView } from "./thinking-view.js";
import { ToolCard } from "./tool-card.js";

/** @typedef {import("../types.js").Message} Message */
/** @typedef {import("../types.js").Part} Part */

/** The element of each kind of part; a result has none, it completes the card of its call. */
const KINDS = { text: MarkdownView, thinking: ThinkingView, tool_call: ToolCard };

export class MessageView extends HTMLElement {
  /** The chat's id. @type {string | undefined} */
  chat;
  /** For an answer, the id of the user message before it. @type {string | undefined} */
  asked;
  /** @type {Message | null} */
  #message = null;
  #body = h("div", { class: "message-body" });
  #foot = h("div", { class: "message-foot" });
  /** The elements of the parts. @type {HTMLElement[]} */
  #shown = [];
  /** The inputs of the last rendering of a user message. */
  #said = "";

  connectedCallback() {
    if (!this.#body.isConnected) this.append(this.#body, this.#foot);
  }

  get message() {
    return this.#message;
  }

  set message(message) {
    this.#message = message;
    if (!message) return;
    this.classList.add("message", message.role);
    this.setAttribute("role", "article");
    this.setAttribute("aria-label", t.message.by(message.role, fullTime(message.at)));
    if (message.role === "user") this.#person(message);
    else this.grow();
    this.#footer(message);
  }

  /** @param {boolean} last */
  set last(last) {
    this.classList.toggle("last", last);
  }

  /** Edits the message in place. */
  async edit() {
    const message = this.#message;
    if (!message || this.querySelector(".message-editor")) return;
    const { messageEditor } = await import("./message-editor.js");
    const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    const editor = messageEditor(text, (changed) => {
      editor.remove();
      this.classList.remove("editing");
      const button = this.#foot.querySelector("button");
      if (changed === null || changed === text.trim()) button?.focus();
      else this.dispatchEvent(new CustomEvent("edit", { detail: changed, bubbles: true }));
    });
    this.classList.add("editing");
    this.#body.before(editor);
    const area = editor.querySelector("textarea");
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }

  /** @param {Message} message */
  #person(message) {
    const texts = message.parts.filter((part) => part.type === "text");
    const text = texts.map((part) => part.text).join("");
    const html = texts.length === 1 ? texts[0]?.html : undefined;
    // Renders only on changes, so that a folded message that was opened stays open.
    const key = JSON.stringify([message.parts, calledSkill(text)]);
    if (key === this.#said) return;
    this.#said = key;
    this.#body.replaceChildren(saidText(text, html));
    const files = message.parts.filter((part) => part.type === "file");
    if (files.length === 0) return;
    const chips = files.map((file) =>
      h(
        "li",
        {},
        h(
          "a",
          { class: "chip file-chip", href: at.chatFile(this.chat ?? "", file.path), download: file.path.split("/").at(-1) },
          icon("file"),
          h("span", { class: "chip-name" }, visible(file.path)),
          h("span", { class: "file-note" }, size(file.size)),
        ),
      ),
    );
    this.#body.append(h("ul", { class: "said-files", "aria-label": t.files.attached }, ...chips));
  }

  /** Renders new parts of the message. Existing elements stay. */
  grow() {
    const message = this.#message;
    if (!message) return;
    const writing = message.state === "writing";
    const wanted = message.parts.filter((part) => part.type in KINDS);
    wanted.forEach((part, index) => {
      const kind = KINDS[/** @type {keyof typeof KINDS} */ (part.type)];
      let shown = this.#shown[index];
      if (!(shown instanceof kind)) {
        const fresh = make(/** @type {new () => HTMLElement} */ (kind));
        const next = this.#shown[index + 1] ?? this.#body.querySelector(":scope > :is(.thinking, waiting-note, .declined, .message-error)");
        if (shown) shown.replaceWith(fresh);
        else this.#body.insertBefore(fresh, next);
        shown = this.#shown[index] = fresh;
      }
      const open = writing && part === message.parts.at(-1);
      if (part.type === "text") /** @type {MarkdownView} */ (shown).show(part.text, part.html, open);
      else if (part.type === "thinking") /** @type {ThinkingView} */ (shown).show(part, open);
      else if (part.type === "tool_call") {
        const result = message.parts.find((other) => other.type === "tool_result" && other.id === part.id);
        /** @type {ToolCard} */ (shown).chat = this.chat ?? "";
        /** @type {ToolCard} */ (shown).show(part, /** @type {any} */ (result), writing);
      }
    });
    for (const extra of this.#shown.splice(wanted.length)) extra.remove();
    this.classList.toggle("writing", writing);
    this.#notes(message);
    const last = message.parts.at(-1)?.type;
    this.#thinking(writing && !message.waiting && last !== "text" && last !== "thinking");
  }

  /** @param {Message} message */
  #notes(message) {
    const find = (/** @type {string} */ selector) => this.#body.querySelector(`:scope > ${selector}`);
    const disabled = find(".tools-disabled");
    if (message.tools_disabled === undefined) disabled?.remove();
    else if (!disabled) this.#body.prepend(toolsDisabledNote(message.tools_disabled));
    const waiting = find("waiting-note");
    if (!message.waiting || message.state !== "writing") waiting?.remove();
    else {
      const note = waiting instanceof WaitingNote ? waiting : make(WaitingNote);
      if (!note.isConnected) this.#body.append(note);
      note.show(message.waiting);
    }
    const end = endNote(message);
    const shown = find(":is(.message-error, .declined)");
    if (!end) shown?.remove();
    else if (shown) shown.replaceWith(end);
    else this.#body.append(end);
  }

  /** @param {boolean} on */
  #thinking(on) {
    const dots = this.#body.querySelector(":scope > .thinking");
    if (!on) return dots?.remove();
    this.#body.append(dots ?? h("div", { class: "thinking", "aria-hidden": "true" }, h("i"), h("i"), h("i")));
  }

  /** @param {Message} message */
  #footer(message) {
    this.#foot.replaceChildren(...messageFoot(this, message).filter((item) => item !== null));
  }
}
customElements.define("message-view", MessageView);
