// Converts a schema to JSON Schema, for input values.

import { optin, values } from "prowess:zod-parse";

const narrower = {
  minimum: (json, key, value) => (json[key] = Math.max(json[key] ?? -Infinity, value)),
  maximum: (json, key, value) => (json[key] = Math.min(json[key] ?? Infinity, value)),
};

// Combines all checks of a schema.
function limits({ def }) {
  const all = { patterns: [], divisors: [] };
  for (const { json } of def.checks) {
    for (const key of ["minimum", "exclusiveMinimum"]) if (key in json) narrower.minimum(all, key, json[key]);
    for (const key of ["maximum", "exclusiveMaximum"]) if (key in json) narrower.maximum(all, key, json[key]);
    if ("format" in json) all.format = json.format;
    if (json.int) all.int = true;
    if (json.pattern && !all.patterns.includes(json.pattern)) all.patterns.push(json.pattern);
    if (json.multipleOf && !all.divisors.includes(json.multipleOf)) all.divisors.push(json.multipleOf);
  }
  return all;
}

function sizes(json, { minimum, maximum }, least, most) {
  if (minimum !== undefined) json[least] = minimum;
  if (maximum !== undefined) json[most] = maximum;
}

function text(json, schema) {
  const all = limits(schema);
  json.type = "string";
  sizes(json, all, "minLength", "maxLength");
  if (all.format) json.format = all.format;
  if (all.patterns.length === 1) json.pattern = all.patterns[0].source;
  if (all.patterns.length > 1) json.allOf = all.patterns.map(({ source }) => ({ pattern: source }));
}

function number(json, schema) {
  const all = limits(schema);
  json.type = all.int ? "integer" : "number";
  if (all.exclusiveMinimum >= (all.minimum ?? -Infinity)) json.exclusiveMinimum = all.exclusiveMinimum;
  else if (all.minimum !== undefined) json.minimum = all.minimum;
  if (all.exclusiveMaximum <= (all.maximum ?? Infinity)) json.exclusiveMaximum = all.exclusiveMaximum;
  else if (all.maximum !== undefined) json.maximum = all.maximum;
  const [first, ...more] = new Set(all.divisors.map(Math.abs));
  if (first !== undefined) json.multipleOf = first;
  if (more.length) json.allOf = more.map((multipleOf) => ({ multipleOf }));
}

function choice(json, list) {
  const types = new Set(list.map((value) => (value === null ? "null" : typeof value)));
  if (!list.length) json.not = {};
  else {
    if (types.size === 1) json.type = [...types][0];
    json.enum = list;
  }
}

function object(json, { def: { shape, rest } }) {
  json.type = "object";
  json.properties = {};
  for (const key of Object.keys(shape)) {
    Object.defineProperty(json.properties, key, {
      value: jsonOf(shape[key]),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  const required = Object.keys(shape).filter((key) => optin(shape[key]) === undefined);
  if (required.length) json.required = required;
  if (rest) json.additionalProperties = rest === "never" ? false : jsonOf(rest);
}

// Keys are strings: a numeric key is a string of digits.
function keyNames(json) {
  if (json.anyOf) json.anyOf = json.anyOf.map(keyNames);
  if (json.type !== "number" && json.type !== "integer") return json;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, ...rest } = json;
  const pattern = json.type === "number" ? "^-?\\d+(?:\\.\\d+)?$" : "^-?\\d+$";
  if (rest.enum) return { ...rest, type: "string", enum: rest.enum.map(String) };
  if (rest.const !== undefined) return { ...rest, type: "string", const: String(rest.const) };
  return { ...rest, type: "string", pattern };
}

function record(json, { def: { key, value } }) {
  json.type = "object";
  json.propertyNames = keyNames(jsonOf(key));
  json.additionalProperties = jsonOf(value);
  const named = values(key)?.filter((name) => ["string", "number"].includes(typeof name));
  if (named?.length && optin(value) === undefined) json.required = named.map(String);
}

// Alternatives that are only types are written as a list of types.
function alternatives(json, options) {
  const bare = options.every((option) => Object.keys(option).join() === "type");
  if (!bare || !options.length) {
    json.anyOf = options;
    return;
  }
  const types = [...new Set(options.flatMap((option) => option.type))];
  json.type = types.length === 1 ? types[0] : types;
}

const WRITE = {
  string: text,
  number,
  boolean: (json) => (json.type = "boolean"),
  null: (json) => (json.type = "null"),
  any: () => {},
  enum: (json, { def }) => choice(json, def.values),
  literal(json, { def }) {
    const list = def.values.filter((value) => value !== undefined);
    if (list.length !== 1) return def.values.length && !list.length ? undefined : choice(json, list);
    json.type = list[0] === null ? "null" : typeof list[0];
    json.const = list[0];
  },
  array(json, schema) {
    sizes(json, limits(schema), "minItems", "maxItems");
    json.type = "array";
    json.items = jsonOf(schema.def.element);
  },
  object,
  record,
  union: (json, { def }) => alternatives(json, def.options.map(jsonOf)),
  nullable: (json, { def }) => alternatives(json, [jsonOf(def.inner), { type: "null" }]),
  optional: (json, { def }) => Object.assign(json, jsonOf(def.inner)),
  default(json, { def }) {
    Object.assign(json, jsonOf(def.inner));
    const value = JSON.stringify(def.value());
    if (value !== undefined) json.default = JSON.parse(value);
  },
};

function jsonOf(schema) {
  const json = {};
  WRITE[schema.def.kind](json, schema);
  if (schema.def.description !== undefined) json.description = schema.def.description;
  return json;
}

export function toJSONSchema(schema) {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...jsonOf(schema) };
}
