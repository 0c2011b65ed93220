//! Every error has a code and a message without local paths.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::{CallTools, TestEnv, checked, error, one_skill};
use prowess::Preset;
use prowess_tools::Session;
use serde_json::{Value, json};

/// Returns the error of a call that loads a skill, in the preset of document 001.
fn refused(params: Value) -> (String, String) {
    let (_env, toolbox) = one_skill(Preset::SkillTool, "Do $ARGUMENTS.");
    let envelope = checked(toolbox.call(&mut Session::default(), "Skill", params));
    let (code, message) = error(&envelope);
    (code.to_owned(), message.to_owned())
}

fn pair(code: &str, message: &str) -> (String, String) {
    (code.to_owned(), message.to_owned())
}

#[test]
fn s001_19_invalid_parameters() {
    for (params, message) in [
        (json!({}), "name is missing"),
        (json!({"name": null}), "name is missing"),
        (json!({"name": " "}), "name is empty"),
        (json!({"name": 3}), "name must be a string"),
        (json!({"name": "a", "args": ["x"]}), "args must be a string"),
        (json!({"name": "a\0"}), "name contains a NUL character"),
        (json!({"name": "a", "args": "x\0"}), "args contains a NUL character"),
        (json!({"name": "a", "arg": "x"}), "unknown parameter arg; did you mean args?"),
        (json!({"name": "a", "frobnicate": 1}), "unknown parameter frobnicate; valid parameters: name, args"),
        (json!(null), "the parameters must be an object"),
        (json!("a"), "the parameters must be an object"),
    ] {
        assert_eq!(refused(params), pair("INVALID_PARAM", message));
    }
}

#[test]
fn s001_19_unknown_names_are_reported_with_a_suggestion() {
    let project = TestEnv::new(Preset::SkillTool);
    project.skill("code-review", "x");
    let error_text = |name: &str| {
        let envelope = project.call("Skill", json!({"name": name}));
        let (code, message) = error(&envelope);
        format!("{code} {message}")
    };
    assert_eq!(error_text("code-reviw"), "NOT_FOUND skill code-reviw not found; did you mean code-review?");
    assert_eq!(error_text("zzzz"), "NOT_FOUND skill zzzz not found");
    assert_eq!(error_text("x\u{202e}\n\u{1b}[31m"), "NOT_FOUND skill x\\u{202e} \\u{1b}[31m not found");
    assert_eq!(
        error_text("../code-review"),
        "NOT_FOUND skill ../code-review not found; did you mean code-review?"
    );
}

#[test]
fn unknown_and_unavailable_tools() {
    let (_env, toolbox) = one_skill(Preset::SkillTool, "x");
    for (tool, message) in [
        ("Skil", "no tool named Skil; did you mean Skill?"),
        ("rm", "no tool named rm"),
        ("", "no tool named "),
        ("ReadFile", "ReadFile is not available in preset skill-tool"),
        ("skills_activate", "skills_activate is not available in preset skill-tool"),
    ] {
        let envelope = checked(toolbox.call(&mut Session::default(), tool, json!({})));
        assert_eq!(error(&envelope), ("NOT_FOUND", message));
    }
}

/// Root can read everything. If the tests run as root, only the unit test `s001_19_each_failure_has_its_code`
/// in `prowess::activation` covers this code.
#[test]
fn s001_19_unreadable_files_are_permission_errors() {
    let (project, toolbox) = one_skill(Preset::SkillTool, "x");
    let path = project.path("skills/a/SKILL.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&path).is_ok() {
        return;
    }
    let envelope = checked(toolbox.call(&mut Session::default(), "Skill", json!({"name": "a"})));
    assert_eq!(error(&envelope).0, "PERMISSION_DENIED");
    assert!(!project.is_named_in(&envelope.text));
}

/// Changes of `SKILL.md` between discovery and the call.
#[test]
fn s001_19_changes_since_discovery_are_reported_without_a_path() {
    type Change = fn(&TestEnv);
    let changes: [(&str, Change, &str); 7] = [
        ("deleted", |project| fs::remove_file(project.path("skills/a/SKILL.md")).unwrap(), "NOT_FOUND"),
        ("emptied", |project| _ = project.file("skills/a/SKILL.md", ""), "INTERNAL_ERROR"),
        (
            "broken",
            |project| _ = project.file("skills/a/SKILL.md", "---\nname: a\n- b\n---\n"),
            "INTERNAL_ERROR",
        ),
        (
            "without a description",
            |project| _ = project.file("skills/a/SKILL.md", "---\nname: a\n---\n"),
            "INTERNAL_ERROR",
        ),
        (
            "a directory",
            |project| {
                fs::remove_file(project.path("skills/a/SKILL.md")).unwrap();
                fs::create_dir(project.path("skills/a/SKILL.md")).unwrap();
            },
            "EXECUTION_ERROR",
        ),
        (
            "a symlink",
            |project| {
                fs::remove_file(project.path("skills/a/SKILL.md")).unwrap();
                symlink("/etc/passwd", project.path("skills/a/SKILL.md")).unwrap();
            },
            "ACCESS_DENIED",
        ),
        (
            "its directory deleted",
            |project| fs::remove_dir_all(project.path("skills/a")).unwrap(),
            "NOT_FOUND",
        ),
    ];
    for (case, change, code) in changes {
        let mut project = TestEnv::new(Preset::SkillTool);
        project.skill("a", "x");
        // Without a refresh before the call.
        project.policy.refresh = prowess::policy::RefreshPolicy::AtStart;
        let toolbox = project.toolbox();
        change(&project);
        let envelope = checked(toolbox.call(&mut Session::default(), "Skill", json!({"name": "a"})));
        assert_eq!(error(&envelope).0, code, "{case}: {}", envelope.text);
        assert!(!project.is_named_in(&envelope.text) && !envelope.text.contains("/etc"), "{}", envelope.text);
    }
}

#[test]
fn s001_19_an_invalid_skill_reports_its_error_when_it_is_loaded() {
    let project = TestEnv::new(Preset::SkillTool);
    project.skill("a", "x").file("skills/b/SKILL.md", "---\nname: b\ndescription: x\n- y\n---\n");
    let envelope = project.call("Skill", json!({"name": "b"}));
    assert_eq!(error(&envelope).0, "INTERNAL_ERROR", "{}", envelope.text);
    assert!(!project.is_named_in(&envelope.text));
}

#[test]
fn each_status_has_its_error_code() {
    let mut project = TestEnv::new(Preset::Standard);
    let waiting = "---\nname: waiting\ndescription: d\n---\nx";
    project.skill("a", "x").skill("off", "x").file(".agents/skills/waiting/SKILL.md", waiting);
    let needy = "---\nname: needy\ndescription: d\nmetadata: {prowess-requires: frobnicate}\n---\nx";
    project.file("~/.agents/skills/needy/SKILL.md", needy);
    project.policy.selection.disabled = vec!["off".to_owned()];
    for (name, code) in [("off", "DISABLED"), ("waiting", "UNTRUSTED"), ("needy", "UNAVAILABLE")] {
        let envelope = project.call("skills.activate", json!({"name": name}));
        assert_eq!(error(&envelope).0, code, "{}", envelope.text);
        assert!(!project.is_named_in(&envelope.text), "{}", envelope.text);
    }
    for tool in ["skills.readResource", "skills.listResources"] {
        let mut params = json!({"name": "waiting"});
        if tool == "skills.readResource" {
            params["path"] = json!("SKILL.md");
        }
        assert_eq!(error(&project.call(tool, params)).0, "UNTRUSTED", "{tool}");
    }
}

#[test]
fn long_arguments_are_rejected_and_placeholders_in_them_are_text() {
    let (code, message) = refused(json!({"name": "a", "args": "x".repeat(100_000)}));
    assert_eq!(code, "INVALID_PARAM");
    assert!(message.contains("100000 bytes") && message.len() < 200, "{message}");
    let (_env, toolbox) = one_skill(Preset::SkillTool, "Do $ARGUMENTS.");
    let args = "$ARGUMENTS $ARGUMENTS[0] $1 \u{1b}[31mred";
    let envelope = toolbox.call(&mut Session::default(), "Skill", json!({"name": "a", "args": args}));
    assert!(envelope.text.ends_with("Do $ARGUMENTS $ARGUMENTS[0] $1 red."), "{}", envelope.text);
    let big =
        toolbox.call(&mut Session::default(), "Skill", json!({"name": "a", "args": "x".repeat(60_000)}));
    assert!(big.text.len() > 60_000);
}

#[test]
fn s004_16_s004_17_every_error_of_a_resource() {
    let (project, toolbox) = one_skill(Preset::Chat, "x");
    project
        .file(".skills/a/bin.dat", b"\0\x01")
        .file(".skills/a/latin.txt", b"caf\xe9")
        .file(".skills/a/d/x.md", "X");
    symlink("/etc/passwd", project.path(".skills/a/out.md")).unwrap();
    fs::File::create(project.path(".skills/a/huge.md")).unwrap().set_len(1 << 30).unwrap();
    for (path, code) in [
        ("../SKILL.md", "ACCESS_DENIED"),
        ("/etc/passwd", "ACCESS_DENIED"),
        ("d/../../../../etc/passwd", "ACCESS_DENIED"),
        ("out.md", "ACCESS_DENIED"),
        ("bin.dat", "BINARY_FILE"),
        ("latin.txt", "BINARY_FILE"),
        ("d", "IS_DIRECTORY"),
        ("huge.md", "TOO_LARGE"),
        ("no.md", "NOT_FOUND"),
        ("", "INVALID_PARAM"),
        ("a\0b", "INVALID_PARAM"),
    ] {
        let params = json!({"name": "a", "path": path});
        let envelope = checked(toolbox.call(&mut Session::default(), "skills.readResource", params));
        assert_eq!(error(&envelope).0, code, "{path}: {}", envelope.text);
        assert!(
            !project.is_named_in(&envelope.text) && !envelope.text.contains("root:"),
            "{}",
            envelope.text
        );
        if code == "BINARY_FILE" {
            assert!(envelope.text.contains("binary not supported"));
        }
    }
}

#[test]
fn no_error_contains_a_local_path_when_the_skill_is_deleted() {
    for preset in Preset::ALL {
        let mut project = TestEnv::new(preset);
        project.skill("a", "x");
        project.policy.refresh = prowess::policy::RefreshPolicy::AtStart;
        let toolbox = project.toolbox();
        fs::remove_dir_all(project.path(project.root())).unwrap();
        for definition in toolbox.definitions() {
            let mut params = json!({});
            for required in definition.input_schema["required"].as_array().unwrap() {
                params[required.as_str().unwrap()] = json!(if required == "name" { "a" } else { "SKILL.md" });
            }
            let envelope = checked(toolbox.call(&mut Session::default(), &definition.name, params));
            assert!(!project.is_named_in(&envelope.text), "{preset}: {}", envelope.text);
        }
    }
}
