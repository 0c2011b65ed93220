// Checks of a value beyond its type, and their JSON Schema.

import { errorOf, found } from "prowess:zod-issues";

const points = (text) => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};
const size = (value) => (typeof value === "string" ? points(value) : value.length);
const sized = (value) => value !== null && value !== undefined && value.length !== undefined;
const origin = (value) => (typeof value === "string" ? "string" : Array.isArray(value) ? "array" : "unknown");

// A check with its JSON Schema. All checks except the one for integers allow further checks after an issue.
function checked(options, json, look, more) {
  const check = { error: errorOf(options), json, look: (payload, schema, check) => look(payload, schema, check) };
  return { ...check, ...more };
}
const complain = (payload, fields, schema, check) => found(payload, fields, schema, check, true);

const length = (json, wrong, fields, options, cap) =>
  checked(
    options,
    json,
    (payload, schema, check) => {
      const count = size(payload.value);
      if (wrong(count)) complain(payload, { origin: origin(payload.value), ...fields(count) }, schema, check);
    },
    { always: true, fits: sized, cap },
  );
export const atLeast = (minimum, options) =>
  length({ minimum }, (n) => !(n >= minimum), () => ({ code: "too_small", minimum, inclusive: true }), options);
export const atMost = (maximum, options) =>
  length({ maximum }, (n) => !(n <= maximum), () => ({ code: "too_big", maximum, inclusive: true }), options, maximum);
export const exactly = (n, options) => {
  const fields = (count) => ({
    ...(count > n ? { code: "too_big", maximum: n } : { code: "too_small", minimum: n }),
    inclusive: true,
    exact: true,
  });
  return length({ minimum: n, maximum: n }, (count) => count !== n, fields, options, n);
};

export const format = (fields, fits, json, options) =>
  checked(options, json, (payload, schema, check) => {
    if (!fits(payload.value)) complain(payload, { origin: "string", code: "invalid_format", ...fields }, schema, check);
  });
export const matching = (name, pattern, json, options) => {
  const fits = (text) => {
    pattern.lastIndex = 0;
    return pattern.test(text);
  };
  return format({ format: name, pattern: pattern.toString() }, fits, { format: json, pattern }, options);
};
export const isUrl = (options) =>
  checked(options, { format: "uri" }, (payload, schema, check) => {
    const text = payload.value.trim();
    if (URL.canParse(text)) payload.value = text.replace(/[\t\n\r]/g, "");
    else complain(payload, { code: "invalid_format", format: "url" }, schema, check);
  });
export const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export const compared = (json, fits, fields, options) =>
  checked(options, json, (payload, schema, check) => {
    if (!fits(payload.value)) complain(payload, { origin: "number", ...fields }, schema, check);
  });
export const small = (minimum, inclusive) => ({ code: "too_small", minimum, inclusive });
export const big = (maximum, inclusive) => ({ code: "too_big", maximum, inclusive });
export const isMultiple = (value, step) => {
  const ratio = value / step;
  return Math.abs(ratio - Math.round(ratio)) < 4 * Number.EPSILON * Math.max(Math.abs(ratio), 1);
};
const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
export const isInteger = (options) =>
  checked(options, { int: true, ...SAFE }, (payload, schema, check) => {
    const { value } = payload;
    const note = "Integers must be within the safe integer range.";
    const unsafe = (code, limit) => complain(payload, { code, ...limit, note, origin: "int", inclusive: true }, schema, check);
    if (!Number.isInteger(value)) {
      found(payload, { expected: "int", format: "safeint", code: "invalid_type" }, schema, check);
    } else if (value > SAFE.maximum) unsafe("too_big", { maximum: SAFE.maximum });
    else if (value < SAFE.minimum) unsafe("too_small", { minimum: SAFE.minimum });
  });
