// A chat as stored on the server, updated by events. Anything unexpected, such as a gap in the event numbers or a turn that
// another client started, reloads the chat: the server is the source of truth.

import { api, at, Problem, request } from "../lib/api.js";
import { feed } from "../lib/feed.js";
import { app } from "./app.js";
import { chats } from "./chats.js";

/** @typedef {import("../types.js").Message} Message */
/** @typedef {import("../types.js").Chat} Chat */
/** @typedef {import("../types.js").ChatFile} ChatFile */
/** @typedef {import("../types.js").Question} Question */

const PAGE = 40;
/** The number of messages to reload after a reply. */
const TAIL = 6;
/** The maximum number of messages that the server returns at once. */
const MESSAGES_MAX = 1000;

/**
 * Events: `reset` (all messages), `earlier` (detail: the number of added messages), `message` (detail: one was added or replaced),
 * `part` (detail: the message whose parts grew), `meta` (title, active skills, whether a reply is running), `files` (the files
 * of the workspace), `gone`.
 */
export class Conversation extends EventTarget {
  /** @type {Chat | null} */
  chat = null;
  /** @type {Message[]} */
  messages = [];
  /** Where earlier messages are found. @type {number | null} */
  before = null;
  seq = 0;
  /** The files of the workspace. @type {ChatFile[]} */
  files = [];
  /** Whether the list of files was loaded. */
  filesKnown = false;
  /** The maximum size of a file. */
  fileMax = Number.POSITIVE_INFINITY;
  #closed = false;
  /** @type {Promise<void> | null} */
  #reading = null;
  /** Events that came while the chat was read. @type {[number, string, any][]} */
  #waiting = [];
  /** @type {(() => void)[]} */
  #ends = [];

  /** @param {string} id */
  constructor(id) {
    super();
    this.id = id;
  }

  /** The unfinished message. */
  get live() {
    const last = this.messages.at(-1);
    return last?.role === "assistant" && last.state === "writing" ? last : null;
  }

  async open() {
    await Promise.all([this.#read(PAGE), this.readFiles()]);
    if (this.#closed) return;
    this.#ends.push(
      feed.follow(this.id, {
        seq: () => this.seq,
        event: (type, data, seq) => this.#event(seq, type, data),
      }),
      // The end of a turn whose process died is not in the stream.
      app.on("missed", () => this.read()),
    );
  }

  close() {
    this.#closed = true;
    for (const end of this.#ends) end();
  }

  /** Reloads the latest messages. */
  read() {
    return this.#read(TAIL).catch((error) => {
      if (error instanceof Problem && error.status === 404) this.#tell("gone");
    });
  }

  /** Reloads the list of files. A failure is not reported: the list is loaded again after each change. */
  async readFiles() {
    const listed = await api.get(at.chatFiles(this.id)).catch(() => null);
    if (!listed || this.#closed) return;
    this.files = listed.files;
    this.filesKnown = true;
    this.fileMax = listed.limits?.file_bytes ?? this.fileMax;
    this.#tell("files");
  }

  /** @param {string} path */
  async removeFile(path) {
    await api.remove(at.chatFile(this.id, path));
    await this.readFiles();
  }

  /** @param {number} limit */
  #read(limit) {
    // A request during a reload may need newer data, so the chat is loaded once more.
    const run = async () => {
      const page = await api.get(at.chat(this.id), { limit, html: 1 });
      if (!this.#closed) this.#take(page);
    };
    const next = (this.#reading ?? Promise.resolve()).catch(() => {}).then(run);
    this.#reading = next.finally(() => {
      if (this.#reading !== mine) return;
      this.#reading = null;
      const waiting = this.#waiting.splice(0);
      for (const [seq, type, data] of waiting) this.#event(seq, type, data);
    });
    const mine = this.#reading;
    return mine;
  }

  /** Shows the question at its tool call; without one, no question is open. @param {Question | null} question */
  #ask(question) {
    for (const part of this.live?.parts ?? []) {
      if (part.type !== "tool_call") continue;
      if (part.id === question?.id) part.question = question;
      else delete part.question;
    }
  }

  /** @param {Chat & { messages: Message[], before: number | null, consent?: Question | null }} page */
  #take(page) {
    const { messages, before, consent, ...chat } = page;
    const asking = messages.at(-1)?.parts.find((part) => part.type === "tool_call" && part.id === consent?.id);
    if (asking?.type === "tool_call" && consent) asking.question = consent;
    this.#keepNotes(messages);
    this.chat = /** @type {Chat} */ (chat);
    this.seq = page.seq;
    const from = messages.length ? this.messages.findIndex((message) => message.id === messages[0]?.id) : -1;
    if (from < 0) {
      const whole = messages.length > 0 && this.messages.length > 0;
      this.messages = messages;
      this.before = before ?? null;
      this.#tell("reset", whole);
    } else {
      const old = this.messages.slice(from);
      this.messages = [...this.messages.slice(0, from), ...messages];
      messages.forEach((message, at) => {
        if (JSON.stringify(old[at]) !== JSON.stringify(message)) this.#tell("message", message);
      });
      for (const gone of old) {
        if (!messages.some((message) => message.id === gone.id)) this.#tell("removed", gone);
      }
    }
    this.#tell("meta");
  }

  /** What the server does not store, and this page knows of a reply, stays: how long the model thought, and that it has no
   * tools. @param {Message[]} messages */
  #keepNotes(messages) {
    for (const message of messages) {
      const known = this.messages.find((other) => other.id === message.id);
      if (!known) continue;
      if (known.tools_disabled !== undefined) message.tools_disabled = known.tools_disabled;
      message.parts.forEach((part, index) => {
        const before = known.parts[index];
        if (part.type === "thinking" && before?.type === "thinking" && before.seconds !== undefined) part.seconds = before.seconds;
      });
    }
  }

  async earlier() {
    if (this.before === null) return;
    const page = await api.get(at.chat(this.id), { before: this.before, limit: PAGE, html: 1 });
    const known = new Set(this.messages.map((message) => message.id));
    const more = page.messages.filter((/** @type {Message} */ message) => !known.has(message.id));
    this.messages = [...more, ...this.messages];
    this.before = page.before ?? null;
    this.#tell("earlier", more);
  }

  /** @param {number} seq @param {string} type @param {any} data */
  #event(seq, type, data) {
    if (type === "missed") return void this.read();
    if (type === "gone") return this.#tell("gone");
    if (this.#reading) return void this.#waiting.push([seq, type, data]);
    if (!(seq > this.seq)) return;
    const live = this.live;
    if (!live || seq !== this.seq + 1) return void this.read();
    this.seq = seq;
    const last = live.parts.at(-1);
    delete live.waiting;
    if (last?.type === "thinking" && last.began) last.seconds = (Date.now() - last.began) / 1000;
    if (type === "delta") {
      if (last?.type === "text") last.text += data.text;
      else live.parts.push({ type: "text", text: data.text });
      this.#tell("part", live);
    } else if (type === "thinking") {
      if (last?.type === "thinking") last.text += data.text;
      else live.parts.push({ type: "thinking", text: data.text, began: Date.now() });
      this.#tell("part", live);
    } else if (type === "waiting") {
      live.waiting = { reason: String(data.reason), until: Date.now() + Number(data.seconds) * 1000 };
      this.#tell("part", live);
    } else if (type === "tools_disabled") {
      live.tools_disabled = String(data.reason);
      this.#tell("part", live);
    } else if (type === "tool_call") {
      live.parts.push({ type: "tool_call", id: data.id, name: data.name, arguments: data.arguments ?? {} });
      this.#tell("part", live);
    } else if (type === "consent") {
      this.#ask(data);
      this.#tell("part", live);
    } else if (type === "tool_result") {
      const { id, name, status } = data;
      this.#ask(null);
      const summary = data.data ?? data.summary ?? {};
      live.parts.push({ type: "tool_result", id, name, status, summary });
      this.#tell("part", live);
      if (summary.artifacts || summary.removed) this.readFiles();
    } else if (type === "done" || type === "error") {
      // Loads the rendered text, the token usage and the active skills.
      this.read();
      this.readFiles();
      chats.read();
    }
  }

  /**
   * Sends a message. The reply arrives through the event stream.
   * @param {string} text
   * @param {string[]} [files] the paths of the attached files
   */
  async send(text, files = []) {
    const attached = this.files.filter((file) => files.includes(file.path));
    const mine = /** @type {Message} */ ({
      id: `sending-${Date.now()}`,
      role: "user",
      parts: [{ type: "text", text }, ...attached.map((file) => ({ ...file, type: "file" }))],
      state: "complete",
      at: Date.now(),
    });
    this.messages.push(mine);
    this.#tell("message", mine);
    try {
      await this.#post({ text, files });
    } catch (error) {
      this.#drop(mine);
      throw error;
    }
  }

  /** The files of a message that the chat still has. @param {Message} message */
  #filesOf(message) {
    const known = new Set(this.files.map((file) => file.path));
    return message.parts.flatMap((part) => (part.type === "file" && known.has(part.path) ? [part.path] : []));
  }

  /** Sends another text in the place of a message; the old version stays available. @param {Message} message @param {string} text */
  edit(message, text) {
    return this.#post({ text, replaces: message.id, files: this.#filesOf(message) });
  }

  /** Asks for another version of a reply. @param {Message} answer */
  async regenerate(answer) {
    try {
      await this.#post({ regenerate: answer.id });
    } catch (error) {
      // A server without versions of messages: the last question is asked again.
      const isOld = error instanceof Problem && (error.status === 400 || error.status === 422);
      const asked = this.messages.at(-1) === answer ? this.messages.findLast((one) => one.role === "user") : undefined;
      if (!isOld || !asked) throw error;
      const text = asked.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      await this.edit(asked, text);
    }
  }

  /** Shows another version of a message, and what follows it. @param {string} message */
  async branch(message) {
    await api.post(`${at.chat(this.id)}/branch`, { message });
    await this.#readAll();
  }

  /** @param {Message} message */
  async removeMessage(message) {
    await api.remove(`${at.chat(this.id)}/messages/${encodeURIComponent(message.id)}`);
    await this.#readAll();
  }

  /** Reloads as many messages as are loaded. */
  async #readAll() {
    await this.#read(Math.min(MESSAGES_MAX, Math.max(PAGE, this.messages.length)));
    chats.read();
  }

  /** @param {{ text: string, replaces?: string, files: string[] } | { regenerate: string }} message */
  async #post(message) {
    const over = new AbortController();
    await request(`${at.chat(this.id)}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify("files" in message && message.files.length === 0 ? { ...message, files: undefined } : message),
      signal: over.signal,
    });
    // Closes the stream before anything else is requested: browsers open at most six connections to a server, and tabs that
    // each hold one while they wait for another would wait forever.
    over.abort();
    // The stored messages replace what is shown.
    if ("text" in message && message.replaces === undefined) await this.read();
    else await this.#readAll().catch(() => {});
    chats.read();
  }

  /** @param {Message} message */
  #drop(message) {
    this.messages = this.messages.filter((other) => other !== message);
    this.#tell("removed", message);
  }

  async stop() {
    await api.post(`${at.chat(this.id)}/stop`);
  }

  /** A skill that is active is not any more. @param {string} name */
  async letGo(name) {
    const names = (this.chat?.activated_skill_names ?? []).filter((other) => other !== name);
    const chat = await api.patch(at.chat(this.id), { activated_skill_names: names });
    if (this.chat) this.chat = { ...this.chat, activated_skill_names: chat.activated_skill_names ?? names };
    this.#tell("meta");
  }

  /** @param {string} what @param {any} [detail] */
  #tell(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }
}
