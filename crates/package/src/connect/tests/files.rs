//! Entries of other programs, broken files, symlinks, several files, concurrent changes.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;

use super::super::{
    CLIENTS, ClientTrace, ConnectAction, ConnectError, ServerName, ServerSpec, find_client, find_trace,
    plan_install, plan_uninstall,
};
use super::{TestHome, plan_entry, server_name, stdio_server};
use crate::install_target::InstallScope;

fn write_file(home: &TestHome, inner: &str, text: &str) -> std::path::PathBuf {
    let path = home.path(inner);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn an_unrelated_entry_is_replaced_only_with_consent_and_keeps_its_other_fields() {
    let home = TestHome::new();
    let path = write_file(
        &home,
        "home/.cursor/mcp.json",
        "{\"mcpServers\": {\"prowess\": {\"command\": \"old\", \"env\": {\"A\": \"b\"}, \"note\": 1}}}",
    );
    let cursor = find_client("cursor").unwrap();
    let plan = plan_entry(&home.client_env(), cursor, InstallScope::User).unwrap();
    assert!(plan.change.action == ConnectAction::Replace && plan.change.action.needs_consent());
    plan.change.perform(&home.client_env()).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\"mcpServers\": {\"prowess\": {\"command\": \"prowess\", \"env\": {\"A\": \"b\"}, \"note\": 1, \
         \"args\": [\"mcp\"]}}}"
    );
    // Fields that others add later do not cause a write.
    let plan = plan_entry(&home.client_env(), cursor, InstallScope::User).unwrap();
    assert_eq!(plan.change.action, ConnectAction::Keep);
    // Replacing a program by a running server removes the program's fields.
    let server = ServerSpec::http("http://127.0.0.1:7878", None).unwrap();
    plan_install(&home.client_env(), cursor, InstallScope::User, &server_name(), &server)
        .unwrap()
        .change
        .perform(&home.client_env())
        .unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\"mcpServers\": {\"prowess\": {\"note\": 1, \"url\": \"http://127.0.0.1:7878/mcp\"}}}"
    );
}

#[test]
fn removing_an_unrelated_entry_needs_consent() {
    let home = TestHome::new();
    write_file(&home, "home/.cursor/mcp.json", "{\"mcpServers\": {\"prowess\": {\"command\": \"other\"}}}");
    let plan = plan_uninstall(
        &home.client_env(),
        find_client("cursor").unwrap(),
        InstallScope::User,
        &server_name(),
    )
    .unwrap();
    assert_eq!((plan.change.action, plan.change.action.needs_consent()), (ConnectAction::RemoveOther, true));
}

#[test]
fn a_broken_file_is_reported_with_its_location_and_not_changed() {
    let home = TestHome::new();
    let mut report = String::new();
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
        let path = write_file(&home, inner, text);
        let error = plan_install(
            &home.client_env(),
            find_client(id).unwrap(),
            InstallScope::User,
            &server_name(),
            &stdio_server(),
        )
        .unwrap_err();
        let home_path = home.path("home").display().to_string();
        report += &format!(
            "{} ({})\n",
            error.to_string().replace(&home_path, "~"),
            error.hint().unwrap_or_default()
        );
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    assert_snapshot!(report);
}

#[test]
fn symlinks_and_modes_are_preserved() {
    let home = TestHome::new();
    let real = write_file(&home, "dotfiles/codex.toml", "# mine\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(home.path("home/.codex")).unwrap();
    let link = home.path("home/.codex/config.toml");
    symlink("../../dotfiles/codex.toml", &link).unwrap();
    let machine = home.client_env();
    let codex = find_client("codex").unwrap();
    plan_entry(&machine, codex, InstallScope::User).unwrap().change.perform(&machine).unwrap();
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("[mcp_servers.prowess]"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    plan_uninstall(&machine, codex, InstallScope::User, &server_name())
        .unwrap()
        .change
        .perform(&machine)
        .unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "# mine\n");
}

#[test]
fn a_symlink_out_of_a_project_is_rejected() {
    let home = TestHome::new();
    let secret = write_file(&home, "home/secret.json", "{}");
    symlink(&secret, home.path("project/.mcp.json")).unwrap();
    let machine = home.client_env();
    let plan = plan_entry(&machine, find_client("claude-code").unwrap(), InstallScope::Project).unwrap();
    let error = plan.change.perform(&machine).unwrap_err().to_string();
    assert!(error.ends_with("is behind a symlink, which is not followed"), "{error}");
    assert_eq!(fs::read_to_string(secret).unwrap(), "{}");
}

#[test]
fn a_file_that_changed_after_planning_is_not_written() {
    let home = TestHome::new();
    let path = write_file(&home, "home/.claude.json", "{}");
    let machine = home.client_env();
    let plan = plan_entry(&machine, find_client("claude-code").unwrap(), InstallScope::User).unwrap();
    fs::write(&path, "{\"theirs\": 1}").unwrap();
    let error = plan.change.perform(&machine).unwrap_err();
    assert_eq!(ConnectError::from(error).code(), prowess::ErrorCode::Conflict);
    assert_eq!(fs::read_to_string(path).unwrap(), "{\"theirs\": 1}");
}

#[test]
fn the_existing_one_of_several_files_is_used() {
    let home = TestHome::new();
    let opencode = find_client("opencode").unwrap();
    let jsonc = write_file(&home, "home/.config/opencode/opencode.jsonc", "{}");
    let plan = plan_entry(&home.client_env(), opencode, InstallScope::User).unwrap();
    assert_eq!(plan.change.file, jsonc);
    plan.change.perform(&home.client_env()).unwrap();
    write_file(&home, "home/.config/opencode/opencode.json", "{}");
    let plan = plan_entry(&home.client_env(), opencode, InstallScope::User).unwrap();
    assert_eq!((plan.change.file, plan.change.action), (jsonc, ConnectAction::Keep));
}

#[test]
fn a_large_file_is_edited() {
    let home = TestHome::new();
    let history: Vec<String> = (0..40_000).map(|at| format!("    \"prompt {at}\"")).collect();
    let text = format!("{{\n  \"history\": [\n{}\n  ],\n  \"mcpServers\": {{}}\n}}\n", history.join(",\n"));
    let path = write_file(&home, "home/.claude.json", &text);
    let machine = home.client_env();
    let code = find_client("claude-code").unwrap();
    plan_entry(&machine, code, InstallScope::User).unwrap().change.perform(&machine).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("prowess"));
    plan_uninstall(&machine, code, InstallScope::User, &server_name())
        .unwrap()
        .change
        .perform(&machine)
        .unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    fs::write(&path, vec![b' '; 17 * 1024 * 1024]).unwrap();
    let error = plan_entry(&machine, code, InstallScope::User).unwrap_err();
    assert!(error.to_string().contains("16777216 bytes"), "{error}");
}

#[test]
fn clients_are_detected_by_their_files_and_programs() {
    let home = TestHome::new();
    let detected = || -> Vec<&str> {
        CLIENTS
            .iter()
            .filter(|client| find_trace(&home.client_env(), client).is_some())
            .map(|client| client.id)
            .collect()
    };
    assert_eq!(detected(), Vec::<&str>::new());
    write_file(&home, "home/.codex/auth.json", "{}");
    let program = write_file(&home, "bin/gemini", "");
    assert_eq!(detected(), ["codex"]);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(detected(), ["codex", "gemini"]);
    assert_eq!(
        find_trace(&home.client_env(), find_client("gemini").unwrap()),
        Some(ClientTrace::Program(program))
    );
}

#[test]
fn the_command_is_a_name_only_if_path_finds_it() {
    let home = TestHome::new();
    let real = write_file(&home, "opt/prowess-1.2", "");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o755)).unwrap();
    let command = |by_name| home.client_env().command(&real, by_name);
    assert_eq!(command(true), real);
    symlink(&real, home.path("bin/prowess")).unwrap();
    assert_eq!(command(true).to_str(), Some("prowess"));
    assert_eq!(command(false), home.path("bin/prowess"));
    let other = write_file(&home, "opt/other", "");
    assert_eq!(home.client_env().command(&other, true), other);
}

/// A directory that is left behind would look like an installed client.
#[test]
fn directories_that_become_empty_are_removed_with_the_file() {
    let home = TestHome::new();
    let (machine, codex) = (home.client_env(), find_client("codex").unwrap());
    for scope in [InstallScope::User, InstallScope::Project] {
        let exists = |home: &TestHome| {
            let base = if scope == InstallScope::User { "home" } else { "project" };
            home.path(&format!("{base}/.codex")).exists()
        };
        let install = || {
            plan_install(&machine, codex, scope, &server_name(), &stdio_server())
                .unwrap()
                .change
                .perform(&machine)
                .unwrap()
        };
        let uninstall = || {
            plan_uninstall(&machine, codex, scope, &server_name()).unwrap().change.perform(&machine).unwrap()
        };
        install();
        assert!(exists(&home));
        uninstall();
        assert!(!exists(&home) && home.path("home").exists() && home.path("project").exists());
    }
    write_file(&home, "home/.codex/auth.json", "{}");
    plan_entry(&machine, codex, InstallScope::User).unwrap().change.perform(&machine).unwrap();
    plan_uninstall(&machine, codex, InstallScope::User, &server_name())
        .unwrap()
        .change
        .perform(&machine)
        .unwrap();
    assert!(home.path("home/.codex/auth.json").exists() && !home.path("home/.codex/config.toml").exists());
}

#[test]
fn invalid_server_names_are_rejected() {
    for invalid in ["", "1a", "-a", "a b", "a.b", "é", "a\u{202e}", &"a".repeat(33)] {
        assert!(ServerName::parse(invalid).is_err(), "{invalid}");
    }
    let unusual = ServerName::parse("Skills_of-2").unwrap();
    let home = TestHome::new();
    let plan = plan_install(
        &home.client_env(),
        find_client("codex").unwrap(),
        InstallScope::User,
        &unusual,
        &stdio_server(),
    )
    .unwrap();
    plan.change.perform(&home.client_env()).unwrap();
    assert!(fs::read_to_string(&plan.change.file).unwrap().starts_with("[mcp_servers.Skills_of-2]\n"));
}
