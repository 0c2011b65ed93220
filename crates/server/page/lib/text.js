// The language of the page. Its texts are loaded before anything is rendered.

/** @typedef {import("../texts/en.js").Texts} Texts */

const LANGUAGES = { en: "English", zh: "中文" };
const KEY = "prowess.language";

/** The texts in force. Set once, by `loadTexts`. @type {Texts} */
export let t = /** @type {any} */ ({});

/** @type {keyof typeof LANGUAGES} */
export let language = "en";

export const languages = () => /** @type {[string, string][]} */ (Object.entries(LANGUAGES));

const wanted = () => {
  const kept = localStorage.getItem(KEY);
  const asked = [...(kept ? [kept] : []), ...navigator.languages].map((tag) =>
    tag.toLowerCase().replace(/-.*/, ""),
  );
  return asked.find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? "en";
};

export const loadTexts = async () => {
  language = /** @type {keyof typeof LANGUAGES} */ (wanted());
  t = (await import(`../texts/${language}.js`)).texts;
  document.documentElement.lang = language;
};

/** The page is made anew, so that no text of the other language is left. @param {string} tag */
export const chooseLanguage = (tag) => {
  localStorage.setItem(KEY, tag);
  location.reload();
};
