// The form that creates a skill.

import { api, Problem } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { field, place } from "./field.js";

/** Derives an id from a name: lowercase letters, digits and hyphens. @param {string} name */
export const idFrom = (name) =>
  name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);

export class SkillForm extends HTMLElement {
  /** @type {(HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement)[]} */
  #inputs = [];
  #made = false;

  /** Whether the form has unsaved input. */
  get unsaved() {
    return !this.#made && this.#inputs.some((input) => input.value !== "");
  }

  connectedCallback() {
    const fields = {
      id: field(
        t.form.id,
        h("input", {
          class: "input mono",
          maxlength: 64,
          autocomplete: "off",
          spellcheck: "false",
          placeholder: "release-notes",
        }),
        t.form.idHint,
      ),
      name: field(
        t.form.name,
        h("input", {
          class: "input",
          maxlength: 64,
          autocomplete: "off",
          spellcheck: "false",
          placeholder: "release-notes",
        }),
        t.form.nameHint,
      ),
      description: field(
        t.form.description,
        h("textarea", { class: "input", rows: 3, maxlength: 4096 }),
        t.form.descriptionHint,
      ),
      body: field(
        t.form.body,
        h("textarea", { class: "input editor", rows: 10, spellcheck: "false" }),
        t.form.bodyHint,
      ),
    };
    this.#inputs = Object.values(fields).map((one) => one.input);
    let named = false;
    fields.name.input.addEventListener("input", () => (named = fields.name.input.value !== ""));
    // Most skills are named after their directory.
    fields.id.input.addEventListener("input", () => {
      if (!named) fields.name.input.value = idFrom(fields.id.input.value);
    });
    const problem = h("p", { class: "notice error", role: "alert", hidden: true });
    const submit = h("button", { class: "button primary" }, t.form.make);
    const form = h(
      "form",
      { class: "form", novalidate: true },
      ...Object.values(fields).map((one) => one.element),
      problem,
      h(
        "div",
        { class: "actions" },
        h(
          "button",
          { class: "button", type: "button", onclick: () => this.dispatchEvent(new Event("cancel")) },
          t.common.cancel,
        ),
        submit,
      ),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      problem.hidden = true;
      const value = (/** @type {keyof typeof fields} */ key) => fields[key].input.value;
      const missing = /** @type {const} */ (["id", "name", "description"]).filter(
        (key) => !value(key).trim(),
      );
      if (missing.length > 0)
        return void place(
          fields,
          missing.map((name) => ({ field: name, message: t.form.needed })),
        );
      submit.disabled = true;
      try {
        const body = value("body");
        const made = await api.post("/api/skills", {
          id: value("id").trim(),
          name: value("name").trim(),
          description: value("description").trim(),
          ...(body.trim() ? { body } : {}),
        });
        this.#made = true;
        this.dispatchEvent(
          new CustomEvent("done", { detail: { id: made?.skill?.id ?? value("id").trim() } }),
        );
      } catch (error) {
        const taken = error instanceof Problem && error.status === 409;
        const errors =
          error instanceof Problem ? (taken ? [{ field: "id", message: t.form.taken }] : error.errors) : [];
        const rest = errors.length ? place(fields, errors) : [t.problem(/** @type {any} */ (error))];
        problem.hidden = rest.length === 0;
        problem.textContent = rest.join(" ");
      }
      submit.disabled = false;
    });
    this.replaceChildren(form);
    fields.id.input.focus();
  }
}
customElements.define("skill-form", SkillForm);
