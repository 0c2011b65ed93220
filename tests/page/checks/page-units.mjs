// Pure functions of the chat's modules, and the size of the first view, without a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { gzipSync } from "node:zlib";

const directory = new URL("../../../crates/server/page/", import.meta.url);
const page = (path) => import(new URL(path, directory));
const read = (path) => readFileSync(new URL(path, directory));

/** The maximum size of the first view, compressed. */
const FIRST_VIEW_MAX = 100_000;

/** Loads the texts as a browser with this language would. */
const loadTexts = async () => {
  const [storage, dom] = [globalThis.localStorage, globalThis.document];
  Object.defineProperty(globalThis, "localStorage", { value: { getItem: () => "en" }, configurable: true, writable: true });
  globalThis.document = { documentElement: {} };
  await (await page("lib/text.js")).loadTexts();
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true, writable: true });
  globalThis.document = dom;
};

/** The files that the document and its modules load at once. */
const firstView = () => {
  const files = new Set();
  const add = (path) => {
    if (files.has(path)) return;
    files.add(path);
    if (!path.endsWith(".js")) return;
    for (const [, from] of read(path).toString().matchAll(/^(?:import|export)\s[^;]*?from "([^"]+)"/gm))
      add(posix.join(posix.dirname(path), from));
  };
  const linked = [...read("index.html").toString().matchAll(/"\/assets\/([^"]+)"/g)].map(([, path]) => path);
  for (const path of ["index.html", "texts/en.js", "worker.js", ...linked]) add(path);
  return { files, linked };
};

export const pageUnits = (check) => [
  check("units: the first view is small, and all of its modules are preloaded", async () => {
    const { files, linked } = firstView();
    const sizes = [...files].map((path) => gzipSync(read(path), { level: 9 }).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert(total < FIRST_VIEW_MAX, `${total} bytes`);
    assert([...files].every((path) => !path.startsWith("vendor/")), "libraries are loaded on demand");
    const late = ["index.html", "texts/en.js", "worker.js", "components/sign-in.js", "lib/theme.js"];
    assert.deepEqual([...files].filter((path) => !linked.includes(path) && !late.includes(path)), []);
  }),

  check("units: the known languages are those of the library", async () => {
    const [{ LANGUAGES }, { tokenize }] = await Promise.all([page("lib/highlight.js"), page("vendor/highlight.js")]);
    for (const name of LANGUAGES) assert(tokenize("x", name), name);
    assert.equal(tokenize("x", "no-such-language"), null);
    const entry = readFileSync(new URL("../vendor/highlight/highlight.js", import.meta.url), "utf8");
    const bundled = [...entry.matchAll(/languages\/([\w-]+)"/g)].map(([, name]) => name);
    assert(bundled.length > 20);
    assert.deepEqual(bundled.filter((name) => !LANGUAGES.has(name)), []);
    assert.deepEqual(tokenize("let x", "js"), [{ scope: "keyword", children: ["let"] }, " x"]);
  }),

  check("units: fuzzy matches prefer beginnings of words, and ignore scattered letters", async () => {
    const { bestMatches, fuzzyScore } = await page("lib/fuzzy.js");
    const names = ["Overview", "code-review", "Settings", "Review the parser", "weekly-report-generator"];
    const best = (query) => bestMatches(query, names, (name) => name);
    assert.deepEqual(best("rev"), ["Review the parser", "code-review"]);
    assert.deepEqual(best("over"), ["Overview"]);
    assert.deepEqual(best("wrg"), ["weekly-report-generator"]);
    assert.deepEqual(best("parser review"), ["Review the parser"]);
    assert.deepEqual(best("xyz"), []);
    assert.deepEqual(best(""), names);
    assert.equal(fuzzyScore("tng", "Setting up a long thing"), -1);
  }),

  check("units: chats are grouped by the calendar", async () => {
    await loadTexts();
    const { groupOf } = await page("lib/groups.js");
    const at = (text) => new Date(text).getTime();
    const now = at("2026-03-30T01:00:00");
    const title = (text) => groupOf(at(text), now).title;
    assert.equal(title("2026-03-30T00:00:00"), "Today");
    assert.equal(title("2026-03-29T23:59:59"), "Yesterday");
    assert.equal(title("2026-03-28T23:59:59"), "Previous 7 days");
    assert.equal(title("2026-03-23T00:00:00"), "Previous 7 days");
    assert.equal(title("2026-03-22T23:59:59"), "Previous 30 days");
    assert.equal(title("2026-02-28T00:00:00"), "Previous 30 days");
    assert.equal(title("2026-02-27T23:59:59"), "February");
    assert.equal(title("2025-12-01T00:00:00"), "December 2025");
    assert.equal(title("2026-04-01T00:00:00"), "Today", "a clock that is ahead");
  }),

  check("units: the export has no thinking, and backticks stay in their code", async () => {
    await loadTexts();
    const { fileName, toMarkdown } = await page("lib/export-markdown.js");
    const message = (role, parts, more = {}) => ({ id: "m", role, parts, state: "complete", at: 0, ...more });
    const text = toMarkdown({ title: "Title" }, [
      message("user", [{ type: "text", text: "Hello" }, { type: "file", path: "a`b.csv" }]),
      message(
        "assistant",
        [
          { type: "thinking", text: "secret" },
          { type: "tool_call", id: "1", name: "skills.run", arguments: { name: "csv", script: "x.py" } },
          { type: "tool_result", id: "1", name: "skills.run", status: "success", summary: {} },
          { type: "tool_call", id: "2", name: "skills.search", arguments: { query: "a" } },
          { type: "text", text: "Done" },
        ],
        { state: "interrupted", reason: "stopped" },
      ),
    ]);
    assert.equal(
      text.replace(/(You|Reply), .*/g, "$1"),
      "# Title\n\n## You\n\nHello\n\n- File ``a`b.csv``\n\n## Reply\n\n> `skills.run` `x.py` (`csv`): success\n\n" +
        "> `skills.search` `a`: no result\n\nDone\n\n*Interrupted: stopped*\n",
    );
    assert.deepEqual(["Hello, World?", "../../etc", "  ", "你好 吗"].map(fileName), ["Hello-World.md", "etc.md", "chat.md", "你好-吗.md"]);
  }),

  check("units: shortcuts", async () => {
    const { shortcutOf } = await page("lib/shortcuts.js");
    globalThis.Element ??= class {};
    const press = (key, more = {}) => shortcutOf({ key, code: "", ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, target: null, ...more });
    assert.equal(press("k", { ctrlKey: true }), "palette");
    assert.equal(press("K", { metaKey: true }), "palette");
    assert.equal(press("k", { ctrlKey: true, altKey: true }), null);
    assert.equal(press("O", { ctrlKey: true, shiftKey: true }), "newChat");
    assert.equal(press("o", { ctrlKey: true }), null);
    assert.equal(press("/", { ctrlKey: true }), "help");
    assert.equal(press("?"), "help");
    assert.equal(press("k"), null);
  }),
];
