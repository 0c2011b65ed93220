// Checks the server with the MCP Inspector's command line, over both transports and in both eras of the protocol.
// Usage: run.mjs PROWESS TOOLS, where TOOLS is the folder that scripts/test installs the Inspector into.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { LeftOut, report } from "../lib/report.mjs";
import { environment, makeWorld, run, serverCall, startHttp } from "../lib/world.mjs";

const [prowess, tools] = process.argv.slice(2);
const FIXTURE = "skills-system-validation";
const SKILLS = ["greet-user", "kept-from-people", "patience", "pictures", "temperature"];
const inspector = join(tools, "clients/node_modules/.bin/mcp-inspector");

/** Asks the Inspector; gives its exit code and what it printed, a JSON value a line. */
const ask = async ({ config, home, era }, method, ...more) => {
  const args = [inspector, "--cli", "--format", "json", "--quiet", "--config", config, "--server", "prowess"];
  const call = [...args, "--protocol-era", era, "--method", method, ...more];
  const { code, stdout, stderr } = await run(process.execPath, call, { seconds: 60, env: environment(home) });
  const lines = stdout.split("\n").filter(Boolean);
  return { code, said: stderr.trim(), values: lines.map((line) => JSON.parse(line)) };
};

/** What a method gives; it has to succeed. */
const result = async (place, method, ...more) => {
  const { code, said, values } = await ask(place, method, ...more);
  assert.equal(code, 0, said);
  return values[0].result;
};

const uriOf = async (place, skill) => {
  const { resources } = await result(place, "resources/list");
  return resources.find(({ uri }) => uri.endsWith(`/${skill}/SKILL.md`)).uri;
};

const CHECKS = [
  [
    "initialize",
    async (place) => {
      const told = JSON.stringify(await result(place, "initialize"));
      assert.match(told, /"prowess"/);
    },
  ],
  [
    "tools/list --strict: schemas that every provider takes",
    async (place) => {
      const { tools } = await result(place, "tools/list", "--strict");
      assert(tools.some(({ name }) => name === "skills_activate"));
    },
  ],
  [
    "tools/call",
    async (place) => {
      const call = ["--tool-name", "skills_activate", "--tool-arg", `name=${FIXTURE}`];
      const { content } = await result(place, "tools/call", ...call);
      assert.match(content[0].text, /PROWESS_SKILL_MARKER_7F3A91D2/);
    },
  ],
  [
    "resources/read and resources/templates/list",
    async (place) => {
      const { contents } = await result(place, "resources/read", "--uri", await uriOf(place, FIXTURE));
      assert.match(contents[0].text, /PROWESS_SKILL_MARKER_7F3A91D2/);
      const { resourceTemplates } = await result(place, "resources/templates/list");
      assert(resourceTemplates.length > 0);
    },
  ],
  [
    "prompts/list and prompts/get",
    async (place) => {
      const { prompts } = await result(place, "prompts/list");
      const { name, arguments: args } = prompts.find((prompt) => prompt.name === "greet-user");
      const call = ["--prompt-name", name, "--prompt-args", `${args[0].name}=Ada`];
      const { messages } = await result(place, "prompts/get", ...call);
      assert.match(JSON.stringify(messages), /Greet Ada in one/);
    },
  ],
  [
    "logging/setLevel",
    async (place) => {
      if (place.era !== "legacy") throw new LeftOut("this version of the protocol has no logging/setLevel");
      await result(place, "logging/setLevel", "--log-level", "debug");
    },
  ],
  [
    "skills/list --verify: every skill conforms, every digest holds",
    async (place) => {
      const { code, said, values } = await ask(place, "skills/list", "--verify", "--require-digests");
      assert.equal(code, 0, `${said} ${JSON.stringify(values).slice(0, 400)}`);
      assert.equal(values.length, SKILLS.length + 1, "a report for each skill");
    },
  ],
  [
    "skills/get --verify",
    async (place) => {
      const uri = await uriOf(place, FIXTURE);
      const { code, said, values } = await ask(place, "skills/get", "--verify", "--uri", uri);
      assert.equal(code, 0, `${said} ${JSON.stringify(values).slice(0, 400)}`);
    },
  ],
  [
    "resources/directory/read",
    async (place) => {
      const folder = (await uriOf(place, FIXTURE)).replace(/\/SKILL\.md$/, "");
      const { resources } = await result(place, "resources/directory/read", "--uri", folder);
      assert.deepEqual(resources.map(({ uri }) => uri.slice(folder.length + 1)).sort(), [
        "SKILL.md",
        "assets",
        "references",
        "scripts",
      ]);
    },
  ],
];

for (const transport of ["stdio", "http"]) {
  const world = makeWorld([FIXTURE, ...SKILLS.map((skill) => `skills/${skill}`)]);
  const http = transport === "http" ? await startHttp(prowess, world) : null;
  const server = http ? { type: "streamable-http", url: http.url } : serverCall(prowess, world);
  const config = join(world.world, "mcp.json");
  writeFileSync(config, JSON.stringify({ mcpServers: { prowess: server } }));
  for (const era of ["legacy", "modern"]) {
    for (const [name, check] of CHECKS) {
      const label = `Inspector 2.12, ${transport}, ${era}: ${name}`;
      await report.check(label, () => check({ config, home: world.home, era }));
    }
  }
  http?.stop();
}
process.exit(report.end());
