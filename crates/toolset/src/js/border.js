// The boundary between the host and a toolset. Only text crosses it. All built-ins that it needs are saved here, before any
// untrusted code runs, so that a toolset cannot break it by changing them.
(function (host, limits) {
  "use strict";

  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { isArray } = Array;
  const { keys, create, freeze, hasOwn, setPrototypeOf } = Object;
  const { slice, toWellFormed } = String.prototype;
  const text = String;
  const ID = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
  const test = RegExp.prototype.test;

  const start = (value, length) => apply(toWellFormed, apply(slice, value, [0, length]), []);
  // JSON strings that are well-formed, even if a toolset added toJSON to every object.
  const wellFormed = (_, value) => (typeof value === "string" ? apply(toWellFormed, value, []) : value);
  const json = (value) => stringify(value, wellFormed);
  const record = (fields) => setPrototypeOf(fields, null);
  const list = (items) => setPrototypeOf(items, null);

  // Describes a thrown value. It is untrusted: each access may throw again.
  function describeError(error) {
    const look = (key) => {
      try {
        const value = error[key];
        return typeof value === "string" ? start(value, 8192) : undefined;
      } catch {
        return undefined;
      }
    };
    if (error === null || (typeof error !== "object" && typeof error !== "function")) {
      return record({ message: start(text(error), 8192) });
    }
    return record({ name: look("name"), message: look("message"), stack: look("stack") });
  }

  class Refusal extends Error {}
  const refuse = (message) => {
    throw new Refusal(message);
  };

  const tools = create(null);

  async function schemaOf(id, parameters, zod) {
    if (parameters === undefined) return { type: "object", properties: {} };
    const kind = typeof parameters === "object" && parameters !== null;
    if (!kind || typeof parameters.safeParse !== "function") {
      refuse(`the parameters of the tool ${id} are not a zod schema`);
    }
    if (typeof parameters.toJSONSchema === "function") return parameters.toJSONSchema({ io: "input" });
    const convert = zod?.toJSONSchema ?? zod?.z?.toJSONSchema;
    if (typeof convert !== "function") refuse("the bundled zod cannot create JSON Schema; bundle zod 4");
    return convert(parameters, { io: "input" });
  }

  // Returns the tools of a toolset's export as JSON, and registers them for calls.
  async function describe(namespace, name, zod) {
    if (!hasOwn(namespace, name)) {
      const names = keys(namespace);
      refuse(`the module does not export ${name}` + (names.length ? `; it exports ${names.join(", ")}` : ""));
    }
    let value = await namespace[name];
    if (typeof value === "function") value = await value();
    const found = isArray(value) ? value : [value];
    const described = [];
    for (let at = 0; at < found.length; at++) {
      const tool = await found[at];
      const id = tool?.id;
      if (typeof id !== "string") refuse(`${name} must be an array of tools created with Tool.define`);
      if (!apply(test, ID, [id])) {
        refuse(`a tool name must start with a letter and have at most 64 letters, digits, "_", "-" and "."; invalid name: ${start(id, 80)}`);
      }
      if (tools[id]) refuse(`there are two tools named ${id}`);
      const definition = typeof tool.init === "function" ? await tool.init() : tool;
      const { description, parameters, execute } = definition ?? {};
      if (typeof description !== "string") refuse(`the tool ${id} has no description`);
      if (typeof execute !== "function") refuse(`the tool ${id} has no execute`);
      const schema = await schemaOf(id, parameters, zod);
      if (schema?.type !== undefined && schema.type !== "object") {
        refuse(`the parameters of the tool ${id} have type ${text(schema.type)}; they must be a z.object`);
      }
      described[at] = record({ id, description, schema });
      tools[id] = { definition, parameters, execute };
    }
    return json(record({ tools: list(described) }));
  }

  // A minimal AbortSignal. Listeners are called between two steps of the tool.
  function signal() {
    let listeners = [];
    let notified = false;
    const abort = {
      get aborted() {
        return host.aborted();
      },
      get reason() {
        return host.aborted() ? new Error("the call was cancelled") : undefined;
      },
      onabort: null,
      throwIfAborted() {
        if (host.aborted()) throw new Error("the call was cancelled");
      },
      addEventListener(kind, listener) {
        if (kind === "abort" && typeof listener === "function") listeners = [...listeners, listener];
      },
      removeEventListener(kind, listener) {
        listeners = listeners.filter((known) => known !== listener);
      },
    };
    const notify = () => {
      if (notified) return;
      notified = true;
      for (const listener of [abort.onabort, ...listeners]) {
        try {
          if (typeof listener === "function") listener({ type: "abort", target: abort });
        } catch {
          // Errors of listeners are ignored.
        }
      }
    };
    return [abort, notify];
  }

  let notifyAbort = () => {};

  function toLimitedJson(what, value) {
    let encoded;
    try {
      encoded = json(value);
    } catch (error) {
      refuse(`the tool's ${what} cannot be converted to JSON: ${describeError(error).message ?? "it throws"}`);
    }
    if (encoded === undefined) refuse(`the tool's ${what} cannot be converted to JSON: it is ${typeof value}`);
    if (encoded.length > limits[what]) {
      refuse(`the tool's ${what} has ${encoded.length} characters; the maximum is ${limits[what]}`);
    }
    return encoded;
  }

  function resultJson(id, result, updates) {
    if (typeof result === "string") result = { output: result };
    if (result === null || typeof result !== "object") {
      refuse(`execute returned ${result === null ? "null" : typeof result} instead of { title, metadata, output }`);
    }
    const { title, metadata, attachments } = result;
    let { output } = result;
    if (typeof output !== "string") output = output === undefined ? "" : toLimitedJson("output", output);
    const given = metadata === undefined || metadata === null ? {} : metadata;
    if (typeof given !== "object" || isArray(given)) refuse("the tool's metadata is not an object");
    const cut = output.length > limits.output;
    const fields = [
      `"title":${json(start(text(title ?? updates.title ?? id), 1024))}`,
      `"metadata":${toLimitedJson("metadata", { ...updates.metadata, ...given })}`,
      `"output":${json(start(output, limits.output))}`,
      `"cut":${cut}`,
    ];
    if (attachments !== undefined && attachments !== null) {
      if (!isArray(attachments)) refuse("the tool's attachments are not an array");
      fields[4] = `"attachments":${toLimitedJson("attachments", attachments)}`;
    }
    return `{"result":{${fields.join(",")}}}`;
  }

  // Calls a tool. Invalid arguments are reported before it runs.
  async function call(id, argumentsJson, contextJson) {
    const { definition, parameters, execute } = tools[id];
    let args = parse(argumentsJson);
    if (parameters !== undefined) {
      const method = typeof parameters.safeParseAsync === "function" ? "safeParseAsync" : "safeParse";
      const checked = await parameters[method](args);
      if (!checked.success) {
        const issues = [];
        for (const { path, message } of checked.error.issues) {
          issues[issues.length] = record({ path: list([...(path ?? [])].map(text)), message: start(text(message), 2048) });
        }
        return json(record({ rejected: list(issues.slice(0, 32)) }));
      }
      args = checked.data;
    }
    const updates = { title: undefined, metadata: {} };
    const [abort, notify] = signal();
    notifyAbort = notify;
    const context = parse(contextJson);
    context.abort = abort;
    context.metadata = (update) => {
      if (typeof update?.title === "string") updates.title = update.title;
      if (update?.metadata && typeof update.metadata === "object") Object.assign(updates.metadata, update.metadata);
    };
    return resultJson(id, await apply(execute, definition, [args, context]), updates);
  }

  const guarded = (action) => async (...given) => {
    try {
      return await action(...given);
    } catch (error) {
      const fault = describeError(error);
      fault.refusal = error instanceof Refusal;
      return json(record({ fault }));
    }
  };
  return freeze({ describe: guarded(describe), call: guarded(call), describeError: (error) => json(describeError(error)), abort: () => notifyAbort() });
})
