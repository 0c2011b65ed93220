// Pure functions of the page's modules, without a browser.

import assert from "node:assert/strict";

const page = (path) => import(`../../../crates/server/page/${path}`);

export const units = (check) => [
  check("events are parsed from text split at any position", async () => {
    const { parser } = await page("lib/stream.js");
    const text =
      ': hello\n\nid: 7\nevent: delta\ndata: {"text":\ndata: "ä"}\n\nevent: missed\r\ndata: {}\r\n\r\ndata: no json\n\n';
    const expected = [
      ["delta", { text: "ä" }, "7"],
      ["missed", {}, "7"],
      ["message", null, "7"],
    ];
    for (let size = 1; size <= text.length; size++) {
      const events = [];
      const parse = parser((...event) => events.push(event));
      for (let at = 0; at < text.length; at += size) parse(text.slice(at, at + size));
      assert.deepEqual(events, expected, `in pieces of ${size}`);
    }
  }),

  check("positions in plots stay on the scale, and changes have a sign", async () => {
    const { position } = await page("lib/rate-plots.js");
    const scale = { min: -1, max: 1 };
    assert.deepEqual([-3, -1, 0, 0.5, 1, 2.5].map((value) => position(scale, value)), [0, 0, 50, 75, 100, 100]);
    const { points, pValue } = await page("lib/format.js");
    assert.deepEqual([0.391, -0.05, 0, -0.001].map(points), ["+39", "−5", "0", "0"]);
    assert.deepEqual([0.0004, 0.03125, 1].map(pValue), ["p < 0.001", "p = 0.031", "p = 1.000"]);
    const { texts } = await page("texts/en.js");
    assert.deepEqual(["+1", "−1", "+11", "0", "+21"].map(texts.tests.points), ["point", "point", "points", "points", "points"]);
  }),

  check("differences of texts are those of their lines, and few of them", async () => {
    const { diffLines, hunksOf } = await page("lib/diff.js");
    const shown = (before, after) =>
      diffLines(before, after)
        .map(({ kind, text }) => ({ same: " ", added: "+", removed: "-" })[kind] + text)
        .join("\n");
    assert.equal(shown("a\nb\nc\n", "a\nc\nd\n"), " a\n-b\n c\n+d");
    assert.equal(shown("", "x\n"), "+x");
    assert.equal(shown("x\n", ""), "-x");
    assert.equal(shown("one\r\ntwo\r\n", "one\ntwo\n"), " one\n two");
    // Applying the differences to either text gives the other one.
    let seed = 7;
    const random = (max) => (seed = (seed * 48271) % 2147483647) % max;
    for (let round = 0; round < 300; round++) {
      const text = () => Array.from({ length: random(12) }, () => "abcd"[random(4)]).join("\n");
      const [before, after] = [text(), text()];
      const lines = diffLines(before, after);
      const side = (other) => lines.filter((line) => line.kind !== other).map((line) => line.text).join("\n");
      assert.deepEqual([side("added"), side("removed")], [before, after]);
    }
    const long = Array.from({ length: 50 }, (_, index) => `line ${index}`);
    const { hunks, rest } = hunksOf(diffLines(long.join("\n"), long.with(20, "changed").join("\n")));
    assert.deepEqual([hunks.length, hunks[0].skipped, hunks[0].lines.length, rest], [1, 17, 8, 26]);
    const other = Array.from({ length: 4000 }, (_, index) => `other ${index}`);
    assert.equal(diffLines(other.join("\n"), other.map((line) => `${line}!`).join("\n")).length, 8000);
  }),

  check("messages are found in all forms of tests", async () => {
    const { samplesIn } = await page("lib/samples.js");
    const texts = (value) => samplesIn(value).map(({ text, expected }) => `${expected ? "+" : "-"}${text}`);
    assert.deepEqual(texts([{ query: "a", should_trigger: true }, { query: "b", should_trigger: false }, { query: "c" }]), ["+a", "-b"]);
    assert.deepEqual(texts({ triggers: [{ query: "a", should_trigger: true }] }), ["+a"]);
    assert.deepEqual(texts({ should_trigger: ["a"], should_not_trigger: [{ prompt: "b" }] }), ["+a", "-b"]);
    assert.deepEqual(texts({ evals: [{ prompt: "a", skill_should_trigger: true }], trigger_evals: { should_not_trigger: ["b"] } }), ["+a", "-b"]);
    assert.deepEqual([texts(null), texts("x"), texts([{ should_trigger: true }])], [[], [], []]);
  }),

  check("tables are read with quotes, within limits", async () => {
    const { COLUMNS_MAX, readTable, ROWS_MAX, separatorOf } = await page("lib/tables.js");
    assert.deepEqual(readTable('a,"b ""c"", d"\r\n\n"line\nbreak",2', ","), {
      rows: [["a", 'b "c", d'], ["line\nbreak", "2"]],
      more: false,
    });
    assert.deepEqual(readTable("a\tb\n", "\t"), { rows: [["a", "b"]], more: false });
    assert.deepEqual(readTable("", ","), { rows: [], more: false });
    const long = readTable("x\n".repeat(ROWS_MAX + 1), ",");
    assert.deepEqual([long.rows.length, long.more], [ROWS_MAX, true]);
    assert.equal(readTable("x\n".repeat(ROWS_MAX), ",").more, false);
    const wide = readTable("x,".repeat(COLUMNS_MAX + 5), ",");
    assert.deepEqual([wide.rows[0].length, wide.more], [COLUMNS_MAX, true]);
    assert.equal(readTable(`"${"x".repeat(1000)}`, ",").rows[0][0].length, 201);
    assert.deepEqual(["a;b;c,d", "a,b", "a\tb", "a"].map(separatorOf), [";", ",", "\t", ","]);
  }),

  check("names that are taken get a number before the extension", async () => {
    const { numbered } = await page("lib/upload.js");
    const names = ["a.csv", "dir.x/a", ".env", "a.tar.gz"].map((name) => numbered(name, 2));
    assert.deepEqual(names, ["a (2).csv", "dir.x/a (2)", ".env (2)", "a.tar (2).gz"]);
    assert.equal(numbered("a.csv", 1), "a.csv");
  }),

  check("a new file never gets the path of a file or of a folder", async () => {
    const { freePath } = await page("lib/upload.js");
    const taken = new Set(["a.csv", "a (2).csv", "data/x.csv", "notes"]);
    const paths = ["a.csv", "b.csv", "data", "data/x.csv", "notes/y.csv", "notes"].map((path) => freePath(path, taken));
    assert.deepEqual(paths, ["a (3).csv", "b.csv", "data (2)", "data/x (2).csv", "notes (2)/y.csv", "notes (2)"]);
  }),

  check("paths of results cannot leave their chat", async () => {
    const { isInnerPath } = await page("lib/api.js");
    for (const path of ["", "..", "../a", "a/../../b", "a//b", "/a", "a/.", "."]) assert.equal(isInnerPath(path), false, path);
    for (const path of ["a", "a/b c.txt", "...", "%2e%2e/a"]) assert.equal(isInnerPath(path), true, path);
  }),

  check("the rendered rows are the visible ones", async () => {
    const { heightOf, rowsBetween, topOf } = await page("lib/window.js");
    for (const open of [-1, 0, 3, 9]) {
      const m = { count: 10, height: 50, open, extra: open < 0 ? 0 : 120 };
      assert.equal(heightOf(m), 500 + m.extra);
      for (let from = 0; from <= heightOf(m); from += 7) {
        const [first, last] = rowsBetween(m, from, from + 100, 0);
        for (let index = 0; index < m.count; index++) {
          const top = topOf(m, index);
          const bottom = top + m.height + (index === open ? m.extra : 0);
          if (bottom > from && top < from + 100)
            assert(index >= first && index < last, `row ${index} at ${from}, open ${open}`);
        }
      }
    }
    assert.deepEqual(rowsBetween({ count: 0, height: 50, open: -1, extra: 0 }, 0, 100), [0, 0]);
  }),

  check("both languages have the same texts", async () => {
    const [{ texts: en }, { texts: zh }] = await Promise.all([page("texts/en.js"), page("texts/zh.js")]);
    const shape = (value, at = "") =>
      value && typeof value === "object"
        ? Object.entries(value).flatMap(([key, inner]) => shape(inner, `${at}.${key}`))
        : [`${at} ${typeof value} ${typeof value === "function" ? value.length : ""}`];
    assert.deepEqual(shape(zh).sort(), shape(en).sort());
    assert.equal(zh.skills.title, "Skills 配置");
  }),
];
