//! `prowess mcp install`, `uninstall` and `clients`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::TestEnv;
use crate::support::terminal::TerminalSession;
use insta::assert_snapshot;

fn env() -> TestEnv {
    TestEnv::with_prowess_on_path()
}

const CURSOR: &str =
    "{\n  \"mcpServers\": {\n    \"other\": {\"url\": \"https://example.com/mcp\"}\n  }\n}\n";

#[test]
fn help() {
    assert_snapshot!(TestEnv::new().help("mcp", &["install", "uninstall", "clients"]));
}

#[test]
fn listing_clients() {
    let env = env();
    assert_snapshot!("no_client", env.runs(&[&["mcp", "install"], &["mcp", "install", "--all"]]));
    env.program("gemini").file("~/.cursor/mcp.json", CURSOR).file("~/.config/zed/settings.json", "{\n");
    env.file("~/.codex/config.toml", "").file("~/.config/opencode/x", "");
    env.file("~/.config/Code/User/mcp.json", "{\"servers\": {\"prowess\": {\"command\": \"other\"}}}");
    assert_eq!(env.run(&["mcp", "install", "--client", "codex"]).code, 0);
    assert_eq!(env.run(&["mcp", "install", "--client", "claude-code", "--project"]).code, 0);
    assert_snapshot!(env.runs(&[&["mcp", "clients"], &["mcp", "install"]]));
    assert_snapshot!("clients_json", env.run(&["mcp", "clients", "--json"]).transcript());
}

#[test]
fn connecting_and_disconnecting() {
    let env = env();
    env.file("~/.cursor/mcp.json", CURSOR);
    let before = env.listing();
    let both = ["--client", "codex", "--client", "cursor"];
    let call = |words: &[&'static str]| [words, &both[..]].concat();
    assert_snapshot!(env.runs(&[&call(&["mcp", "install", "--dry-run"])]));
    assert_eq!(env.listing(), before);
    assert_snapshot!(
        "connected",
        env.runs(&[
            &call(&["mcp", "install"]),
            &call(&["mcp", "install"]),
            &call(&["mcp", "install", "--json"]),
            &call(&["mcp", "uninstall", "--dry-run"]),
        ])
    );
    assert_snapshot!(
        "disconnected",
        env.runs(&[
            &call(&["mcp", "uninstall"]),
            &call(&["mcp", "uninstall"]),
            &call(&["mcp", "uninstall", "--json"]),
        ])
    );
    assert_eq!(env.text("~/.cursor/mcp.json"), CURSOR);
    assert_eq!(env.tree("~/.codex"), Vec::<String>::new());
}

#[test]
fn options_are_written_to_the_entry() {
    let env = env();
    let print = |words: &[&str]| env.run(&[&["mcp", "install", "--print"], words].concat());
    fs::create_dir(env.path("skills")).unwrap();
    let result = print(&["--client", "codex", "--preset", "chat", "--root", "skills", "--root", "/tmp"]);
    fs::remove_dir(env.path("skills")).unwrap();
    assert_snapshot!(result.transcript());
    assert_snapshot!("by_path_for_the_desktop", print(&["--client", "vscode", "--json"]).transcript());
    assert_snapshot!("by_name_in_a_project", print(&["--client", "vscode", "--project"]).transcript());
    assert_snapshot!(
        "a_running_server",
        print(&["--client", "goose", "--http", "https://skills.example.com", "--token-env", "TOKEN"])
            .transcript()
    );
    assert_eq!((env.tree("~/"), env.tree("")), (Vec::new(), Vec::new()));
}

#[test]
fn the_command_is_a_path_if_prowess_is_not_on_path() {
    let env = TestEnv::new();
    let result = env.run(&["mcp", "install", "--client", "codex", "--project"]);
    assert_eq!(result.code, 0, "{}", result.transcript());
    assert!(result.err.contains("the entry contains an absolute path"), "{}", result.err);
    let real = fs::canonicalize(env!("CARGO_BIN_EXE_prowess")).unwrap();
    let text = env.text(".codex/config.toml");
    assert!(text.contains(&format!("command = \"{}\"", real.display())), "{text}");
}

#[test]
fn a_different_existing_entry() {
    let env = env();
    let theirs = "{\"servers\": {\"prowess\": {\"command\": \"other\", \"env\": {\"A\": \"b\"}}}} // mine\n";
    env.file(".vscode/mcp.json", theirs);
    let install = ["mcp", "install", "--client", "vscode", "--project"];
    let uninstall = ["mcp", "uninstall", "--client", "vscode", "--project"];
    assert_snapshot!(env.runs(&[
        &install,
        &[&install[..], &["--json"]].concat(),
        &[&install[..], &["--dry-run"]].concat(),
        &uninstall,
        &[&uninstall[..], &["--json"]].concat(),
    ]));
    assert_eq!(env.text(".vscode/mcp.json"), theirs);
    assert_eq!(env.run(&[&install[..], &["--force"]].concat()).code, 0);
    assert_snapshot!("replaced", env.text(".vscode/mcp.json"));
    assert_eq!(env.run(&uninstall).code, 0);
    assert_eq!(env.text(".vscode/mcp.json"), "{\"servers\": {}} // mine\n");
}

#[test]
fn a_server_of_someone_else_is_not_removed_silently() {
    let env = env();
    let theirs = "[mcp_servers.linear]\nurl = \"https://mcp.linear.example/mcp\"\n";
    env.file("~/.codex/config.toml", theirs);
    assert_snapshot!(env.runs(&[&["mcp", "uninstall", "--client", "codex", "--name", "linear"]]));
    assert_eq!(env.text("~/.codex/config.toml"), theirs);
    env.file("~/.codex/config.toml", "[mcp_servers.near]\nurl = \"http://127.0.0.1:8000/mcp\"\n");
    assert_eq!(env.run(&["mcp", "uninstall", "--client", "codex", "--name", "near"]).code, 0);
}

#[test]
fn replacing_asks_for_confirmation_on_a_terminal() {
    let env = env().variable("NO_COLOR", "1");
    env.file("~/.gemini/settings.json", "{\"mcpServers\": {\"prowess\": {\"command\": \"other\"}}}");
    let ask = |answer: &str| {
        let mut session = TerminalSession::start(&env, &["mcp", "install", "--client", "gemini"]);
        session.until("Replace it? [y/N] ").answer(answer).transcript()
    };
    assert_snapshot!(format!("{}\n{}", ask("n"), ask("y")));
}

#[test]
fn invalid_files_are_reported_and_not_changed() {
    let env = env();
    env.file("~/.claude.json", "{\n  \"mcpServers\": {\n    \"a\": {}\n    \"b\": {}\n  }\n}\n")
        .file("~/.codex/config.toml", "a = = 1\n")
        .file("~/.config/goose/config.yaml", "extensions:\n  a: [\n");
    let before = env.listing();
    assert_snapshot!(env.runs(&[
        &["mcp", "install", "--client", "claude-code"],
        &["mcp", "install", "--client", "codex", "--json"],
        &["mcp", "uninstall", "--client", "goose"],
        // An unreadable file stops the command before anything is written.
        &["mcp", "install", "--all"],
    ]));
    assert_eq!(env.listing(), before);
}

#[test]
fn symlinks_are_followed_in_the_home_and_rejected_in_a_project() {
    let env = env();
    env.file("~/dotfiles/zed.json", "// mine\n{\n  \"theme\": \"dark\",\n}\n");
    fs::create_dir_all(env.path("~/.config/zed")).unwrap();
    symlink("../../dotfiles/zed.json", env.path("~/.config/zed/settings.json")).unwrap();
    fs::set_permissions(env.path("~/dotfiles/zed.json"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(env.run(&["mcp", "install", "--client", "zed"]).code, 0);
    assert!(env.path("~/.config/zed/settings.json").is_symlink());
    assert_snapshot!(env.redact(&env.text("~/dotfiles/zed.json")));
    let mode = fs::metadata(env.path("~/dotfiles/zed.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    symlink("../home/dotfiles/zed.json", env.path(".mcp.json")).unwrap();
    let result = env.run(&["mcp", "install", "--client", "claude-code", "--project"]);
    assert_snapshot!("a_link_in_a_project", result.transcript());
}

#[test]
fn unsupported_client_features() {
    let env = env();
    env.file("~/.config/zed/settings.json", "{}").file("~/.config/Claude/x", "").file("~/.codex/x", "");
    let before = env.listing();
    let http = "http://127.0.0.1:7878";
    assert_snapshot!(env.runs(&[
        &["mcp", "install", "--client", "claude-desktop", "--project"],
        &["mcp", "install", "--client", "claude-desktop", "--http", http],
        &["mcp", "install", "--client", "zed", "--http", http, "--token-env", "T"],
        &["mcp", "install", "--all", "--http", http, "--token-env", "T", "--dry-run"],
        &["mcp", "install", "--client", "curser"],
        &["mcp", "install", "--client", "codex", "--name", "my skills"],
        &["mcp", "install", "--client", "codex", "--http", "127.0.0.1:7878"],
        &["mcp", "install", "--client", "codex", "--http", http, "--token-env", "s3cret!"],
        &["mcp", "install", "--client", "codex", "--http", http, "--preset", "chat"],
        &["mcp", "install", "--client", "codex", "--token-env", "T"],
        &["mcp", "install", "--client", "codex", "--all"],
        &["mcp", "install", "--client", "codex", "--print", "--dry-run"],
    ]));
    assert_eq!(env.listing(), before);
}

/// Variables that relocate a client's files are ignored with `--home`, because they refer to the real home.
#[test]
fn client_variables_apply_only_to_the_real_home() {
    let env = env();
    let elsewhere = env.path("../elsewhere").display().to_string();
    let env = env.variable("CODEX_HOME", &elsewhere);
    assert_eq!(env.run(&["mcp", "install", "--client", "codex"]).code, 0);
    assert!(env.path("~/.codex/config.toml").is_file() && !env.path("../elsewhere").exists());
    let mut command = env.command(&["mcp", "install", "--client", "codex"]);
    let output = command.env_remove("PROWESS_HOME").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(env.path("../elsewhere/config.toml").is_file());
    assert!(!env.path("../nowhere").exists());
}

/// Runs the examples of `docs/mcp.md`.
#[test]
fn the_guide_is_correct() {
    let env = env();
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md")).unwrap();
    let section = text.split("\n## Connecting a client\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let typed = env.check_console_blocks(section);
    assert!(typed >= 4);
    for client in prowess_package::connect::CLIENTS {
        assert!(section.contains(&format!("| `{}` | `{}` |", client.id, client.section)), "{}", client.id);
    }
}
