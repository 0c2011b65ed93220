//! `prowess new`.

use crate::support::TestEnv;
use insta::assert_snapshot;

#[test]
fn creates_a_strictly_valid_skill() {
    let env = TestEnv::bare();
    let result = env.run(&["new", "pdf-forms", "--description", "Fills \"forms\": fast.\nUse when asked."]);
    let created = std::fs::read_to_string(env.path(".agents/skills/pdf-forms/SKILL.md")).unwrap();
    assert_snapshot!(result.transcript() + "\n" + &created);
    assert_eq!(env.run(&["check", "--strict"]).code, 0);
}

#[test]
fn trusted_projects_need_no_hint_about_trust() {
    let env = TestEnv::bare();
    env.run(&["trust"]);
    let result = env.run(&["new", "pdf", "--description", "Fills forms."]);
    assert_snapshot!(result.transcript());
    assert!(env.run(&["list"]).out.starts_with("pdf "));
}

#[test]
fn custom_directory_and_json() {
    let env = TestEnv::bare();
    assert_snapshot!(
        env.run(&["new", "pdf", "--description", "Fills forms.", "--dir", "mine", "--json"]).transcript()
    );
    assert!(env.path("mine/pdf/SKILL.md").is_file());
}

#[test]
fn each_preset_has_its_default_directory() {
    for (preset, dir) in [
        ("standard", ".agents/skills"),
        ("app", ".agents/skills"),
        ("skill-tool", "skills"),
        ("harness", ".agent/skills"),
        ("triggers", ".agent/skills"),
        ("chat", ".skills"),
    ] {
        let env = TestEnv::new();
        let result = env.run(&["--preset", preset, "new", "pdf", "--description", "Fills forms."]);
        assert_eq!(result.out, format!("created {dir}/pdf/SKILL.md\n"), "{preset}");
        assert!(env.path(dir).join("pdf/SKILL.md").is_file());
    }
}

#[test]
fn errors_have_hints() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/pdf");
    let long = "x".repeat(1025);
    let mut result = env.runs(&[
        &["new", "pdf", "--description", "Fills forms."],
        &["new", "pdf", "--description", "Fills forms.", "--json"],
        &["new", "PDF_Forms", "--description", "Fills forms."],
        &["new", "../up", "--description", "Fills forms."],
        &["new", "", "--description", "Fills forms."],
        &["new", "empty", "--description", ""],
        &["new", "long", "--description", &long],
        &["new", "hidden", "--description", "Fills\u{202e} forms.\u{1b}[31m"],
        &["new", "forms"],
    ]);
    result =
        result.replace(&long, "[1025 CHARACTERS]").replace('\u{1b}', "[ESC]").replace('\u{202e}', "[RLO]");
    assert_snapshot!(result);
    let created: Vec<_> = std::fs::read_dir(env.path(".agents/skills")).unwrap().collect();
    assert_eq!(created.len(), 1);
}

#[test]
fn only_leftovers_of_killed_processes_are_removed() {
    let env = TestEnv::bare();
    // An unused process id, one of a running process, and a directory of the user.
    let (dead, living) = (".prowess-new-999999999", format!(".prowess-new-{}", std::process::id()));
    for name in [dead, &living, ".prowess-new-mine"] {
        env.file(&format!(".agents/skills/{name}/SKILL.md"), "half");
    }
    assert_eq!(env.run(&["new", "pdf", "--description", "Fills forms."]).code, 0);
    let left = [dead, &living, ".prowess-new-mine", "pdf"];
    let left = left.map(|name| env.path(&format!(".agents/skills/{name}")).exists());
    assert_eq!(left, [false, true, true, true]);
}
