// The scripted model for the tests of evaluations with real agents (crates/evals/tests/agents/real.rs). It loads a skill,
// writes a file, and replies. Prints its port first, and its requests as JSON when the standard input ends.

import { startModel } from "./model.mjs";

const SKILL = "invoice-totals";
const CONTENT = "written by the agent";

/** Returns the call of the first available tool. */
const callOf = (tools, calls) => {
  for (const [name, args] of calls) {
    const tool = tools.find((tool) => tool.name === name);
    if (tool) return { call: { ...tool, arguments: args } };
  }
  return { text: `no tool among ${tools.map((tool) => tool.name)}` };
};

const shell = (command) => [
  ["exec_command", { cmd: command }],
  ["shell_command", { command }],
  ["shell", { command: ["sh", "-c", command] }],
];

// Other requests, such as those for a title, have no tools.
const script = ({ tools, results }) => {
  if (tools.length === 0) return { text: "A title" };
  if (results.length === 0)
    return callOf(tools, [
      ["Skill", { skill: SKILL }],
      ["skill", { name: SKILL }],
      ...shell(`cat .agents/skills/${SKILL}/SKILL.md`),
    ]);
  if (results.length === 1)
    return callOf(tools, [
      ["Bash", { command: `echo ${CONTENT} >out.txt`, description: "Write" }],
      ["bash", { command: `echo ${CONTENT} >out.txt`, description: "Write" }],
      ...shell(`echo ${CONTENT} >out.txt`),
    ]);
  return { text: "Everything is done." };
};

const model = await startModel(script);
console.log(new URL(model.base).port);
process.stdin.resume();
process.stdin.on("end", () => {
  const requests = model.requests.map(({ path, text, tools }) => ({ path, text, tools: tools.length }));
  const text = JSON.stringify({ requests, unknown: model.unknownRequests });
  process.stdout.write(text, () => process.exit(0));
});
