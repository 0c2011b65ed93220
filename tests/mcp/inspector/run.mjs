// Checks the server with the command line of the MCP Inspector, over both transports and in both eras of the protocol.
// Usage: run.mjs PROWESS TOOLS, where TOOLS is the directory into which scripts/test installs the Inspector.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Skipped, report } from "../lib/report.mjs";
import { environment, makeTestEnv, run, serverCall, startHttp } from "../lib/test-env.mjs";

const [prowess, tools] = process.argv.slice(2);
const FIXTURE = "skills-system-validation";
const SKILLS = ["greet-user", "kept-from-people", "patience", "pictures", "temperature"];
const inspector = join(tools, "clients/node_modules/.bin/mcp-inspector");

/** Runs the Inspector. Returns its exit code, standard error, and the JSON values of its output. */
const inspect = async ({ config, home, era }, method, ...more) => {
  const args = [inspector, "--cli", "--format", "json", "--quiet", "--config", config, "--server", "prowess"];
  const call = [...args, "--protocol-era", era, "--method", method, ...more];
  const { code, stdout, stderr } = await run(process.execPath, call, { seconds: 60, env: environment(home) });
  const lines = stdout.split("\n").filter(Boolean);
  return { code, stderr: stderr.trim(), values: lines.map((line) => JSON.parse(line)) };
};

/** Returns the result of a method. Fails if it does not succeed. */
const result = async (target, method, ...more) => {
  const { code, stderr, values } = await inspect(target, method, ...more);
  assert.equal(code, 0, stderr);
  return values[0].result;
};

const uriOf = async (target, skill) => {
  const { resources } = await result(target, "resources/list");
  return resources.find(({ uri }) => uri.endsWith(`/${skill}/SKILL.md`)).uri;
};

const CHECKS = [
  [
    "initialize",
    async (target) => {
      const text = JSON.stringify(await result(target, "initialize"));
      assert.match(text, /"prowess"/);
    },
  ],
  [
    "tools/list --strict: schemas that every provider accepts",
    async (target) => {
      const { tools } = await result(target, "tools/list", "--strict");
      assert(tools.some(({ name }) => name === "skills_activate"));
    },
  ],
  [
    "tools/call",
    async (target) => {
      const call = ["--tool-name", "skills_activate", "--tool-arg", `name=${FIXTURE}`];
      const { content } = await result(target, "tools/call", ...call);
      assert.match(content[0].text, /PROWESS_SKILL_MARKER_7F3A91D2/);
    },
  ],
  [
    "resources/read and resources/templates/list",
    async (target) => {
      const { contents } = await result(target, "resources/read", "--uri", await uriOf(target, FIXTURE));
      assert.match(contents[0].text, /PROWESS_SKILL_MARKER_7F3A91D2/);
      const { resourceTemplates } = await result(target, "resources/templates/list");
      assert(resourceTemplates.length > 0);
    },
  ],
  [
    "prompts/list and prompts/get",
    async (target) => {
      const { prompts } = await result(target, "prompts/list");
      const { name, arguments: args } = prompts.find((prompt) => prompt.name === "greet-user");
      const call = ["--prompt-name", name, "--prompt-args", `${args[0].name}=Ada`];
      const { messages } = await result(target, "prompts/get", ...call);
      assert.match(JSON.stringify(messages), /Greet Ada in one/);
    },
  ],
  [
    "logging/setLevel",
    async (target) => {
      if (target.era !== "legacy") throw new Skipped("this version of the protocol has no logging/setLevel");
      await result(target, "logging/setLevel", "--log-level", "debug");
    },
  ],
  [
    "skills/list --verify: every skill conforms and every digest matches",
    async (target) => {
      const { code, stderr, values } = await inspect(target, "skills/list", "--verify", "--require-digests");
      assert.equal(code, 0, `${stderr} ${JSON.stringify(values).slice(0, 400)}`);
      assert.equal(values.length, SKILLS.length + 1, "one report per skill");
    },
  ],
  [
    "skills/get --verify",
    async (target) => {
      const uri = await uriOf(target, FIXTURE);
      const { code, stderr, values } = await inspect(target, "skills/get", "--verify", "--uri", uri);
      assert.equal(code, 0, `${stderr} ${JSON.stringify(values).slice(0, 400)}`);
    },
  ],
  [
    "resources/directory/read",
    async (target) => {
      const directory = (await uriOf(target, FIXTURE)).replace(/\/SKILL\.md$/, "");
      const { resources } = await result(target, "resources/directory/read", "--uri", directory);
      assert.deepEqual(resources.map(({ uri }) => uri.slice(directory.length + 1)).sort(), [
        "SKILL.md",
        "assets",
        "references",
        "scripts",
      ]);
    },
  ],
];

for (const transport of ["stdio", "http"]) {
  const env = makeTestEnv([FIXTURE, ...SKILLS.map((skill) => `skills/${skill}`)]);
  const http = transport === "http" ? await startHttp(prowess, env) : null;
  const server = http ? { type: "streamable-http", url: http.url } : serverCall(prowess, env);
  const config = join(env.base, "mcp.json");
  writeFileSync(config, JSON.stringify({ mcpServers: { prowess: server } }));
  for (const era of ["legacy", "modern"]) {
    for (const [name, check] of CHECKS) {
      const label = `Inspector 2.12, ${transport}, ${era}: ${name}`;
      await report.check(label, () => check({ config, home: env.home, era }));
    }
  }
  http?.stop();
}
process.exit(report.end());
