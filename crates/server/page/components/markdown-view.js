// A Markdown text. The server renders and sanitizes it; while it streams, new text appears as plain text first and is
// rendered a moment later.

import { api } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { setServerHtml } from "../lib/html.js";
import { t } from "../lib/text.js";
import { copyButton } from "./copy-button.js";

const PAUSE = 120;
/** Beyond this length, finished blocks are kept and only the rest is rendered again. */
const LONG = 2500;

export class MarkdownView extends HTMLElement {
  #text = "";
  /** The end of finished blocks. */
  #settled = 0;
  /** The end of the rendered text. */
  #formed = 0;
  #html = "";
  #live = false;
  #busy = false;
  #done = h("div", { class: "blocks" });
  #rest = h("div", { class: "blocks" });
  #new = document.createTextNode("");

  connectedCallback() {
    this.classList.add("markdown");
    if (!this.#done.isConnected) this.replaceChildren(this.#done, this.#rest);
  }

  /** @param {string} text @param {string | undefined} html what the server has made of exactly this text @param {boolean} live */
  show(text, html, live) {
    const grew = text.startsWith(this.#text) && this.#text !== "";
    this.#live = live;
    if (html !== undefined && (!live || !grew)) return this.#whole(text, html);
    if (!grew && this.#text !== "") this.#whole("", "");
    this.#text = text;
    this.#plain();
    this.#render();
  }

  /** @param {string} text @param {string} html */
  #whole(text, html) {
    this.#text = text;
    this.#formed = text.length;
    if (this.#settled === 0 && html === this.#html && !this.#new.data) return;
    this.#settled = 0;
    this.#html = html;
    this.#new.data = "";
    this.#done.replaceChildren();
    setServerHtml(this.#rest, html);
    decorate(this.#rest);
  }

  /** Text that is not rendered yet, at the end of the last block. */
  #plain() {
    this.#new.data = this.#text.slice(this.#formed);
    if (this.#new.isConnected) return;
    let last = this.#rest.lastElementChild;
    while (last && /^(UL|OL|LI|BLOCKQUOTE)$/.test(last.tagName) && last.lastElementChild)
      last = last.lastElementChild;
    if (last && /^(P|LI|H[1-6])$/.test(last.tagName)) last.append(this.#new);
    else if (last?.matches(".code")) last.querySelector("code")?.append(this.#new);
    else this.#rest.append(h("p", {}, this.#new));
  }

  async #render() {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#live && this.isConnected && this.#formed < this.#text.length) {
      const upTo = this.#text.length;
      const from = this.#settled;
      const html = await api.post("/api/render", { text: this.#text.slice(from, upTo) }).then(
        (answer) => String(answer.html),
        () => null,
      );
      if (this.#settled !== from || !this.#live) break;
      if (html !== null) {
        this.#html = html;
        this.#formed = upTo;
        setServerHtml(this.#rest, html);
        decorate(this.#rest);
        if (upTo - from > LONG) this.#settle(upTo);
        if (this.#formed < this.#text.length) this.#plain();
        else this.#new.data = "";
      }
      await new Promise((wake) => setTimeout(wake, PAUSE));
    }
    this.#busy = false;
  }

  /** Where the text so far can be cut without changing what it means, that part is done with. @param {number} end */
  async #settle(end) {
    const from = this.#settled;
    const cut = from + cutOf(this.#text.slice(from, end));
    if (cut <= from) return;
    const [done, rest] = await Promise.all(
      [this.#text.slice(from, cut), this.#text.slice(cut, end)].map((text) =>
        api.post("/api/render", { text }),
      ),
    ).catch(() => []);
    if (!done || !rest || this.#settled !== from || !this.#live) return;
    const blocks = h("div", { class: "blocks" });
    setServerHtml(blocks, done.html);
    decorate(blocks);
    this.#done.append(blocks);
    this.#settled = cut;
    this.#formed = end;
    setServerHtml(this.#rest, rest.html);
    decorate(this.#rest);
    this.#plain();
  }
}
customElements.define("markdown-view", MarkdownView);

/** The last blank line outside a fence that is followed by a plain paragraph or a heading. @param {string} text */
export const cutOf = (text) => {
  let cut = 0;
  let at = 0;
  let fenced = false;
  let blank = false;
  for (const line of text.split("\n")) {
    if (/^\s{0,3}(```|~~~)/.test(line)) fenced = !fenced;
    else if (!fenced && blank && /^[^\s\d*+>|-]/.test(line)) cut = at;
    blank = line.trim() === "";
    at += line.length + 1;
  }
  return cut;
};

/** Code gets a frame with its language and a button to copy it; links to elsewhere open beside the page. @param {Element} root */
const decorate = (root) => {
  for (const pre of root.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    const language = /language-([\w+#-]+)/.exec(code?.className ?? "")?.[1] ?? "";
    const head = h(
      "div",
      { class: "code-head" },
      h("span", {}, language),
      copyButton(() => pre.textContent ?? "", t.copy.code),
    );
    const frame = h("div", { class: "code" }, head);
    pre.replaceWith(frame);
    pre.tabIndex = 0;
    pre.setAttribute("role", "region");
    pre.setAttribute("aria-label", language ? t.copy.codeIn(language) : t.copy.codeBlock);
    frame.append(pre);
  }
  for (const table of root.querySelectorAll("table")) {
    const frame = h("div", {
      class: "wide-table",
      tabindex: "0",
      role: "region",
      "aria-label": t.copy.table,
    });
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const link of root.querySelectorAll("a[href]")) {
    link.setAttribute("target", "_blank");
    link.setAttribute("rel", "noopener noreferrer nofollow");
  }
};
