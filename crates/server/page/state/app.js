// The shared state of the page: server information, skills, and whether the server is reachable. A hidden page closes its event
// stream.

import { api, signIn } from "../lib/api.js";
import { feed } from "../lib/feed.js";

/** @typedef {import("../types.js").About} About */
/** @typedef {import("../types.js").Skill} Skill */

const HIDDEN_FOR = 15_000;

class App extends EventTarget {
  /** @type {About | null} */
  about = null;
  /** The available skills. @type {Skill[]} */
  skills = [];
  /** @type {"starting" | "connected" | "lost"} */
  connection = "starting";
  /** Whether the feed is open. */
  awake = true;

  async start() {
    await this.readAbout();
    this.readSkills();
    this.#listen();
    document.addEventListener("visibilitychange", () => this.#seen());
    addEventListener("pageshow", (event) => event.persisted && this.#wake());
  }

  async readAbout() {
    this.about = await api.get("/api/about");
    this.tell("about");
  }

  async readSkills() {
    try {
      this.skills = (await api.get("/api/skills")).skills;
      this.tell("skills");
    } catch {
      // Retried when the event stream reconnects.
    }
  }

  /** The skill of that name, if it is on offer. @param {string} name */
  skill(name) {
    return this.skills.find((skill) => skill.name === name) ?? this.skills.find((skill) => skill.id === name);
  }

  /** @param {string} what @param {any} [detail] */
  tell(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }

  /** @param {string} what @param {(event: any) => void} call @returns {() => void} ends it */
  on(what, call) {
    this.addEventListener(what, call);
    return () => this.removeEventListener(what, call);
  }

  /** Whether the server answers. @param {boolean} answers */
  answers(answers) {
    const now = answers ? "connected" : "lost";
    if (now === this.connection) return;
    const back = this.connection === "lost";
    this.connection = now;
    this.tell("connection", { back: back && answers });
  }

  #listen() {
    feed.start({
      opened: (missed) => {
        const [lost, first] = [this.connection === "lost", this.connection === "starting"];
        this.answers(true);
        // Events during the interruption are lost.
        if (missed || lost) this.#everything();
        else if (first) this.#skillsChanged();
      },
      lost: () => this.answers(false),
      refused: (status) => {
        this.answers(true);
        if (status === 401) signIn.needed();
      },
      event: (type) => {
        if (type === "missed") this.#everything();
        else if (type === "skills") this.#skillsChanged();
        else if (type === "chats") this.tell("chats", null);
      },
    });
  }

  #skillsChanged() {
    // The configuration error may change together with the skills.
    this.readAbout().catch(() => {});
    this.readSkills();
    this.tell("skills-changed");
  }

  #everything() {
    this.#skillsChanged();
    this.tell("chats", null);
    this.tell("missed");
  }

  #wake() {
    this.awake = true;
    feed.resume();
    this.#everything();
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  #seen() {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#timer = setTimeout(() => {
        feed.pause();
        this.awake = false;
      }, HIDDEN_FOR);
    } else if (!this.awake) this.#wake();
  }
}

export const app = new App();
