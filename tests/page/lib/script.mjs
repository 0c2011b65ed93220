// The script of the model for the tests.

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

const WIDE = Array.from({ length: 60 }, (_, index) => `x${index}`).join("_");
/** Two code blocks; the model waits in the second one. */
const CODE = [
  "Look:",
  "",
  "```rust",
  `fn first() { let ${WIDE} = 1; }`,
  "```",
  "",
  "And:",
  "",
  "```python",
  `${WIDE} = 2`,
  "def second(n):",
  "    return n + 1",
  "```",
  "",
  "Done.",
].join("\n");

/** Paragraphs of 20 words, more than are rendered at once. */
const LONG = Array.from({ length: 80 }, (_, index) => `Paragraph ${index} ${"word ".repeat(18).trim()}.`).join("\n\n");

/** Returns numbered words: `w1 w2 …`. */
export const numberedWords = (count) => Array.from({ length: count }, (_, index) => `w${index + 1}`).join(" ");

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

/** Returns the reply to the last message of the user, by the number of tool results since then. */
export const script = (message, step, request) => {
  const mentioned = request.messages.at(-1)?.role === "tool";
  if (/check this system/i.test(message)) {
    // A mentioned skill is loaded before the model is called, which is the first tool result.
    return VALIDATION[step - 1] ?? { text: MARKDOWN, pause: 5 };
  }
  if (/review this/i.test(message)) {
    return step === 0
      ? { call: { name: "skills_activate", arguments: { name: "code-review" } } }
      : { text: "No findings." };
  }
  if (/load (\S+)/.test(message)) {
    const name = /load (\S+)/.exec(message)?.[1];
    return step === 0 ? { call: { name: "skills_activate", arguments: { name } } } : { text: "Loaded." };
  }
  if (/many cards/i.test(message)) {
    const one = (index) => ({ name: "skills_readResource", arguments: { name: SKILL, path: `no-${index}.md` } });
    return step === 0 ? { calls: Array.from({ length: 8 }, (_, index) => one(index)) } : { text: "All read." };
  }
  if (/think first/i.test(message)) return { text: "Done.", hold: 0 };
  if (/write code/i.test(message)) return { text: CODE, pause: 30, hold: 18 };
  if (/write much/i.test(message)) return { text: LONG, pause: 2 };
  if (/count slowly/i.test(message)) return { text: numberedWords(60), pause: 20, hold: 10 };
  if (/count on/i.test(message)) return { text: numberedWords(40), pause: 15 };
  if (/markdown/i.test(message)) return { text: MARKDOWN, pause: 60 };
  return { text: mentioned ? "So be it." : `You said: ${message}` };
};
