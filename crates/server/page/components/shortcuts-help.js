// The list of keyboard shortcuts.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { shortcutGroups } from "../lib/shortcuts.js";
import { t } from "../lib/text.js";

export const openHelp = () => {
  if (document.querySelector(".shortcuts")) return;
  const close = h(
    "button",
    { class: "icon-button", type: "button", title: t.common.close, "aria-label": t.common.close, onclick: () => dialog.close() },
    icon("close"),
  );
  const groups = shortcutGroups().map(({ title, keys }) =>
    h(
      "section",
      { class: "shortcut-group" },
      h("h3", {}, title),
      h(
        "dl",
        {},
        keys.map(([names, text]) =>
          h("div", { class: "shortcut" }, h("dt", {}, text), h("dd", {}, names.map((name) => h("kbd", {}, name)))),
        ),
      ),
    ),
  );
  const dialog = h(
    "dialog",
    { class: "dialog shortcuts", "aria-labelledby": "shortcuts-title" },
    h("div", { class: "dialog-head" }, h("h2", { class: "dialog-title", id: "shortcuts-title" }, t.help.title), close),
    h("div", { class: "shortcuts-body", tabindex: "0", role: "region", "aria-labelledby": "shortcuts-title" }, groups),
  );
  dialog.addEventListener("close", () => dialog.remove());
  // A click beside the dialog closes it.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
};
