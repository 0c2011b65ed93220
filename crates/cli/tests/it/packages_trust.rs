//! Installing and updating trusts only what the user selected, never the contents of a project.

use std::fs;

use crate::support::TestEnv;

/// The lock file determines what is installed, but not that it is trusted.
#[test]
fn updating_a_cloned_project_does_not_trust_it() {
    let env = TestEnv::bare();
    env.skill("../source/pdf");
    assert_eq!(env.run(&["install", "../source/pdf", "--project"]).code, 0);
    assert_eq!(env.run(&["activate", "pdf"]).code, 0);
    env.skill_with_description("../source/pdf", "Does something else.");
    // Another machine, with a clone of the project and its lock file.
    env.file("../other/x", "");
    let other = env.path("../other").canonicalize().unwrap();
    let run_elsewhere = |args: &[&'static str]| {
        let home = ["--home".to_owned(), other.to_str().unwrap().to_owned()];
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).chain(home).collect();
        env.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(run_elsewhere(&["update", "--yes", "--project"]).code, 0);
    let result = run_elsewhere(&["activate", "pdf", "--json"]);
    assert_eq!((result.code, result.error().0.as_str()), (1, "UNTRUSTED"));
}

/// An update of a skill that the user installed stays trusted.
#[test]
fn updates_keep_trust() {
    let env = TestEnv::bare();
    env.skill("../source/pdf");
    assert_eq!(env.run(&["install", "../source/pdf", "--project"]).code, 0);
    env.skill_with_description("../source/pdf", "Does something else.");
    assert_eq!(env.run(&["update", "--project"]).code, 0);
    assert_eq!(env.run(&["activate", "pdf"]).code, 0);
    fs::remove_dir_all(env.path(".agents/skills/pdf")).unwrap();
    assert_eq!(
        env.run(&["remove", "pdf", "--project"]).code,
        0,
        "a skill that was deleted by hand is removed from the lock file"
    );
    assert!(!env.path("skills.lock").exists());
}
