// Issues with the messages and field order of zod 4.

const UNITS = { string: "characters", array: "items" };
const FORMATS = { email: "email address", url: "URL" };

const quoted = (value) => (typeof value === "string" ? `"${value}"` : `${value}`);

// Returns the name of a value's type for messages.
function typeName(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value === "object" && Object.getPrototypeOf(value) !== Object.prototype && value.constructor) {
    return value.constructor.name;
  }
  return typeof value;
}

function bound(issue, word, sign, limit) {
  const strictness = issue.exact ? "exactly " : issue.inclusive ? `${sign}=` : sign;
  const unit = UNITS[issue.origin];
  return unit
    ? `${word}: expected ${issue.origin} to have ${strictness}${limit} ${unit}`
    : `${word}: expected ${issue.origin} to be ${strictness}${limit}`;
}

function formatMessage(issue) {
  switch (issue.format) {
    case "regex":
      return `Invalid string: must match pattern ${issue.pattern}`;
    case "starts_with":
      return `Invalid string: must start with "${issue.prefix}"`;
    case "ends_with":
      return `Invalid string: must end with "${issue.suffix}"`;
    case "includes":
      return `Invalid string: must include "${issue.includes}"`;
    default:
      return `Invalid ${FORMATS[issue.format] ?? issue.format}`;
  }
}

function usual(issue) {
  switch (issue.code) {
    case "invalid_type":
      return `Invalid input: expected ${issue.expected}, received ${typeName(issue.input)}`;
    case "invalid_value":
      return issue.values.length === 1
        ? `Invalid input: expected ${quoted(issue.values[0])}`
        : `Invalid option: expected one of ${issue.values.map(quoted).join("|")}`;
    case "too_big":
      return bound(issue, "Too big", "<", issue.maximum);
    case "too_small":
      return bound(issue, "Too small", ">", issue.minimum);
    case "invalid_format":
      return formatMessage(issue);
    case "not_multiple_of":
      return `Invalid number: must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return `Unrecognized key${issue.keys.length > 1 ? "s" : ""}: ${issue.keys.map(quoted).join(", ")}`;
    case "invalid_key":
      return `Invalid key in ${issue.origin}`;
    default:
      return "Invalid input";
  }
}

// Returns the author's message: a string, or a function of the issue.
function own(error, issue) {
  const message = typeof error === "function" ? error(issue) : error;
  return typeof message === "string" ? message : message?.message;
}

// Adds an issue: its visible fields, the value, its origin, and whether further checks run.
export function found(payload, fields, schema, check, goesOn) {
  payload.issues.push({ fields, input: payload.value, schema, check, goesOn: goesOn === true, path: [] });
}

export const stopped = (payload, from = 0) => payload.issues.slice(from).some((issue) => !issue.goesOn);

// Returns the issue in its public form.
export function finished(issue) {
  const { fields, input, schema, check, path } = issue;
  const seen = { ...fields, input, path };
  const message = own(check?.error, seen) ?? own(schema?.def.error, seen) ?? usual(seen);
  const { path: fixed, ...rest } = fields;
  return { ...rest, path: [...path, ...(fixed ?? [])], message };
}

export class ZodError extends Error {
  constructor(issues) {
    super(JSON.stringify(issues, (_, value) => (typeof value === "bigint" ? value.toString() : value), 2));
    this.name = "ZodError";
    Object.defineProperty(this, "issues", { value: issues, enumerable: false });
  }
  toString() {
    return this.message;
  }
}

// The second argument of a schema: a message, or an object that contains one.
export function errorOf(options) {
  if (typeof options === "string") return options;
  return options?.error ?? options?.message;
}
