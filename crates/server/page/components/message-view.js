// A message: user text, or a reply with its tool calls.

import { at } from "../lib/api.js";
import { h, make } from "../lib/dom.js";
import { fullTime, number, size } from "../lib/format.js";
import { visible } from "../lib/hidden.js";
import { icon } from "../lib/icons.js";
import { address } from "../lib/route.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { copyButton } from "./copy-button.js";
import { MarkdownView } from "./markdown-view.js";
import { ToolCard } from "./tool-card.js";

/** @typedef {import("../types.js").Message} Message */
/** @typedef {import("../types.js").Part} Part */

export class MessageView extends HTMLElement {
  /** The chat's id. @type {string | undefined} */
  chat;
  /** For an answer, the id of the user message before it. @type {string | undefined} */
  asked;
  /** @type {Message | null} */
  #message = null;
  #last = false;
  #body = h("div", { class: "message-body" });
  #foot = h("div", { class: "message-foot" });
  /** The element of each part; a result has none, it completes the card of its call. @type {HTMLElement[]} */
  #shown = [];

  connectedCallback() {
    if (!this.#body.isConnected) this.append(this.#body, this.#foot);
  }

  get message() {
    return this.#message;
  }

  set message(message) {
    this.#message = message;
    if (!message) return;
    this.className = `message ${message.role}`;
    this.setAttribute("role", "article");
    this.setAttribute("aria-label", t.message.by(message.role, fullTime(message.at)));
    if (message.role === "user") this.#person(message);
    else this.grow();
    this.#footer(message);
  }

  /** @param {boolean} last */
  set last(last) {
    if (this.#last === last) return;
    this.#last = last;
    if (this.#message) this.#footer(this.#message);
  }

  #text() {
    const parts = this.#message?.parts ?? [];
    return parts
      .map((part) => (part.type === "text" ? part.text : ""))
      .join("\n\n")
      .trim();
  }

  /** @param {Message} message */
  #person(message) {
    const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    const called = /^\/(\S+)(?:\s+|$)/.exec(text);
    const skill = called?.[1] ? app.skill(called[1]) : undefined;
    if (called && skill) {
      this.#body.replaceChildren(
        h("span", { class: "chip said" }, icon("bolt"), h("span", { class: "chip-name" }, `/${called[1]}`)),
        " ",
        h("span", { class: "said-text" }, text.slice(called[0].length)),
      );
    } else this.#body.replaceChildren(h("span", { class: "said-text" }, text));
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
    const wanted = message.parts.filter((part) => part.type === "text" || part.type === "tool_call");
    wanted.forEach((part, index) => {
      let shown = this.#shown[index];
      const fits = part.type === "text" ? shown instanceof MarkdownView : shown instanceof ToolCard;
      if (!shown || !fits) {
        const fresh = part.type === "text" ? make(MarkdownView) : make(ToolCard);
        if (shown) shown.replaceWith(fresh);
        else this.#body.append(fresh);
        shown = this.#shown[index] = fresh;
      }
      if (part.type === "text") {
        const open = writing && part === message.parts.at(-1);
        /** @type {MarkdownView} */ (shown).show(part.text, part.html, open);
      } else if (part.type === "tool_call") {
        const result = message.parts.find((other) => other.type === "tool_result" && other.id === part.id);
        /** @type {ToolCard} */ (shown).chat = this.chat ?? "";
        /** @type {ToolCard} */ (shown).show(part, /** @type {any} */ (result), writing);
      }
    });
    for (const extra of this.#shown.splice(wanted.length)) extra.remove();
    this.classList.toggle("writing", writing);
    const waiting = writing && message.parts.at(-1)?.type !== "text";
    this.#thinking(waiting);
  }

  /** @param {boolean} on */
  #thinking(on) {
    const dots = this.#body.querySelector(":scope > .thinking");
    if (!on) return dots?.remove();
    this.#body.append(dots ?? h("div", { class: "thinking", "aria-hidden": "true" }, h("i"), h("i"), h("i")));
  }

  /** @param {string} message */
  #inspect(message) {
    const href = address("inspect", null, { chat: this.chat ?? "", message });
    const label = { title: t.message.inspect, "aria-label": t.message.inspect };
    return h("a", { class: "icon-button small", href, ...label }, icon("eye"));
  }

  /** @param {Message} message */
  #footer(message) {
    const writing = message.state === "writing";
    const items = [];
    if (message.state === "interrupted") {
      const stopped = /\bcancelled$/.test(message.reason ?? "");
      items.push(
        h(
          "span",
          { class: `message-end ${stopped ? "" : "error"}` },
          stopped ? t.message.stopped : t.message.broken(message.reason ?? ""),
        ),
      );
    }
    const tools = h("span", { class: "message-tools" });
    if (!writing && !message.id.startsWith("sending-")) {
      tools.append(copyButton(() => this.#text(), t.message.copy));
      if (message.role === "assistant" && this.#last) {
        tools.append(
          h(
            "button",
            {
              class: "icon-button small retry",
              title: t.message.retry,
              "aria-label": t.message.retry,
              onclick: () => this.dispatchEvent(new Event("retry", { bubbles: true })),
            },
            icon("retry"),
          ),
        );
      }
      const asked = message.role === "user" ? message.id : this.asked;
      if (asked) tools.append(this.#inspect(asked));
    }
    if (message.usage) {
      items.push(
        h(
          "span",
          { class: "message-cost" },
          t.message.cost(number(message.usage.input), number(message.usage.output)),
        ),
      );
    }
    this.#foot.replaceChildren(tools, ...items);
  }
}
customElements.define("message-view", MessageView);
