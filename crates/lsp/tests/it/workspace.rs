//! The skills of the workspace.

use prowess_lsp::ServerOptions;
use serde_json::{Value, json};

use crate::support::{Session, capabilities, skill};

fn hover(session: &mut Session, name: &str) -> bool {
    let marked = skill("own", &format!("Use /{}|{}.", &name[..1], &name[1..]));
    session.ask("textDocument/hover", "own/SKILL.md", &marked).unwrap() != Value::Null
}

#[test]
fn the_workspace_is_searched_with_progress() {
    let mut session = Session::uninitialized(ServerOptions::default());
    for name in ["csv", "docx"] {
        session.write(&format!("skills/{name}/SKILL.md"), &skill(name, "x"));
    }
    session.write("node_modules/hidden/SKILL.md", &skill("hidden", "x"));
    session.initialize(capabilities(), json!({}));
    let registration = session.wait_for("client/registerCapability");
    assert_eq!(registration["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    assert_eq!(session.wait_for("window/workDoneProgress/create")["token"], "prowess/scan");
    let steps: Vec<_> = (0..3).map(|_| session.wait_for("$/progress")["value"].clone()).collect();
    assert_eq!(
        steps,
        [
            json!({"kind": "begin", "title": "prowess", "message": "searching for skills"}),
            json!({"kind": "report", "message": "comparing 2 skills"}),
            json!({"kind": "end", "message": "2 skills"}),
        ]
    );
    assert!(hover(&mut session, "csv") && hover(&mut session, "docx") && !hover(&mut session, "hidden"));
}

#[test]
fn configured_directories_are_searched_too() {
    let roots = tempfile::tempdir().unwrap();
    std::fs::create_dir(roots.path().join("csv")).unwrap();
    std::fs::write(roots.path().join("csv/SKILL.md"), skill("csv", "x")).unwrap();
    let options = ServerOptions { roots: vec![roots.path().into()], ..ServerOptions::default() };
    let mut session = Session::uninitialized(options);
    session.initialize(capabilities(), json!({}));
    session.wait_for("workspace/codeLens/refresh");
    assert!(hover(&mut session, "csv"));
}

#[test]
fn changes_on_disk_are_noticed() {
    let mut session = Session::start();
    session.wait_for("workspace/codeLens/refresh");
    assert!(!hover(&mut session, "csv"));
    session.write("csv/SKILL.md", &skill("csv", "x"));
    let changed = |session: &Session, kind: u32| json!({"changes": [{"uri": session.uri("csv/SKILL.md"), "type": kind}]});
    session.notify("workspace/didChangeWatchedFiles", changed(&session, 1));
    // The routing index is built again after the names are known.
    session.wait_for("workspace/codeLens/refresh");
    assert!(hover(&mut session, "csv"));
    std::fs::remove_file(session.path("csv/SKILL.md")).unwrap();
    session.notify("workspace/didChangeWatchedFiles", changed(&session, 3));
    assert!(!hover(&mut session, "csv"));
}

#[test]
fn a_symlink_to_outside_is_not_read() {
    let mut session = Session::start();
    session.wait_for("workspace/codeLens/refresh");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("SKILL.md"), skill("outside", "x")).unwrap();
    prowess_fs::create_dir_all(&session.path("bad")).unwrap();
    prowess_fs::create_symlink(&outside.path().join("SKILL.md"), &session.path("bad/SKILL.md")).unwrap();
    let changes = json!({"changes": [{"uri": session.uri("bad/SKILL.md"), "type": 1}]});
    session.notify("workspace/didChangeWatchedFiles", changes);
    session.wait_for("workspace/codeLens/refresh");
    assert!(!hover(&mut session, "outside"));
}

#[test]
fn folders_can_be_added_and_removed() {
    let mut session = Session::start();
    session.wait_for("workspace/codeLens/refresh");
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("csv")).unwrap();
    std::fs::write(other.path().join("csv/SKILL.md"), skill("csv", "x")).unwrap();
    let folder = json!({"uri": url::Url::from_file_path(other.path()).unwrap(), "name": "other"});
    for (event, expected) in [
        (json!({"event": {"added": [folder], "removed": []}}), true),
        (json!({"event": {"added": [], "removed": [folder]}}), false),
    ] {
        session.notify("workspace/didChangeWorkspaceFolders", event);
        session.wait_for("workspace/codeLens/refresh");
        assert_eq!(hover(&mut session, "csv"), expected);
    }
}
