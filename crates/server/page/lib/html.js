// The only module that inserts HTML: Markdown that the server has rendered and sanitized.

/** @type {any} */
const types = /** @type {any} */ (globalThis).trustedTypes;
const policy = types
  ? types.createPolicy("prowess", {
      createHTML: (/** @type {string} */ html) => html,
      createScriptURL: (/** @type {string} */ address) => {
        if (new URL(address).origin !== location.origin) throw new TypeError(`not a script of ours: ${address}`);
        return address;
      },
    })
  : null;

/** The address of a script of this server, as browsers want it. @param {string} address @returns {string} */
export const scriptAddress = (address) => (policy ? policy.createScriptURL(address) : address);

/**
 * Inserts HTML from the server into an element. Never call it with other HTML.
 * @param {Element} element
 * @param {string} html
 */
export const setServerHtml = (element, html) => {
  element.innerHTML = policy ? policy.createHTML(html) : html;
};
