// The border between the host and a toolset. Only texts cross it, and whatever a toolset does to the objects of the
// language, this still works: all that is needed of them is taken here, before any foreign code runs.
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
  // Plain texts in JSON, even where somebody gave every object a toJSON.
  const wellFormed = (_, value) => (typeof value === "string" ? apply(toWellFormed, value, []) : value);
  const json = (value) => stringify(value, wellFormed);
  const record = (fields) => setPrototypeOf(fields, null);
  const list = (items) => setPrototypeOf(items, null);

  // A thrown value as it may be told: nothing of it is trusted, each look at it may throw again.
  function told(error) {
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
      refuse(`the tool ${id} has parameters that are not a schema of zod`);
    }
    if (typeof parameters.toJSONSchema === "function") return parameters.toJSONSchema({ io: "input" });
    const convert = zod?.toJSONSchema ?? zod?.z?.toJSONSchema;
    if (typeof convert !== "function") refuse("the zod that the skill ships cannot write JSON Schema; ship zod 4");
    return convert(parameters, { io: "input" });
  }

  // The export of a toolset, as a list of tools that can be called.
  async function describe(namespace, name, zod) {
    if (!hasOwn(namespace, name)) {
      const names = keys(namespace);
      refuse(`the module has no export ${name}` + (names.length ? `; it has ${names.join(", ")}` : ""));
    }
    let value = await namespace[name];
    if (typeof value === "function") value = await value();
    const found = isArray(value) ? value : [value];
    const described = [];
    for (let at = 0; at < found.length; at++) {
      const tool = await found[at];
      const id = tool?.id;
      if (typeof id !== "string") refuse(`${name} has to be an array of tools made with Tool.define`);
      if (!apply(test, ID, [id])) {
        refuse(`a tool's name begins with a letter and has at most 64 letters, digits, "_", "-" and "."; this is not one: ${start(id, 80)}`);
      }
      if (tools[id]) refuse(`there are two tools named ${id}`);
      const definition = typeof tool.init === "function" ? await tool.init() : tool;
      const { description, parameters, execute } = definition ?? {};
      if (typeof description !== "string") refuse(`the tool ${id} has no description`);
      if (typeof execute !== "function") refuse(`the tool ${id} has no execute`);
      const schema = await schemaOf(id, parameters, zod);
      if (schema?.type !== undefined && schema.type !== "object") {
        refuse(`the tool ${id} has parameters of type ${text(schema.type)}; they have to be a z.object`);
      }
      described[at] = record({ id, description, schema });
      tools[id] = { definition, parameters, execute };
    }
    return json(record({ tools: list(described) }));
  }

  // An AbortSignal, as far as tools need one. Listeners are told between two steps of the tool.
  function signal() {
    let listeners = [];
    let said = false;
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
    const tell = () => {
      if (said) return;
      said = true;
      for (const listener of [abort.onabort, ...listeners]) {
        try {
          if (typeof listener === "function") listener({ type: "abort", target: abort });
        } catch {
          // What a listener throws concerns nobody.
        }
      }
    };
    return [abort, tell];
  }

  let tell = () => {};

  function written(what, value) {
    let written;
    try {
      written = json(value);
    } catch (error) {
      refuse(`the tool's ${what} cannot be written as JSON: ${told(error).message ?? "it throws"}`);
    }
    if (written === undefined) refuse(`the tool's ${what} cannot be written as JSON: it is ${typeof value}`);
    if (written.length > limits[what]) {
      refuse(`the tool's ${what} has ${written.length} characters; at most ${limits[what]} are taken`);
    }
    return written;
  }

  function answer(id, result, updates) {
    if (typeof result === "string") result = { output: result };
    if (result === null || typeof result !== "object") {
      refuse(`execute gave ${result === null ? "null" : typeof result}, not { title, metadata, output }`);
    }
    const { title, metadata, attachments } = result;
    let { output } = result;
    if (typeof output !== "string") output = output === undefined ? "" : written("output", output);
    const given = metadata === undefined || metadata === null ? {} : metadata;
    if (typeof given !== "object" || isArray(given)) refuse("the tool's metadata is not an object");
    const cut = output.length > limits.output;
    const about = [
      `"title":${json(start(text(title ?? updates.title ?? id), 1024))}`,
      `"metadata":${written("metadata", { ...updates.metadata, ...given })}`,
      `"output":${json(start(output, limits.output))}`,
      `"cut":${cut}`,
    ];
    if (attachments !== undefined && attachments !== null) {
      if (!isArray(attachments)) refuse("the tool's attachments are not an array");
      about[4] = `"attachments":${written("attachments", attachments)}`;
    }
    return `{"result":{${about.join(",")}}}`;
  }

  // The tool with these arguments. What is wrong with them is told before it runs.
  async function call(id, given, about) {
    const { definition, parameters, execute } = tools[id];
    let args = parse(given);
    if (parameters !== undefined) {
      const careful = typeof parameters.safeParseAsync === "function" ? "safeParseAsync" : "safeParse";
      const checked = await parameters[careful](args);
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
    const [abort, teller] = signal();
    tell = teller;
    const context = parse(about);
    context.abort = abort;
    context.metadata = (update) => {
      if (typeof update?.title === "string") updates.title = update.title;
      if (update?.metadata && typeof update.metadata === "object") Object.assign(updates.metadata, update.metadata);
    };
    return answer(id, await apply(execute, definition, [args, context]), updates);
  }

  const guarded = (work) => async (...given) => {
    try {
      return await work(...given);
    } catch (error) {
      const fault = told(error);
      fault.refusal = error instanceof Refusal;
      return json(record({ fault }));
    }
  };
  return freeze({ describe: guarded(describe), call: guarded(call), told: (error) => json(told(error)), abort: () => tell() });
})
