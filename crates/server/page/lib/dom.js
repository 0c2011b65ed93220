// Creates elements. Strings always become text nodes, so that content of skills cannot become markup.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Creates an element. Functions become listeners (`onclick`), `true` an empty attribute; `false`, `null` and `undefined`
 * omit the attribute.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const h = (tag, props = {}, ...children) => {
  const element = document.createElement(tag);
  assign(element, props);
  element.append(...nodes(children));
  return element;
};

/**
 * Like `h`, for custom elements, whose properties are assigned.
 * @template {HTMLElement} T
 * @param {new () => T} kind
 * @param {Record<string, any>} [props]
 * @returns {T}
 */
export const make = (kind, props = {}) => Object.assign(new kind(), props);

/**
 * Sets attributes and listeners on an element.
 * @param {Element} element
 * @param {Record<string, any>} props
 */
export const assign = (element, props) => {
  for (const [key, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) {
      // For these, the attribute only sets the initial value, so the property is set.
      if (key === "value") /** @type {any} */ (element).value = value;
      else element.setAttribute(key, String(value));
    }
  }
};

/** @param {(Child | Child[])[]} children @returns {(Node | string)[]} */
export const nodes = (children) =>
  children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));

const SVG = "http://www.w3.org/2000/svg";

/**
 * Creates an SVG element.
 * @param {string} tag
 * @param {Record<string, string | number | undefined>} [props]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export const svg = (tag, props = {}, ...children) => {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [key, value] of Object.entries(props))
    if (value !== undefined) element.setAttribute(key, String(value));
  element.append(...nodes(children));
  return element;
};

let count = 0;

/** An id that no other element of the page has. @param {string} stem */
export const freshId = (stem) => `${stem}-${++count}`;

/**
 * Returns a debounced function.
 * @template {any[]} A
 * @param {number} ms
 * @param {(...args: A) => void} call
 */
export const afterPause = (ms, call) => {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return (/** @type {A} */ ...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), ms);
  };
};

/** @param {EventTarget | null} target @param {string} selector @returns {HTMLElement | null} */
export const closest = (target, selector) =>
  target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(selector)) : null;
