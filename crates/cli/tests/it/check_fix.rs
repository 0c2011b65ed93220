//! `prowess check --fix` and `--diff`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::{TestEnv, keys};
use insta::assert_snapshot;

const COLON: &str =
    "---\nname: pdf # the name\ndescription: Fills forms: fast. Use when asked.\n---\nDo it.\n";
const TOOLS: &str = "\u{feff}---\nname: csv\ndescription: Reads tables. Use when asked.\n\
    allowed-tools: [Read, Write]\nmetadata:\n  version: 1.0 # stable\n---\nDo it.\n";
const UNFIXABLE: &str = "---\nname: other\ndescription: Reads. Use when asked.\n---\nDo it.\n";

/// Creates skills with problems that can be fixed, and one with a problem that cannot.
fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.file("skills/pdf/SKILL.md", COLON)
        .file("skills/csv/SKILL.md", TOOLS)
        .file("skills/odd/SKILL.md", UNFIXABLE)
        .skill("skills/good");
    env
}

fn read(env: &TestEnv, path: &str) -> String {
    fs::read_to_string(env.path(path)).unwrap()
}

#[test]
fn fixes_are_written_and_the_rest_is_reported() {
    let env = env();
    assert_snapshot!(env.run(&["check", "--strict", "--fix"]).transcript());
    assert_eq!(
        read(&env, "skills/pdf/SKILL.md"),
        COLON.replace("Fills forms: fast. Use when asked.", "\"Fills forms: fast. Use when asked.\"")
    );
    assert_snapshot!("fixed_file", read(&env, "skills/csv/SKILL.md"));
    let before = read(&env, "skills/csv/SKILL.md");
    let again = env.run(&["check", "--strict", "--fix"]);
    assert!(again.out.ends_with("nothing to fix; 1 problem remains\n"), "{}", again.out);
    assert_eq!(read(&env, "skills/csv/SKILL.md"), before);
    assert_eq!(read(&env, "skills/odd/SKILL.md"), UNFIXABLE);
}

#[test]
fn a_diff_writes_nothing() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["check", "--fix", "--diff"],
        &["check", "--strict", "--diff", "skills/csv", "--ignore", "SK009"],
        &["check", "--diff", "skills/good"],
    ]));
    assert_eq!(read(&env, "skills/pdf/SKILL.md"), COLON);
    assert_eq!(read(&env, "skills/csv/SKILL.md"), TOOLS);
}

#[test]
fn as_json() {
    let env = env();
    let diff = env.run(&["check", "--diff", "--json", "skills/pdf"]);
    assert_eq!((diff.code, keys(&diff.json()["fixes"][0])), (1, vec!["diff", "fixed", "path", "written"]));
    let json = env.run(&["check", "--fix", "--json"]).json();
    assert_eq!(json["summary"]["fixed"], 2);
    assert_snapshot!(env.redact(&serde_json::to_string_pretty(&json["fixes"]).unwrap()));
    let none = env.run(&["check", "--fix", "--json"]).json();
    assert_eq!(keys(&none), ["schema", "skills", "summary"]);
}

#[test]
fn standard_input_is_fixed_on_standard_output() {
    let env = TestEnv::bare();
    let result = env.run_with(&["check", "--fix", "-"], COLON);
    assert_snapshot!(result.transcript());
    assert_snapshot!("diff_of_standard_input", env.run_with(&["check", "--diff", "-"], COLON).transcript());
    let broken = env.run_with(&["check", "--fix", "-"], "---\nname: pdf\n---\nDo it.\n");
    assert_eq!((broken.out.as_str(), broken.code), ("---\nname: pdf\n---\nDo it.\n", 1));
    assert!(broken.err.contains("SK041"), "{}", broken.err);
}

#[test]
fn symlinks_are_not_changed() {
    let env = TestEnv::bare();
    env.file("outside/SKILL.md", COLON).file("skills/inside/SKILL.md", COLON.replace("pdf", "inside"));
    fs::create_dir_all(env.path("skills/link")).unwrap();
    fs::create_dir_all(env.path("skills/away")).unwrap();
    symlink("../inside/SKILL.md", env.path("skills/link/SKILL.md")).unwrap();
    symlink("../../outside/SKILL.md", env.path("skills/away/SKILL.md")).unwrap();
    let result = env.run(&["check", "--fix", "skills"]);
    assert_snapshot!(result.err);
    assert_eq!(read(&env, "outside/SKILL.md"), COLON);
    assert!(env.path("skills/link/SKILL.md").is_symlink());
    // A symlink that is passed explicitly is checked, but not written through.
    let explicit = env.run(&["check", "--fix", "skills/away/SKILL.md"]);
    assert!(explicit.err.contains("it is a symlink; fix its target instead"), "{}", explicit.err);
    assert_eq!(read(&env, "outside/SKILL.md"), COLON);
}

#[test]
fn permissions_are_kept_and_nothing_is_left_behind() {
    let env = env();
    let path = env.path("skills/pdf/SKILL.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(env.run(&["check", "--fix", "skills/pdf/SKILL.md"]).code, 0);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(env.path("skills/pdf")).unwrap().count(), 1);
}

#[test]
fn contradictions() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["check", "--diff", "--format", "sarif"],
        &["check", "--fix", "--baseline", "b.json", "--write-baseline"],
        &["check", "--fix", "-", "skills"],
        &["check", "--fix", "-", "--json"],
        &["check", "--json", "--format", "junit"],
        &["check", "--deny", "warnings", "--fail-on", "error"],
        &["check", "--write-baseline"],
    ]));
}
