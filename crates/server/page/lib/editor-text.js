// The texts of the editor, which are loaded with it.

import { language } from "./text.js";

/** @typedef {import("../texts/editor.en.js").EditorTexts} EditorTexts */

/** @type {EditorTexts} */
export const e = (await import(`../texts/editor.${language}.js`)).texts;
