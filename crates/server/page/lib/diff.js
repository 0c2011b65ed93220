// Compares texts line by line, with the algorithm of Myers.

/** @typedef {{ kind: "same" | "added" | "removed", text: string, before: number | null, after: number | null }} DiffLine */
/** @typedef {{ skipped: number, lines: DiffLine[] }} Hunk lines that differ and some around them, after omitted ones */

/** Beyond this number of differences everything between the first and the last one is replaced. */
const DIFFERENCES_MAX = 1500;

/** @param {string} text @returns {string[]} */
const linesOf = (text) => (text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/));

/**
 * @param {string} before @param {string} after
 * @returns {DiffLine[]}
 */
export const diffLines = (before, after) => {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = compare(a.slice(start, a.length - end), b.slice(start, b.length - end));
  /** @type {DiffLine["kind"][]} */
  const kinds = [...Array(start).fill("same"), ...middle, ...Array(end).fill("same")];
  let [i, j] = [0, 0];
  return kinds.map((kind) => {
    if (kind === "added") return { kind, text: b[j] ?? "", before: null, after: ++j };
    if (kind === "removed") return { kind, text: a[i] ?? "", before: ++i, after: null };
    return { kind: "same", text: a[i] ?? "", before: ++i, after: ++j };
  });
};

/** @param {string[]} a @param {string[]} b @returns {("same" | "added" | "removed")[]} */
const compare = (a, b) => {
  const most = Math.min(a.length + b.length, DIFFERENCES_MAX);
  /** The furthest line of `a` on each diagonal, for each number of differences. @type {Map<number, number>[]} */
  const trace = [];
  let furthest = new Map([[1, 0]]);
  for (let d = 0; d <= most; d++) {
    trace.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = down ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(trace, d, a.length, b.length);
    }
  }
  return [...Array(a.length).fill("removed"), ...Array(b.length).fill("added")];
};

/** @param {Map<number, number>[]} trace @param {number} differences @param {number} x @param {number} y */
const walkBack = (trace, differences, x, y) => {
  /** @type {("same" | "added" | "removed")[]} */
  const kinds = [];
  for (let d = differences; d >= 0; d--) {
    const furthest = /** @type {Map<number, number>} */ (trace[d]);
    const k = x - y;
    const down = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : (furthest.get(from) ?? 0);
    const fromY = d === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      kinds.push("same");
      x--;
      y--;
    }
    if (d === 0) break;
    kinds.push(down ? "added" : "removed");
    [x, y] = [fromX, fromY];
  }
  return kinds.reverse();
};

/**
 * Groups differing lines with the lines around them.
 * @param {DiffLine[]} lines @param {number} [around]
 * @returns {{ hunks: Hunk[], rest: number }} `rest` is the number of lines after the last hunk
 */
export const hunksOf = (lines, around = 3) => {
  const shown = new Uint8Array(lines.length);
  lines.forEach((line, index) => {
    if (line.kind === "same") return;
    for (let near = Math.max(0, index - around); near <= Math.min(lines.length - 1, index + around); near++)
      shown[near] = 1;
  });
  /** @type {Hunk[]} */
  const hunks = [];
  let skipped = 0;
  lines.forEach((line, index) => {
    if (!shown[index]) skipped++;
    else {
      if (index === 0 || !shown[index - 1]) hunks.push({ skipped, lines: [] });
      hunks.at(-1)?.lines.push(line);
      skipped = 0;
    }
  });
  return { hunks, rest: skipped };
};
