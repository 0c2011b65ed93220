//! Entries of others, broken files, links, several files, files that change meanwhile.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;

use super::super::{Action, CLIENTS, Name, Server, Trace, client, plan_install, plan_uninstall, trace};
use super::{World, name, stdio};
use crate::place::For;

fn at(world: &World, inner: &str, text: &str) -> std::path::PathBuf {
    let path = world.path(inner);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn an_entry_of_somebody_else_is_replaced_only_on_purpose_and_keeps_its_other_fields() {
    let world = World::new();
    let path = at(
        &world,
        "home/.cursor/mcp.json",
        "{\"mcpServers\": {\"prowess\": {\"command\": \"old\", \"env\": {\"A\": \"b\"}, \"note\": 1}}}",
    );
    let cursor = client("cursor").unwrap();
    let plan = plan_install(&world.machine(), cursor, For::User, &name(), &stdio()).unwrap();
    assert!(plan.action == Action::Replace && plan.action.needs_consent());
    plan.perform(&world.machine()).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\"mcpServers\": {\"prowess\": {\"command\": \"prowess\", \"env\": {\"A\": \"b\"}, \"note\": 1, \
         \"args\": [\"mcp\"]}}}"
    );
    // What others add later is no reason to write anything.
    let plan = plan_install(&world.machine(), cursor, For::User, &name(), &stdio()).unwrap();
    assert_eq!(plan.action, Action::Keep);
    // From a program to a running server: what belongs to the program goes.
    let server = Server::http("http://127.0.0.1:7878", None).unwrap();
    plan_install(&world.machine(), cursor, For::User, &name(), &server)
        .unwrap()
        .perform(&world.machine())
        .unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\"mcpServers\": {\"prowess\": {\"note\": 1, \"url\": \"http://127.0.0.1:7878/mcp\"}}}"
    );
}

#[test]
fn what_does_not_look_like_ours_is_not_removed_unasked() {
    let world = World::new();
    at(&world, "home/.cursor/mcp.json", "{\"mcpServers\": {\"prowess\": {\"command\": \"other\"}}}");
    let plan = plan_uninstall(&world.machine(), client("cursor").unwrap(), For::User, &name()).unwrap();
    assert_eq!((plan.action, plan.action.needs_consent()), (Action::RemoveOther, true));
}

#[test]
fn a_broken_file_is_told_with_its_place_and_left_alone() {
    let world = World::new();
    let mut told = String::new();
    for (inner, id, text) in [
        (
            "home/.claude.json",
            "claude-code",
            "{\n  \"mcpServers\": {\n    \"a\": {}\n    \"b\": {}\n  }\n}\n",
        ),
        ("home/.config/zed/settings.json", "zed", "// mine\n{\n  \"context_servers\": [1,\n"),
        ("home/.codex/config.toml", "codex", "[mcp_servers.a]\ncommand = npx\n"),
        ("home/.config/goose/config.yaml", "goose", "extensions:\n  a: [\n"),
        ("home/.gemini/settings.json", "gemini", "{\"mcpServers\": null}"),
    ] {
        let path = at(&world, inner, text);
        let error =
            plan_install(&world.machine(), client(id).unwrap(), For::User, &name(), &stdio()).unwrap_err();
        let home = world.path("home").display().to_string();
        told +=
            &format!("{} ({})\n", error.to_string().replace(&home, "~"), error.hint().unwrap_or_default());
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    assert_snapshot!(told);
}

#[test]
fn links_and_modes_stay() {
    let world = World::new();
    let real = at(&world, "dotfiles/codex.toml", "# mine\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(world.path("home/.codex")).unwrap();
    let link = world.path("home/.codex/config.toml");
    symlink("../../dotfiles/codex.toml", &link).unwrap();
    let machine = world.machine();
    let codex = client("codex").unwrap();
    plan_install(&machine, codex, For::User, &name(), &stdio()).unwrap().perform(&machine).unwrap();
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("[mcp_servers.prowess]"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    plan_uninstall(&machine, codex, For::User, &name()).unwrap().perform(&machine).unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "# mine\n");
}

#[test]
fn a_project_that_links_elsewhere_is_refused() {
    let world = World::new();
    let secret = at(&world, "home/secret.json", "{}");
    symlink(&secret, world.path("project/.mcp.json")).unwrap();
    let machine = world.machine();
    let plan =
        plan_install(&machine, client("claude-code").unwrap(), For::Project, &name(), &stdio()).unwrap();
    let error = plan.perform(&machine).unwrap_err().to_string();
    assert!(error.ends_with("is reached through a link, which is not followed"), "{error}");
    assert_eq!(fs::read_to_string(secret).unwrap(), "{}");
}

#[test]
fn a_file_that_changes_meanwhile_is_left_alone() {
    let world = World::new();
    let path = at(&world, "home/.claude.json", "{}");
    let machine = world.machine();
    let plan = plan_install(&machine, client("claude-code").unwrap(), For::User, &name(), &stdio()).unwrap();
    fs::write(&path, "{\"theirs\": 1}").unwrap();
    let error = plan.perform(&machine).unwrap_err();
    assert_eq!(error.code(), prowess::ErrorCode::Conflict);
    assert_eq!(fs::read_to_string(path).unwrap(), "{\"theirs\": 1}");
}

#[test]
fn of_several_files_the_one_that_is_there_is_used() {
    let world = World::new();
    let opencode = client("opencode").unwrap();
    let jsonc = at(&world, "home/.config/opencode/opencode.jsonc", "{}");
    let plan = plan_install(&world.machine(), opencode, For::User, &name(), &stdio()).unwrap();
    assert_eq!(plan.file, jsonc);
    plan.perform(&world.machine()).unwrap();
    at(&world, "home/.config/opencode/opencode.json", "{}");
    let plan = plan_install(&world.machine(), opencode, For::User, &name(), &stdio()).unwrap();
    assert_eq!((plan.file, plan.action), (jsonc, Action::Keep));
}

#[test]
fn a_large_history_is_no_obstacle() {
    let world = World::new();
    let history: Vec<String> = (0..40_000).map(|at| format!("    \"prompt {at}\"")).collect();
    let text = format!("{{\n  \"history\": [\n{}\n  ],\n  \"mcpServers\": {{}}\n}}\n", history.join(",\n"));
    let path = at(&world, "home/.claude.json", &text);
    let machine = world.machine();
    let code = client("claude-code").unwrap();
    plan_install(&machine, code, For::User, &name(), &stdio()).unwrap().perform(&machine).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("prowess"));
    plan_uninstall(&machine, code, For::User, &name()).unwrap().perform(&machine).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    fs::write(&path, vec![b' '; 17 * 1024 * 1024]).unwrap();
    let error = plan_install(&machine, code, For::User, &name(), &stdio()).unwrap_err();
    assert!(error.to_string().contains("16777216 bytes"), "{error}");
}

#[test]
fn clients_are_noticed_by_what_they_keep_and_by_their_programs() {
    let world = World::new();
    let noticed = || -> Vec<&str> {
        CLIENTS
            .iter()
            .filter(|client| trace(&world.machine(), client).is_some())
            .map(|client| client.id)
            .collect()
    };
    assert_eq!(noticed(), Vec::<&str>::new());
    at(&world, "home/.codex/auth.json", "{}");
    let program = at(&world, "bin/gemini", "");
    assert_eq!(noticed(), ["codex"]);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(noticed(), ["codex", "gemini"]);
    assert_eq!(trace(&world.machine(), client("gemini").unwrap()), Some(Trace::Program(program)));
}

#[test]
fn the_command_is_a_name_only_where_that_finds_it() {
    let world = World::new();
    let real = at(&world, "opt/prowess-1.2", "");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o755)).unwrap();
    let told = |by_name| world.machine().command(&real, by_name);
    assert_eq!(told(true), real);
    symlink(&real, world.path("bin/prowess")).unwrap();
    assert_eq!(told(true).to_str(), Some("prowess"));
    assert_eq!(told(false), world.path("bin/prowess"));
    let other = at(&world, "opt/other", "");
    assert_eq!(world.machine().command(&other, true), other);
}

/// A folder that is left behind would look like a client that is installed.
#[test]
fn folders_that_held_nothing_else_go_with_the_file() {
    let world = World::new();
    let (machine, codex) = (world.machine(), client("codex").unwrap());
    for scope in [For::User, For::Project] {
        let there = |world: &World| {
            let base = if scope == For::User { "home" } else { "project" };
            world.path(&format!("{base}/.codex")).exists()
        };
        let install =
            || plan_install(&machine, codex, scope, &name(), &stdio()).unwrap().perform(&machine).unwrap();
        let uninstall =
            || plan_uninstall(&machine, codex, scope, &name()).unwrap().perform(&machine).unwrap();
        install();
        assert!(there(&world));
        uninstall();
        assert!(!there(&world) && world.path("home").exists() && world.path("project").exists());
    }
    at(&world, "home/.codex/auth.json", "{}");
    plan_install(&machine, codex, For::User, &name(), &stdio()).unwrap().perform(&machine).unwrap();
    plan_uninstall(&machine, codex, For::User, &name()).unwrap().perform(&machine).unwrap();
    assert!(world.path("home/.codex/auth.json").exists() && !world.path("home/.codex/config.toml").exists());
}

#[test]
fn names_that_are_not_taken() {
    for bad in ["", "1a", "-a", "a b", "a.b", "é", "a\u{202e}", &"a".repeat(33)] {
        assert!(Name::parse(bad).is_err(), "{bad}");
    }
    let odd = Name::parse("Skills_of-2").unwrap();
    let world = World::new();
    let plan = plan_install(&world.machine(), client("codex").unwrap(), For::User, &odd, &stdio()).unwrap();
    plan.perform(&world.machine()).unwrap();
    assert!(fs::read_to_string(&plan.file).unwrap().starts_with("[mcp_servers.Skills_of-2]\n"));
}
