// The message input. `/` and `$` open the skill menu. At the start, a skill chosen with `/` becomes a chip before the text;
// elsewhere the skill is mentioned as `$name`.

import { h, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { MOD } from "../lib/shortcuts.js";
import { t } from "../lib/text.js";
import { FileChips } from "./file-chips.js";
import { SkillMenu } from "./skill-menu.js";

/** The beginning of a mention at the end of a text. */
const WORD = /(?:^|\s)([/$])([^\s/$]*)$/;

/** A file with its name; pasted content may have none. @param {File} file */
const named = (file) => ({ path: file.name || "file", file });

export class PromptBox extends HTMLElement {
  #area = h("textarea", {
    class: "prompt-area",
    rows: 1,
    id: "prompt",
    placeholder: t.prompt.placeholder,
    "aria-label": t.prompt.label,
    "aria-describedby": "prompt-help",
    "aria-autocomplete": "list",
    enterkeyhint: "send",
  });
  #chips = h("span", { class: "prompt-chips" });
  #button = h("button", { class: "send", type: "button" });
  #input = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", "aria-hidden": "true" });
  #clip = h(
    "button",
    { class: "icon-button attach", type: "button", title: t.files.attach, "aria-label": t.files.attach },
    icon("clip"),
  );
  /** The files for the next message. */
  files = make(FileChips);
  #menu = make(SkillMenu);
  /** @type {string | null} */
  #skill = null;
  #busy = false;

  connectedCallback() {
    this.className = "prompt-box";
    this.#menu.attach(this.#area);
    this.replaceChildren(
      this.#menu,
      h(
        "div",
        {
          class: "prompt-frame",
          onclick: (/** @type {Event} */ event) => event.target === event.currentTarget && this.focus(),
        },
        this.files,
        this.#chips,
        this.#clip,
        this.#input,
        this.#area,
        this.#button,
      ),
      h("p", { class: "prompt-help", id: "prompt-help" }, t.prompt.help(MOD)),
    );
    this.#area.addEventListener("input", () => this.#typed());
    this.#area.addEventListener("keydown", (event) => this.#key(event));
    this.#area.addEventListener("blur", () => this.#menu.close());
    this.#area.addEventListener("focus", () => this.#area.value.startsWith("/") && this.#typed());
    // The menu belongs to the word at the cursor.
    this.#area.addEventListener("click", () => this.#menu.isOpen && this.#complete());
    this.#button.addEventListener("click", () => (this.#busy ? this.#tell("stop") : this.#send()));
    this.#menu.addEventListener("choose", (event) => this.#choose(/** @type {CustomEvent} */ (event).detail));
    this.#clip.addEventListener("click", () => this.#input.click());
    this.#input.addEventListener("change", () => this.#chosen());
    this.#area.addEventListener("paste", (event) => this.#pasted(event));
    this.files.addEventListener("removed", () => this.focus());
    addEventListener("prowess:write", () => this.focus());
    this.#renderButton();
  }

  focus() {
    this.#area.focus();
  }

  get busy() {
    return this.#busy;
  }

  set busy(busy) {
    if (this.#busy === busy) return;
    this.#busy = busy;
    this.#renderButton();
  }

  /** Puts a text there, as if it had been written. @param {string} text */
  put(text) {
    this.text = text;
    this.focus();
    this.#tell("written");
  }

  /** The text, with the chosen skill. */
  get text() {
    return this.#skill ? `/${this.#skill} ${this.#area.value}` : this.#area.value;
  }

  set text(text) {
    this.#menu.close();
    const called = /^\/(\S+)\s/.exec(text);
    this.#area.value = called ? text.slice(called[0].length) : text;
    this.#area.setSelectionRange(this.#area.value.length, this.#area.value.length);
    this.#chip(called?.[1] ?? null);
  }

  #typed() {
    this.#renderButton();
    this.#tell("written");
    this.#complete();
  }

  /** The text before the cursor. */
  get #before() {
    return this.#area.value.slice(0, this.#area.selectionStart);
  }

  #complete() {
    const value = this.#area.value;
    const first = this.#skill === null ? /^\/([^\n]*)$/.exec(this.#before) : null;
    const word = first ? null : WORD.exec(this.#before);
    if (word) return this.#menu.open(word[2] ?? "", true);
    if (!first) return this.#menu.close();
    // Typing a complete name and a space selects the skill.
    const whole = /^\/(\S+)\s$/.exec(value);
    if (whole?.[1] && this.#menu.offers(whole[1])) return this.#choose({ name: whole[1] });
    this.#menu.open(first[1] ?? "");
  }

  /** Inserts a text as a quotation before what is written. @param {string} text */
  quote(text) {
    const quoted = text.split("\n").map((line) => (line ? `> ${line}` : ">"));
    const before = this.#area.value.trimEnd();
    this.#area.value = `${before}${before ? "\n\n" : ""}${quoted.join("\n")}\n\n`;
    this.#area.setSelectionRange(this.#area.value.length, this.#area.value.length);
    this.#menu.close();
    this.#renderButton();
    this.#tell("written");
    this.focus();
    this.#area.scrollTop = this.#area.scrollHeight;
  }

  /** Adds the mention of a skill: as a chip if nothing is written yet. @param {string} name */
  mention(name) {
    if (this.text.trim() === "") return this.put(`/${name} `);
    const before = this.#before;
    this.#area.setRangeText(`${/\S$/.test(before) ? " " : ""}$${name} `, this.#area.selectionStart, this.#area.selectionEnd, "end");
    this.#renderButton();
    this.#tell("written");
    this.focus();
  }

  #chosen() {
    const files = [...(this.#input.files ?? [])].map(named);
    this.#input.value = "";
    if (files.length > 0) this.#tell("attach", files);
    this.focus();
  }

  /** @param {ClipboardEvent} event */
  #pasted(event) {
    const files = [...(event.clipboardData?.files ?? [])].map(named);
    const types = event.clipboardData?.types ?? [];
    // Office programs also put a picture of copied text into the clipboard; file managers put the names of copied files there.
    const isText = types.includes("text/plain") && (types.includes("text/html") || types.includes("text/rtf"));
    if (files.length === 0 || isText) return;
    event.preventDefault();
    this.#tell("attach", files);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing) return;
    if (this.#menu.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (!this.#busy) this.#send();
    } else if (event.key === "Backspace" && this.#skill && this.#area.selectionEnd === 0) {
      event.preventDefault();
      this.#chip(null);
      this.#tell("written");
    } else if (event.key === "ArrowUp" && !event.shiftKey && !this.#skill && this.#area.value === "") {
      event.preventDefault();
      this.#tell("recall");
    } else if (event.key === "Escape" && this.#busy) {
      this.#tell("stop");
    }
  }

  /** @param {{ name: string, argument_hint?: string | null }} skill */
  #choose({ name, argument_hint: hint }) {
    this.#menu.close();
    const word = this.#skill === null && /^\/[^\n]*$/.test(this.#before) ? null : WORD.exec(this.#before);
    if (word) {
      const start = this.#before.length - (word[2]?.length ?? 0) - 1;
      this.#area.setRangeText(`$${name} `, start, this.#area.selectionStart, "end");
      this.#renderButton();
      this.focus();
      return this.#tell("written");
    }
    this.#area.value = this.#area.value.replace(/^\/[^\n]*/, "").trimStart();
    this.#chip(name);
    if (hint) this.#area.placeholder = hint;
    this.focus();
    this.#tell("written");
  }

  /** @param {string | null} name */
  #chip(name) {
    this.#skill = name;
    this.#area.placeholder = name === null ? t.prompt.placeholder : t.prompt.placeholderSkill;
    this.#renderButton();
    if (name === null) return this.#chips.replaceChildren();
    const close = h(
      "button",
      {
        class: "chip-close",
        type: "button",
        title: t.prompt.without(name),
        "aria-label": t.prompt.without(name),
      },
      icon("close"),
    );
    close.addEventListener("click", () => {
      this.#chip(null);
      this.focus();
      this.#tell("written");
    });
    this.#chips.replaceChildren(
      h("span", { class: "chip" }, icon("bolt"), h("span", { class: "chip-name" }, name), close),
    );
  }

  #send() {
    const text = this.#area.value.trim();
    const whole = this.#skill ? `/${this.#skill} ${text}`.trim() : text;
    if (!whole) return;
    this.#menu.close();
    this.#area.value = "";
    this.#chip(null);
    this.#tell("written");
    this.#tell("send", whole);
  }

  #renderButton() {
    const label = this.#busy ? t.prompt.stop : t.prompt.send;
    if (this.#button.dataset.label !== label) {
      this.#button.dataset.label = label;
      this.#button.setAttribute("aria-label", label);
      this.#button.title = label;
      this.#button.classList.toggle("stopping", this.#busy);
      this.#button.replaceChildren(icon(this.#busy ? "stop" : "send"));
    }
    this.#button.disabled = !this.#busy && !this.#area.value.trim() && !this.#skill;
  }

  /** @param {string} what @param {any} [detail] */
  #tell(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }
}
customElements.define("prompt-box", PromptBox);
