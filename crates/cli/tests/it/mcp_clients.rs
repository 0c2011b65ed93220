//! `prowess mcp install`, `uninstall` and `clients`: an entry for Prowess in the configuration of MCP clients.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::world::World;
use crate::world::terminal::Dialogue;
use insta::assert_snapshot;

/// A world with Prowess on `PATH`, so that no snapshot has the path of this build.
fn world() -> World {
    let world = World::new();
    symlink(env!("CARGO_BIN_EXE_prowess"), world.path("../bin/prowess")).unwrap();
    world
}

const CURSOR: &str =
    "{\n  \"mcpServers\": {\n    \"other\": {\"url\": \"https://example.com/mcp\"}\n  }\n}\n";

#[test]
fn help() {
    let world = World::new();
    let help = ["install", "uninstall", "clients"].map(|command| {
        let told = world.run(&["mcp", command, "-h"]);
        assert_eq!((told.err.as_str(), told.code), ("", 0));
        told.out.split("Global options:").next().unwrap().to_owned()
    });
    assert_snapshot!(help.join("----------\n"));
}

#[test]
fn which_clients_are_here() {
    let world = world();
    assert_snapshot!("no_client", world.runs(&[&["mcp", "install"], &["mcp", "install", "--all"]]));
    world.program("gemini").file("~/.cursor/mcp.json", CURSOR).file("~/.config/zed/settings.json", "{\n");
    world.file("~/.codex/config.toml", "").file("~/.config/opencode/x", "");
    world.file("~/.config/Code/User/mcp.json", "{\"servers\": {\"prowess\": {\"command\": \"other\"}}}");
    assert_eq!(world.run(&["mcp", "install", "--client", "codex"]).code, 0);
    assert_eq!(world.run(&["mcp", "install", "--client", "claude-code", "--project"]).code, 0);
    assert_snapshot!(world.runs(&[&["mcp", "clients"], &["mcp", "install"]]));
    assert_snapshot!("clients_json", world.run(&["mcp", "clients", "--json"]).whole());
}

#[test]
fn connecting_and_disconnecting() {
    let world = world();
    world.file("~/.cursor/mcp.json", CURSOR);
    let before = world.listing();
    let both = ["--client", "codex", "--client", "cursor"];
    let call = |words: &[&'static str]| [words, &both[..]].concat();
    assert_snapshot!(world.runs(&[&call(&["mcp", "install", "--dry-run"])]));
    assert_eq!(world.listing(), before);
    assert_snapshot!(
        "connected",
        world.runs(&[
            &call(&["mcp", "install"]),
            &call(&["mcp", "install"]),
            &call(&["mcp", "install", "--json"]),
            &call(&["mcp", "uninstall", "--dry-run"]),
        ])
    );
    assert_snapshot!(
        "disconnected",
        world.runs(&[
            &call(&["mcp", "uninstall"]),
            &call(&["mcp", "uninstall"]),
            &call(&["mcp", "uninstall", "--json"]),
        ])
    );
    assert_eq!(world.text("~/.cursor/mcp.json"), CURSOR);
    assert_eq!(world.tree("~/.codex"), Vec::<String>::new());
}

#[test]
fn what_is_carried_into_the_entry() {
    let world = world();
    let print = |words: &[&str]| world.run(&[&["mcp", "install", "--print"], words].concat());
    fs::create_dir(world.path("skills")).unwrap();
    let told = print(&["--client", "codex", "--preset", "chat", "--root", "skills", "--root", "/tmp"]);
    fs::remove_dir(world.path("skills")).unwrap();
    assert_snapshot!(told.whole());
    assert_snapshot!("by_path_for_the_desktop", print(&["--client", "vscode", "--json"]).whole());
    assert_snapshot!("by_name_in_a_project", print(&["--client", "vscode", "--project"]).whole());
    assert_snapshot!(
        "a_running_server",
        print(&["--client", "goose", "--http", "https://skills.example.com", "--token-env", "TOKEN"]).whole()
    );
    assert_eq!((world.tree("~/"), world.tree("")), (Vec::new(), Vec::new()));
}

#[test]
fn the_command_is_a_path_where_the_name_does_not_find_it() {
    let world = World::new();
    let told = world.run(&["mcp", "install", "--client", "codex", "--project"]);
    assert_eq!(told.code, 0, "{}", told.whole());
    assert!(told.err.contains("others need Prowess at the same path"), "{}", told.err);
    let real = fs::canonicalize(env!("CARGO_BIN_EXE_prowess")).unwrap();
    let text = world.text(".codex/config.toml");
    assert!(text.contains(&format!("command = \"{}\"", real.display())), "{text}");
}

#[test]
fn an_entry_that_says_something_else() {
    let world = world();
    let theirs = "{\"servers\": {\"prowess\": {\"command\": \"other\", \"env\": {\"A\": \"b\"}}}} // mine\n";
    world.file(".vscode/mcp.json", theirs);
    let install = ["mcp", "install", "--client", "vscode", "--project"];
    let uninstall = ["mcp", "uninstall", "--client", "vscode", "--project"];
    assert_snapshot!(world.runs(&[
        &install,
        &[&install[..], &["--json"]].concat(),
        &[&install[..], &["--dry-run"]].concat(),
        &uninstall,
        &[&uninstall[..], &["--json"]].concat(),
    ]));
    assert_eq!(world.text(".vscode/mcp.json"), theirs);
    assert_eq!(world.run(&[&install[..], &["--force"]].concat()).code, 0);
    assert_snapshot!("replaced", world.text(".vscode/mcp.json"));
    assert_eq!(world.run(&uninstall).code, 0);
    assert_eq!(world.text(".vscode/mcp.json"), "{\"servers\": {}} // mine\n");
}

#[test]
fn somebody_is_asked_on_a_terminal() {
    let world = world().variable("NO_COLOR", "1");
    world.file("~/.gemini/settings.json", "{\"mcpServers\": {\"prowess\": {\"command\": \"other\"}}}");
    let ask = |answer: &str| {
        let mut dialogue = Dialogue::start(&world, &["mcp", "install", "--client", "gemini"]);
        dialogue.until("Replace it? [y/N] ").answer(answer).whole()
    };
    assert_snapshot!(format!("{}\n{}", ask("n"), ask("y")));
}

#[test]
fn broken_files_are_told_and_left_alone() {
    let world = world();
    world
        .file("~/.claude.json", "{\n  \"mcpServers\": {\n    \"a\": {}\n    \"b\": {}\n  }\n}\n")
        .file("~/.codex/config.toml", "a = = 1\n")
        .file("~/.config/goose/config.yaml", "extensions:\n  a: [\n");
    let before = world.listing();
    assert_snapshot!(world.runs(&[
        &["mcp", "install", "--client", "claude-code"],
        &["mcp", "install", "--client", "codex", "--json"],
        &["mcp", "uninstall", "--client", "goose"],
        // One that cannot be read stops the rest, before anything is written.
        &["mcp", "install", "--all"],
    ]));
    assert_eq!(world.listing(), before);
}

#[test]
fn links_are_written_through_in_the_home_and_refused_in_a_project() {
    let world = world();
    world.file("~/dotfiles/zed.json", "// mine\n{\n  \"theme\": \"dark\",\n}\n");
    fs::create_dir_all(world.path("~/.config/zed")).unwrap();
    symlink("../../dotfiles/zed.json", world.path("~/.config/zed/settings.json")).unwrap();
    fs::set_permissions(world.path("~/dotfiles/zed.json"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(world.run(&["mcp", "install", "--client", "zed"]).code, 0);
    assert!(world.path("~/.config/zed/settings.json").is_symlink());
    assert_snapshot!(world.filtered(&world.text("~/dotfiles/zed.json")));
    let mode = fs::metadata(world.path("~/dotfiles/zed.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    symlink("../home/dotfiles/zed.json", world.path(".mcp.json")).unwrap();
    let told = world.run(&["mcp", "install", "--client", "claude-code", "--project"]);
    assert_snapshot!("a_link_in_a_project", told.whole());
}

#[test]
fn what_a_client_cannot_do() {
    let world = world();
    world.file("~/.config/zed/settings.json", "{}").file("~/.config/Claude/x", "").file("~/.codex/x", "");
    let before = world.listing();
    let http = "http://127.0.0.1:7878";
    assert_snapshot!(world.runs(&[
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
    assert_eq!(world.listing(), before);
}

/// A variable that moves a client's files counts, unless another home was chosen: it speaks of the real one.
#[test]
fn variables_of_clients_count_only_in_the_real_home() {
    let world = world();
    let elsewhere = world.path("../elsewhere").display().to_string();
    let world = world.variable("CODEX_HOME", &elsewhere);
    assert_eq!(world.run(&["mcp", "install", "--client", "codex"]).code, 0);
    assert!(world.path("~/.codex/config.toml").is_file() && !world.path("../elsewhere").exists());
    let mut command = world.command(&["mcp", "install", "--client", "codex"]);
    let output = command.env_remove("PROWESS_HOME").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(world.path("../elsewhere/config.toml").is_file());
    assert!(!world.path("../nowhere").exists());
}

/// What `docs/mcp.md` types is typed here, and what it prints comes.
#[test]
fn the_manual_is_true() {
    let world = world();
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md")).unwrap();
    let section = text.split("\n## Connecting a client\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
    let mut typed = 0;
    for part in blocks.flat_map(|block| block.split("$ prowess ").skip(1)) {
        let (command, expected) = part.split_once('\n').unwrap();
        let told = world.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(format!("{}{}", told.out, told.err), expected, "$ prowess {command}");
        typed += 1;
    }
    assert!(typed >= 4);
    for client in prowess_package::connect::CLIENTS {
        assert!(section.contains(&format!("| `{}` | `{}` |", client.id, client.section)), "{}", client.id);
    }
}
