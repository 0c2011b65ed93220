//! Invariants of discovery, checked on random projects with up to twelve directories.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use prowess::{Preset, SkillStatus, Snapshot};
use prowess_testing::registry_env::{RegistryEnv, skill_md};

/// The roots that contain directories. The last one is not a root, but a target of symlinks.
const ROOTS: [&str; 5] =
    [".agents/skills", ".claude/skills", "~/.agents/skills", "~/.prowess/skills", "/store"];
const NAMES: [&str; 3] = ["alpha", "beta", "gamma"];

/// The contents of a directory.
#[derive(Debug, Clone)]
enum Thing {
    Skill(usize),
    /// The file is named `skill.md`.
    Lower(usize),
    /// It requires a missing command.
    Needs(usize),
    Invalid,
    Empty,
    /// The directory is a symlink.
    Link(String),
    /// `SKILL.md` is a symlink.
    FileLink(String),
}

/// The directories of a project by path, and the trusted ones.
#[derive(Debug, Clone)]
struct Plan {
    dirs: BTreeMap<String, Thing>,
    project: bool,
    store: bool,
}

#[derive(Debug, Clone)]
enum Edit {
    Put(String, Thing),
    Delete(String),
    Trust(bool),
    TrustStore(bool),
}

fn path() -> impl Strategy<Value = String> {
    (0..ROOTS.len(), prop::option::of(0..2), 0..3).prop_map(|(root, group, dir)| match group {
        Some(group) => format!("{}/group{group}/f{dir}", ROOTS[root]),
        None => format!("{}/f{dir}", ROOTS[root]),
    })
}

/// The target of a symlink: a directory, a group, or a whole root.
fn target() -> impl Strategy<Value = String> {
    let above = |path: String| Path::new(&path).parent().unwrap().to_str().unwrap().to_owned();
    prop_oneof![3 => path(), 1 => path().prop_map(above)]
}

fn thing() -> impl Strategy<Value = Thing> {
    let name = || 0..NAMES.len();
    prop_oneof![
        6 => name().prop_map(Thing::Skill),
        1 => name().prop_map(Thing::Lower),
        1 => name().prop_map(Thing::Needs),
        2 => Just(Thing::Invalid),
        1 => Just(Thing::Empty),
        3 => target().prop_map(Thing::Link),
        2 => path().prop_map(|path| Thing::FileLink(path + "/SKILL.md")),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    (btree_map(path(), thing(), 0..12), any::<bool>(), any::<bool>())
        .prop_map(|(dirs, project, store)| Plan { dirs, project, store })
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (path(), thing()).prop_map(|(path, thing)| Edit::Put(path, thing)),
        2 => path().prop_map(Edit::Delete),
        1 => any::<bool>().prop_map(Edit::Trust),
        1 => any::<bool>().prop_map(Edit::TrustStore),
    ]
}

fn put(env: &RegistryEnv, path: &str, thing: &Thing) {
    delete(env, path);
    let file = format!("{path}/SKILL.md");
    match thing {
        Thing::Skill(name) => env.file(&file, skill_md(NAMES[*name], "Does it.")),
        Thing::Lower(name) => env.file(&format!("{path}/skill.md"), skill_md(NAMES[*name], "Does it.")),
        Thing::Needs(name) => {
            let name = NAMES[*name];
            env.file(
                &file,
                format!(
                    "---\nname: {name}\ndescription: D.\nmetadata: {{prowess-requires: none}}\n---\nDo.\n"
                ),
            )
        }
        Thing::Invalid => env.file(&file, "---\nname: [\n---\n"),
        Thing::Empty => env.create_dir(path),
        Thing::Link(target) => env.symlink_to(path, env.path(target)),
        Thing::FileLink(target) => env.symlink_to(&file, env.path(target)),
    };
}

fn delete(env: &RegistryEnv, path: &str) {
    let path = env.path(path);
    if path.is_symlink() {
        fs::remove_file(path).unwrap();
    } else if path.exists() {
        fs::remove_dir_all(path).unwrap();
    }
}

fn decide(env: &RegistryEnv, dir: &str, trusted: bool) {
    env.create_dir(dir);
    if trusted {
        env.trust(dir)
    } else {
        env.untrust(dir)
    };
}

fn build<'p>(plan: &Plan, dirs: impl Iterator<Item = (&'p String, &'p Thing)>) -> RegistryEnv {
    let env = RegistryEnv::large(Preset::Standard);
    for (path, thing) in dirs {
        put(&env, path, thing);
    }
    decide(&env, "", plan.project);
    decide(&env, "/store", plan.store);
    env
}

/// Checks the exact rules of precedence on a snapshot.
fn check_precedence(env: &RegistryEnv, snapshot: &Snapshot) {
    let counts = |status: &SkillStatus| {
        matches!(status, SkillStatus::Enabled | SkillStatus::Disabled(_) | SkillStatus::Unavailable(_))
    };
    let roots: Vec<PathBuf> = snapshot.roots().map(|root| root.path().to_owned()).collect();
    let order = |skill: &prowess::Skill| {
        let root = roots.iter().position(|root| root == skill.root().path()).unwrap();
        (root, skill.relative_dir().to_owned())
    };
    for name in NAMES {
        let candidates: Vec<_> = snapshot
            .all()
            .iter()
            .filter(|skill| skill.name() == name && skill.manifest().is_some())
            .filter(|skill| !matches!(skill.status(), SkillStatus::Untrusted(_) | SkillStatus::Invalid))
            .collect();
        let winners: Vec<_> = candidates.iter().filter(|skill| counts(skill.status())).collect();
        assert_eq!(winners.len(), usize::from(!candidates.is_empty()), "{name}: {:#?}", env.skill_lines());
        if let Some(winner) = winners.first() {
            assert!(
                candidates.iter().all(|skill| order(skill) >= order(winner)),
                "{name}: {:#?}",
                env.skill_lines()
            );
            assert_eq!(snapshot.get(name).unwrap().skill_md_path(), winner.skill_md_path());
        }
    }
    for skill in snapshot.all() {
        if let SkillStatus::Shadowed(shadowed) = skill.status() {
            let by = snapshot.all().iter().find(|other| other.skill_md_path() == shadowed.path).unwrap();
            assert!(
                !matches!(by.status(), SkillStatus::Untrusted(_) | SkillStatus::Invalid),
                "{:#?}",
                env.skill_lines()
            );
            assert_eq!(by.canonical_dir() == skill.canonical_dir(), shadowed.same_dir);
        }
        if skill.is_enabled() {
            assert!(skill.read_skill_md().is_some(), "{}", env.skill_line(skill));
        }
    }
    let dirs: HashSet<_> = snapshot
        .all()
        .iter()
        .map(|skill| (skill.root().path().to_owned(), skill.relative_dir().to_owned()))
        .collect();
    assert_eq!(dirs.len(), snapshot.all().len(), "no directory is listed twice: {:#?}", env.skill_lines());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_skill_counts_for_each_name_and_all_are_listed(plan in plan()) {
        let env = build(&plan, plan.dirs.iter());
        let snapshot = env.snapshot();
        check_precedence(&env, &snapshot);
        for (path, thing) in &plan.dirs {
            let has_file =
                matches!(thing, Thing::Skill(_) | Thing::Lower(_) | Thing::Needs(_) | Thing::Invalid | Thing::FileLink(_));
            if has_file && !path.starts_with("/store") {
                let path = env.path(path);
                let found = snapshot.all().iter().filter(|skill| skill.dir() == path).count();
                prop_assert_eq!(found, 1, "{:?}: {:#?}", path, env.skill_lines());
            }
        }
        if !plan.project {
            let ours = |skill: &&prowess::Skill| skill.root().base().is_some();
            prop_assert!(!snapshot.enabled().any(|skill| ours(&skill)), "{:#?}", env.skill_lines());
        }
    }

    #[test]
    fn creation_order_does_not_matter(plan in plan()) {
        let first = build(&plan, plan.dirs.iter());
        let other = build(&plan, plan.dirs.iter().rev());
        prop_assert_eq!(first.skill_lines(), other.skill_lines());
        prop_assert_eq!(first.diagnostic_lines(), other.diagnostic_lines());
    }

    #[test]
    fn a_refresh_equals_a_new_scan(plan in plan(), edits in vec(edit(), 1..8)) {
        let env = build(&plan, plan.dirs.iter());
        let registry = env.registry();
        for edit in edits {
            apply(&env, &edit);
            let (refreshed, fresh) = (registry.refresh(), env.snapshot());
            prop_assert_eq!(env.skill_lines_in(&refreshed), env.skill_lines_in(&fresh), "after {:?}", edit);
            prop_assert!(*refreshed == *fresh);
            check_precedence(&env, &refreshed);
        }
    }
}

fn apply(env: &RegistryEnv, edit: &Edit) {
    match edit {
        Edit::Put(path, thing) => put(env, path, thing),
        Edit::Delete(path) => delete(env, path),
        Edit::Trust(trusted) => decide(env, "", *trusted),
        Edit::TrustStore(trusted) => decide(env, "/store", *trusted),
    }
}

proptest! {
    // Each case waits until the files count as settled, so many projects share one wait.
    #![proptest_config(ProptestConfig {
        cases: 3, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn a_refresh_of_settled_files_equals_a_new_scan(plans in vec((plan(), vec(edit(), 1..4)), 60..80)) {
        let envs: Vec<_> = plans
            .iter()
            .map(|(plan, _)| {
                let env = build(plan, plan.dirs.iter());
                let registry = env.registry();
                (env, registry)
            })
            .collect();
        envs[0].0.wait_for_timestamps();
        for ((env, registry), (_, edits)) in envs.iter().zip(&plans) {
            let before = registry.refresh();
            prop_assert!(*before == *env.snapshot());
            for edit in edits {
                apply(env, edit);
                let (refreshed, fresh) = (registry.refresh(), env.snapshot());
                prop_assert_eq!(env.skill_lines_in(&refreshed), env.skill_lines_in(&fresh), "after {:?}", edit);
                prop_assert!(*refreshed == *fresh);
            }
        }
    }
}
