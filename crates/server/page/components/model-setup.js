// Instructions for setting up a model. The page does not write the file, because it must not control where keys are sent.

import { freshId, h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { copyButton } from "./copy-button.js";

/** The configuration for each kind of provider. Users fill in the model name. */
const SNIPPETS = {
  anthropic: `[chat]
provider = "anthropic"
model = "MODEL"
key-env = "ANTHROPIC_API_KEY"
`,
  openai: `[chat]
provider = "openai"
model = "MODEL"
key-env = "OPENAI_API_KEY"
`,
  local: `[chat]
provider = "openai-chat"
model = "qwen3:8b"
base-url = "http://127.0.0.1:11434/v1"
context-tokens = 32000
`,
};

/** @typedef {keyof typeof SNIPPETS} Kind */

export class ModelSetup extends HTMLElement {
  #snippet = h("pre", { tabindex: "0" });
  #start = h("pre", { tabindex: "0" });
  /** @type {Kind} */
  #kind = "anthropic";

  connectedCallback() {
    this.className = "model-setup";
    const group = freshId("provider");
    const choices = /** @type {Kind[]} */ (Object.keys(SNIPPETS)).map((kind) => {
      const input = h("input", { type: "radio", name: group, value: kind, class: "unseen" });
      input.checked = kind === this.#kind;
      input.addEventListener("change", () => this.#choose(kind));
      return h("label", { class: "choice" }, input, h("span", {}, t.setup.kinds[kind]));
    });
    this.replaceChildren(
      h("h2", {}, t.setup.title),
      h("fieldset", { class: "choices" }, h("legend", { class: "unseen" }, t.setup.provider), ...choices),
      h(
        "ol",
        { class: "setup-steps" },
        h(
          "li",
          {},
          h("p", {}, t.setup.file, " ", h("code", {}, app.about?.configuration ?? "~/.prowess/config.toml")),
          this.#code(this.#snippet, t.setup.snippet),
        ),
        h("li", {}, h("p", {}, t.setup.start), this.#code(this.#start, t.setup.command)),
      ),
      h("p", { class: "muted" }, t.setup.why),
    );
    this.#choose(this.#kind);
  }

  /** @param {HTMLPreElement} pre @param {string} label */
  #code(pre, label) {
    pre.setAttribute("aria-label", label);
    return h(
      "div",
      { class: "setup-code" },
      pre,
      copyButton(() => pre.textContent ?? "", `${t.copy.copy}: ${label}`),
    );
  }

  /** @param {Kind} kind */
  #choose(kind) {
    this.#kind = kind;
    this.#snippet.textContent = SNIPPETS[kind];
    const variable = /key-env = "(.*)"/.exec(SNIPPETS[kind])?.[1];
    this.#start.textContent = `${variable ? `export ${variable}=…\n` : ""}prowess serve\n`;
  }
}
customElements.define("model-setup", ModelSetup);
