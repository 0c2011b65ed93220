// Tables from text: comma, semicolon or tab separated values, with quotes as in RFC 4180.

/** The limits of a preview. */
export const ROWS_MAX = 50;
export const COLUMNS_MAX = 20;
const CELL_MAX = 200;

/**
 * Reads the first rows of a table. `more` says that rows or columns are omitted.
 * @param {string} text
 * @param {string} separator
 * @returns {{ rows: string[][], more: boolean }}
 */
export const readTable = (text, separator) => {
  /** @type {string[][]} */
  const rows = [];
  let more = false;
  let row = /** @type {string[]} */ ([]);
  let cell = "";
  let quoted = false;
  const endCell = () => {
    if (row.length < COLUMNS_MAX) row.push(cell.length > CELL_MAX ? `${cell.slice(0, CELL_MAX)}…` : cell);
    else more = true;
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; at++) {
    if (rows.length === ROWS_MAX) return { rows, more: more || text.slice(at).trim() !== "" };
    const c = text[at];
    if (quoted) {
      if (c === '"' && text[at + 1] === '"') cell += text[at++];
      else if (c === '"') quoted = false;
      else cell += c;
    } else if (c === '"' && cell === "") quoted = true;
    else if (c === separator) endCell();
    else if (c === "\n") endRow();
    else if (c !== "\r") cell += c;
  }
  if (cell !== "" || row.length > 0) endRow();
  return { rows, more };
};

/** The separator of a CSV text: the one that occurs most in its first line. @param {string} text */
export const separatorOf = (text) => {
  const line = text.split("\n", 1)[0] ?? "";
  const count = (/** @type {string} */ c) => line.split(c).length;
  return count(";") > count(",") ? ";" : count("\t") > count(",") ? "\t" : ",";
};
