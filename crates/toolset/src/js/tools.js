// `@agent/tools`: defines tools.

function define(id, definition) {
  if (typeof id !== "string") throw new TypeError("Tool.define: the first argument must be the tool's name");
  if (definition === null || !["object", "function"].includes(typeof definition)) {
    throw new TypeError(`Tool.define: ${id} needs { description, parameters, execute }, or a function that returns it`);
  }
  const init = typeof definition === "function" ? definition : () => definition;
  return Object.freeze({ id, init: async (...about) => init(...about) });
}

export const Tool = Object.freeze({ define });
export { define };
export default Tool;
