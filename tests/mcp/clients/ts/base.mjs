// Basic operations: initialize, list, read, call, complete.

import assert from "node:assert/strict";
import { errorOf, Skipped, textOf, uriOf } from "./tools.mjs";

const FIXTURE = "skills-system-validation";
const BODY = "PROWESS_SKILL_MARKER_7F3A91D2";
const REFERENCE = /PROWESS_REFERENCE_MARKER_\w+/;
const READERS = ["skills_activate", "skills_readResource", "skills_listResources", "skills_search"];

export const base = [
  [
    "initialise",
    async (client, { expects }) => {
      assert.equal(client.version, expects);
      assert.equal(client.server?.name, "prowess");
      assert.match(client.server.version, /^\d+\.\d+\.\d+/);
    },
  ],
  [
    "instructions contain the catalog but no bodies",
    async ({ instructions }) => {
      assert(instructions?.includes(FIXTURE), `no ${FIXTURE} in the instructions: ${instructions}`);
      assert(instructions.includes("greet-user"), "no greet-user in the instructions");
      assert(!/MARKER_/.test(instructions), "the instructions contain the marker of a body");
    },
  ],
  [
    "capabilities",
    async ({ capabilities, era }) => {
      assert.equal(capabilities.tools?.listChanged, true, "tools.listChanged");
      assert.equal(capabilities.prompts?.listChanged, true, "prompts.listChanged");
      assert.equal(capabilities.resources?.listChanged, true, "resources.listChanged");
      assert.equal(capabilities.resources?.subscribe, true, "resources.subscribe");
      assert(capabilities.completions, "completions");
      if (era === "legacy") assert(capabilities.logging, "logging");
    },
  ],
  [
    "ping",
    async (client) => {
      if (client.era !== "legacy") throw new Skipped("this version of the protocol has no ping");
      await client.ping();
    },
  ],
  [
    "tools/list",
    async (client) => {
      const { tools } = await client.tools();
      const named = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
      for (const name of [...READERS, "skills_run"]) {
        assert(named[name], `no tool ${name} among ${Object.keys(named)}`);
        assert.equal(named[name].inputSchema.type, "object");
        assert.equal(named[name].outputSchema?.type, "object", `the output schema of ${name}`);
        assert(named[name].description, `${name} has no description`);
      }
      for (const name of READERS) assert.equal(named[name].annotations?.readOnlyHint, true, name);
      assert.notEqual(named.skills_run.annotations?.readOnlyHint, true, "skills_run");
    },
  ],
  [
    "tools/call skills_activate",
    async (client) => {
      const result = await client.call("skills_activate", { name: FIXTURE });
      assert(!result.isError, textOf(result));
      assert(textOf(result).includes(BODY), "the body's marker is missing");
      assert(!REFERENCE.test(textOf(result)), "the body contains the marker of another file");
      assert(
        JSON.stringify(result.structuredContent ?? null).includes(BODY),
        "the structured content has no body",
      );
    },
  ],
  [
    "tools/call skills_readResource",
    async (client) => {
      const path = "references/REFERENCE.md";
      const result = await client.call("skills_readResource", { name: FIXTURE, path });
      assert(!result.isError, textOf(result));
      assert.match(textOf(result), REFERENCE);
    },
  ],
  [
    "tools/call skills_readResource of an image",
    async (client) => {
      const result = await client.call("skills_readResource", { name: "pictures", path: "assets/dot.png" });
      const picture = result.content.find(({ type }) => type === "image");
      assert.equal(picture?.mimeType, "image/png", JSON.stringify(result).slice(0, 200));
      assert.equal(Buffer.from(picture.data, "base64").subarray(1, 4).toString(), "PNG");
    },
  ],
  [
    "tools/call skills_listResources and skills_search",
    async (client) => {
      const files = await client.call("skills_listResources", { name: FIXTURE });
      assert.match(textOf(files), /scripts\/echo\.sh/);
      const found = await client.call("skills_search", { query: "convert a temperature", k: 1 });
      assert.match(textOf(found), /temperature/);
    },
  ],
  [
    "invalid tools/call requests",
    async (client) => {
      for (const [name, args] of [
        ["skills_activate", { name: "no-such-skill-here" }],
        ["skills_readResource", { name: FIXTURE, path: "../SKILL.md" }],
        ["skills_readResource", { name: FIXTURE, path: "/etc/passwd" }],
      ]) {
        const result = await client.call(name, args);
        assert.equal(result.isError, true, `${name} ${JSON.stringify(args)}`);
        assert(!textOf(result).includes(BODY) && !textOf(result).includes("root:"), "the result contains file content");
      }
      assert.equal((await errorOf(client.call("no_such_tool", {}))).code, -32602);
    },
  ],
  [
    "tools/call skills_run, with progress",
    async (client) => {
      const progress = [];
      const args = { name: FIXTURE, script: "scripts/echo.sh", args: ["hello", "two words"] };
      const result = await client.call("skills_run", args, { onprogress: (step) => progress.push(step) });
      assert(!result.isError, textOf(result));
      assert.match(textOf(result), /PROWESS_SCRIPT_MARKER_\w+\n?[^]*arg: hello\n?[^]*arg: two words/);
      assert(progress.length > 0, "no progress was reported");
    },
  ],
  [
    "tools/call skills_run, with a question, an input and an artifact",
    async (client) => {
      const inputs = [{ name: "in.txt", text: "hello\n" }];
      const args = { name: "copies", script: "scripts/copy.sh", args: ["in.txt"], inputs };
      const result = await client.call("skills_run", args);
      assert(!result.isError, textOf(result));
      assert.equal(client.questions.length, 1, "the number of questions");
      assert.match(client.questions[0].message, /copies wants to run scripts\/copy\.sh[^]*reads: .*in\.txt/);
      const link = result.content.find(({ type }) => type === "resource_link");
      assert.deepEqual([link?.name, link?.mimeType], ["out/copy.txt", "text/plain"]);
      const { contents } = await client.read(link.uri);
      assert.equal(contents[0].text, "hello\n");
    },
  ],
  [
    "resources/list and resources/read",
    async (client) => {
      const uri = await uriOf(client, FIXTURE);
      const { contents } = await client.read(uri);
      assert.equal(contents[0].uri, uri);
      assert.equal(contents[0].mimeType, "text/markdown");
      assert(contents[0].text.startsWith("---\nname: skills-system-validation\n"), "the content differs from the file");
      const picture = (await uriOf(client, "pictures")).replace(/SKILL\.md$/, "assets/dot.png");
      const [blob] = (await client.read(picture)).contents;
      assert.equal(blob.mimeType, "image/png");
      assert.equal(Buffer.from(blob.blob, "base64").subarray(1, 4).toString(), "PNG");
    },
  ],
  [
    "resources/read of missing resources",
    async (client) => {
      const uri = await uriOf(client, FIXTURE);
      const directory = uri.replace(/SKILL\.md$/, "");
      const missing = client.era === "legacy" ? client.missing : -32602;
      for (const [uri, code] of [
        [`${directory}no-such.md`, missing],
        ["skill://no-such-skill/SKILL.md", missing],
        [`${directory}../pictures/SKILL.md`, -32602],
        [`${directory}..%2fpictures%2fSKILL.md`, -32602],
        [`${directory}a%00b`, -32602],
        ["file:///etc/passwd", -32602],
      ]) {
        const error = await errorOf(client.read(uri));
        assert.equal(error.code, code, `${uri}: ${error.message}`);
      }
    },
  ],
  [
    "resources/templates/list and completion of names and paths",
    async (client) => {
      const { resourceTemplates } = await client.templates();
      const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate.startsWith("skill://"));
      assert(template, "no template for skills");
      const [name, path] = [...template.uriTemplate.matchAll(/\{[+#./;?&]?(\w+)\*?\}/g)].map(
        (match) => match[1],
      );
      const ref = { type: "ref/resource", uri: template.uriTemplate };
      const names = await client.complete({ ref, argument: { name, value: "skills-sys" } });
      assert.deepEqual(names.completion.values, [FIXTURE]);
      const context = { arguments: { [name]: FIXTURE } };
      const paths = await client.complete({ ref, argument: { name: path, value: "ref" }, context });
      assert.deepEqual(paths.completion.values, ["references/REFERENCE.md"]);
    },
  ],
  [
    "prompts/list and prompts/get",
    async (client) => {
      const { prompts } = await client.prompts();
      const greet = prompts.find(({ name }) => name === "greet-user");
      assert(greet, `no prompt greet-user among ${prompts.map(({ name }) => name)}`);
      assert.match(greet.description, /Greets a person/);
      assert.equal(greet.arguments?.length, 1, "the arguments of greet-user");
      assert(!prompts.some(({ name }) => name === "kept-from-people"), "a skill that users cannot invoke is a prompt");
      const { messages } = await client.prompt("greet-user", { [greet.arguments[0].name]: "Ada Lovelace" });
      assert.equal(messages[0].role, "user");
      const text = messages.map(({ content }) => content.text).join("\n");
      assert.match(text, /GREETING_MARKER_51C0[^]*Greet Ada Lovelace in one/);
      assert.equal((await errorOf(client.prompt("kept-from-people"))).code, -32602);
    },
  ],
];
