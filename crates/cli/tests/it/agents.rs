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
    env.skill_with_description(".claude/skills/pdf", "Another one.");
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
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--no-link", "--agent", "codex"]).code, 2);
}

/// A project in which Claude Code is used, on a machine with Codex and Crush.
fn env_with_agents() -> TestEnv {
    let env = env();
    env.skill("~/shelf/csv").file(".claude/settings.json", "{}");
    fs::create_dir_all(env.path("~/.codex")).unwrap();
    fs::create_dir_all(env.path("~/.config/crush")).unwrap();
    env
}

#[test]
fn skills_are_linked_for_the_agents_in_use() {
    let env = env_with_agents();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["install", "~/shelf/pdf", "--dry-run"],
            &["install", "~/shelf/pdf"],
            &["install", "~/shelf", "--all", "--on-conflict", "skip"],
            &["install", "~/shelf/pdf", "--json"],
            &["list", "--all"],
            &["list", "--json"],
            &["remove", "pdf"],
        ]));
    });
    let links = ["settings.json", "skills/csv → ../../.agents/skills/csv"];
    assert_eq!(env.tree(".claude"), links);
    assert_eq!(env.tree(".crush"), ["skills/csv → ../../.agents/skills/csv"]);
    assert_eq!(env.tree("~/.codex"), Vec::<String>::new());
}

#[test]
fn no_link_leaves_other_agents_alone() {
    let env = env_with_agents();
    let result = env.run(&["install", "~/shelf/pdf", "--no-link"]);
    assert!(result.code == 0 && !result.err.contains("Available to"), "{}", result.transcript());
    assert_eq!(env.tree(".claude"), ["settings.json"]);
    // Only named agents are linked.
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--agent", "crush"]).code, 0);
    assert_eq!((env.tree(".claude"), env.tree(".crush").len()), (vec!["settings.json".to_owned()], 1));
}

#[test]
fn a_conflict_with_an_agent_in_use_does_not_stop_the_installation() {
    let env = env_with_agents();
    env.skill_with_description(".claude/skills/pdf", "Mine.");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[&["install", "~/shelf/pdf"], &["sync"], &["sync", "--json"]]));
    });
    assert!(env.text(".claude/skills/pdf/SKILL.md").contains("Mine."));
}

#[test]
fn user_skills_are_linked_in_the_home_directory() {
    let env = env_with_agents();
    fs::create_dir_all(env.path("~/.claude")).unwrap();
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--user"]).code, 0);
    assert_eq!(env.tree("~/.claude"), ["skills/pdf → ../../.agents/skills/pdf"]);
    assert_eq!(env.tree("~/.config/crush"), ["skills/pdf → ../../../.agents/skills/pdf"]);
    assert_eq!(env.tree(".claude"), ["settings.json"]);
    let agents = env.run(&["list", "--json"]).json()["skills"][0]["agents"].clone();
    assert_eq!(agents, serde_json::json!(["claude-code", "codex", "crush"]));
}

#[test]
fn variables_move_the_directories_of_agents() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf");
    let (home, config) = (env.path("~/"), env.path("~/elsewhere"));
    fs::create_dir_all(&config).unwrap();
    let env = env
        .variable("PROWESS_HOME", "")
        .variable("HOME", home.to_str().unwrap())
        .variable("CLAUDE_CONFIG_DIR", config.to_str().unwrap());
    assert_eq!(env.run(&["install", "~/shelf/pdf"]).code, 0);
    assert_eq!(env.tree("~/elsewhere"), ["skills/pdf → ../../.agents/skills/pdf"]);
    assert_eq!(env.run(&["remove", "pdf"]).code, 0);
    assert_eq!(env.tree("~/elsewhere"), Vec::<String>::new());
}

#[test]
fn a_directory_of_an_agent_is_a_project_without_git() {
    for (marker, is_project) in
        [(".claude/x", true), (".codex/x", true), (".agents/x", true), ("src/x", false)]
    {
        let env = TestEnv::bare();
        env.skill("~/shelf/pdf").file(marker, "");
        assert_eq!(env.run(&["install", "~/shelf/pdf"]).code, 0);
        assert_eq!(env.path("skills.lock").exists(), is_project, "{marker}");
    }
    // The home directory is not a project, even if it is reached through a symlink.
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").file("~/.claude/x", "");
    let linked = env.path("../linked-home");
    symlink(env.path("~/"), &linked).unwrap();
    let env = env.variable("PROWESS_HOME", linked.to_str().unwrap());
    let home = env.path("~/");
    let result = env.run(&["install", "~/shelf/pdf", "--project", home.to_str().unwrap()]);
    assert_eq!(result.code, 2, "a bare --project after install is the scope: {}", result.transcript());
    let result = env.run(&["--project", home.to_str().unwrap(), "install", "~/shelf/pdf"]);
    assert_eq!((result.code, env.path("~/skills.lock").exists()), (0, false), "{}", result.transcript());
}

#[test]
fn sync_brings_agents_in_line_with_the_lock_file() {
    let env = env_with_agents();
    assert_eq!(env.run(&["install", "~/shelf", "--all", "--no-link"]).code, 0);
    // Links to other places, even dangling ones, are left alone.
    fs::create_dir_all(env.path(".claude/skills")).unwrap();
    symlink("../../elsewhere/x", env.path(".claude/skills/x")).unwrap();
    symlink("../../.agents/skills/gone", env.path(".claude/skills/gone")).unwrap();
    assert_snapshot!(env.runs(&[&["sync", "--dry-run"], &["sync"], &["sync"], &["sync", "--json"]]));
    assert_eq!(
        env.tree(".claude"),
        [
            "settings.json",
            "skills/csv → ../../.agents/skills/csv",
            "skills/pdf → ../../.agents/skills/pdf",
            "skills/x → ../../elsewhere/x"
        ]
    );
    // A new agent, a skill that was deleted by hand, and one that was replaced by a symlink.
    fs::create_dir_all(env.path(".roo")).unwrap();
    fs::remove_dir_all(env.path(".agents/skills/csv")).unwrap();
    let moved = env.path("moved");
    fs::rename(env.path(".agents/skills/pdf"), &moved).unwrap();
    symlink(&moved, env.path(".agents/skills/pdf")).unwrap();
    assert_snapshot!("sync_with_missing_skills", env.runs(&[&["sync"]]));
    assert_eq!(env.tree(".roo"), Vec::<String>::new());
}

#[test]
fn sync_without_agents_or_skills() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["sync"],
        &["install", "~/shelf/pdf", "--json", "--dry-run"],
        &["sync", "--agent", "curser"]
    ]));
    assert_eq!(env.run(&["install", "~/shelf/pdf"]).code, 0);
    assert_snapshot!("sync_without_agents", env.runs(&[&["sync"], &["sync", "--agent", "claude-code"]]));
}

#[test]
fn copies_are_replaced_when_a_skill_is_overwritten() {
    let env = env_with_agents();
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--copy"]).code, 0);
    assert_eq!(env.tree(".claude"), ["settings.json", "skills/pdf/SKILL.md"]);
    env.skill_with_description("~/shelf/pdf", "Does more.");
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--yes", "--on-conflict", "overwrite"]).code, 0);
    assert_eq!(env.text(".claude/skills/pdf/SKILL.md"), env.text(".agents/skills/pdf/SKILL.md"));
}

#[test]
fn a_lock_file_of_a_stranger_creates_no_links() {
    let env = env_with_agents();
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--no-link"]).code, 0);
    let lock = env.text("skills.lock");
    let entry: serde_json::Value = serde_json::from_str(&lock).unwrap();
    let change = serde_json::json!({
        "stage": env.path(".agents/skills/.prowess-staging-1-0"), "owner": "1-1.000000001",
        "changes": [{"folder": ".agents/skills/pdf", "after": entry["skills"][0]}],
        "links": [
            {"path": ".claude/skills/pdf", "folder": ".agents/skills/pdf", "action": "symlink"},
            {"path": "../outside", "folder": ".agents/skills/pdf", "action": "copy"},
        ],
    });
    let mut changed = entry.clone();
    changed["pending"] = change;
    env.file("skills.lock", changed.to_string()).file(".agents/skills/.prowess-staging-1-0/owner", "");
    assert_eq!(env.run(&["verify"]).code, 0);
    assert!(!env.text("skills.lock").contains("pending"));
    assert_eq!(env.tree(".claude"), ["settings.json"]);
    assert!(!env.path("../outside").exists());
}

/// A repository whose directory for skills of Claude Code leads into `.git`, where skills would become hooks.
fn env_with_link_into_git(link: &str, target: &str) -> TestEnv {
    let env = env();
    env.skill("~/shelf/hooks").file("~/shelf/hooks/post-commit", "#!/bin/sh\n").skill("~/shelf/worktrees");
    fs::create_dir_all(env.path(link).parent().unwrap()).unwrap();
    symlink(target, env.path(link)).unwrap();
    env
}

#[test]
fn nothing_is_linked_into_git() {
    for (link, target) in
        [(".claude/skills", "../.git"), (".claude", ".git"), (".claude/skills", "../.git/new")]
    {
        let env = env_with_link_into_git(link, target);
        let before = env.tree(".git");
        for copy in [&["--copy"][..], &[]] {
            let named = env.run(&[&["install", "~/shelf/hooks", "--agent", "claude-code"], copy].concat());
            assert_eq!(named.code, 1, "{}", named.transcript());
            let in_use = env.run(&[&["install", "~/shelf", "--all"], copy].concat());
            assert_eq!(in_use.code, 0, "{}", in_use.transcript());
            let synced = env.run(&["sync", "--agent", "claude-code"]);
            assert!(synced.code == 1 && synced.out.contains("not linked"), "{}", synced.transcript());
            env.file("~/shelf/hooks/post-commit", format!("#!/bin/sh\n# {copy:?}\n"));
            assert_eq!(env.run(&["update", "--yes"]).code, 0);
            assert_eq!(env.tree(".git"), before, "{link} {target} {copy:?}");
        }
        assert_eq!(env.run(&["remove", "hooks", "worktrees"]).code, 0);
        assert_eq!(env.tree(".git"), before);
    }
}

#[test]
fn nothing_in_git_is_removed() {
    let env = env_with_link_into_git(".claude/skills", "../.git");
    assert_eq!(env.run(&["install", "~/shelf", "--all", "--no-link"]).code, 0);
    symlink("../.agents/skills/hooks", env.path(".git/hooks")).unwrap();
    symlink("../.agents/skills/gone", env.path(".git/gone")).unwrap();
    env.file(".git/worktrees/SKILL.md", env.text("~/shelf/worktrees/SKILL.md"));
    let before = env.tree(".git");
    assert_eq!(env.run(&["sync", "--agent", "crush"]).code, 0);
    assert_eq!(env.run(&["remove", "hooks", "worktrees"]).code, 0);
    assert_eq!(env.tree(".git"), before);
}

#[test]
fn sync_links_only_skills_as_they_were_installed() {
    let env = env_with_agents();
    assert_eq!(env.run(&["install", "~/shelf", "--all", "--no-link"]).code, 0);
    env.file(".agents/skills/pdf/more.md", "More.\n");
    assert_snapshot!(env.runs(&[&["sync"], &["sync", "--dry-run"]]));
    assert_eq!(env.tree(".claude"), ["settings.json", "skills/csv → ../../.agents/skills/csv"]);
    // The user can accept the files. Links that exist stay.
    assert_eq!(env.run(&["verify", "--accept", "pdf"]).code, 0);
    assert_eq!(env.run(&["sync"]).code, 0);
    env.file(".agents/skills/pdf/more.md", "Even more.\n");
    let result = env.run(&["sync"]);
    assert_eq!(result.code, 0, "{}", result.transcript());
    assert_eq!(env.tree(".claude").len(), 3);
}
