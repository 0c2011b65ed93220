// Colours code. The library is loaded with the first code block in a language that it knows; its tokens become elements here, so
// that no HTML is inserted.

import { h } from "./dom.js";

/** @typedef {import("../vendor/highlight.js").Token} Token */

/** Beyond this length, code stays plain. */
const LENGTH_MAX = 60_000;

/** The names and aliases of the bundled languages; a test compares them with the library. */
export const LANGUAGES = new Set(
  (
    "bash sh zsh c h cpp cc c++ h++ hpp hh hxx cxx csharp cs c# css diff patch dockerfile docker go golang ini toml java jsp " +
    "javascript js jsx mjs cjs json jsonc json5 kotlin kt kts lua pluto makefile mk make markdown md mkdown mkd php powershell pwsh ps ps1 " +
    "python py gyp ipython r ruby rb gemspec podspec thor irb rust rs shell console shellsession sql swift typescript ts tsx mts cts " +
    "html xhtml rss atom xjb xsd xsl plist wsf svg xml yaml yml"
  ).split(" "),
);

/** @type {Promise<typeof import("../vendor/highlight.js") | null> | null} */
let loading = null;
/** @type {typeof import("../vendor/highlight.js") | null} */
let library = null;

/** Loads the library, once. Without it, code stays plain. */
const load = () =>
  (loading ??= import("../vendor/highlight.js").then(
    (loaded) => (library = loaded),
    () => null,
  ));

/** @param {Token} token @returns {Node} */
const toNode = (token) => {
  if (typeof token === "string") return document.createTextNode(token);
  // "title.function" and "language:css": the first word decides the colour.
  const [kind] = token.scope.split(/[.:]/);
  return h("span", { class: `tok-${kind}` }, token.children.map(toNode));
};

/** Replaces the children of an element from the first one that differs, so that the others, and a selection in them, stay.
 * @param {Element} element @param {Node[]} nodes */
const replaceRest = (element, nodes) => {
  let same = 0;
  while (same < nodes.length && element.childNodes[same]?.isEqualNode(/** @type {Node} */ (nodes[same]))) same++;
  while (element.childNodes.length > same) element.lastChild?.remove();
  element.append(...nodes.slice(same));
};

/** Shows a text in a code element, coloured if the language is known. @param {Element} code @param {string} text @param {string} language */
export const showCode = (code, text, language) => {
  const name = language.toLowerCase();
  const isKnown = LANGUAGES.has(name) && text.length <= LENGTH_MAX;
  const tokens = isKnown && library ? library.tokenize(text, name) : null;
  replaceRest(code, tokens ? tokens.map(toNode) : [document.createTextNode(text)]);
  if (isKnown && !library) load().then((loaded) => loaded && code.textContent === text && showCode(code, text, language));
};

/** @type {IntersectionObserver | undefined} */
let observer;

const nearby = () =>
  (observer ??= new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        observer?.unobserve(target);
        showCode(target, target.textContent ?? "", /** @type {HTMLElement} */ (target).dataset.language ?? "");
      }
    },
    { rootMargin: "600px 0px" },
  ));

/** Colours a code element as soon as it is near the visible part of the page. @param {HTMLElement} code @param {string} language */
export const colourSoon = (code, language) => {
  if (!LANGUAGES.has(language.toLowerCase())) return;
  code.dataset.language = language;
  nearby().observe(code);
};
