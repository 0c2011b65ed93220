//! PA6xx: permissions that a skill requests.

use crate::finding::{Family::Grant, FindingSeverity::*};
use crate::rule::{Matcher::*, Rule, RuleScope::*, example, pattern};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PA601",
        family: Grant,
        severity: High,
        title: "requests commands as root",
        why: "any mistake then affects the whole machine",
        help: "remove it from allowed-tools, and let users run such commands themselves",
        scope: File,
        matcher: Custom,
        example: example(
            "SKILL.md",
            "---\nname: x\ndescription: X.\nallowed-tools: Bash(sudo:*)\n---\nDo it.\n",
        ),
    },
    Rule {
        id: "PA602",
        family: Grant,
        severity: Medium,
        title: "requests every command with a wildcard",
        why: "a wildcard disables the confirmation that would stop a bad command",
        help: "list the commands it needs, such as Bash(git:*)",
        scope: File,
        matcher: Custom,
        example: example("SKILL.md", "---\nname: x\ndescription: X.\nallowed-tools: Bash(*)\n---\nDo it.\n"),
    },
    Rule {
        id: "PA603",
        family: Grant,
        severity: Low,
        title: "requests an unrestricted shell",
        why: "many skills do this; clients that honor it run every command without confirmation",
        help: "list the commands it needs, such as Bash(git:*)",
        scope: File,
        matcher: Custom,
        example: example(
            "SKILL.md",
            "---\nname: x\ndescription: X.\nallowed-tools: Bash Read\n---\nDo it.\n",
        ),
    },
    Rule {
        id: "PA604",
        family: Grant,
        severity: Medium,
        title: "contains hooks",
        why: "some clients run them automatically, without confirmation",
        help: "review each command before you use the skill in such a client",
        scope: File,
        matcher: Custom,
        example: example(
            "SKILL.md",
            "---\nname: x\ndescription: X.\nhooks:\n  PostToolUse:\n    - command: ./scripts/format.sh\n---\nDo it.\n",
        ),
    },
    Rule {
        id: "PA605",
        family: Grant,
        severity: Low,
        title: "runs a command when the skill is loaded",
        why: "some clients run !`…` before anyone sees the text",
        help: "review the command; Prowess never runs it",
        scope: Prose,
        matcher: Line(pattern(&["!`"], &[r"(^|[\s(:])!\x60[^\x60\n]+\x60"])),
        example: example("SKILL.md", "Branch: !`git branch --show-current`\n"),
    },
    Rule {
        id: "PA606",
        family: Grant,
        severity: Medium,
        title: "disables the safety checks of an agent",
        why: "then nothing protects the machine from a mistake",
        help: "keep them enabled",
        scope: Any,
        matcher: Line(pattern(
            &["dangerously", "yolo", "bypasspermissions", "no-sandbox", "full-auto", "auto-approve"],
            &[
                r"--dangerously-\w[\w-]*|--yolo\b|bypassPermissions|--unsafe-no-sandbox|auto-approve\s+(all|every)",
            ],
        )),
        example: example("SKILL.md", "Start the agent with `--dangerously-skip-permissions`.\n"),
    },
];
