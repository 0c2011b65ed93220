// Messages that should or should not select a skill, from its tests.

/** @typedef {{ text: string, expected: boolean | null }} Sample */

/** The messages of test files, in all forms that `prowess test` reads. @param {any} value @returns {Sample[]} */
export const samplesIn = (value) => {
  /** @type {Sample[]} */
  const found = [];
  const text = (/** @type {any} */ one) => (typeof one === "string" ? one : (one?.query ?? one?.prompt));
  const add = (/** @type {any} */ one, /** @type {any} */ expected) => {
    if (typeof text(one) === "string" && typeof expected === "boolean") found.push({ text: text(one), expected });
  };
  const visit = (/** @type {any} */ one) => {
    if (Array.isArray(one)) return one.forEach(visit);
    if (!one || typeof one !== "object") return;
    add(one, one.should_trigger ?? one.skill_should_trigger);
    for (const [key, expected] of /** @type {const} */ ([
      ["should_trigger", true],
      ["should_not_trigger", false],
    ]))
      if (Array.isArray(one[key])) for (const each of one[key]) add(each, expected);
    for (const key of ["evals", "triggers", "trigger_evals"]) visit(one[key]);
  };
  visit(value);
  return found;
};
