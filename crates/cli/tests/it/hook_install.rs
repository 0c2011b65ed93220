//! `prowess hook install` and `uninstall`.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::TestEnv;
use crate::support::terminal::TerminalSession;
use insta::assert_snapshot;
use prowess_package::connect::hooks::HOOK_CLIENTS;

fn env() -> TestEnv {
    TestEnv::with_prowess_on_path()
}

const CLAUDE: &str = r#"{
  "model": "opus", // mine
  "hooks": {
    "UserPromptSubmit": [
      {"hooks": [{"type": "command", "command": "other-tool"}]}
    ]
  }
}
"#;

#[test]
fn help() {
    assert_snapshot!(TestEnv::new().help("hook", &["install", "uninstall", "prompt"]));
}

#[test]
fn without_a_client_the_clients_of_the_machine_are_listed() {
    let env = env();
    assert_snapshot!("no_client", env.runs(&[&["hook", "install"], &["hook", "install", "--all", "--yes"]]));
    env.program("gemini").file("~/.claude/settings.json", CLAUDE).file("~/.codex/x", "");
    env.file("~/.qwen/settings.json", "{\n").file("~/.config/opencode/x", "");
    assert_eq!(env.run(&["hook", "install", "--client", "codex", "--yes"]).code, 0);
    env.file("~/.config/opencode/plugin/prowess.js", "// mine\n");
    let before = env.listing();
    assert_snapshot!(env.runs(&[
        &["hook", "install"],
        &["hook", "install", "--json"],
        &["hook", "uninstall"]
    ]));
    assert_eq!(env.listing(), before);
}

#[test]
fn each_client_gets_its_hook_and_every_byte_is_restored() {
    let env = env();
    env.file("~/.claude/settings.json", CLAUDE).file(".gemini/settings.json", "{}\n");
    let before = env.listing();
    let mut report = String::new();
    for client in HOOK_CLIENTS {
        for scope in ["--user", "--project"] {
            let install = ["hook", "install", "--client", client.id, scope];
            report += &env.run(&[&install[..], &["--dry-run"]].concat()).transcript();
            let result = env.run(&[&install[..], &["--yes"]].concat());
            assert_eq!(result.code, 0, "{}", result.transcript());
            assert!(env.run(&install).out.contains("already installed"));
            let result = env.run(&["hook", "uninstall", "--client", client.id, scope, "--yes"]);
            assert_eq!(result.code, 0, "{}", result.transcript());
            assert_eq!(env.listing(), before, "{} {scope}", client.id);
        }
    }
    assert_snapshot!(report);
}

#[test]
fn installing_and_uninstalling() {
    let env = env();
    env.file("~/.claude/settings.json", CLAUDE);
    let call = |words: &[&'static str]| [words, &["--client", "claude-code", "--client", "codex"]].concat();
    assert_snapshot!(env.runs(&[
        // Without a terminal, nothing is changed without --yes.
        &call(&["hook", "install"]),
        &call(&["hook", "install", "--json"]),
        &call(&["hook", "install", "--yes"]),
        &call(&["hook", "install", "--yes"]),
        &call(&["hook", "install", "--yes", "--preset", "chat", "--root", "/tmp"]),
        &call(&["hook", "uninstall"]),
        &call(&["hook", "uninstall", "--yes"]),
        &call(&["hook", "uninstall", "--yes", "--json"]),
    ]));
    assert_eq!(env.text("~/.claude/settings.json"), CLAUDE);
    assert_eq!(env.tree("~/.codex"), Vec::<String>::new());
}

#[test]
fn the_change_is_shown_and_confirmed_on_a_terminal() {
    let env = env().variable("NO_COLOR", "1");
    let ask = |answer: &str| {
        let mut session = TerminalSession::start(&env, &["hook", "install", "--client", "gemini"]);
        session.until("Install the hook? [y/N] ").answer(answer).transcript()
    };
    assert_snapshot!(format!("{}\n{}", ask("n"), ask("y")));
}

#[test]
fn errors() {
    let env = env();
    env.file("~/.claude/settings.json", "{\n  \"hooks\": {\n    \"UserPromptSubmit\": {}\n  }\n}\n")
        .file("~/.gemini/settings.json", "{\"hooks\" 1}")
        .file("~/.config/opencode/plugin/prowess.js", "// mine\n");
    symlink("../home/.gemini/settings.json", env.path(".codex")).unwrap();
    let before = env.listing();
    let install = |client: &'static str| ["hook", "install", "--yes", "--client", client];
    assert_snapshot!(env.runs(&[
        &install("claude-code"),
        &install("gemini-cli"),
        &install("opencode"),
        &["hook", "uninstall", "--yes", "--client", "opencode"],
        &[&install("codex")[..], &["--project"]].concat(),
        &install("claud-code"),
        &install("zed"),
        &install("windsurf"),
        &install("nonsense"),
        &["hook", "install", "--yes", "--client", "zed", "--json"],
        &["hook"],
    ]));
    assert_eq!(env.listing(), before);
}

#[test]
fn doctor_lists_hooks_and_the_last_problem() {
    let env = env();
    let hooks = || {
        let out = env.run(&["doctor"]).out;
        let lines = out.lines().skip_while(|line| !line.contains(" hooks "));
        lines.take(2).map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(hooks(), "");
    assert_eq!(env.run(&["hook", "install", "--yes", "--client", "codex"]).code, 0);
    assert_eq!(env.run(&["hook", "install", "--yes", "--client", "claude-code", "--project"]).code, 0);
    let fine = hooks();
    env.file("~/.prowess/state/hook.log", "2026-01-01T00:00:00Z codex: internal error\n");
    assert_snapshot!(fine + &hooks());
}

#[test]
fn client_variables_apply_only_to_the_real_home() {
    let env = env();
    let elsewhere = env.path("../elsewhere").display().to_string();
    let env = env.variable("CLAUDE_CONFIG_DIR", &elsewhere);
    let install = ["hook", "install", "--yes", "--client", "claude-code"];
    assert_eq!(env.run(&install).code, 0);
    assert!(env.path("~/.claude/settings.json").is_file() && !env.path("../elsewhere").exists());
    let output = env.command(&install).env_remove("PROWESS_HOME").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(env.path("../elsewhere/settings.json").is_file());
}

/// Runs the examples of `docs/hooks.md`, and checks its table of clients.
#[test]
fn the_guide_is_correct() {
    let env = env();
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hooks.md")).unwrap();
    let typed = env.check_console_blocks(&text);
    assert!(typed >= 2);
    for client in HOOK_CLIENTS {
        assert!(text.contains(&format!("| `{}` | {} |", client.id, client.title)), "{}", client.id);
    }
}
