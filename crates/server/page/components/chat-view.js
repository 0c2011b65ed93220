// The chat view: messages, the running reply, and the message input.

import { Unreachable } from "../lib/api.js";
import { closest, h, make } from "../lib/dom.js";
import { FollowEnd } from "../lib/follow-end.js";
import { firstLine, number } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { address, go } from "../lib/route.js";
import { t } from "../lib/text.js";
import { app } from "../state/app.js";
import { Conversation } from "../state/chat.js";
import { chats } from "../state/chats.js";
import { drafts } from "../state/drafts.js";
import { activeSkills } from "./active-skills.js";
import { confirmDialog } from "./confirm-dialog.js";
import { dropTarget, FILES_MAX } from "./drop-target.js";
import { EmptyChat } from "./empty-chat.js";
import { FileCard } from "./file-card.js";
import { FilesPanel } from "./files-panel.js";
import { MessageView } from "./message-view.js";
import { PromptBox } from "./prompt-box.js";

/** @typedef {import("../types.js").Message} Message */

/** The number of messages per batch. Browsers check the visibility of batches, not of single messages. */
const BATCH = 40;

/** What a chat is called that begins so: the words, without the skill that is called. @param {string} text */
const titleOf = (text) =>
  firstLine(text.replace(/^\/(\S+)\s*/, (whole, name) => (text.trim() === `/${name}` ? name : ""))) ||
  firstLine(text);

export class ChatView extends HTMLElement {
  /** @type {Conversation | null} */
  #chat = null;
  /** @type {Map<string, MessageView>} */
  #views = new Map();
  /** Whether the notice reports that the server is unreachable. */
  #unreachable = false;
  /** Whether loading the chat has failed. */
  #unread = false;
  #title = h("h1", { class: "chat-name" });
  #earlier = h("button", { class: "button quiet earlier", hidden: true }, t.chat.earlier);
  #messages = h("div", { class: "messages" });
  #scroll = h("div", { class: "transcript", tabindex: "0", role: "region", "aria-label": t.chat.transcript });
  #down = h(
    "button",
    { class: "icon-button to-end", hidden: true, title: t.chat.toEnd, "aria-label": t.chat.toEnd },
    icon("down"),
  );
  #end = new FollowEnd(this.#scroll, this.#messages, this.#down);
  #active = h("div", { class: "active-skills", role: "group", "aria-label": t.chat.active });
  #said = h("div", { class: "unseen", role: "status" });
  #problem = h("div", { class: "notice error", role: "alert", hidden: true });
  #box = make(PromptBox);
  #panel = make(FilesPanel);
  #costs = h("p", { class: "chat-costs", hidden: true });
  /** Whether another version is being loaded, which does not move the view. */
  #switching = false;
  #loading = false;
  /** @type {(() => void)[]} */
  #ends = [];
  #top = new IntersectionObserver((seen) => seen.at(-1)?.isIntersecting && this.#loadEarlier(), {
    root: this.#scroll,
    rootMargin: "800px 0px 0px",
  });

  connectedCallback() {
    this.className = "chat-view";
    this.#scroll.replaceChildren(this.#earlier, this.#messages);
    this.replaceChildren(
      this.#title,
      this.#costs,
      this.#panel,
      this.#scroll,
      dropTarget(this, (files) => this.#attach(files), (error) => this.#say(error)),
      h("div", { class: "dock" }, this.#down, this.#problem, this.#active, this.#box, this.#said),
    );
    this.#earlier.addEventListener("click", () => this.#loadEarlier());
    this.#box.addEventListener("written", () => drafts.set(this.#chat?.id ?? null, this.#box.text));
    this.#box.addEventListener("send", (event) => this.#send(/** @type {CustomEvent} */ (event).detail));
    this.#box.addEventListener("stop", () => this.#chat?.stop().catch((error) => this.#say(error)));
    this.#box.addEventListener("attach", (event) => this.#attach(/** @type {CustomEvent} */ (event).detail));
    this.#box.files.addEventListener("uploaded", () => this.#chat?.readFiles());
    this.#box.files.addEventListener("removed", (event) => {
      const path = /** @type {CustomEvent} */ (event).detail;
      if (path !== null) this.#chat?.removeFile(path).catch((error) => this.#say(error));
    });
    this.#messageEvents();
    this.addEventListener("try", (event) => this.#box.put(/** @type {CustomEvent} */ (event).detail));
    this.#box.addEventListener("recall", () => this.#recall());
    this.#top.observe(this.#earlier);
    // Skill mentions are rendered once the skills are loaded.
    const skills = () => {
      for (const view of this.#views.values()) if (view.message?.role === "user") view.message = view.message;
    };
    const renamed = () => this.#renamed();
    const mention = (/** @type {Event} */ event) => this.#box.mention(/** @type {CustomEvent} */ (event).detail);
    addEventListener("prowess:mention", mention);
    chats.addEventListener("change", renamed);
    this.#ends = [
      app.on("skills", skills),
      app.on("connection", (event) => event.detail.back && this.#back()),
      () => chats.removeEventListener("change", renamed),
      () => removeEventListener("prowess:mention", mention),
      drafts.onChange((chat, text, before) => {
        // What is being written here is not replaced.
        if (chat === this.#chat?.id && this.#box.text === before) this.#box.text = text;
      }),
    ];
    this.#box.focus();
  }

  disconnectedCallback() {
    for (const end of this.#ends) end();
    this.#chat?.close();
  }

  /** The server is reachable again: hides the notice, and retries a failed load. */
  #back() {
    if (this.#unreachable) this.#say(null);
    const chat = this.#chat;
    if (!this.#unread || !chat) return;
    this.#chat = null;
    chat.close();
    this.show(chat.id);
  }

  /** The title may have changed in the list or in another tab. */
  #renamed() {
    const chat = this.#chat?.chat;
    const title = (chat ? chats.find(chat.id) : undefined)?.title;
    if (!chat || title === undefined || title === chat.title) return;
    chat.title = title;
    this.#meta();
  }

  /** @param {string | null} id */
  async show(id) {
    if (id !== null && this.#chat?.id === id) return;
    this.#chat?.close();
    this.#chat = null;
    this.#say(null);
    this.#clear();
    this.#box.files.clear();
    this.#panel.close();
    this.#files();
    this.#title.textContent = "";
    this.#meta();
    this.#box.text = drafts.get(id);
    if (id === null) return this.#empty();
    const chat = this.#bind(new Conversation(id));
    this.classList.add("loading");
    try {
      await chat.open();
    } catch (error) {
      if (this.#chat === chat) {
        this.#unread = true;
        this.#say(error);
      }
    }
    this.classList.remove("loading");
  }

  /** @param {Conversation} chat */
  #bind(chat) {
    const on = (/** @type {string} */ what, /** @type {(detail: any) => void} */ call) =>
      chat.addEventListener(
        what,
        (event) => this.#chat === chat && call(/** @type {CustomEvent} */ (event).detail),
      );
    on("reset", () => this.#all());
    on("message", (message) => this.#put(message));
    on("removed", (message) => this.#drop(message.id));
    on("part", (message) => this.#views.get(message.id)?.grow());
    on("earlier", (messages) => this.#before(messages));
    on("meta", () => this.#meta());
    on("files", () => this.#files());
    on("gone", () => {
      drafts.set(chat.id, "");
      go(address("chat"), { replace: true });
    });
    this.#chat = chat;
    this.#unread = false;
    return chat;
  }

  #clear() {
    this.#views.clear();
    this.#messages.replaceChildren();
    this.#earlier.hidden = true;
    this.#end.reset();
  }

  #empty() {
    document.title = "Prowess";
    this.#messages.replaceChildren(make(EmptyChat));
    this.#end.toTop();
    this.#box.focus();
  }

  #all() {
    this.#clear();
    const messages = this.#chat?.messages ?? [];
    if (messages.length === 0) this.#messages.append(make(EmptyChat));
    else this.#messages.append(...this.#batches(messages));
    this.#earlier.hidden = (this.#chat?.before ?? null) === null;
    this.#markLast();
    this.#markFiles(this.#messages);
    if (messages.length === 0) this.#end.toTop();
    else this.#end.toEnd();
  }

  /** @param {Message[]} messages */
  #batches(messages) {
    const count = Math.ceil(messages.length / BATCH);
    return Array.from({ length: count }, (_, index) => {
      const some = messages.slice(index * BATCH, (index + 1) * BATCH);
      return h("div", { class: "batch" }, ...some.map((message) => this.#view(message)));
    });
  }

  /** @param {Message} message */
  #view(message) {
    const messages = this.#chat?.messages ?? [];
    const asked = messages.slice(0, messages.indexOf(message)).findLast((one) => one.role === "user")?.id;
    const view = make(MessageView, { chat: this.#chat?.id, asked, message });
    this.#views.set(message.id, view);
    return view;
  }

  /** @param {Message} message */
  #put(message) {
    this.#messages.querySelector("empty-chat")?.remove();
    const known = this.#views.get(message.id);
    if (known) known.message = message;
    else {
      const last = this.#messages.lastElementChild;
      const room = last?.matches(".batch") && last.childElementCount < BATCH;
      if (room) last?.append(this.#view(message));
      else this.#messages.append(...this.#batches([message]));
      if (message.role === "user" && !this.#switching) this.#end.stick = true;
    }
    const view = this.#views.get(message.id);
    if (view) this.#markFiles(view);
    this.#markLast();
    if (this.#end.stick) this.#end.toEnd();
  }

  /** @param {string} id */
  #drop(id) {
    this.#views.get(id)?.remove();
    this.#views.delete(id);
    this.#markLast();
  }

  /** @param {Message[]} messages */
  #before(messages) {
    // Keeps the scroll position. Browsers do that, too, but not at the very top.
    const { scrollTop, scrollHeight } = this.#scroll;
    this.#scroll.classList.add("steady");
    this.#messages.prepend(...this.#batches(messages));
    this.#markFiles(this.#messages);
    this.#earlier.hidden = (this.#chat?.before ?? null) === null;
    this.#scroll.scrollTop = scrollTop + this.#scroll.scrollHeight - scrollHeight;
    requestAnimationFrame(() => this.#scroll.classList.remove("steady"));
  }

  async #loadEarlier() {
    if (this.#loading || !this.#chat || this.#earlier.hidden) return;
    this.#loading = true;
    this.#earlier.disabled = true;
    await this.#chat.earlier().catch((error) => this.#say(error));
    this.#earlier.disabled = false;
    this.#loading = false;
    // Checks again whether it is visible.
    this.#top.unobserve(this.#earlier);
    this.#top.observe(this.#earlier);
  }

  /** The last message always shows its buttons. */
  #markLast() {
    const last = this.#chat?.messages.at(-1);
    for (const [id, view] of this.#views) view.last = id === last?.id;
  }

  #meta() {
    const chat = this.#chat?.chat;
    this.#title.textContent = chat ? chat.title || t.chats.untitled : t.chat.begin;
    this.#title.classList.toggle("unseen", !chat);
    if (chat) document.title = `${chat.title || t.chats.untitled} · Prowess`;
    const names = chat?.activated_skill_names ?? [];
    this.#active.hidden = names.length === 0;
    this.#active.replaceChildren(...activeSkills(names, (name) => this.#letGo(name)));
    const live = Boolean(this.#chat?.live);
    if (live !== this.#box.busy) this.#said.textContent = live ? t.chat.answering : t.chat.answered;
    this.#box.busy = live;
    this.classList.toggle("replying", live);
    const usage = chat?.usage;
    this.#costs.hidden = !usage || usage.input + usage.output === 0;
    this.#costs.textContent = usage ? t.chat.costs(number(usage.input), number(usage.output)) : "";
    if (!chat) this.#said.textContent = "";
  }

  /** @param {string} name */
  async #letGo(name) {
    await this.#chat?.letGo(name).catch((error) => this.#say(error));
    this.#box.focus();
  }

  /** Shows the files of the chat, and what has become of those that messages mention. */
  #files() {
    const chat = this.#chat;
    const files = chat?.files ?? [];
    const remove = (/** @type {string} */ path) =>
      chat?.removeFile(path).catch((error) => this.#say(error)) ?? Promise.resolve();
    this.#panel.show(chat?.id ?? "", files, remove);
    this.#markFiles(this.#messages);
  }

  /** @param {Element} within */
  #markFiles(within) {
    if (!this.#chat?.filesKnown) return;
    const { files } = this.#chat;
    for (const card of within.querySelectorAll("file-card")) {
      if (card instanceof FileCard) card.current = files.find((file) => file.path === card.path) ?? null;
    }
  }

  /** Uploads files for the next message. @param {{ path: string, file: File }[]} files */
  async #attach(files) {
    this.#say(null);
    try {
      if (this.#box.files.count + files.length > FILES_MAX) throw new Error(t.files.tooMany(FILES_MAX));
      const chat = this.#chat ?? (await this.#begin(""));
      this.#box.files.add(chat.id, files, chat.fileMax, () => chat.files.map((file) => file.path));
    } catch (error) {
      this.#say(error);
    }
    this.#box.focus();
  }

  /** Creates a chat for the view of a new one. @param {string} title */
  async #begin(title) {
    const begun = await chats.begin(title);
    const chat = this.#bind(new Conversation(begun.id));
    go(address("chat", begun.id), { replace: true });
    // The current draft belongs to the new chat.
    drafts.set(null, "");
    drafts.set(begun.id, this.#box.text);
    await chat.open();
    return chat;
  }

  /** @param {string} text */
  async #send(text) {
    this.#say(null);
    let chat = this.#chat;
    try {
      chat ??= await this.#begin(titleOf(text));
      await this.#box.files.settled();
      // A message must not be sent without a file that belongs to it.
      const { failed } = this.#box.files;
      if (failed > 0) throw new Error(t.files.notUploaded(failed));
      this.#end.stick = true;
      await chat.send(text, this.#box.files.paths);
      this.#box.files.clear();
    } catch (error) {
      this.#giveBack(chat?.id ?? null, text);
      if (this.#chat === chat) this.#say(error);
    }
  }

  /** What could not be sent is not lost, unless something else was written there meanwhile. @param {string | null} chat @param {string} text */
  #giveBack(chat, text) {
    if (drafts.get(chat)) return;
    drafts.set(chat, text);
    if ((this.#chat?.id ?? null) === chat) this.#box.put(text);
  }

  /** The buttons of messages. */
  #messageEvents() {
    const on = (/** @type {string} */ what, /** @type {(message: Message, detail: any) => unknown} */ call) =>
      this.addEventListener(what, (event) => {
        const view = closest(event.target, "message-view");
        const message = view instanceof MessageView ? view.message : null;
        if (message) call(message, /** @type {CustomEvent} */ (event).detail);
      });
    on("retry", (message) => this.#change((chat) => chat.regenerate(message)));
    on("edit", (message, text) => this.#change((chat) => chat.edit(message, text)));
    on("branch", (_, id) => this.#change((chat) => chat.branch(id), true));
    on("remove", (message) => this.#removeMessage(message));
    on("quote", (_, text) => this.#box.quote(text));
  }

  /** Changes messages, unless a reply is being written. @param {(chat: Conversation) => Promise<void>} change @param {boolean} [stay] */
  async #change(change, stay = false) {
    const chat = this.#chat;
    if (!chat || chat.live) return;
    this.#say(null);
    this.#end.stick = !stay;
    this.#switching = stay;
    await change(chat).catch((error) => this.#chat === chat && this.#say(error));
    this.#switching = false;
  }

  /** @param {Message} message */
  async #removeMessage(message) {
    const { removeTitle: title, removeText: text } = t.message;
    if (!(await confirmDialog({ title, text, yes: t.common.delete, danger: true }))) return;
    await this.#change((chat) => chat.removeMessage(message), true);
    this.#box.focus();
  }

  /** Puts the last message of the user into the empty input. */
  #recall() {
    const last = this.#chat?.messages.findLast((message) => message.role === "user");
    const text = last?.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (text) this.#box.put(text);
  }

  /** @param {any} error */
  #say(error) {
    this.#unreachable = error instanceof Unreachable;
    this.#problem.hidden = !error;
    this.#problem.textContent = error ? t.problem(error) : "";
  }
}
customElements.define("chat-view", ChatView);
