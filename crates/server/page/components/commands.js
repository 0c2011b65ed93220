// What the command palette offers.

import { when } from "../lib/format.js";
import { address, go, route } from "../lib/route.js";
import { MOD } from "../lib/shortcuts.js";
import { chooseLanguage, language, languages, t } from "../lib/text.js";
import { chooseTheme, theme, themes } from "../lib/theme.js";
import { app } from "../state/app.js";
import { chats } from "../state/chats.js";
import { drafts } from "../state/drafts.js";
import { chatActions } from "./chat-actions.js";

/** @typedef {import("./command-palette.js").Command} Command */

/**
 * @typedef {object} Shell
 * @property {() => void} newChat
 * @property {() => void} openSkills
 * @property {() => void} openHelp
 * @property {() => void} signOut
 */

/** @param {Shell} shell @returns {Command[]} */
export const allCommands = (shell) => [...actions(shell), ...currentChat(), ...listedChats(), ...skills(shell)];

/** @param {Shell} shell @returns {Command[]} */
const actions = (shell) => {
  const group = t.palette.actions;
  const page = (/** @type {string} */ view, /** @type {string} */ title, /** @type {Command["icon"]} */ icon) => ({
    group,
    title,
    words: t.palette.page,
    icon,
    run: () => go(address(view)),
  });
  return [
    { group, title: t.chats.new, icon: "add", keys: [MOD, "Shift", "O"], run: shell.newChat },
    { group, title: t.skills.title, icon: "skills", run: shell.openSkills },
    page("overview", t.overview.title, "chart"),
    page("tests", t.tests.title, "flask"),
    page("inspect", t.inspect.title, "eye"),
    page("settings", t.settings.title, "gear"),
    { group, title: t.help.title, icon: "keyboard", keys: [MOD, "/"], run: shell.openHelp },
    ...themes
      .filter((name) => name !== theme())
      .map((name) => ({
        group,
        title: `${t.settings.theme}: ${t.settings.themes[name]}`,
        icon: /** @type {const} */ ("eye"),
        run: () => chooseTheme(name),
      })),
    ...languages()
      .filter(([tag]) => tag !== language)
      .map(([tag, name]) => ({
        group,
        title: `${t.settings.language}: ${name}`,
        icon: /** @type {const} */ ("chat"),
        run: () => chooseLanguage(tag),
      })),
    ...(app.about?.signed_in ? [{ group, title: t.shell.signOut, icon: /** @type {const} */ ("leave"), run: shell.signOut }] : []),
  ];
};

/** @returns {Command[]} */
const currentChat = () => {
  const { view, id } = route();
  const chat = view === "chat" && id ? chats.find(id) : undefined;
  if (!chat) return [];
  return chatActions(chat).map(({ label, icon, run }) => ({ group: t.palette.thisChat, title: label, icon, run }));
};

/** @returns {Command[]} */
const listedChats = () =>
  chats.list.map((chat) => ({
    group: t.chats.title,
    title: chat.title || t.chats.untitled,
    hint: when(chat.updated),
    icon: chat.pinned ? "pin" : "chat",
    run: () => go(address("chat", chat.id)),
  }));

/** @param {Shell} shell @returns {Command[]} */
const skills = (shell) =>
  app.skills.map((skill) => ({
    group: t.palette.skills,
    title: skill.name,
    hint: skill.description,
    words: skill.description,
    icon: "bolt",
    run: () => {
      if (route().view === "chat") return dispatchEvent(new CustomEvent("prowess:mention", { detail: skill.name }));
      const draft = drafts.get(null);
      drafts.set(null, draft ? `${draft.trimEnd()} $${skill.name} ` : `/${skill.name} `);
      shell.newChat();
    },
  }));

/** @param {string} query @returns {Command[]} */
export const searchCommand = (query) =>
  query
    ? [
        {
          group: t.palette.search,
          title: t.palette.searchFor(query),
          icon: "search",
          run: () => dispatchEvent(new CustomEvent("prowess:search", { detail: query })),
        },
      ]
    : [];
