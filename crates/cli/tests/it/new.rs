//! `prowess new`.

use crate::support::TestEnv;
use crate::support::terminal::TerminalSession;
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

#[test]
fn each_template_is_valid_and_clean() {
    for template in ["instructions", "script", "toolset", "references"] {
        let env = TestEnv::bare();
        let description = "Fills forms. Use when a form is to be filled.";
        let args = ["new", "pdf-forms", "--description", description, "--template", template];
        let created = env.run(&args);
        let files: Vec<_> = env
            .tree(".agents/skills/pdf-forms")
            .into_iter()
            .filter(|path| env.path(&format!(".agents/skills/pdf-forms/{path}")).is_file())
            .map(|path| format!("==> {path}\n{}", env.text(&format!(".agents/skills/pdf-forms/{path}"))))
            .collect();
        assert_snapshot!(format!("template_{template}"), created.transcript() + "\n" + &files.join("\n"));
        let strict = if template == "toolset" { "--deny=warnings" } else { "--strict" };
        let check =
            env.run(&["check", strict, "--fail-on", "info"][..if template == "toolset" { 2 } else { 4 }]);
        assert_eq!(check.code, 0, "{}", check.out);
        let audit = env.run(&["audit", "--fail-on", "low"]);
        assert_eq!(audit.code, 0, "{}", audit.out);
    }
}

#[test]
fn a_missing_name_or_description_is_asked_only_on_a_terminal() {
    let env = TestEnv::bare();
    assert_snapshot!(env.runs(&[
        &["new"],
        &["new", "pdf"],
        &["new", "pdf", "--json"],
        &["new", "pdf", "-t", "scripts"]
    ]));
}

#[test]
fn questions_on_a_terminal() {
    let env = TestEnv::bare();
    let mut session = TerminalSession::start(&env, &["new"]);
    session.until("Name of the skill: ").answer("PDF Forms").until("Name of the skill: ").answer("pdf-forms");
    session.until("when should it be used? ").answer("Fills forms. Use when asked.");
    session.until("Template [1]: ").answer("seven").until("Template [1]: ").answer("2");
    assert_snapshot!(session.end().0);
    assert!(env.path(".agents/skills/pdf-forms/scripts/main.py").is_file());
    assert_eq!(env.run(&["check", "--strict"]).code, 0);
}

#[test]
fn shells_complete_the_templates() {
    let env = TestEnv::bare();
    let script = env.run(&["completions", "bash"]).out;
    assert!(script.contains("instructions script toolset references"));
}
