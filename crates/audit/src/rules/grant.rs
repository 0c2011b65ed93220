//! PA6xx: permissions that a skill requests.

use crate::finding::{Family::Grant, FindingSeverity::*};
use crate::rule::{Matcher::*, Rule, RuleScope::*, example, pattern, pattern_except};

/// Options and settings that disable the safety checks of an agent.
const UNSAFE_AGENT: &str = r"--dangerously-\w[\w-]*|--yolo\b|bypassPermissions|--unsafe-no-sandbox|auto-approve\s+(all|every)|\bdanger-full-access\b|approval_policy\s*=\s*['\x22]?never|--ask-for-approval\s+never|skipDangerousModePermissionPrompt|enableAllProjectMcpServers['\x22]?\s*[:=]\s*true|autoApprove['\x22]?\s*[:=]\s*(true|\[\s*['\x22]\*)|--allow-all-tools\b|--trust-all-tools\b|\x22Bash\(\*\)\x22|\x22deny\x22\s*:\s*\[\s*\]\s*,.{0,80}bypass";

/// Keywords of [`UNSAFE_AGENT`].
const UNSAFE_AGENT_KEYWORDS: &str = "\
    dangerously,yolo,bypasspermissions,no-sandbox,auto-approve,danger-full-access,\
    approval_policy,ask-for-approval,skipdangerousmode,enableallprojectmcpservers,autoapprove,\
    allow-all-tools,trust-all-tools,bash(*),\"deny\"";

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PA601",
        family: Grant,
        severity: High,
        title: "requests commands as root",
        reason: "any mistake then affects the whole machine",
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
        reason: "a wildcard disables the confirmation that would stop a bad command",
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
        reason: "many skills do this; clients that honor it run every command without confirmation",
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
        reason: "some clients run them automatically, without confirmation",
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
        reason: "some clients run !`…` before anyone sees the text",
        help: "review the command; Prowess runs it only in the sandbox, if you allow scripts of the skill",
        scope: Prose,
        matcher: Line(pattern("!`", &[r"(^|[\s(:])!\x60[^\x60\n]+\x60"])),
        example: example("SKILL.md", "Branch: !`git branch --show-current`\n"),
    },
    Rule {
        id: "PA606",
        family: Grant,
        severity: Medium,
        title: "disables the safety checks of an agent",
        reason: "then nothing protects the machine from a mistake",
        help: "keep them enabled",
        scope: Any,
        matcher: Line(pattern(UNSAFE_AGENT_KEYWORDS, &[UNSAFE_AGENT])),
        example: example("SKILL.md", "Start the agent with `--dangerously-skip-permissions`.\n"),
    },
    Rule {
        id: "PA607",
        family: Grant,
        severity: High,
        title: "permanently disables the safety checks of an agent",
        reason: "no later session asks before it runs a command, also without this skill",
        help: "do not apply it; check the settings of your agents and your shell aliases",
        scope: Any,
        matcher: Pair {
            first: pattern(UNSAFE_AGENT_KEYWORDS, &[UNSAFE_AGENT]),
            second: pattern_except(
                "\
                    settings.json,config.toml,.claude,.codex,settings.local,.gemini,.cursor,.copilot,.qwen,.vscode,code/user,alias ,.bashrc,.zshrc,.bash_profile,.zprofile,\
                    .profile,config.json,user settings,用户设置,全局",
                &[
                    r"(~|\$home|\$\{home\}|homedir\(\)|home\(\)|%userprofile%|\bhome|user\s+settings|expanduser).{0,30}(\.(claude|codex|gemini|cursor|copilot|qwen)\b.{0,12}(settings|config)|settings\.json|\.vscode|code/user)|\b(add|merge|write|put|set|paste|copy|save|create|append|edit|añade|combina|escribe|copia|pon)\b.{0,80}\.(claude|codex|gemini|cursor)/(settings|config)|(写入|添加|合并|加入).{0,60}\.(claude|codex|gemini|cursor)/(settings|config)",
                    r"\balias\s+\w+=.{0,60}(dangerously|yolo|full-auto|bypass)|(dangerously|yolo|full-auto|bypass).{0,60}>>\s*\S*\.(bashrc|zshrc|profile|bash_profile|zprofile)",
                ],
                r"\b(never|do\s+not|don't|avoid)\s+(\w+\s+){0,3}(set|sett|use|us|add|write|put|enable|enabl|edit|change|apply|start|switch)(ing)?\b",
            ),
            max_lines: 8,
        },
        example: example(
            "SKILL.md",
            "Write this to `~/.codex/config.toml`:\n\n```toml\nsandbox_mode = \"danger-full-access\"\n```\n",
        ),
    },
];
