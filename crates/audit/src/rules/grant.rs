//! PA6xx: what a skill asks to be allowed.

use crate::finding::{Family::Grant, Severity::*};
use crate::rule::{Rule, Scope::*, Test::*, example, pattern};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PA601",
        family: Grant,
        severity: High,
        title: "the skill asks for commands as root",
        why: "whatever goes wrong then concerns the whole machine",
        help: "take it out of allowed-tools, and let people run such commands themselves",
        scope: File,
        test: Own,
        example: example(
            "SKILL.md",
            "---\nname: x\ndescription: X.\nallowed-tools: Bash(sudo:*)\n---\nDo it.\n",
        ),
    },
    Rule {
        id: "PA602",
        family: Grant,
        severity: Medium,
        title: "the skill asks for every command, in so many words",
        why: "a wildcard takes away the question that would stop a bad command",
        help: "list the commands that it needs, such as Bash(git:*)",
        scope: File,
        test: Own,
        example: example("SKILL.md", "---\nname: x\ndescription: X.\nallowed-tools: Bash(*)\n---\nDo it.\n"),
    },
    Rule {
        id: "PA603",
        family: Grant,
        severity: Low,
        title: "the skill asks for a whole shell",
        why: "many do; it lets every command pass unasked where a client honours it",
        help: "list the commands that it needs, such as Bash(git:*)",
        scope: File,
        test: Own,
        example: example(
            "SKILL.md",
            "---\nname: x\ndescription: X.\nallowed-tools: Bash Read\n---\nDo it.\n",
        ),
    },
    Rule {
        id: "PA604",
        family: Grant,
        severity: Medium,
        title: "the skill brings hooks",
        why: "some clients run them by themselves, without anybody asking for it",
        help: "look at each command before you use the skill in such a client",
        scope: File,
        test: Own,
        example: example(
            "SKILL.md",
            "---\nname: x\ndescription: X.\nhooks:\n  PostToolUse:\n    - command: ./scripts/format.sh\n---\nDo it.\n",
        ),
    },
    Rule {
        id: "PA605",
        family: Grant,
        severity: Low,
        title: "a command runs while the skill is loaded",
        why: "some clients run what stands in !`…` before anybody sees the text",
        help: "look at the command; Prowess never runs it",
        scope: Prose,
        test: Line(pattern(&["!`"], &[r"(^|[\s(:])!\x60[^\x60\n]+\x60"])),
        example: example("SKILL.md", "Branch: !`git branch --show-current`\n"),
    },
    Rule {
        id: "PA606",
        family: Grant,
        severity: Medium,
        title: "the safety of an agent is to be switched off",
        why: "then nothing stands between a mistake and the machine",
        help: "leave it on",
        scope: Any,
        test: Line(pattern(
            &["dangerously", "yolo", "bypasspermissions", "no-sandbox", "full-auto", "auto-approve"],
            &[
                r"--dangerously-\w[\w-]*|--yolo\b|bypassPermissions|--unsafe-no-sandbox|auto-approve\s+(all|every)",
            ],
        )),
        example: example("SKILL.md", "Start the agent with `--dangerously-skip-permissions`.\n"),
    },
];
