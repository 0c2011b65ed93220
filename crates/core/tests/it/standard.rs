//! Preset `standard`: where skills are looked for, which of them count, and what is said about the others.

use prowess::{Preset, Scope};
use prowess_testing::library::{World, names, skill_md};

fn trusted() -> World {
    let world = World::new(Preset::Standard);
    world.trust("");
    world
}

#[test]
fn three_folders_of_the_project_then_three_of_the_home_then_the_bundled_ones() {
    let world = trusted();
    let places = [
        ".agents/skills/gh",
        ".prowess/skills/gh",
        ".claude/skills/gh",
        "~/.agents/skills/gh",
        "~/.prowess/skills/gh",
        "~/.claude/skills/gh",
    ];
    for place in places {
        world.skill(place);
    }
    let mut winners = Vec::new();
    for place in places {
        let snapshot = world.snapshot();
        winners.push(world.tell(snapshot.get("gh").unwrap()));
        std::fs::remove_dir_all(world.path(place)).unwrap();
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
    assert_eq!(world.snapshot().get("gh").unwrap().root().scope(), Scope::Bundled);
}

#[test]
fn every_copy_that_does_not_count_says_which_one_does() {
    let world = trusted();
    world.skill(".agents/skills/gh").skill("~/.claude/skills/gh");
    assert_eq!(
        world.told(),
        [
            "gh in /project/.agents/skills/gh is enabled",
            "gh in /home/.claude/skills/gh is shadowed: shadowed by /project/.agents/skills/gh/SKILL.md",
        ]
    );
    assert_eq!(
        world.said(),
        [
            "SK081 /home/.claude/skills/gh/SKILL.md: gh is not used: /project/.agents/skills/gh/SKILL.md has the same \
             name and goes first",
            "SK081 bundled:/gh/SKILL.md: gh is not used: /project/.agents/skills/gh/SKILL.md has the same name and \
             goes first",
            "SK082 /project/.agents/skills/gh/SKILL.md: gh takes the place of a bundled skill",
        ]
    );
}

#[test]
fn folders_above_the_project_count_up_to_the_git_root_the_nearest_first() {
    let mut world = trusted();
    world.trust("/").folder("/.git").skill("/.agents/skills/top").skill("/.agents/skills/both");
    world.skill(".agents/skills/near").skill(".claude/skills/both");
    assert_eq!(
        world.told(),
        [
            "both in /project/.claude/skills/both is enabled",
            "both in /.agents/skills/both is shadowed: shadowed by /project/.claude/skills/both/SKILL.md",
            "near in /project/.agents/skills/near is enabled",
            "top in /.agents/skills/top is enabled",
        ]
    );
    world.folder(".git");
    assert_eq!(names(&world.snapshot()), ["both", "near"], "the git root is the project itself");
    std::fs::remove_dir(world.path(".git")).unwrap();
    std::fs::remove_dir(world.path("/.git")).unwrap();
    assert_eq!(names(&world.snapshot()), ["both", "near"], "without a git root nothing above is looked at");
    world.policy.scan.ancestors = prowess::policy::Ancestors::None;
    world.folder("/.git");
    assert_eq!(names(&world.snapshot()), ["both", "near"], "unless the configuration says so");
}

#[test]
fn a_git_file_marks_a_worktree_just_as_well() {
    let world = trusted();
    world.trust("/").file("/.git", "gitdir: elsewhere").skill("/.agents/skills/top");
    assert_eq!(names(&world.snapshot()), ["top"]);
}

#[test]
fn skills_may_lie_in_groups_six_deep() {
    let world = trusted();
    world.skill(".agents/skills/1/2/3/4/5/six").skill(".agents/skills/a/2/3/4/5/6/seven");
    assert_eq!(names(&world.snapshot()), ["six"]);
    assert_eq!(
        world.said(),
        [
            "SK073 /project/.agents/skills: a folder lies deeper than 6 and was not looked into: a/2/3/4/5/6",
            "SK001 /project/.agents/skills/a/SKILL.md: there is no SKILL.md in the 6 levels of this folder that are \
             looked into",
        ]
    );
}

#[test]
fn everything_below_a_skill_belongs_to_it() {
    let world = trusted();
    world.skill(".agents/skills/outer").skill(".agents/skills/outer/assets/inner");
    assert_eq!(world.told(), ["outer in /project/.agents/skills/outer is enabled"]);
}

#[test]
fn version_control_dependencies_build_output_and_hidden_folders_are_passed_over() {
    let world = trusted();
    for folder in [".git", ".hidden", "node_modules", "target", "group/node_modules", "group/.cache"] {
        world.skill(&format!(".agents/skills/{folder}/x"));
    }
    // With a `.git` in it, the directory is a repository of its own, which the trust of the project does not cover.
    world.skill(".agents/skills/group/good").trust(".agents/skills");
    assert_eq!(world.told(), ["good in /project/.agents/skills/group/good is enabled"]);
    assert_eq!(world.said(), [] as [&str; 0]);
}

#[test]
fn a_skill_may_be_called_target() {
    let world = trusted();
    world.skill(".agents/skills/target");
    assert_eq!(names(&world.snapshot()), ["target"]);
}

#[test]
fn skill_md_in_small_letters_is_taken_with_a_warning_and_other_spellings_are_not() {
    let world = trusted();
    world.file(".agents/skills/small/skill.md", skill_md("small", "Small."));
    world.file(".agents/skills/odd/Skill.MD", skill_md("odd", "Odd."));
    assert_eq!(
        world.told(),
        [
            "odd in /project/.agents/skills/odd is invalid: the file is named Skill.MD, not SKILL.md",
            "small in /project/.agents/skills/small is enabled",
        ]
    );
    assert_eq!(
        world.said(),
        [
            "SK002 /project/.agents/skills/odd/Skill.MD: the file is named Skill.MD, not SKILL.md",
            "SK002 /project/.agents/skills/small/skill.md: the file is named skill.md, not SKILL.md",
        ]
    );
    let snapshot = world.snapshot();
    assert_eq!(snapshot.get("small").unwrap().read_source(), Some(skill_md("small", "Small.").into_bytes()));
}

#[test]
fn a_folder_without_a_skill_and_a_file_without_a_folder_are_said() {
    let world = trusted();
    world.file(".agents/skills/empty/readme.md", "x").file(".agents/skills/SKILL.md", skill_md("x", "X."));
    world.folder(".agents/skills/group/nothing").skill(".agents/skills/good");
    assert_eq!(
        world.told(),
        [
            "empty in /project/.agents/skills/empty is invalid: there is no SKILL.md in this folder",
            "good in /project/.agents/skills/good is enabled",
            "group in /project/.agents/skills/group is invalid: there is no SKILL.md in this folder",
        ]
    );
    assert_eq!(world.codes(), ["SK076", "SK001", "SK001"]);
}

#[test]
fn project_skills_need_trust_and_shadow_nothing_without_it() {
    let world = World::new(Preset::Standard);
    world.skill(".agents/skills/gh").skill("~/.agents/skills/gh").skill(".agents/skills/other");
    assert_eq!(
        world.told(),
        [
            "gh in /home/.agents/skills/gh is enabled",
            "gh in /project/.agents/skills/gh is untrusted: the project is not trusted; to trust it: prowess trust \
             /project",
            "other in /project/.agents/skills/other is untrusted: the project is not trusted; to trust it: prowess \
             trust /project",
        ]
    );
    world.trust("");
    assert_eq!(names(&world.snapshot()), ["gh", "other"]);
    let snapshot = world.snapshot();
    assert_eq!(world.tell(snapshot.get("gh").unwrap()), "gh in /project/.agents/skills/gh is enabled");
}

#[test]
fn trust_in_a_subfolder_does_not_reach_the_folders_above() {
    let world = trusted();
    world.folder("/.git").skill("/.agents/skills/top").skill(".agents/skills/near");
    assert_eq!(
        world.told(),
        [
            "near in /project/.agents/skills/near is enabled",
            "top in /.agents/skills/top is untrusted: the project is not trusted; to trust it: prowess trust ",
        ]
    );
}

#[test]
fn invalid_skills_shadow_nothing() {
    let world = trusted();
    world.file(".agents/skills/x/SKILL.md", "---\nname: x\n---\n").skill("~/.agents/skills/x");
    assert_eq!(
        world.told(),
        [
            "x in /home/.agents/skills/x is enabled",
            "x in /project/.agents/skills/x is invalid: description is missing",
        ]
    );
}

#[test]
fn working_in_the_home_itself_asks_for_no_trust() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/mine").skill("~/.claude/skills/too");
    let mut surroundings = world.surroundings();
    surroundings.project = surroundings.home.clone().unwrap();
    let registry = prowess::Registry::open_in(world.policy.clone(), surroundings, &Default::default());
    assert_eq!(
        world.told_of(&registry.snapshot()),
        ["mine in /home/.agents/skills/mine is enabled", "too in /home/.claude/skills/too is enabled"]
    );
    let scopes: Vec<_> = registry.snapshot().roots().map(|root| root.scope()).collect();
    assert_eq!(scopes, [Scope::User, Scope::User, Scope::Bundled]);
}

#[test]
fn below_the_home_its_folders_stay_the_users_own() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/mine").folder("~/.git").folder("~/work/deep");
    let mut surroundings = world.surroundings();
    surroundings.project = world.path("~/work/deep");
    let registry = prowess::Registry::open_in(world.policy.clone(), surroundings, &Default::default());
    assert_eq!(world.told_of(&registry.snapshot()), ["mine in /home/.agents/skills/mine is enabled"]);
}

#[test]
fn one_folder_by_two_ways_is_one_skill_and_no_warning() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/a").skill("~/.agents/skills/group/b");
    world.link("~/.claude/skills/a", "~/.agents/skills/a");
    world.link("~/.claude/skills/group", "~/.agents/skills/group");
    assert_eq!(
        world.told(),
        [
            "a in /home/.agents/skills/a is enabled",
            "a in /home/.claude/skills/a is shadowed: the same folder as /home/.agents/skills/a/SKILL.md",
            "b in /home/.agents/skills/group/b is enabled",
            "b in /home/.claude/skills/group/b is shadowed: the same folder as /home/.agents/skills/group/b/SKILL.md",
        ]
    );
    assert_eq!(world.said(), [] as [&str; 0]);
}

#[test]
fn one_root_that_links_to_another_is_not_scanned_twice() {
    let world = trusted();
    world.skill("~/.agents/skills/a").link("~/.claude/skills", "~/.agents/skills");
    world.skill(".agents/skills/b").link(".claude/skills", "../.agents/skills");
    assert_eq!(
        world.told(),
        ["a in /home/.agents/skills/a is enabled", "b in /project/.agents/skills/b is enabled"]
    );
}

#[test]
fn names_that_look_alike_are_warned_about() {
    let world = trusted();
    world.skill("~/.agents/skills/tool").skill(".agents/skills/t00l");
    assert_eq!(world.said(), ["SK083 /home/.agents/skills/tool/SKILL.md: tool looks like t00l"]);
}

#[test]
fn skills_switched_off_as_a_whole_are_not_even_looked_for() {
    let mut world = trusted();
    world.skill(".agents/skills/a");
    world.policy.enabled = false;
    assert!(world.snapshot().all().is_empty());
    assert_eq!(world.codes(), [] as [&str; 0]);
}
