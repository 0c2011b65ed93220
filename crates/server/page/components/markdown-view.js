// A Markdown text. The server renders and sanitizes it; while it streams, new text appears as plain text first and is
// rendered a moment later. Blocks that have not changed are never replaced, so that nothing flickers, and code keeps its scroll
// position.

import { api } from "../lib/api.js";
import { closest, h } from "../lib/dom.js";
import { colourSoon, showCode } from "../lib/highlight.js";
import { setServerHtml } from "../lib/html.js";
import { t } from "../lib/text.js";
import { copyButton } from "./copy-button.js";

const PAUSE = 120;
/** Beyond this length, finished blocks are kept and only the rest is rendered again. */
const LONG = 2500;

export class MarkdownView extends HTMLElement {
  #text = "";
  /** The end of the text of finished blocks, and their number. */
  #settled = 0;
  #settledBlocks = 0;
  /** The end of the rendered text. */
  #formed = 0;
  #html = "";
  #live = false;
  #busy = false;
  /** The rendered blocks, as the server sent them; compared with the next rendering. @type {Node[]} */
  #blocks = [];
  #new = document.createTextNode("");

  connectedCallback() {
    this.classList.add("markdown");
    this.addEventListener("click", followFootnote);
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
    this.#settled = this.#settledBlocks = 0;
    this.#html = html;
    this.#update(html);
    // What is complete is not compared again.
    if (!this.#live) this.#blocks = [];
  }

  /** Shows the blocks after the finished ones. Equal blocks stay as they are. @param {string} html */
  #update(html) {
    const parsed = h("div");
    setServerHtml(parsed, html);
    const fresh = [...parsed.childNodes].filter((node) => node.nodeType === 1 || node.textContent?.trim());
    this.#removePlain();
    const first = this.#settledBlocks;
    fresh.forEach((block, index) => {
      const at = first + index;
      const shown = this.childNodes[at];
      const before = this.#blocks[at];
      if (shown && before?.isEqualNode(block)) return;
      this.#blocks[at] = block;
      if (shown && before && growCode(shown, before, block, this.#live)) return;
      const next = decorate(this.#live ? block.cloneNode(true) : block, this.#live);
      if (shown) shown.replaceWith(next);
      else this.append(next);
    });
    const count = first + fresh.length;
    this.#blocks.length = count;
    while (this.childNodes.length > count) this.lastChild?.remove();
  }

  #removePlain() {
    const parent = this.#new.parentNode;
    this.#new.remove();
    this.#new.data = "";
    if (parent instanceof Element && parent.matches(".unformed")) parent.remove();
  }

  /** Text that is not rendered yet, at the end of the last block. */
  #plain() {
    this.#new.data = this.#text.slice(this.#formed);
    if (this.#new.isConnected || !this.#new.data) return;
    let last = this.lastElementChild;
    while (last && /^(UL|OL|LI|BLOCKQUOTE)$/.test(last.tagName) && last.lastElementChild)
      last = last.lastElementChild;
    if (last && /^(P|LI|H[1-6])$/.test(last.tagName)) last.append(this.#new);
    else if (last?.matches(".code")) last.querySelector("code")?.append(this.#new);
    else this.append(h("p", { class: "unformed" }, this.#new));
  }

  async #render() {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#live && this.isConnected && this.#formed < this.#text.length) {
      const upTo = this.#text.length;
      const from = this.#settled;
      const html = await render(this.#text.slice(from, upTo));
      if (this.#settled !== from || !this.#live) break;
      if (html !== null) {
        this.#html = html;
        this.#formed = upTo;
        this.#update(html);
        if (upTo - from > LONG) await this.#settle(upTo);
        this.#plain();
      }
      await new Promise((wake) => setTimeout(wake, PAUSE));
    }
    this.#busy = false;
  }

  /** Where the text so far can be cut without changing what it means, that part is finished. @param {number} end */
  async #settle(end) {
    const from = this.#settled;
    const cut = from + cutOf(this.#text.slice(from, end));
    if (cut <= from) return;
    const done = await render(this.#text.slice(from, cut));
    if (done === null || this.#settled !== from || !this.#live) return;
    const parsed = h("div");
    setServerHtml(parsed, done);
    const blocks = [...parsed.children];
    // Blocks that the rest of the text changes, such as those with references to footnotes, are not finished.
    if (!blocks.every((block, index) => this.#blocks[this.#settledBlocks + index]?.isEqualNode(block))) return;
    this.#settled = cut;
    this.#settledBlocks += blocks.length;
  }
}
customElements.define("markdown-view", MarkdownView);

/** @param {string} text @returns {Promise<string | null>} */
const render = (text) =>
  api.post("/api/render", { text }).then(
    (answer) => String(answer.html),
    () => null,
  );

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

/** @param {Node} pre */
const languageOf = (pre) =>
  /language-([\w+#.-]+)/.exec(/** @type {Element} */ (pre).querySelector("code")?.className ?? "")?.[1] ?? "";

/** Whether code has only changed its text, which is then shown in the same element. @param {Node} shown @param {Node} before @param {Node} after @param {boolean} live */
const growCode = (shown, before, after, live) => {
  const isCode = [before, after].every((node) => node.nodeName === "PRE") && languageOf(before) === languageOf(after);
  const code = isCode && shown instanceof Element ? shown.querySelector("pre code") : null;
  if (!(code instanceof HTMLElement)) return false;
  show(code, after.textContent ?? "", languageOf(after), live);
  return true;
};

/** @param {HTMLElement} code @param {string} text @param {string} language @param {boolean} live */
const show = (code, text, language, live) => {
  // Code that is being written is visible; other code is coloured when it comes near.
  if (live || code.querySelector("[class^=tok-]")) return showCode(code, text, language);
  if (code.textContent !== text) code.textContent = text;
  colourSoon(code, language);
};

/** Code gets a frame with its language and a button to copy it; links to elsewhere open beside the page.
 * @template {Node} T @param {T} block @param {boolean} live @returns {T | HTMLElement} */
const decorate = (block, live) => {
  if (!(block instanceof Element)) return block;
  const root = h("div");
  root.append(block);
  for (const pre of root.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    const language = languageOf(pre);
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
    if (code instanceof HTMLElement) show(code, code.textContent ?? "", language, live);
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
  for (const mark of root.querySelectorAll("sup.footnote-ref, .footnote-text > sup:first-child")) {
    const number = mark.textContent ?? "";
    const label = mark.matches(".footnote-ref") ? t.message.footnote(number) : t.message.footnoteBack(number);
    mark.replaceChildren(h("button", { class: "footnote-link", type: "button", "aria-label": label, title: label }, number));
  }
  return /** @type {HTMLElement} */ (root.firstElementChild);
};

/** From a reference to its footnote, and back. @param {MouseEvent} event */
const followFootnote = (event) => {
  const link = closest(event.target, ".footnote-link");
  const view = link?.closest("markdown-view");
  if (!link || !view) return;
  const isReference = Boolean(link.closest(".footnote-ref"));
  const others = view.querySelectorAll(isReference ? ".footnote-text > sup .footnote-link" : ".footnote-ref .footnote-link");
  const target = [...others].find((other) => other.textContent === link.textContent);
  if (!(target instanceof HTMLElement)) return;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
};
