//! Preset `standard`: the searched roots, precedence, and diagnostics.

use prowess::{Preset, Scope};
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

fn trusted() -> RegistryEnv {
    let env = RegistryEnv::new(Preset::Standard);
    env.trust("");
    env
}

#[test]
fn project_roots_precede_user_roots_and_bundled_skills() {
    let env = trusted();
    let dirs = [
        ".agents/skills/gh",
        ".prowess/skills/gh",
        ".claude/skills/gh",
        "~/.agents/skills/gh",
        "~/.prowess/skills/gh",
        "~/.claude/skills/gh",
    ];
    for dir in dirs {
        env.skill(dir);
    }
    let mut winners = Vec::new();
    for dir in dirs {
        let snapshot = env.snapshot();
        winners.push(env.skill_line(snapshot.get("gh").unwrap()));
        std::fs::remove_dir_all(env.path(dir)).unwrap();
    }
    assert_eq!(
        winners,
        [
            "gh in /project/.agents/skills/gh is enabled",
            "gh in /project/.prowess/skills/gh is enabled",
            "gh in /project/.claude/skills/gh is enabled",
            "gh in /home/.agents/skills/gh is enabled",
            "gh in /home/.prowess/skills/gh is enabled",
            "gh in /home/.claude/skills/gh is enabled",
        ]
    );
    assert_eq!(env.snapshot().get("gh").unwrap().root().scope(), Scope::Bundled);
}

#[test]
fn every_shadowed_skill_names_the_one_that_counts() {
    let env = trusted();
    env.skill(".agents/skills/gh").skill("~/.claude/skills/gh");
    assert_eq!(
        env.skill_lines(),
        [
            "gh in /project/.agents/skills/gh is enabled",
            "gh in /home/.claude/skills/gh is shadowed: shadowed by /project/.agents/skills/gh/SKILL.md",
        ]
    );
    assert_eq!(
        env.diagnostic_lines(),
        [
            "SK081 /home/.claude/skills/gh/SKILL.md: gh is shadowed by /project/.agents/skills/gh/SKILL.md, which \
             has the same name",
            "SK081 bundled:/gh/SKILL.md: gh is shadowed by /project/.agents/skills/gh/SKILL.md, which has the \
             same name",
            "SK082 /project/.agents/skills/gh/SKILL.md: gh shadows a bundled skill",
        ]
    );
}

#[test]
fn parent_directories_are_searched_up_to_the_git_root() {
    let mut env = trusted();
    env.trust("/").create_dir("/.git").skill("/.agents/skills/top").skill("/.agents/skills/both");
    env.skill(".agents/skills/near").skill(".claude/skills/both");
    assert_eq!(
        env.skill_lines(),
        [
            "both in /project/.claude/skills/both is enabled",
            "both in /.agents/skills/both is shadowed: shadowed by /project/.claude/skills/both/SKILL.md",
            "near in /project/.agents/skills/near is enabled",
            "top in /.agents/skills/top is enabled",
        ]
    );
    env.create_dir(".git");
    assert_eq!(names(&env.snapshot()), ["both", "near"], "the git root is the project itself");
    std::fs::remove_dir(env.path(".git")).unwrap();
    std::fs::remove_dir(env.path("/.git")).unwrap();
    assert_eq!(
        names(&env.snapshot()),
        ["both", "near"],
        "without a git root, no parent directory is searched"
    );
    env.policy.scan.ancestors = prowess::policy::AncestorSearch::None;
    env.create_dir("/.git");
    assert_eq!(names(&env.snapshot()), ["both", "near"], "unless the configuration disables it");
}

#[test]
fn a_git_file_marks_a_worktree() {
    let env = trusted();
    env.trust("/").file("/.git", "gitdir: elsewhere").skill("/.agents/skills/top");
    assert_eq!(names(&env.snapshot()), ["top"]);
}

#[test]
fn skills_may_be_nested_six_levels_deep() {
    let env = trusted();
    env.skill(".agents/skills/1/2/3/4/5/six").skill(".agents/skills/a/2/3/4/5/6/seven");
    assert_eq!(names(&env.snapshot()), ["six"]);
    assert_eq!(
        env.diagnostic_lines(),
        [
            "SK073 /project/.agents/skills: a directory is deeper than 6 levels and was not searched: a/2/3/4/5/6",
            "SK001 /project/.agents/skills/a/SKILL.md: there is no SKILL.md in the 6 searched levels of this \
             directory",
        ]
    );
}

#[test]
fn everything_below_a_skill_belongs_to_it() {
    let env = trusted();
    env.skill(".agents/skills/outer").skill(".agents/skills/outer/assets/inner");
    assert_eq!(env.skill_lines(), ["outer in /project/.agents/skills/outer is enabled"]);
}

#[test]
fn version_control_dependencies_build_output_and_hidden_directories_are_skipped() {
    let env = trusted();
    for dir in [".git", ".hidden", "node_modules", "target", "group/node_modules", "group/.cache"] {
        env.skill(&format!(".agents/skills/{dir}/x"));
    }
    // With a `.git` in it, the directory is a repository of its own, which the trust of the project does not
    // cover.
    env.skill(".agents/skills/group/good").trust(".agents/skills");
    assert_eq!(env.skill_lines(), ["good in /project/.agents/skills/group/good is enabled"]);
    assert_eq!(env.diagnostic_lines(), [] as [&str; 0]);
}

#[test]
fn a_skill_may_be_named_target() {
    let env = trusted();
    env.skill(".agents/skills/target");
    assert_eq!(names(&env.snapshot()), ["target"]);
}

#[test]
fn lowercase_skill_md_is_accepted_with_a_warning_and_other_spellings_are_rejected() {
    let env = trusted();
    env.file(".agents/skills/small/skill.md", skill_md("small", "Small."));
    env.file(".agents/skills/odd/Skill.MD", skill_md("odd", "Odd."));
    assert_eq!(
        env.skill_lines(),
        [
            "odd in /project/.agents/skills/odd is invalid: the file is named Skill.MD, not SKILL.md",
            "small in /project/.agents/skills/small is enabled",
        ]
    );
    assert_eq!(
        env.diagnostic_lines(),
        [
            "SK002 /project/.agents/skills/odd/Skill.MD: the file is named Skill.MD, not SKILL.md",
            "SK002 /project/.agents/skills/small/skill.md: the file is named skill.md, not SKILL.md",
        ]
    );
    let snapshot = env.snapshot();
    assert_eq!(
        snapshot.get("small").unwrap().read_skill_md(),
        Some(skill_md("small", "Small.").into_bytes())
    );
}

#[test]
fn empty_directories_and_stray_files_are_reported() {
    let env = trusted();
    env.file(".agents/skills/empty/readme.md", "x").file(".agents/skills/SKILL.md", skill_md("x", "X."));
    env.create_dir(".agents/skills/group/nothing").skill(".agents/skills/good");
    assert_eq!(
        env.skill_lines(),
        [
            "empty in /project/.agents/skills/empty is invalid: there is no SKILL.md in this directory",
            "good in /project/.agents/skills/good is enabled",
            "group in /project/.agents/skills/group is invalid: there is no SKILL.md in this directory",
        ]
    );
    assert_eq!(env.codes(), ["SK076", "SK001", "SK001"]);
}

#[test]
fn project_skills_need_trust_and_shadow_nothing_without_it() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill(".agents/skills/gh").skill("~/.agents/skills/gh").skill(".agents/skills/other");
    assert_eq!(
        env.skill_lines(),
        [
            "gh in /home/.agents/skills/gh is enabled",
            "gh in /project/.agents/skills/gh is untrusted: the project is not trusted; to trust it: prowess trust \
             /project",
            "other in /project/.agents/skills/other is untrusted: the project is not trusted; to trust it: prowess \
             trust /project",
        ]
    );
    env.trust("");
    assert_eq!(names(&env.snapshot()), ["gh", "other"]);
    let snapshot = env.snapshot();
    assert_eq!(env.skill_line(snapshot.get("gh").unwrap()), "gh in /project/.agents/skills/gh is enabled");
}

#[test]
fn trust_in_a_subdirectory_does_not_extend_to_parents() {
    let env = trusted();
    env.create_dir("/.git").skill("/.agents/skills/top").skill(".agents/skills/near");
    assert_eq!(
        env.skill_lines(),
        [
            "near in /project/.agents/skills/near is enabled",
            "top in /.agents/skills/top is untrusted: the project is not trusted; to trust it: prowess trust ",
        ]
    );
}

#[test]
fn a_skill_without_a_name_is_named_after_its_directory() {
    let env = trusted();
    env.file(".agents/skills/pdf/SKILL.md", "---\ndescription: Reads.\n---\nDo.\n");
    env.file(".agents/skills/PDF Tools/SKILL.md", "---\ndescription: Reads.\n---\nDo.\n");
    let snapshot = env.snapshot();
    let activated = prowess::activation::activate(snapshot.get("pdf").unwrap(), None, &env.policy).unwrap();
    assert_eq!((activated.name.as_str(), activated.body()), ("pdf", "Do.\n"));
    let codes = |name: &str| {
        let skill = snapshot.get(name).unwrap();
        skill.diagnostics().iter().map(|diagnostic| diagnostic.code.as_str()).collect::<Vec<_>>()
    };
    assert_eq!((codes("pdf"), codes("PDF Tools")), (vec!["SK031"], vec!["SK031", "SK034"]));
}

#[test]
fn invalid_skills_shadow_nothing() {
    let env = trusted();
    env.file(".agents/skills/x/SKILL.md", "---\nname: x\n---\n").skill("~/.agents/skills/x");
    assert_eq!(
        env.skill_lines(),
        [
            "x in /home/.agents/skills/x is enabled",
            "x in /project/.agents/skills/x is invalid: description is missing",
        ]
    );
}

#[test]
fn the_home_directory_as_project_needs_no_trust() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/mine").skill("~/.claude/skills/too");
    let mut host_env = env.host_env();
    host_env.project = host_env.home.clone().unwrap();
    let registry = prowess::Registry::open_in(env.policy.clone(), host_env, &Default::default());
    assert_eq!(
        env.skill_lines_in(&registry.snapshot()),
        ["mine in /home/.agents/skills/mine is enabled", "too in /home/.claude/skills/too is enabled"]
    );
    let scopes: Vec<_> = registry.snapshot().roots().map(|root| root.scope()).collect();
    assert_eq!(scopes, [Scope::User, Scope::User, Scope::Bundled]);
}

#[test]
fn user_roots_need_no_trust_in_projects_below_the_home_directory() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/mine").create_dir("~/.git").create_dir("~/work/deep");
    let mut host_env = env.host_env();
    host_env.project = env.path("~/work/deep");
    let registry = prowess::Registry::open_in(env.policy.clone(), host_env, &Default::default());
    assert_eq!(env.skill_lines_in(&registry.snapshot()), ["mine in /home/.agents/skills/mine is enabled"]);
}

#[test]
fn one_directory_found_twice_is_one_skill_without_a_warning() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/a").skill("~/.agents/skills/group/b");
    env.symlink("~/.claude/skills/a", "~/.agents/skills/a");
    env.symlink("~/.claude/skills/group", "~/.agents/skills/group");
    assert_eq!(
        env.skill_lines(),
        [
            "a in /home/.agents/skills/a is enabled",
            "a in /home/.claude/skills/a is shadowed: same directory as /home/.agents/skills/a/SKILL.md",
            "b in /home/.agents/skills/group/b is enabled",
            "b in /home/.claude/skills/group/b is shadowed: same directory as /home/.agents/skills/group/b/SKILL.md",
        ]
    );
    assert_eq!(env.diagnostic_lines(), [] as [&str; 0]);
}

#[test]
fn one_root_that_links_to_another_is_not_scanned_twice() {
    let env = trusted();
    env.skill("~/.agents/skills/a").symlink("~/.claude/skills", "~/.agents/skills");
    env.skill(".agents/skills/b").symlink(".claude/skills", "../.agents/skills");
    assert_eq!(
        env.skill_lines(),
        ["a in /home/.agents/skills/a is enabled", "b in /project/.agents/skills/b is enabled"]
    );
}

#[test]
fn names_that_look_alike_are_warned_about() {
    let env = trusted();
    env.skill("~/.agents/skills/tool").skill(".agents/skills/t00l");
    assert_eq!(env.diagnostic_lines(), ["SK083 /home/.agents/skills/tool/SKILL.md: tool looks like t00l"]);
}

#[test]
fn nothing_is_searched_when_skills_are_disabled() {
    let mut env = trusted();
    env.skill(".agents/skills/a");
    env.policy.enabled = false;
    assert!(env.snapshot().all().is_empty());
    assert_eq!(env.codes(), [] as [&str; 0]);
}

/// The shapes are those of public skills. Only OpenClaw defines that its lists are commands.
#[test]
fn only_lists_of_commands_make_a_skill_unavailable() {
    let env = RegistryEnv::new(Preset::Standard);
    env.add_command("jq");
    let skills = [
        ("composio", "requires:\n  mcp: [rube]"),
        ("words", "metadata: {requires: other-skill}"),
        ("nested", "metadata:\n  requires:\n    skills: [other-skill]"),
        (
            "openclaw",
            "metadata: {\"openclaw\": {\"emoji\": \"x\", \"requires\": {\"bins\": [\"jq\", \"no-such\"], \"env\": [\"KEY\"]}}}",
        ),
        ("any", "metadata: {openclaw: {requires: {anyBins: [no-such, nor-this]}}}"),
        ("one-of", "metadata: {clawdbot: {requires: {anyBins: [no-such, jq]}}}"),
        ("odd", "metadata: {openclaw: {requires: {bins: jq, anyBins: {a: b}}}}"),
    ];
    for (name, fields) in skills {
        let text = format!("---\nname: {name}\ndescription: Use when asked.\n{fields}\n---\nx\n");
        env.file(&format!("~/.agents/skills/{name}/SKILL.md"), text);
    }
    let snapshot = env.snapshot();
    let lines: Vec<_> = skills
        .map(|(name, _)| {
            let skill = snapshot.get(name).unwrap();
            format!("{name}: {}", skill.reason().as_deref().unwrap_or("enabled"))
        })
        .into();
    insta::assert_snapshot!(lines.join("\n"), @"
    composio: enabled
    words: enabled
    nested: enabled
    openclaw: missing commands: no-such
    any: missing commands: no-such or nor-this
    one-of: enabled
    odd: enabled
    ");
}
