// The layout of the page: the toolbar, the list of chats, and the current view.

import { api } from "../lib/api.js";
import { h, make } from "../lib/dom.js";
import { feed } from "../lib/feed.js";
import { icon } from "../lib/icons.js";
import { address, go, route } from "../lib/route.js";
import { MOD, shortcutOf } from "../lib/shortcuts.js";
import { loadStyles } from "../lib/styles.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { drafts } from "../state/drafts.js";
import { ChatList } from "./chat-list.js";
import { ChatView } from "./chat-view.js";
import { StatusBanner } from "./status-banner.js";
import { mayDiscard } from "./unsaved.js";

/** Views that are loaded on demand. @type {Record<string, () => Promise<new () => HTMLElement>>} */
const LATER = {
  tests: async () => {
    const [loaded] = await Promise.all([import("./tests-view.js"), loadStyles("tests.css")]);
    return loaded.TestsView;
  },
  overview: async () => (await import("./overview-view.js")).OverviewView,
  inspect: async () => (await import("./inspector-view.js")).InspectorView,
  settings: async () => (await import("./settings-view.js")).SettingsView,
};

/** A new server version has other files, so the page reloads. */
const anew = () => {
  if (app.connection === "connected") location.reload();
};

const NARROW = matchMedia("(max-width: 759px)");

export class AppShell extends HTMLElement {
  #main = h("main", { class: "stage", id: "stage", tabindex: "-1" });
  #side = h("aside", { class: "side", id: "side" });
  #model = h("span", { class: "model" });
  #menu = h("button", {
    class: "icon-button only-narrow",
    "aria-expanded": "false",
    "aria-controls": "side",
  });
  #signOut = h(
    "button",
    { class: "nav-link", hidden: true, onclick: () => this.#leave() },
    icon("leave"),
    t.shell.signOut,
  );
  /** @type {string | null} */
  #shown = null;

  connectedCallback() {
    this.#menu.setAttribute("aria-label", t.shell.menu);
    this.#menu.append(icon("menu"));
    this.#menu.addEventListener("click", () => this.#drawer(!this.classList.contains("drawer-open")));
    const skills = h(
      "button",
      { class: "button", id: "open-skills", "aria-haspopup": "dialog", onclick: () => this.openSkills() },
      icon("skills"),
      h("span", {}, t.skills.button),
    );
    const veil = h("div", { class: "veil", onclick: () => this.#drawer(false) });
    this.#side.setAttribute("aria-label", t.shell.side);
    this.#side.append(make(ChatList), this.#navigation());
    this.replaceChildren(
      h(
        "a",
        { class: "skip", href: "#stage", onclick: (/** @type {Event} */ event) => this.#skip(event) },
        t.shell.skip,
      ),
      h(
        "header",
        { class: "bar" },
        this.#menu,
        h("a", { class: "brand", href: address("chat"), "aria-label": t.shell.home }, "Prowess"),
        this.#model,
        this.#searchButton(),
        skills,
      ),
      make(StatusBanner),
      h("div", { class: "frame" }, this.#side, veil, this.#main),
    );
    addEventListener("hashchange", () => this.#show());
    NARROW.addEventListener("change", () => this.#drawer(false));
    addEventListener("keydown", (event) => this.#key(event));
    addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.classList.contains("drawer-open")) this.#drawer(false, true);
    });
    app.on("about", () => this.#about());
    this.#drawer(false);
    this.#about();
    this.#show();
  }

  #navigation() {
    const link = (
      /** @type {string} */ view,
      /** @type {import("../lib/icons.js").IconName} */ picture,
      /** @type {string} */ text,
    ) => h("a", { class: "nav-link", href: address(view), "data-view": view }, icon(picture), text);
    return h(
      "nav",
      { class: "nav", "aria-label": t.shell.navigation },
      link("overview", "chart", t.overview.title),
      link("tests", "flask", t.tests.title),
      link("inspect", "eye", t.inspect.title),
      link("settings", "gear", t.settings.title),
      this.#signOut,
    );
  }

  async #leave() {
    if (!(await mayDiscard(document))) return;
    await api.remove("/api/session").catch(() => {});
    // Clears the state in all tabs, so that the next user of this browser sees nothing.
    drafts.clear();
    feed.again();
    location.hash = "";
    location.reload();
  }

  /** Opens or closes the sidebar on narrow screens. A hidden sidebar is not focusable.
   * @param {boolean} open @param {boolean} [focus] */
  #drawer(open, focus = false) {
    this.classList.toggle("drawer-open", open);
    this.#side.inert = NARROW.matches && !open;
    this.#menu.setAttribute("aria-expanded", String(open));
    if (open) this.#side.querySelector("button")?.focus();
    else if (focus) this.#menu.focus();
  }

  /** @param {Event} event */
  #skip(event) {
    event.preventDefault();
    this.#main.focus();
  }

  #about() {
    const about = app.about;
    if (!about) return;
    this.#signOut.hidden = !about.signed_in;
    const model = about.is_model ? about.model || about.provider : t.shell.rehearsal;
    this.#model.replaceChildren(
      h(
        "span",
        {
          class: "model-name",
          title: about.is_model ? `${about.provider} · ${about.model}` : t.shell.rehearsalHelp,
        },
        model,
      ),
      h("span", { class: "preset", title: t.shell.preset }, about.preset),
      about.can_call_tools
        ? ""
        : h("span", { class: "preset", title: t.shell.noToolsHelp }, t.shell.noTools),
    );
  }

  /** Opens the palette; on a phone, it replaces the keyboard shortcut. */
  #searchButton() {
    const label = `${t.palette.open} (${MOD}+K)`;
    return h(
      "button",
      { class: "icon-button", id: "open-palette", type: "button", title: label, "aria-label": t.palette.open, "aria-haspopup": "dialog", onclick: () => this.#palette() },
      icon("search"),
    );
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const action = shortcutOf(event);
    if (!action) return;
    const dialog = document.querySelector("dialog[open]");
    // Dialogs keep the keyboard, but the palette closes with its own shortcut.
    if (dialog && !(action === "palette" && dialog.matches(".palette"))) return;
    event.preventDefault();
    if (action === "palette") this.#palette();
    else if (action === "help") this.#help();
    else this.#newChat();
  }

  #newChat() {
    go(address("chat"));
    dispatchEvent(new Event("prowess:write"));
  }

  async #palette() {
    const loaded = await Promise.all([import("./command-palette.js"), import("./commands.js"), loadStyles("palette.css")]).catch(anew);
    if (!loaded) return;
    const [{ openPalette }, { allCommands, searchCommand }] = loaded;
    const commands = allCommands({
      newChat: () => this.#newChat(),
      openSkills: () => this.openSkills(),
      openHelp: () => this.#help(),
      signOut: () => this.#leave(),
    });
    openPalette(commands, (query) =>
      searchCommand(query).map((command) => ({ ...command, run: () => this.#searchChats(command.run) })),
    );
  }

  /** The list of chats may be hidden on narrow screens. @param {() => unknown} search */
  #searchChats(search) {
    if (NARROW.matches) this.#drawer(true);
    search();
  }

  async #help() {
    const loaded = await Promise.all([import("./shortcuts-help.js"), loadStyles("palette.css")]).catch(anew);
    loaded?.[0].openHelp();
  }

  async openSkills() {
    const loaded = await import("./skills-dialog.js").catch(anew);
    if (!loaded || document.querySelector("skills-dialog")) return;
    document.body.append(make(loaded.SkillsDialog));
  }

  async #show() {
    const { view, id } = route();
    for (const link of this.#side.querySelectorAll(".nav-link")) {
      const here = /** @type {HTMLElement} */ (link).dataset.view === view;
      if (here) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const wasOpen = this.classList.contains("drawer-open");
    this.#drawer(false);
    if (wasOpen) this.#main.focus({ preventScroll: true });
    const present = this.#main.firstElementChild;
    if (view in LATER) {
      if (this.#shown === view && present) return;
      this.#shown = view;
      const kind = await /** @type {() => Promise<any>} */ (LATER[view])().catch(anew);
      if (!kind) return;
      if (this.#shown === view) this.#main.replaceChildren(make(kind));
      return;
    }
    this.#shown = "chat";
    if (present instanceof ChatView) return present.show(id);
    const chat = make(ChatView);
    this.#main.replaceChildren(chat);
    chat.show(id);
  }
}
