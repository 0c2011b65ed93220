// The subset of zod for parameters of tools, with the results and messages of zod 4. A skill that needs more bundles zod.

import {
  atLeast, atMost, big, compared, escaped, exactly, format, isInteger, isMultiple, isUrl, matching, small,
} from "prowess:zod-checks";
import { ZodError, errorOf, finished } from "prowess:zod-issues";
import { run } from "prowess:zod-parse";
import { toJSONSchema } from "prowess:zod-json";

const EMAIL =
  /^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$/;

const absent = (name) => new TypeError(`${name} is not part of the built-in zod; bundle zod with the skill`);

class ZodType {
  constructor(def) {
    Object.defineProperty(this, "def", { value: { checks: [], ...def }, enumerable: false });
    Object.freeze(this);
  }
  get description() {
    return this.def.description;
  }
  with(more) {
    return new this.constructor({ ...this.def, ...more });
  }
  check(check) {
    return this.with({ checks: [...this.def.checks, check] });
  }
  describe(description) {
    return this.with({ description });
  }
  optional() {
    return new ZodType({ kind: "optional", inner: this });
  }
  nullable() {
    return new ZodType({ kind: "nullable", inner: this });
  }
  nullish() {
    return this.nullable().optional();
  }
  default(value) {
    // Objects are copied, so that a tool that changes its arguments does not affect the next call.
    const copy = (value) => (value !== null && typeof value === "object" ? structuredClone(value) : value);
    return new ZodType({ kind: "default", inner: this, value: () => (typeof value === "function" ? value() : copy(value)) });
  }
  array() {
    return array(this);
  }
  or(other) {
    return union([this, other]);
  }
  unwrap() {
    return this.def.inner ?? this.def.element;
  }
  safeParse(value) {
    const result = run(this, { value, issues: [] });
    return result.issues.length
      ? { success: false, error: new ZodError(result.issues.map(finished)) }
      : { success: true, data: result.value };
  }
  parse(value) {
    const result = this.safeParse(value);
    if (!result.success) throw result.error;
    return result.data;
  }
  async safeParseAsync(value) {
    return this.safeParse(value);
  }
  async parseAsync(value) {
    return this.parse(value);
  }
  isOptional() {
    return this.safeParse(undefined).success;
  }
  isNullable() {
    return this.safeParse(null).success;
  }
  toJSONSchema() {
    return toJSONSchema(this);
  }
}

class ZodString extends ZodType {
  min(n, options) {
    return this.check(atLeast(n, options));
  }
  max(n, options) {
    return this.check(atMost(n, options));
  }
  length(n, options) {
    return this.check(exactly(n, options));
  }
  nonempty(options) {
    return this.min(1, options);
  }
  regex(pattern, options) {
    return this.check(matching("regex", pattern, "", options));
  }
  email(options) {
    return this.check(matching("email", options?.pattern ?? EMAIL, "email", options));
  }
  url(options) {
    if (options?.hostname || options?.protocol || options?.normalize) throw absent("url() with hostname, protocol or normalize");
    return this.check(isUrl(options));
  }
  startsWith(prefix, options) {
    const json = { format: "starts_with", pattern: new RegExp(`^${escaped(prefix)}.*`) };
    return this.check(format({ format: "starts_with", prefix }, (text) => text.startsWith(prefix), json, options));
  }
  endsWith(suffix, options) {
    const json = { format: "ends_with", pattern: new RegExp(`.*${escaped(suffix)}$`) };
    return this.check(format({ format: "ends_with", suffix }, (text) => text.endsWith(suffix), json, options));
  }
  includes(part, options) {
    const json = { format: "includes", pattern: new RegExp(escaped(part)) };
    return this.check(format({ format: "includes", includes: part }, (text) => text.includes(part), json, options));
  }
}

class ZodNumber extends ZodType {
  gte(n, options) {
    return this.check(compared({ minimum: n }, (value) => value >= n, small(n, true), options));
  }
  gt(n, options) {
    return this.check(compared({ exclusiveMinimum: n }, (value) => value > n, small(n, false), options));
  }
  lte(n, options) {
    return this.check(compared({ maximum: n }, (value) => value <= n, big(n, true), options));
  }
  lt(n, options) {
    return this.check(compared({ exclusiveMaximum: n }, (value) => value < n, big(n, false), options));
  }
  min(n, options) {
    return this.gte(n, options);
  }
  max(n, options) {
    return this.lte(n, options);
  }
  int(options) {
    return this.check(isInteger(options));
  }
  positive(options) {
    return this.gt(0, options);
  }
  nonnegative(options) {
    return this.gte(0, options);
  }
  negative(options) {
    return this.lt(0, options);
  }
  nonpositive(options) {
    return this.lte(0, options);
  }
  multipleOf(n, options) {
    const fields = { code: "not_multiple_of", divisor: n };
    return this.check(compared({ multipleOf: n }, (value) => isMultiple(value, n), fields, options));
  }
  step(n, options) {
    return this.multipleOf(n, options);
  }
}

class ZodArray extends ZodType {
  min(n, options) {
    return this.check(atLeast(n, options));
  }
  max(n, options) {
    return this.check(atMost(n, options));
  }
  length(n, options) {
    return this.check(exactly(n, options));
  }
  nonempty(options) {
    return this.min(1, options);
  }
  get element() {
    return this.def.element;
  }
}

class ZodObject extends ZodType {
  get shape() {
    return this.def.shape;
  }
  strict() {
    return this.with({ rest: "never" });
  }
  passthrough() {
    return this.with({ rest: any() });
  }
  loose() {
    return this.passthrough();
  }
  strip() {
    return this.with({ rest: undefined });
  }
  extend(shape) {
    return this.with({ shape: fields({ ...this.def.shape, ...shape }) });
  }
}

class ZodEnum extends ZodType {
  get options() {
    return this.def.values;
  }
  get enum() {
    return this.def.entries;
  }
}

// Unsupported methods of zod throw an error with their name, instead of "not a function".
const MISSING =
  "and apply base64 base64url brand catch catchall check cidrv4 cidrv6 cuid cuid2 date datetime decode deepPartial duration e164 emoji encode " +
  "exclude extract guid ipv4 ipv6 jwt keyof ksuid lowercase merge meta nanoid nonoptional normalize omit overwrite partial pick " +
  "pipe prefault readonly refine register required safe safeExtend slugify superRefine time toLowerCase toUpperCase " +
  "transform trim ulid uppercase uuid uuidv4 uuidv6 uuidv7 xid";
for (const name of MISSING.split(" ")) {
  if (name in ZodType.prototype) continue;
  Object.defineProperty(ZodType.prototype, name, {
    value() {
      throw absent(`.${name}()`);
    },
  });
}

const fields = (shape) => {
  for (const key of Object.keys(shape)) {
    if (!(shape[key] instanceof ZodType)) throw new Error(`Invalid element at key "${key}": expected a Zod schema`);
  }
  return shape;
};
const plain = (options) => ({ error: errorOf(options) });
const entries = (list) => (Array.isArray(list) ? Object.fromEntries(list.map((value) => [value, value])) : list);

export const string = (options) => new ZodString({ kind: "string", ...plain(options) });
export const number = (options) => new ZodNumber({ kind: "number", ...plain(options) });
export const boolean = (options) => new ZodType({ kind: "boolean", ...plain(options) });
export const any = () => new ZodType({ kind: "any" });
export const unknown = () => new ZodType({ kind: "any" });
export const email = (options) => string(options).email(options);
export const url = (options) => string(options).url(options);
export const int = (options) => number(options).int(options);
export const array = (element, options) => new ZodArray({ kind: "array", element, ...plain(options) });
export const object = (shape = {}, options) => new ZodObject({ kind: "object", shape: fields(shape), ...plain(options) });
export const strictObject = (shape, options) => object(shape, options).strict();
export const looseObject = (shape, options) => object(shape, options).passthrough();
export const union = (options, more) => new ZodType({ kind: "union", options, ...plain(more) });
export const optional = (inner) => inner.optional();
export const nullable = (inner) => inner.nullable();
export const literal = (value, options) =>
  new ZodType({ kind: "literal", values: Array.isArray(value) ? value : [value], ...plain(options) });
export const record = (key, value, options) =>
  value instanceof ZodType
    ? new ZodType({ kind: "record", key, value, ...plain(options) })
    : new ZodType({ kind: "record", key: string(), value: key, ...plain(value) });
const null_ = (options) => new ZodType({ kind: "null", ...plain(options) });
const enum_ = (list, options) => {
  const named = entries(list);
  // A TypeScript enum maps its numbers in both directions.
  const numbers = Object.values(named).filter((value) => typeof value === "number");
  const values = Object.entries(named).filter(([key]) => !numbers.includes(+key)).map(([, value]) => value);
  return new ZodEnum({ kind: "enum", entries: named, values, ...plain(options) });
};
export { null_ as null, enum_ as enum, toJSONSchema, ZodError, ZodType };

const all = {
  string, number, boolean, any, unknown, email, url, int, array, object, strictObject, looseObject, union, optional,
  nullable, literal, record, null: null_, enum: enum_, toJSONSchema, ZodError, ZodType,
};
export const z = new Proxy(Object.freeze(all), {
  get(target, name) {
    if (typeof name === "symbol" || name in target || name === "then" || name === "toJSON") return target[name];
    throw absent(`z.${name}`);
  },
});
export default z;
