// Asks for the token. The server returns a session cookie that scripts cannot read.

import { api, signIn } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";

export class SignIn extends HTMLElement {
  connectedCallback() {
    const input = h("input", {
      class: "input",
      type: "password",
      id: "token",
      autocomplete: "current-password",
      required: true,
    });
    const problem = h("p", { class: "field-error", role: "alert" }, signIn.refused ? t.signIn.used : "");
    const form = h(
      "form",
      { class: "form" },
      h("p", {}, t.signIn.why),
      h("label", { class: "label", for: "token" }, t.signIn.token),
      input,
      problem,
      h("div", { class: "actions" }, h("button", { class: "button primary" }, t.signIn.go)),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await api.post("/api/session", { token: input.value });
        location.reload();
      } catch (error) {
        problem.textContent =
          /** @type {any} */ (error).status === 401
            ? t.signIn.wrong
            : String(/** @type {any} */ (error).message);
        input.select();
      }
    });
    const title = h("h2", { id: "sign-in-title" }, t.signIn.title);
    const dialog = h(
      "dialog",
      { class: "dialog small", "aria-labelledby": "sign-in-title" },
      h("div", { class: "dialog-body" }, title, form),
    );
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    this.replaceChildren(dialog);
    dialog.showModal();
  }
}
customElements.define("sign-in", SignIn);
