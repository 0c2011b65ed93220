// Computes which rows of a long list to render. All rows have the same height, except that one may be open with extra
// content below it.

/**
 * @typedef {object} Measures
 * @property {number} count the number of rows
 * @property {number} height the height of a row
 * @property {number} open the index of the open row, or -1
 * @property {number} extra the height of the content below the open row
 */

/** Where a row begins. @param {Measures} m @param {number} index */
export const topOf = (m, index) => index * m.height + (m.open >= 0 && index > m.open ? m.extra : 0);

/** How high all of them are. @param {Measures} m */
export const heightOf = (m) => topOf({ ...m, open: m.open < m.count ? m.open : -1 }, m.count);

/**
 * Returns the range of rows that are visible between two offsets, plus some extra; the end is exclusive.
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
