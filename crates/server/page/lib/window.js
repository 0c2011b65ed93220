// Which rows of a long list are to be drawn. Pure: all rows have the same height, except that one may be open and has some
// more below it.

/**
 * @typedef {object} Measures
 * @property {number} count how many rows there are
 * @property {number} height of one
 * @property {number} open the index of the open one, or -1
 * @property {number} extra the height of what is open below it
 */

/** Where a row begins. @param {Measures} m @param {number} index */
export const topOf = (m, index) => index * m.height + (m.open >= 0 && index > m.open ? m.extra : 0);

/** How high all of them are. @param {Measures} m */
export const heightOf = (m) => topOf({ ...m, open: m.open < m.count ? m.open : -1 }, m.count);

/**
 * The rows, from the first to before the last, that are seen between two heights, and some beyond.
 * @param {Measures} m @param {number} from @param {number} to @param {number} [more]
 * @returns {[number, number]}
 */
export const rowsBetween = (m, from, to, more = 6) => {
  const at = (/** @type {number} */ y) => {
    if (m.open < 0 || y < (m.open + 1) * m.height) return Math.floor(y / m.height);
    return Math.max(m.open, Math.floor((y - m.extra) / m.height));
  };
  const first = Math.max(0, at(from) - more);
  const last = Math.min(m.count, at(to) + 1 + more);
  return [Math.min(first, last), last];
};
