// Imports skills: from an address, or a folder or an archive that is chosen or dropped. A preview and the audit come first.

import { api, Problem, withQuery } from "../lib/api.js";
import { afterPause, h, make } from "../lib/dom.js";
import { e } from "../lib/editor-text.js";
import { size } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { dropped, picked } from "../lib/files.js";
import { field, place } from "./field.js";
import { capabilityList, isSevere, planFiles } from "./plan-files.js";
import { SkillInstall } from "./skill-install.js";

/** @typedef {import("../types.js").ImportReport} ImportReport */
/** @typedef {import("../lib/files.js").Picked} Picked */

export class SkillImport extends HTMLElement {
  /** @type {Picked | null} */
  #picked = null;
  /** @type {ImportReport | null} */
  #report = null;
  #tried = 0;
  #zip = h("input", {
    type: "file",
    accept: ".zip,.skill,.tar.gz,.tgz,.gz,application/zip,application/gzip,application/x-gzip",
    class: "unseen",
    tabindex: "-1",
    "aria-label": t.import.zip,
  });
  #folder = h("input", {
    type: "file",
    webkitdirectory: true,
    multiple: true,
    class: "unseen",
    tabindex: "-1",
    "aria-label": t.import.folder,
  });
  #name = h("p", { class: "import-name" });
  #id = field(
    t.form.id,
    h("input", { class: "input mono", maxlength: 64, autocomplete: "off", spellcheck: "false" }),
    t.import.idHint,
  );
  #preview = h("div", { class: "import-preview", "aria-live": "polite" });
  #overwrite = h("input", { type: "checkbox", id: "overwrite" });
  #risk = h("input", { type: "checkbox", id: "accept-risk" });
  #overwriteRow = h(
    "label",
    { class: "check", hidden: true, for: "overwrite" },
    this.#overwrite,
    h("span", {}, t.import.overwrite),
  );
  #riskRow = h(
    "label",
    { class: "check", hidden: true, for: "accept-risk" },
    this.#risk,
    h("span", {}, t.import.risk),
  );
  #problem = h("p", { class: "notice error", role: "alert", hidden: true });
  #go = h("button", { class: "button primary", disabled: true }, t.import.go);
  #rest = h("div", { class: "import-rest", hidden: true });

  connectedCallback() {
    const choose = h(
      "div",
      { class: "drop" },
      icon("upload"),
      h("p", {}, t.import.drop),
      h(
        "div",
        { class: "drop-buttons" },
        h(
          "button",
          { class: "button", type: "button", onclick: () => this.#zip.click() },
          icon("file"),
          t.import.zip,
        ),
        h(
          "button",
          { class: "button", type: "button", onclick: () => this.#folder.click() },
          icon("folder"),
          t.import.folder,
        ),
      ),
      this.#zip,
      this.#folder,
      this.#name,
    );
    const form = h("form", { class: "form", novalidate: true }, choose, this.#rest);
    this.#rest.replaceChildren(
      this.#id.element,
      this.#preview,
      this.#overwriteRow,
      this.#riskRow,
      this.#problem,
      h(
        "div",
        { class: "actions" },
        h(
          "button",
          { class: "button", type: "button", onclick: () => this.dispatchEvent(new Event("cancel")) },
          t.common.cancel,
        ),
        this.#go,
      ),
    );
    const install = make(SkillInstall);
    install.addEventListener("done", (event) =>
      this.dispatchEvent(new CustomEvent("done", { detail: /** @type {CustomEvent} */ (event).detail })),
    );
    this.replaceChildren(install, h("h3", { class: "small-title" }, t.import.fromFiles), form);
    for (const input of [this.#zip, this.#folder]) {
      input.addEventListener("change", () => {
        if (input.files?.length) this.#take(picked([...input.files]));
        input.value = "";
      });
    }
    choose.addEventListener("dragover", (event) => {
      event.preventDefault();
      choose.classList.add("over");
    });
    choose.addEventListener("dragleave", () => choose.classList.remove("over"));
    choose.addEventListener("drop", async (event) => {
      event.preventDefault();
      choose.classList.remove("over");
      if (event.dataTransfer) this.#take(await dropped(event.dataTransfer));
    });
    this.#id.input.addEventListener(
      "input",
      afterPause(350, () => this.#try()),
    );
    for (const box of [this.#overwrite, this.#risk]) box.addEventListener("change", () => this.#ready());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#import();
    });
  }

  /** @param {Picked | null} files */
  #take(files) {
    if (!files) return;
    this.#picked = files;
    this.#name.textContent = t.import.chosen(files.name, files.files.length);
    this.#id.input.value = "";
    this.#overwrite.checked = false;
    this.#risk.checked = false;
    this.#rest.hidden = false;
    this.#try();
  }

  /** @param {boolean} dry */
  #form(dry) {
    const form = new FormData();
    const id = this.#id.input.value.trim();
    if (id) form.set("id", id);
    if (!dry && this.#overwrite.checked) form.set("overwrite", "true");
    // A rejected skill needs accept_risk instead of accept_findings.
    if (!dry && this.#risk.checked) form.set(this.#report?.refused ? "accept_risk" : "accept_findings", "true");
    for (const { path, file } of this.#picked?.files ?? []) form.append("file", file, path);
    return form;
  }

  /** The preview. */
  async #try() {
    const mine = ++this.#tried;
    this.#go.disabled = true;
    this.#problem.hidden = true;
    try {
      const report = await api.form(withQuery("/api/skills/import", { dry_run: 1 }), this.#form(true));
      if (mine === this.#tried) this.#show(report);
    } catch (error) {
      if (mine !== this.#tried) return;
      this.#report = null;
      this.#failed(error);
    }
  }

  /** @param {ImportReport} report */
  #show(report) {
    this.#report = report;
    this.#id.error(null);
    if (!this.#id.input.value) this.#id.input.value = report.id;
    this.#overwriteRow.hidden = !report.replaces;
    this.#riskRow.hidden = !(report.refused || report.needs_confirmation);
    const bytes = report.files.reduce((sum, file) => sum + file.bytes, 0);
    this.#preview.replaceChildren(
      h("h3", { class: "small-title" }, t.import.would(report.name || report.id)),
      h("p", { class: "muted" }, t.import.files(report.files.length, size(bytes))),
      planFiles(report.files, report.findings),
      capabilityList(report.capabilities, e.install.can),
      h("h3", { class: "small-title" }, t.import.audit),
      report.findings.length === 0
        ? h("p", { class: "muted" }, t.import.nothingFound)
        : h(
            "ul",
            { class: "diagnostics" },
            ...report.findings.map((one) =>
              h(
                "li",
                {
                  class: `diagnostic ${isSevere(one) ? "error" : "warning"}`,
                },
                icon("alert"),
                h(
                  "div",
                  {},
                  h("p", {}, h("code", { class: "diagnostic-code" }, one.rule), ` ${one.message}`),
                  h("span", { class: "mono muted" }, [one.path, one.line].filter(Boolean).join(":")),
                ),
              ),
            ),
          ),
    );
    this.#ready();
  }

  #ready() {
    const report = this.#report;
    this.#go.disabled =
      !report ||
      (report.replaces && !this.#overwrite.checked) ||
      (!this.#riskRow.hidden && !this.#risk.checked);
    this.#go.textContent = report?.replaces ? t.import.goOver : t.import.go;
  }

  async #import() {
    if (this.#go.disabled) return;
    this.#go.disabled = true;
    this.#problem.hidden = true;
    try {
      const done = await api.form("/api/skills/import", this.#form(false));
      this.dispatchEvent(new CustomEvent("done", { detail: { id: done.id } }));
    } catch (error) {
      this.#failed(error);
      this.#ready();
    }
  }

  /** @param {any} error */
  #failed(error) {
    if (error instanceof Problem) {
      // The skill was created meanwhile, or the audit requires confirmation.
      if (error.code === "UNTRUSTED") this.#riskRow.hidden = false;
      else if (error.status === 409) this.#overwriteRow.hidden = false;
    }
    const rest =
      error instanceof Problem && error.errors.length
        ? place({ id: this.#id }, error.errors)
        : [t.problem(error)];
    this.#problem.hidden = rest.length === 0;
    this.#problem.textContent = rest.join(" ");
  }
}
customElements.define("skill-import", SkillImport);
