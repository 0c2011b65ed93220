// A form field: label, control, hint and error, associated for screen readers.

import { freshId, h } from "../lib/dom.js";

/**
 * @param {string} label
 * @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} input
 * @param {string} [hint]
 */
export const field = (label, input, hint) => {
  input.id ||= freshId("field");
  const wrong = h("p", { class: "field-error", id: `${input.id}-error`, "aria-live": "polite" });
  const note = hint ? h("p", { class: "hint", id: `${input.id}-hint` }, hint) : null;
  input.setAttribute("aria-describedby", [note?.id, wrong.id].filter(Boolean).join(" "));
  const element = h(
    "div",
    { class: "field" },
    h("label", { class: "label", for: input.id }, label),
    input,
    note,
    wrong,
  );
  return {
    element,
    input,
    /** @param {string | null} text */
    error(text) {
      wrong.textContent = text ?? "";
      if (text) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    },
  };
};

/** @typedef {ReturnType<typeof field>} Field */

/**
 * Shows each error at its field, and returns the errors without a field.
 * @param {Record<string, Field>} fields
 * @param {{ field: string, message: string }[]} errors
 */
export const place = (fields, errors) => {
  for (const one of Object.values(fields)) one.error(null);
  const rest = [];
  for (const { field: name, message } of errors) {
    if (fields[name]) fields[name].error(message);
    else rest.push(message);
  }
  Object.values(fields)
    .find((one) => one.input.getAttribute("aria-invalid"))
    ?.input.focus();
  return rest;
};
