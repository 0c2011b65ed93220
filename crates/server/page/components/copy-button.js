// A button that copies text and confirms it.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/** @param {() => string | Promise<string>} text @param {string} [label] */
export const copyButton = (text, label = t.copy.copy) => {
  const button = h(
    "button",
    { class: "icon-button small", type: "button", "aria-label": label, title: label },
    icon("copy"),
  );
  const said = h("span", { class: "unseen", role: "status" });
  button.append(said);
  button.addEventListener("click", async () => {
    const done = await write(await text());
    button.firstElementChild?.replaceWith(icon(done ? "check" : "alert"));
    said.textContent = done ? t.copy.copied : t.copy.failed;
    setTimeout(() => {
      button.firstElementChild?.replaceWith(icon("copy"));
      said.textContent = "";
    }, 1600);
  });
  return button;
};

/** @param {string} text */
const write = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard API is not available over plain HTTP from another machine.
    const area = h("textarea", { class: "unseen", "aria-hidden": "true", value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
};
