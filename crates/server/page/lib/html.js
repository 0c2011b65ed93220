// The one place where text becomes markup: what the server has rendered from Markdown and sanitised.

/** @type {any} */
const types = /** @type {any} */ (globalThis).trustedTypes;
const policy = types
  ? types.createPolicy("prowess", { createHTML: (/** @type {string} */ html) => html })
  : null;

/**
 * Puts the server's HTML into an element. Never call it with anything else.
 * @param {Element} element
 * @param {string} html
 */
export const setServerHtml = (element, html) => {
  element.innerHTML = policy ? policy.createHTML(html) : html;
};
