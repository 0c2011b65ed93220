// Fuzzy matching for the command palette: all letters of the query in order, better at the beginning of words and in a row.

/**
 * The score of a text, or -1 if it does not match. Words of the query may come in any order.
 * @param {string} query @param {string} text
 */
export const fuzzyScore = (query, text) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  let total = 0;
  for (const word of words) {
    const score = wordScore(word, text.toLowerCase());
    if (score < 0) return -1;
    total += score;
  }
  return total;
};

/** @param {string} text @param {number} index */
const isStart = (text, index) => index === 0 || /[\s\-_/:.,"“(]/.test(text[index - 1] ?? "");

/** @param {string} word @param {string} text */
const wordScore = (word, text) => {
  for (let index = text.indexOf(word); index >= 0; index = text.indexOf(word, index + 1))
    if (isStart(text, index)) return 100 + word.length - index / 100;
  const whole = text.indexOf(word);
  if (whole >= 0) return 60 + word.length - whole / 100;
  let score = 0;
  let at = 0;
  let before = -2;
  for (const letter of word) {
    const found = text.indexOf(letter, at);
    if (found < 0) return -1;
    score += isStart(text, found) ? 8 : found === before + 1 ? 5 : 0;
    before = found;
    at = found + 1;
  }
  // Letters that are spread over the text do not match: they are in most texts.
  return score >= 3 * word.length ? score : -1;
};

/**
 * The best matches, best first; without a query, all in their order.
 * @template T @param {string} query @param {T[]} items @param {(item: T) => string} textOf @returns {T[]}
 */
export const bestMatches = (query, items, textOf) => {
  if (!query.trim()) return items;
  return items
    .map((item) => ({ item, score: fuzzyScore(query, textOf(item)) }))
    .filter(({ score }) => score >= 0)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
};
