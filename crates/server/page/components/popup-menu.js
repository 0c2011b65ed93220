// A menu that a button opens. Arrow keys move, Enter selects, Escape closes.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";

/**
 * @typedef {object} MenuItem
 * @property {string} label
 * @property {import("../lib/icons.js").IconName} icon
 * @property {() => void} run
 * @property {boolean} [danger]
 */

/** Opens a menu at a button. @param {HTMLElement} button @param {string} label @param {MenuItem[]} items */
export const openMenu = (button, label, items) => {
  const menu = h("div", { class: "popup-menu", role: "menu", popover: "auto", "aria-label": label });
  const close = () => menu.hidePopover();
  menu.append(
    ...items.map((item) =>
      h(
        "button",
        {
          class: `popup-item ${item.danger ? "danger-text" : ""}`,
          role: "menuitem",
          type: "button",
          tabindex: "-1",
          onclick: () => {
            close();
            item.run();
          },
        },
        icon(item.icon),
        item.label,
      ),
    ),
  );
  const entries = /** @type {HTMLElement[]} */ ([...menu.children]);
  menu.addEventListener("keydown", (event) => {
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") close();
    else if (next !== undefined) entries.at(next % entries.length)?.focus();
    else return;
    event.preventDefault();
  });
  menu.addEventListener("toggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== "closed") return;
    button.setAttribute("aria-expanded", "false");
    // Only if the focus has not moved to what the item has opened.
    if (menu.contains(document.activeElement) || document.activeElement === document.body) button.focus();
    menu.remove();
  });
  // Inside the landmark of the button, where screen readers expect it.
  (button.closest("aside, main") ?? document.body).append(menu);
  button.setAttribute("aria-expanded", "true");
  menu.showPopover();
  place(menu, button);
  entries[0]?.focus();
};

/** Below the button, or above it if there is more space. @param {HTMLElement} menu @param {HTMLElement} button */
const place = (menu, button) => {
  const at = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const margin = 8;
  const below = at.bottom + 4;
  const top = below + height + margin <= innerHeight ? below : Math.max(margin, at.top - 4 - height);
  const left = Math.min(Math.max(margin, at.left), innerWidth - width - margin);
  menu.style.setProperty("top", `${top}px`);
  menu.style.setProperty("left", `${Math.max(margin, left)}px`);
};
