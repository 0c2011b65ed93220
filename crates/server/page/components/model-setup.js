// Sets up a model: provider, address, key and model name. The key is sent once and never shown again.

import { api } from "../lib/api.js";
import { freshId, h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { field, place } from "./field.js";

/** @typedef {"anthropic" | "openai" | "openai-chat"} Provider */

/** @type {Provider[]} */
const PROVIDERS = ["anthropic", "openai", "openai-chat"];

export class ModelSetup extends HTMLElement {
  #provider = h(
    "select",
    { class: "input" },
    ...PROVIDERS.map((name) => h("option", { value: name }, t.setup.kinds[name])),
  );
  #address = h("input", { class: "input", type: "url", inputmode: "url", autocomplete: "off", spellcheck: "false" });
  #key = h("input", { class: "input", type: "password", autocomplete: "off", spellcheck: "false" });
  #model = h("input", { class: "input", autocomplete: "off", spellcheck: "false" });
  #models = h("datalist", { id: freshId("models") });
  #fields = {
    provider: field(t.setup.provider, this.#provider),
    base_url: field(t.setup.address, this.#address, t.setup.addressHelp),
    key: field(t.setup.key, this.#key, t.setup.keyHelp),
    model: field(t.setup.model, this.#model),
  };
  #found = h("ul", { class: "setup-found", hidden: true, "aria-label": t.setup.found });
  #result = h("p", { class: "setup-result", role: "status" });
  #test = h("button", { class: "button", type: "button" }, t.setup.test);
  #save = h("button", { class: "button primary" }, t.setup.save);

  connectedCallback() {
    this.className = "model-setup";
    this.#model.setAttribute("list", this.#models.id);
    const form = h(
      "form",
      { class: "form", novalidate: true },
      this.#found,
      ...Object.values(this.#fields).map((one) => one.element),
      this.#models,
      this.#result,
      h("div", { class: "actions" }, this.#test, this.#save),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#store();
    });
    this.#test.addEventListener("click", () => this.#try());
    this.#provider.addEventListener("change", () => this.#say(null));
    this.replaceChildren(h("h2", {}, t.setup.title), h("p", { class: "muted" }, t.setup.why), form);
    this.#read();
    this.#search();
  }

  /** Shows what is configured. */
  async #read() {
    const now = await api.get("/api/model").catch(() => null);
    if (!now || now.provider === "rehearsal") return;
    this.#provider.value = now.provider;
    this.#address.value = now.base_url ?? "";
    this.#model.value = now.model ?? "";
    this.#key.placeholder = now.key === "none" ? "" : t.setup.stored;
  }

  /** Offers servers on this machine. */
  async #search() {
    const { servers } = await api.get("/api/model/local").catch(() => ({ servers: [] }));
    const choices = servers.map((/** @type {{ name: string, base_url: string, models: string[] }} */ server) => {
      const use = h("button", { class: "button", type: "button" }, t.setup.use(server.name, server.models.length));
      use.addEventListener("click", () => {
        this.#provider.value = "openai-chat";
        this.#address.value = server.base_url;
        this.#key.value = "";
        this.#offer(server.models);
        this.#model.value = server.models[0] ?? "";
        this.#model.focus();
      });
      return h("li", {}, use);
    });
    this.#found.replaceChildren(...choices);
    this.#found.hidden = choices.length === 0;
  }

  /** @param {string[]} models */
  #offer(models) {
    this.#models.replaceChildren(...models.map((name) => h("option", { value: name })));
  }

  #request() {
    return {
      provider: this.#provider.value,
      base_url: this.#address.value.trim() || null,
      model: this.#model.value.trim() || null,
      key: this.#key.value.trim() || null,
    };
  }

  async #try() {
    this.#busy(true);
    try {
      const { ok, message, models } = await api.post("/api/model/test", this.#request());
      place(this.#fields, []);
      this.#offer(models);
      const known = models.includes(this.#model.value.trim()) || !this.#model.value.trim();
      if (!ok) this.#say(message, true);
      else this.#say(known ? t.setup.works(models.length) : t.setup.unknown(this.#model.value.trim()), !known);
      if (ok && !this.#model.value.trim()) this.#model.focus();
    } catch (error) {
      this.#failed(error);
    }
    this.#busy(false);
  }

  async #store() {
    this.#busy(true);
    try {
      await api.put("/api/model", this.#request());
      place(this.#fields, []);
      this.#key.value = "";
      this.#key.placeholder = t.setup.stored;
      this.#say(t.setup.saved);
      await app.readAbout();
    } catch (error) {
      this.#failed(error);
    }
    this.#busy(false);
  }

  /** @param {unknown} error */
  #failed(error) {
    const { errors = [], message } = /** @type {any} */ (error);
    const rest = place(this.#fields, errors);
    this.#say(errors.length > 0 ? rest.join(" ") : message, true);
  }

  /** @param {boolean} on */
  #busy(on) {
    this.#test.disabled = on;
    this.#save.disabled = on;
    if (on) this.#say(t.setup.asking);
  }

  /** @param {string | null} text @param {boolean} [wrong] */
  #say(text, wrong = false) {
    this.#result.textContent = text ?? "";
    this.#result.classList.toggle("error", wrong);
  }
}
customElements.define("model-setup", ModelSetup);
