// Globals that authors of tools expect. Runs before any untrusted code, with the host's functions.
(function (host) {
  "use strict";

  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  // Shared memory and precise clocks enable side-channel attacks.
  for (const name of ["Atomics", "SharedArrayBuffer", "performance"]) delete globalThis[name];

  function display(value) {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value}`;
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return Object.prototype.toString.call(value);
    }
  }
  const console = {};
  for (const level of ["log", "info", "warn", "error", "debug"]) {
    console[level] = (...values) => host.log(values.map(display).join(" "));
  }
  define("console", console);

  if (typeof queueMicrotask !== "function") define("queueMicrotask", (task) => void Promise.resolve().then(task));

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(text = "") {
      const bytes = [];
      for (const character of String(text)) {
        let code = character.codePointAt(0);
        if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
        if (code < 0x80) bytes.push(code);
        else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
        else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
        else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      }
      return Uint8Array.from(bytes);
    }
  }
  class TextDecoder {
    #fatal;
    constructor(encoding = "utf-8", { fatal = false } = {}) {
      if (!/^utf-?8$/i.test(encoding)) throw new RangeError(`TextDecoder: only utf-8 is supported, not ${encoding}`);
      this.#fatal = fatal;
    }
    get encoding() {
      return "utf-8";
    }
    get fatal() {
      return this.#fatal;
    }
    decode(input = new Uint8Array()) {
      const bytes = ArrayBuffer.isView(input)
        ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
        : new Uint8Array(input);
      const text = host.decode(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
      if (this.#fatal && text.lossy) throw new TypeError("TextDecoder: the bytes are not UTF-8");
      return text.text.replace(/^\ufeff/, "");
    }
  }
  define("TextEncoder", TextEncoder);
  define("TextDecoder", TextDecoder);

  function clone(value, seen) {
    if (typeof value === "function" || typeof value === "symbol") {
      throw new TypeError("structuredClone: functions and symbols cannot be cloned");
    }
    if (value === null || typeof value !== "object") return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (copy) => (seen.set(value, copy), copy);
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) return keep(value.slice());
    if (value instanceof Map) {
      const copy = keep(new Map());
      for (const [key, inner] of value) copy.set(clone(key, seen), clone(inner, seen));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      for (const inner of value) copy.add(clone(inner, seen));
      return copy;
    }
    if (value instanceof Error) return keep(Object.assign(new Error(value.message), { name: value.name }));
    const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) {
      const inner = clone(value[key], seen);
      Object.defineProperty(copy, key, { value: inner, writable: true, enumerable: true, configurable: true });
    }
    return copy;
  }
  define("structuredClone", (value) => clone(value, new Map()));

  const parts = (text, base) => {
    const found = host.url(String(text), base === undefined ? "" : String(base), base !== undefined);
    return found === "" ? null : JSON.parse(found);
  };
  class URL {
    #parts;
    constructor(text, base) {
      this.#parts = parts(text, base);
      if (!this.#parts) throw new TypeError("Invalid URL");
    }
    static canParse(text, base) {
      return parts(text, base) !== null;
    }
    static parse(text, base) {
      return URL.canParse(text, base) ? new URL(text, base) : null;
    }
    get searchParams() {
      return new URLSearchParams(this.search);
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
    static {
      const names = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
      for (const name of names) {
        const get = function () {
          return this.#parts[name];
        };
        Object.defineProperty(URL.prototype, name, { get, enumerable: true, configurable: true });
      }
    }
  }
  class URLSearchParams {
    #pairs = [];
    constructor(given = "") {
      if (typeof given === "string") {
        const plain = (text) => {
          const spaced = text.replace(/\+/g, " ");
          try {
            return decodeURIComponent(spaced);
          } catch {
            return spaced;
          }
        };
        for (const pair of given.replace(/^\?/, "").split("&")) {
          if (!pair) continue;
          const at = pair.indexOf("=");
          this.append(plain(at < 0 ? pair : pair.slice(0, at)), at < 0 ? "" : plain(pair.slice(at + 1)));
        }
      } else {
        const pairs = typeof given[Symbol.iterator] === "function" ? given : Object.entries(given);
        for (const [name, value] of pairs) this.append(name, value);
      }
    }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
    }
    get(name) {
      return this.#pairs.find(([known]) => known === name)?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([known]) => known === name).map(([, value]) => value);
    }
    has(name) {
      return this.#pairs.some(([known]) => known === name);
    }
    delete(name) {
      this.#pairs = this.#pairs.filter(([known]) => known !== name);
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([known]) => known === name);
      if (at < 0) return this.append(name, value);
      this.#pairs = this.#pairs.filter(([known], place) => known !== name || place === at);
      this.#pairs[at][1] = String(value);
    }
    *[Symbol.iterator]() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }
    entries() {
      return this[Symbol.iterator]();
    }
    toString() {
      const written = (text) =>
        encodeURIComponent(text).replace(/%20/g, "+").replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
      return this.#pairs.map(([name, value]) => `${written(name)}=${written(value)}`).join("&");
    }
  }
  define("URL", URL);
  define("URLSearchParams", URLSearchParams);
})
