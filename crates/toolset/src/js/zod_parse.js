// Parses values by the kind of schema.

import { finished, found, stopped } from "prowess:zod-issues";

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// Only plain objects are records, also those of other realms.
function isPlain(value) {
  if (!isObject(value)) return false;
  const made = value.constructor;
  if (typeof made !== "function") return true;
  return isObject(made.prototype) && Object.prototype.hasOwnProperty.call(made.prototype, "isPrototypeOf");
}

const expected = (payload, schema, name, more) =>
  found(payload, { expected: name, code: "invalid_type", ...more }, schema);

export function run(schema, payload) {
  const { def } = schema;
  // A list that is too long is not parsed.
  const long = def.kind === "array" && Array.isArray(payload.value);
  const capped = long && def.checks.find((check) => payload.value.length > check.cap);
  if (capped) {
    capped.look(payload, schema, capped);
    payload.issues.at(-1).goesOn = false;
    return payload;
  }
  payload = PARSE[def.kind](payload, schema, def);
  let halted = stopped(payload);
  for (const check of def.checks) {
    if (check.always ? !check.fits(payload.value) : halted) continue;
    const before = payload.issues.length;
    check.look(payload, schema, check);
    halted ||= stopped(payload, before);
  }
  return payload;
}

const fresh = (schema, value) => run(schema, { value, issues: [] });

function take(issues, key, payload) {
  for (const issue of issues) {
    issue.path.unshift(key);
    payload.issues.push(issue);
  }
}

function property(result, payload, key, input, schema) {
  const [entry, exit] = [optin(schema), optout(schema)];
  const present = key in input;
  const omitted = exit === "optional" && !present;
  if (omitted && entry === "optional") return;
  if (result.issues.length) {
    if (omitted && entry) return;
    take(result.issues, key, payload);
  }
  if (!present && !entry) {
    if (!result.issues.length) {
      const fields = { code: "invalid_type", expected: "nonoptional" };
      payload.issues.push({ fields, input: undefined, goesOn: false, path: [key] });
    }
    return;
  }
  if (result.value !== undefined || present || (entry === "defaulted" && exit !== "optional")) {
    payload.value[key] = result.value;
  }
}

function object(payload, schema, { shape, rest }) {
  const input = payload.value;
  if (!isObject(input)) return expected(payload, schema, "object"), payload;
  payload.value = {};
  const known = Object.keys(shape);
  for (const key of known) {
    if (key !== "__proto__") property(fresh(shape[key], input[key]), payload, key, input, shape[key]);
  }
  if (!rest) return payload;
  const unknown = [];
  for (const key in input) {
    if (known.includes(key)) continue;
    if (rest === "never") unknown.push(key);
    else if (key !== "__proto__") property(fresh(rest, input[key]), payload, key, input, rest);
  }
  if (unknown.length) {
    const fields = { code: "unrecognized_keys", keys: unknown };
    payload.issues.push({ fields, input, schema, goesOn: true, path: [] });
  }
  return payload;
}

function record(payload, schema, { key: keys, value: inner }) {
  const input = payload.value;
  if (!isPlain(input)) return expected(payload, schema, "record"), payload;
  payload.value = {};
  const named = values(keys);
  const put = (key, result) => {
    take(result.issues, key, payload);
    payload.value[key] = result.value;
  };
  if (named) {
    const owned = named.filter((key) => ["string", "number"].includes(typeof key));
    for (const key of owned) if (key !== "__proto__") put(key, fresh(inner, input[key]));
    const texts = owned.map(String);
    const unknown = [];
    for (const key in input) if (!texts.includes(key)) unknown.push(key);
    if (unknown.length) {
      const fields = { code: "unrecognized_keys", keys: unknown };
      payload.issues.push({ fields, input, schema, goesOn: true, path: [] });
    }
    return payload;
  }
  for (const key of Object.keys(input)) {
    if (key === "__proto__") continue;
    let name = fresh(keys, key);
    if (name.issues.length && /^-?\d+(?:\.\d+)?$/.test(key)) {
      const number = fresh(keys, Number(key));
      if (!number.issues.length) name = number;
    }
    if (name.issues.length) {
      const fields = { code: "invalid_key", origin: "record", issues: name.issues.map(finished) };
      payload.issues.push({ fields, input: key, schema, goesOn: false, path: [key] });
      continue;
    }
    if (name.value === "__proto__") continue;
    const result = fresh(inner, input[key]);
    take(result.issues, key, payload);
    payload.value[name.value] = result.value;
  }
  return payload;
}

function union(payload, schema, { options }) {
  if (options.length === 1) return run(options[0], payload);
  const results = [];
  for (const option of options) {
    const result = fresh(option, payload.value);
    if (!result.issues.length) return result;
    results.push(result);
  }
  const near = results.filter((result) => !stopped(result));
  if (near.length === 1) return near[0];
  const errors = results.map((result) => result.issues.map(finished));
  found(payload, { code: "invalid_union", errors }, schema);
  return payload;
}

function oneOf(payload, schema, { values }) {
  if (!values.some((value) => Object.is(value, payload.value) || value === payload.value)) {
    found(payload, { code: "invalid_value", values }, schema);
  }
  return payload;
}

const typed = (name) => (payload, schema) => {
  if (typeof payload.value !== name) expected(payload, schema, name);
  return payload;
};

const PARSE = {
  string: typed("string"),
  boolean: typed("boolean"),
  number(payload, schema) {
    const { value } = payload;
    if (typeof value !== "number") expected(payload, schema, "number");
    else if (!Number.isFinite(value)) expected(payload, schema, "number", { received: String(value) });
    return payload;
  },
  null(payload, schema) {
    if (payload.value !== null) expected(payload, schema, "null");
    return payload;
  },
  any: (payload) => payload,
  enum: oneOf,
  literal: oneOf,
  array(payload, schema, { element }) {
    const input = payload.value;
    if (!Array.isArray(input)) return expected(payload, schema, "array"), payload;
    payload.value = Array(input.length);
    for (let at = 0; at < input.length; at++) {
      const result = fresh(element, input[at]);
      take(result.issues, at, payload);
      payload.value[at] = result.value;
    }
    return payload;
  },
  object,
  record,
  union,
  optional(payload, _, { inner }) {
    if (payload.value !== undefined) return run(inner, payload);
    if (optin(inner) !== "defaulted") return payload;
    const result = fresh(inner, undefined);
    payload.value = result.issues.length ? undefined : result.value;
    return payload;
  },
  nullable: (payload, _, { inner }) => (payload.value === null ? payload : run(inner, payload)),
  default(payload, _, { inner, value }) {
    if (payload.value === undefined) {
      payload.value = value();
      return payload;
    }
    const result = run(inner, payload);
    if (result.value === undefined) result.value = value();
    return result;
  },
};

// Returns whether a key may be missing in the input: "optional", or "defaulted" if it has a default.
export function optin({ def }) {
  switch (def.kind) {
    case "optional":
      return optin(def.inner) === "defaulted" ? "defaulted" : "optional";
    case "nullable":
      return optin(def.inner);
    case "default":
      return "defaulted";
    case "union": {
      const options = def.options.map(optin);
      return options.includes("defaulted") ? "defaulted" : options.find((option) => option !== undefined);
    }
  }
}

// Returns whether a key may be missing in the output.
export function optout({ def }) {
  switch (def.kind) {
    case "optional":
      return "optional";
    case "nullable":
      return optout(def.inner);
    case "union":
      return def.options.some((option) => optout(option) === "optional") ? "optional" : undefined;
  }
}

// Returns the values that a schema consists of, if it is finite.
export function values({ def }) {
  switch (def.kind) {
    case "enum":
    case "literal":
      return def.values;
    case "null":
      return [null];
    case "optional":
    case "nullable": {
      const inner = values(def.inner);
      return inner && [...inner, def.kind === "optional" ? undefined : null];
    }
    case "default":
      return values(def.inner);
    case "union": {
      const all = def.options.map(values);
      return all.every(Boolean) ? all.flat() : undefined;
    }
  }
}
