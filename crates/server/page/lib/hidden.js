// Invisible characters and characters that reorder text. A test checks that the list matches `prowess_format::hidden`.

/** The first and the last code point of each range. @type {[number, number][]} */
const HIDDEN = [
  [0x0, 0x8],
  [0xb, 0xc],
  [0xe, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0d],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

const HIDING = HIDDEN.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join("");
const SCRIPTS = "\\u0600-\\u06ff\\u0750-\\u077f\\u0900-\\u0dff";
const EMOJI = "\\u2190-\\u2bff\\ufe0f\\u{1f000}-\\u{1faff}";

/** Joiners are kept where they are needed: inside emoji, and in the Arabic and Indic scripts. */
const FOUND = new RegExp(
  `(?<![${EMOJI}${SCRIPTS}])\\u200d|(?<![${SCRIPTS}])\\u200c|(?![\\u200c\\u200d])[${HIDING}]`,
  "gu",
);

/**
 * Escapes hidden and control characters as `\u{…}`; keeps line breaks and tabs.
 * @param {string} text
 */
export const visible = (text) =>
  text.replace(FOUND, (found) => `\\u{${/** @type {number} */ (found.codePointAt(0)).toString(16)}}`);
