// What the whole page knows: who serves it, which skills there are, whether the server is there. One connection for each
// page that is seen tells what changes; a page that nobody sees lets go of it, for browsers have few to give.

import { api } from "../lib/api.js";
import { listen } from "../lib/stream.js";

/** @typedef {import("../types.js").About} About */
/** @typedef {import("../types.js").Skill} Skill */

const HIDDEN_FOR = 15_000;

class App extends EventTarget {
  /** @type {About | null} */
  about = null;
  /** The skills on offer. @type {Skill[]} */
  skills = [];
  /** @type {"starting" | "connected" | "lost"} */
  connection = "starting";
  /** Whether the streams should be open. */
  awake = true;
  /** @type {Set<unknown>} */
  #broken = new Set();

  async start() {
    await this.readAbout();
    this.readSkills();
    this.#listen();
    document.addEventListener("visibilitychange", () => this.#seen());
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
      // The stream of events says when the server is back, and this is asked again.
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

  /** A stream works or does not; the banner shows when any is broken. @param {unknown} who @param {boolean} works */
  stream(who, works) {
    if (works) this.#broken.delete(who);
    else this.#broken.add(who);
    const now = this.#broken.size > 0 ? "lost" : "connected";
    if (now === this.connection) return;
    const back = this.connection === "lost";
    this.connection = now;
    this.tell("connection", { back: back && now === "connected" });
  }

  /** @type {(() => void) | null} */
  #stop = null;

  #listen() {
    let first = true;
    this.#stop = listen({
      address: () => "/api/events",
      opened: () => {
        this.stream(this, true);
        // What happened while nobody listened is not told again.
        if (!first) this.#everything();
        first = false;
      },
      lost: () => this.stream(this, false),
      refused: () => this.stream(this, true),
      event: (type, data) => {
        if (type === "missed") this.#everything();
        else if (type === "skills") this.#skillsChanged();
        else if (type === "chats") this.tell("chats", data);
      },
    });
  }

  #skillsChanged() {
    this.readSkills();
    this.tell("skills-changed");
  }

  #everything() {
    this.readAbout().catch(() => {});
    this.#skillsChanged();
    this.tell("chats", null);
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  #seen() {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#timer = setTimeout(() => {
        this.#stop?.();
        this.#stop = null;
        this.awake = false;
        this.tell("asleep");
      }, HIDDEN_FOR);
    } else if (!this.awake) {
      this.awake = true;
      this.#listen();
      this.#everything();
      this.tell("awake");
    }
  }
}

export const app = new App();
