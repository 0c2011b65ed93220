//! Custom commands of Claude Code and Codex.

use std::process::Command;

use prowess::activation::activate;
use prowess::catalog::{CatalogRequest, render_catalog};
use prowess::{CommandDialect, Preset, Skill, resources};
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

fn env() -> RegistryEnv {
    let mut env = RegistryEnv::new(Preset::Standard);
    env.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    env
}

fn content(skill: &Skill, args: &str, env: &RegistryEnv) -> String {
    env.strip_base(&activate(skill, Some(args), &env.policy).unwrap().content())
}

#[test]
fn pinned_trust_covers_commands() {
    let env = env();
    env.file(".claude/commands/a.md", "Do it.\n").file(".claude/commands/b.md", "Do it.\n").trust_pinned("");
    assert_eq!(names(&env.snapshot()), ["a", "b"]);
    let snapshot = env.snapshot();
    assert!(activate(snapshot.get("a").unwrap(), None, &env.policy).is_ok());
    env.file(".claude/commands/a.md", "Do more.\n");
    assert!(activate(snapshot.get("a").unwrap(), None, &env.policy).is_err(), "the files changed");
    assert_eq!(names(&env.snapshot()), ["b"]);
}

#[test]
fn commands_are_named_after_their_files() {
    let env = env();
    env.trust("");
    env.file(
        ".claude/commands/review.md",
        "---\ndescription: Reviews a file.\nargument-hint: [file]\n---\nReview $0.\n",
    )
    .file("~/.claude/commands/github/fix-issue.md", "# Fix an issue\n\nFix $ARGUMENTS.\n")
    .file("~/.claude/commands/notes.txt", "not a command")
    .file("~/.claude/commands/.hidden.md", "not a command")
    .file("~/.claude/commands/skill/SKILL.md", skill_md("skill", "Not a command."))
    .file("~/.claude/commands/skill/other.md", "not a command")
    .file("~/.codex/prompts/draft.md", "---\ndescription: Drafts.\n---\nDraft $1 for $2, not $0 or $3.\n")
    .file("~/.codex/prompts/deeper/no.md", "not a prompt");
    insta::assert_snapshot!(env.skill_lines().join("\n"), @"
    draft in /home/.codex/prompts/draft.md is enabled
    github:fix-issue in /home/.claude/commands/github/fix-issue.md is enabled
    review in /project/.claude/commands/review.md is enabled
    ");
    assert_eq!(env.codes(), [] as [&str; 0]);
    let snapshot = env.snapshot();
    let dialect = |name: &str| snapshot.get(name).and_then(|skill| skill.root().command_dialect());
    assert_eq!(dialect("draft"), Some(CommandDialect::Codex));
    assert_eq!(dialect("review"), Some(CommandDialect::ClaudeCode));
    assert!(
        snapshot.all().iter().all(|skill| skill.is_command() && skill.manifest().unwrap().user_invocable())
    );
    insta::assert_snapshot!(content(snapshot.get("review").unwrap(), "a.rs", &env), @r#"
    <skill_content name="review">
    Review a.rs.
    </skill_content>
    "#);
    insta::assert_snapshot!(content(snapshot.get("github:fix-issue").unwrap(), "12 now", &env), @r##"
    <skill_content name="github:fix-issue">
    # Fix an issue

    Fix 12 now.
    </skill_content>
    "##);
    insta::assert_snapshot!(content(snapshot.get("draft").unwrap(), "\"a letter\" Ada", &env), @r#"
    <skill_content name="draft">
    Draft a letter for Ada, not $0 or .
    </skill_content>
    "#);
    // Only a command of Claude Code with a description is offered to models.
    let catalog = render_catalog(&snapshot, &env.policy, &CatalogRequest::from_policy(&env.policy));
    assert_eq!(catalog.plan.shown_names().collect::<Vec<_>>(), ["review"]);
}

#[test]
fn a_skill_of_the_same_name_takes_precedence() {
    let env = env();
    env.trust("");
    env.file(".claude/commands/gh.md", "Command.").skill("~/.agents/skills/gh");
    insta::assert_snapshot!(env.skill_lines().join("\n"), @"
    gh in /home/.agents/skills/gh is enabled
    gh in /project/.claude/commands/gh.md is shadowed: shadowed by /home/.agents/skills/gh/SKILL.md
    ");
}

#[test]
fn commands_of_a_project_need_trust() {
    let env = env();
    env.file(".claude/commands/evil.md", "Evil.").file("~/.claude/commands/fine.md", "Fine.");
    let snapshot = env.snapshot();
    assert_eq!(names(&snapshot), ["fine"]);
    let evil = snapshot.copies("evil").next().unwrap();
    assert_eq!(evil.status().as_str(), "untrusted");
    assert!(activate(evil, None, &env.policy).is_err());
    env.trust("");
    assert_eq!(names(&env.snapshot()), ["evil", "fine"]);
}

/// A file beside a command does not belong to it.
#[test]
fn a_command_has_no_files() {
    let env = env();
    env.file("~/.claude/commands/a.md", "Do it.").file("~/.claude/commands/b.md", "Do that.");
    let snapshot = env.snapshot();
    let command = snapshot.get("a").unwrap();
    assert!(prowess::FileListing::for_skill(command).files.is_empty());
    assert!(activate(command, None, &env.policy).unwrap().resources().is_empty());
    for path in ["b.md", "a.md", "../b.md", "SKILL.md", "."] {
        assert!(resources::read_text(command, path, &env.policy.limits).is_err(), "{path}");
    }
    assert!(resources::list_files(command, None).map_or(true, |listing| listing.files.is_empty()));
    assert!(resources::read_skill_files(command).is_err());
}

#[test]
fn hostile_files_harm_nothing() {
    let env = env();
    env.file("~/.claude/commands/good.md", "Good.")
        .file("~/.claude/commands/huge.md", vec![b'x'; 300 * 1024])
        .file("~/.claude/commands/broken.md", "---\ndescription: [\n---\nBroken.\n")
        .file("~/.claude/commands/list.md", "---\n- a\n---\nA list.\n")
        .file("~/.claude/commands/hidden.md", "---\ndescription: a\u{202e}b\n---\nHidden.\n")
        .file("~/.claude/commands/rule.md", "---\nA line after a rule.\n")
        .file("~/.claude/commands/empty.md", "")
        .file("~/.claude/commands/binary.md", b"\xff\xfe\0\0")
        .file("~/.claude/commands/a b.md", "Spaces.")
        .file("~/.claude/commands/$(id).md", "Signs.")
        .file("~/.claude/commands/..md", "Dots.")
        .file("~/.claude/commands/bomb.md", format!("---\na: {}\n---\n", "[".repeat(30_000)))
        .file("/secret.md", "secret")
        .symlink("~/.claude/commands/link.md", "/secret.md")
        .symlink("~/.claude/commands/loop", "~/.claude/commands");
    Command::new("mkfifo").arg(env.path("~/.claude/commands/fifo.md")).status().unwrap();
    env.file("~/.claude/commands/1/2/3/4/5/6/7/deep.md", "Deep.");
    let lines = [env.skill_lines(), env.diagnostic_lines()].concat();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn the_number_of_commands_is_limited() {
    let env = RegistryEnv::large(Preset::Standard);
    for number in 0..1_100 {
        env.file(&format!("~/.claude/commands/c{number}.md"), "x");
    }
    let snapshot = env.snapshot();
    assert_eq!(snapshot.all().iter().filter(|skill| skill.is_command()).count(), 1_000);
    assert!(env.diagnostic_lines().iter().any(|line| line.contains("some commands were not read")));
}

#[test]
fn changes_are_noticed() {
    let env = env();
    env.file("~/.claude/commands/a.md", "One.");
    let registry = env.registry();
    let first = registry.snapshot();
    env.wait_for_timestamps();
    let settled = registry.refresh();
    assert!(std::sync::Arc::ptr_eq(&registry.refresh(), &settled), "nothing changed");
    assert_eq!(names(&first), ["a"]);
    env.file("~/.claude/commands/a.md", "---\ndescription: New.\n---\nTwo.");
    assert_eq!(registry.refresh().get("a").unwrap().description(), "New.");
    env.file("~/.claude/commands/sub/b.md", "Three.");
    assert_eq!(names(&registry.refresh()), ["a", "sub:b"]);
    std::fs::remove_file(env.path("~/.claude/commands/a.md")).unwrap();
    assert_eq!(names(&registry.refresh()), ["sub:b"]);
    // A symlink that replaces a command is not followed.
    env.file("/secret.md", "secret");
    let command = registry.snapshot();
    std::fs::remove_file(env.path("~/.claude/commands/sub/b.md")).unwrap();
    env.symlink("~/.claude/commands/sub/b.md", "/secret.md");
    assert!(activate(command.get("sub:b").unwrap(), None, &env.policy).is_err());
}

/// Other presets, and roots of the command line, have no commands.
#[test]
fn commands_belong_to_the_directories_of_claude_code_and_codex() {
    for preset in Preset::ALL {
        let mut env = RegistryEnv::new(preset);
        env.file("~/.claude/commands/a.md", "One.").file("~/.codex/prompts/b.md", "Two.");
        let has_commands = |env: &RegistryEnv| env.snapshot().all().iter().any(|skill| skill.is_command());
        assert_eq!(has_commands(&env), preset == Preset::Standard, "{preset}");
        env.create_dir("skills");
        env.policy = env.policy.clone().with_roots([env.path("skills")]);
        assert!(!has_commands(&env), "{preset}");
    }
}
