// The keyboard shortcuts of the page.

import { t } from "./text.js";

const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** The name of the key that is Control, or Command on a Mac. */
export const MOD = isMac ? "⌘" : "Ctrl";

/** The shortcuts by subject, for the help. @returns {{ title: string, keys: [string[], string][] }[]} */
export const shortcutGroups = () => [
  {
    title: t.help.everywhere,
    keys: [
      [[MOD, "K"], t.help.palette],
      [[MOD, isMac ? "⇧" : "Shift", "O"], t.help.newChat],
      [[MOD, "/"], t.help.help],
      [["?"], t.help.helpOutside],
      [["Esc"], t.help.close],
    ],
  },
  {
    title: t.help.box,
    keys: [
      [["Enter"], t.help.send],
      [["Shift", "Enter"], t.help.newLine],
      [["/"], t.help.skill],
      [["$"], t.help.mention],
      [["↑"], t.help.recall],
      [["Esc"], t.help.stop],
    ],
  },
  {
    title: t.help.lists,
    keys: [
      [["↑", "↓"], t.help.move],
      [["Enter"], t.help.choose],
      [["Tab"], t.help.complete],
    ],
  },
];

/** Whether an element takes text, so that a letter is not a shortcut there. @param {EventTarget | null} target */
const takesText = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;

/**
 * The action of a key, or null.
 * @param {Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey" | "target">} event
 * @returns {"palette" | "newChat" | "help" | null}
 */
export const shortcutOf = (event) => {
  const mod = (event.ctrlKey || event.metaKey) && !event.altKey;
  if (mod && !event.shiftKey && event.key.toLowerCase() === "k") return "palette";
  if (mod && event.shiftKey && event.key.toLowerCase() === "o") return "newChat";
  // On some layouts, a slash needs the shift key.
  if (mod && (event.key === "/" || event.code === "Slash")) return "help";
  if (!mod && !event.altKey && event.key === "?" && !takesText(event.target)) return "help";
  return null;
};
