// Tests the server with real agents. Each agent runs with Prowess as its only MCP server, over stdio, and with a scripted
// model, which activates a skill, reads a file of it, and replies. The requests of the agent to the model are checked.
// Usage: run.mjs PROWESS TOOLS.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "../lib/report.mjs";
import { environment, makeTestEnv, run, serverCall } from "../lib/test-env.mjs";
import { codexConfig, opencodeConfig, opencodeEnvironment } from "./configs.mjs";
import { checkHooks } from "./hooks.mjs";
import { startModel } from "./model.mjs";

const [prowess, tools] = process.argv.slice(2);
const FIXTURE = "skills-system-validation";
const BODY = "PROWESS_SKILL_MARKER_7F3A91D2";
const REFERENCE = /PROWESS_REFERENCE_MARKER_[0-9A-F]+/;
const TASK = "Validate that the skills system discloses progressively.";
const bin = (name) => join(tools, "agents/node_modules/.bin", name);

// The calls of the model, one per turn. Agents add a prefix to the names of our tools.
const CALLS = [
  ["skills_activate", { name: FIXTURE }],
  ["skills_readResource", { name: FIXTURE, path: "references/REFERENCE.md" }],
];

/** Returns the next call, or a reply that quotes the file. Some requests, such as those for a title, have no tools. */
const script = ({ tools: available, results }) => {
  if (available.length === 0) return { text: "Validation" };
  if (results.length >= CALLS.length) return { text: `Read: ${results.at(-1).text.match(REFERENCE)?.[0]}` };
  const [name, args] = CALLS[results.length];
  const tool = available.find((tool) => tool.name.endsWith(name));
  return tool ? { call: { ...tool, arguments: args } } : { text: `no tool ${name}` };
};

const AGENTS = {
  codex: ({ home, project }, server, model) => {
    const text = (value) => JSON.stringify(value);
    const variables = Object.entries(server.env).map(([name, value]) => `${name} = ${text(value)}`);
    mkdirSync(join(home, ".codex"));
    writeFileSync(
      join(home, ".codex/config.toml"),
      `${codexConfig(model)}
[mcp_servers.prowess]
command = ${text(server.command)}
args = ${text(server.args)}
env = { ${variables.join(", ")} }
`,
    );
    const args = ["exec", "--skip-git-repo-check", "--json", TASK];
    return [
      bin("codex"),
      args,
      { cwd: project, env: environment(home, { CODEX_HOME: join(home, ".codex") }) },
    ];
  },

  opencode: ({ home, project }, server, model) => {
    const command = [server.command, ...server.args];
    const mcp = { prowess: { type: "local", enabled: true, command, environment: server.env } };
    writeFileSync(join(project, "opencode.json"), JSON.stringify({ ...opencodeConfig(model), mcp }));
    const env = environment(home, opencodeEnvironment);
    return [bin("opencode"), ["run", "--format", "json", TASK], { cwd: project, env }];
  },
};

for (const [agent, prepare] of Object.entries(AGENTS)) {
  const serverEnv = makeTestEnv([FIXTURE, "skills/greet-user"]);
  // The agent has another home directory and project, so that it can find the skills only through the server.
  const server = serverCall(prowess, serverEnv);
  const agentEnv = makeTestEnv([]);
  const model = await startModel(script);
  const [program, args, options] = prepare(agentEnv, server, model.url);
  const ended = await run(program, args, { seconds: 120, ...options });
  model.stop();
  // The requests of the conversation. Others, such as those for a title, have no tools.
  const turns = model.requests.filter((request) => request.tools.length > 0);
  const label = `${agent}: `;

  await report.check(label + "succeeds with one model request per turn", () => {
    assert(!ended.timedOut, "timed out");
    assert.equal(ended.code, 0, ended.stderr.slice(-400) + ended.stdout.slice(-400));
    assert.equal(turns.length, CALLS.length + 1, `${turns.length} requests; ${model.unknownRequests}`);
  });
  await report.check(label + "receives the tools of Prowess", () => {
    for (const name of ["activate", "readResource", "listResources", "search"])
      assert(
        turns[0]?.tools.some((tool) => tool.name.endsWith(`skills_${name}`)),
        `no skills_${name} among ${turns[0]?.tools.map((tool) => tool.name)}`,
      );
  });
  await report.check(label + "discovers the skill: the first request has the catalog but no body", () => {
    const first = turns[0].text;
    assert(first.includes(FIXTURE), "the skill's name is missing");
    assert(
      first.includes("Conformance fixture that checks a skills system"),
      "the skill's description is missing",
    );
    assert(!first.includes(BODY) && !REFERENCE.test(first), "a body was sent before it was requested");
  });
  await report.check(label + "activates the skill: the second request has its instructions", () => {
    assert.equal(turns[0].reply.call?.arguments.name, FIXTURE);
    assert(turns[1].results[0].text.includes(BODY), turns[1].results[0].text.slice(0, 300));
    assert(!REFERENCE.test(turns[1].text), "a file was sent before it was requested");
  });
  await report.check(label + "reads a resource: the third request has the file", () => {
    assert.match(turns[2].results[1].text, REFERENCE);
  });
  await report.check(label + "prints the content of the file", () => assert.match(ended.stdout, REFERENCE));
}
await checkHooks(prowess, bin);
process.exit(report.end());
