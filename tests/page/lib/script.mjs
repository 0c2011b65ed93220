// What the model of the tests says.

const SKILL = "skills-system-validation";
const MARKDOWN = [
  "It **works**.",
  "",
  "## What was done",
  "",
  "- one",
  "- two",
  "",
  "```sh",
  "prowess list --json",
  "```",
  "",
  "Done.",
].join("\n");

/** Words that can be counted: `w1 w2 …`. */
export const counted = (count) => Array.from({ length: count }, (_, index) => `w${index + 1}`).join(" ");

const VALIDATION = [
  { call: { name: "skills_readResource", arguments: { name: SKILL, path: "references/REFERENCE.md" } } },
  { call: { name: "skills_readResource", arguments: { name: SKILL, path: "../SKILL.md" } } },
  {
    call: {
      name: "skills_run",
      arguments: { name: SKILL, script: "scripts/echo.sh", args: ["hello", "two words"] },
    },
  },
];

/** By the last thing that was said, and how many tools have answered since. */
export const script = (said, step, request) => {
  const mentioned = request.messages.at(-1)?.role === "tool";
  if (/check this system/i.test(said)) {
    // A skill that is called by name is loaded before the model is asked: that is the first answer of a tool.
    return VALIDATION[step - 1] ?? { text: MARKDOWN, pause: 5 };
  }
  if (/greet me/i.test(said)) {
    return step === 0
      ? { call: { name: "skills_activate", arguments: { name: "hello-world" } } }
      : { text: "Hello!" };
  }
  if (/load (\S+)/.test(said)) {
    const name = /load (\S+)/.exec(said)?.[1];
    return step === 0 ? { call: { name: "skills_activate", arguments: { name } } } : { text: "Loaded." };
  }
  if (/many cards/i.test(said)) {
    const one = (index) => ({ name: "skills_readResource", arguments: { name: SKILL, path: `no-${index}.md` } });
    return step === 0 ? { calls: Array.from({ length: 8 }, (_, index) => one(index)) } : { text: "All read." };
  }
  if (/think first/i.test(said)) return { text: "Done.", hold: 0 };
  if (/count slowly/i.test(said)) return { text: counted(60), pause: 20, hold: 10 };
  if (/count on/i.test(said)) return { text: counted(40), pause: 15 };
  if (/markdown/i.test(said)) return { text: MARKDOWN, pause: 60 };
  return { text: mentioned ? "So be it." : `You said: ${said}` };
};
