//! Skills that are only offered for some files, and custom commands.

use crate::support::TestEnv;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn env() -> TestEnv {
    let env = TestEnv::new();
    env.file(
        "~/.prowess/config.toml",
        "scan.roots = [\".agents/skills\", \".claude/skills\", \"~/.agents/skills\", \"~/.claude/skills\"]\n",
    );
    env.file(
        "~/.agents/skills/migrations/SKILL.md",
        "---\nname: migrations\ndescription: Reviews database migrations. Use for schema changes.\npaths: [\"db/**/*.sql\", schema.prisma]\n---\nReview it.\n",
    );
    env.file(
        "~/.agents/skills/tables/SKILL.md",
        "---\nname: tables\ndescription: Formats tables. Use for Markdown tables.\n---\nFormat it.\n",
    );
    env
}

#[test]
fn skills_with_paths_match_only_with_a_file() {
    assert_snapshot!(env().runs(&[
        &["match", "review the database migration"],
        &["match", "review the database migration in db/2024/0001.sql"],
        &["match", "review the database migration", "--file", "db/0001.sql"],
        &["match", "review the database migration", "--file", "src/main.rs"],
        &["match", "$migrations please"],
        &["match", "review the database migration", "--json"],
        &["prompt"],
        &["prompt", "--file", "schema.prisma"],
        &["prompt", "--query", "what is in db/a.sql?"],
        &["why", "migrations"],
    ]));
}

#[test]
fn commands_of_other_agents() {
    let env = env();
    env.file(
        "~/.claude/commands/github/fix.md",
        "---\ndescription: Fixes an issue.\nargument-hint: [number]\n---\nFix $0.\n",
    );
    env.file("~/.codex/prompts/draft.md", "Draft $1.\n");
    env.file(".claude/commands/local.md", "Do it.\n");
    assert_snapshot!(env.runs(&[
        &["list", "--all"],
        &["why", "github:fix"],
        &["why", "draft"],
        &["why", "local"],
        &["activate", "github:fix", "--args", "12"],
        &["activate", "draft", "--args", "a-letter"],
        &["activate", "local"],
        &["info", "github:fix"],
        &["files", "github:fix"],
        &["read", "github:fix", "fix.md"],
        &["run", "github:fix", "fix.md"],
        &["remove", "github:fix", "--yes"],
    ]));
    assert_eq!(env.run(&["audit", "github:fix"]).code, 0);
    let json = env.run(&["list", "--json"]).json();
    let fix = json["skills"]
        .as_array()
        .unwrap()
        .iter()
        .find(|skill| skill["name"] == "github:fix")
        .unwrap()
        .clone();
    assert_eq!((&fix["kind"], &fix["argument_hint"]), (&"command".into(), &"[number]".into()));
}

#[test]
fn hooks_know_the_files_of_a_message() {
    let env = env();
    let hint = |message: &str, args: &[&str]| {
        let event = json!({"cwd": env.path(""), "hook_event_name": "UserPromptSubmit", "prompt": message});
        let args = [&["hook", "prompt", "--client", "claude-code"], args].concat();
        env.run_with(&args, &event.to_string()).out
    };
    let message = "please review the database migrations and schema changes";
    assert_eq!(hint(message, &[]), "");
    assert_eq!(hint(message, &["--file", "src/main.rs"]), "");
    for answer in [hint(&format!("{message} in db/1.sql"), &[]), hint(message, &["--file", "db/1.sql"])] {
        assert!(answer.contains("migrations"), "{answer}");
    }
    let event = |attachments: Value| {
        let event = json!({
            "cursor_version": "3.20.17", "workspace_roots": [env.path("")], "prompt": message, "attachments": attachments,
        });
        env.run_with(&["hook", "prompt", "--client", "cursor"], &event.to_string()).out
    };
    assert_eq!(event(json!([{"type": "file"}, 3, null])), "");
    let file = env.path("db/1.sql");
    assert!(event(json!([{"type": "file", "file_path": file}])).contains("migrations"));
}
