//! `prowess install --agent`: one skill in the directories of several agents.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{CHANGING, TestEnv};
use insta::{assert_snapshot, with_settings};

fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").file(".git/HEAD", "");
    env
}

#[test]
fn symlinks_in_agent_directories() {
    let env = env();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["install", "~/shelf/pdf", "--agent", "claude-code", "--agent", "codex", "--dry-run"],
            &["install", "~/shelf/pdf", "--agent", "claude-code", "--agent", "codex"],
            &["install", "~/shelf/pdf", "--agent", "claude-code"],
            &["install", "~/shelf/pdf", "--agent", "claude-code", "--json"],
            &["list"],
        ]));
    });
    assert_eq!(env.tree(".claude"), ["skills/pdf → ../../.agents/skills/pdf"]);
    let plugins = env.run(&["plugins", "--json"]).json();
    let agents = plugins["plugins"][0]["agents"].as_array().unwrap();
    assert!(agents.contains(&"claude-code".into()) && agents.contains(&"codex".into()));
    assert_eq!(env.run(&["remove", "pdf"]).code, 0);
    assert_eq!((env.tree(".claude"), env.tree(".agents")), (Vec::new(), Vec::new()));
}

#[test]
fn copies_are_updated() {
    let env = env();
    let install = ["install", "~/shelf/pdf", "--agent", "claude-code", "--copy"];
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[&install, &install]));
    });
    env.skill_with_description("~/shelf/pdf", "Does more.");
    assert_snapshot!("copies_after_update", env.run(&["update"]).transcript());
    assert_eq!(env.text(".claude/skills/pdf/SKILL.md"), env.text(".agents/skills/pdf/SKILL.md"));
    assert_eq!(env.tree(".claude"), ["skills/pdf/SKILL.md"]);
    assert_snapshot!("copies_are_removed", env.run(&["remove", "pdf"]).transcript());
    assert_eq!(env.tree(".claude"), Vec::<String>::new());
}

#[test]
fn modified_copies_are_kept() {
    let env = env();
    let install = ["install", "~/shelf/pdf", "--agent", "claude-code", "--copy"];
    assert_eq!(env.run(&install).code, 0);
    env.file(".claude/skills/pdf/mine.md", "Mine.\n").skill_with_description("~/shelf/pdf", "Does more.");
    assert_eq!(env.run(&["update"]).code, 0);
    assert_eq!(env.run(&["remove", "pdf"]).code, 0);
    assert_eq!(env.tree(".claude"), ["skills/pdf/SKILL.md", "skills/pdf/mine.md"]);
}

#[test]
fn a_conflict_in_an_agent_directory_stops_the_installation() {
    let env = env();
    env.skill(".claude/skills/pdf");
    let install = ["install", "~/shelf/pdf", "--agent", "claude-code"];
    assert_snapshot!(env.runs(&[&install]));
    assert!(!env.path(".agents").exists() && !env.path("skills.lock").exists());
    // A symlink to another target or a dangling symlink is also a conflict.
    fs::remove_dir_all(env.path(".claude/skills/pdf")).unwrap();
    symlink("../../nowhere", env.path(".claude/skills/pdf")).unwrap();
    let result = env.run(&[&install[..], &["--json"]].concat());
    assert_eq!((result.error().0.as_str(), result.code), ("CONFLICT", 1));
    assert!(!env.path(".agents").exists() && !env.path("skills.lock").exists());
}

#[test]
fn unknown_agents() {
    let env = env();
    let result = env.run(&["install", "~/shelf/pdf", "--agent", "claud-code"]);
    assert_eq!(result.code, 2);
    assert!(result.err.contains("unknown agent claud-code"), "{}", result.err);
    assert!(result.err.contains("did you mean claude-code?"), "{}", result.err);
    // An agent that supports only project skills.
    let result = env.run(&["install", "~/shelf/pdf", "--agent", "eve", "--user", "--json"]);
    assert_eq!((result.error().0.as_str(), result.code), ("INVALID_PARAM", 2));
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--copy"]).code, 2);
}
