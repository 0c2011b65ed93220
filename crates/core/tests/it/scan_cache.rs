//! The cache of frontmatter: with it, a scan has the same result as without it, whatever the cache contains.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use prowess::{Preset, Registry, Snapshot};
use prowess_testing::registry_env::{RegistryEnv, skill_md};

/// A home directory with enough skills for a cache, valid and invalid ones, symlinks and groups.
fn env() -> RegistryEnv {
    let env = RegistryEnv::new(Preset::Standard);
    for number in 0..80 {
        env.skill(&format!("~/.agents/skills/skill-{number}"));
    }
    env.skill("~/.claude/skills/group/inner")
        .file(
            "~/.agents/skills/quoted/SKILL.md",
            "---\nname: quoted\ndescription: Use: this\n---\n\nBody: x\n",
        )
        .file("~/.agents/skills/unknown/SKILL.md", "---\nname: unknown\ndescription: d\nfoo: 1\n---\n")
        .file(
            "~/.agents/skills/long/SKILL.md",
            format!("---\nname: long\ndescription: d\nmetadata:\n  a: {}\n---\n", "x".repeat(20_000)),
        )
        .file("~/.agents/skills/broken/SKILL.md", "---\nname: broken\n---\n")
        .file("~/.agents/skills/empty/SKILL.md", "")
        .file("~/.agents/skills/lower/skill.md", skill_md("lower", "Lower case."))
        .file("~/.agents/skills/dashes/SKILL.md", "---\nname: dashes\ndescription: d\n---\n---\na: b\n---\n")
        .symlink("~/.claude/skills/linked", "~/.agents/skills/skill-1")
        .wait_for_timestamps();
    env
}

fn cache_path(env: &RegistryEnv) -> PathBuf {
    env.path("~/.prowess/state/scan.cache")
}

fn cached(env: &RegistryEnv) -> Arc<Snapshot> {
    Registry::open_with_cache(env.policy.clone(), env.host_env(), &cache_path(env)).snapshot()
}

fn assert_same(env: &RegistryEnv) {
    let (cached, fresh) = (cached(env), env.snapshot());
    assert_eq!(cached, fresh);
    let diagnostics = |snapshot: &Snapshot| snapshot.diagnostics().collect::<Vec<_>>();
    assert_eq!(diagnostics(&cached), diagnostics(&fresh));
}

#[test]
fn a_scan_with_the_cache_has_the_same_result() {
    let env = env();
    for _ in 0..3 {
        assert_same(&env);
    }
    let written = fs::read(cache_path(&env)).unwrap();
    assert!(written.len() > 80 * 100);
    assert_same(&env);
    assert_eq!(fs::read(cache_path(&env)).unwrap(), written);
}

#[test]
fn changes_are_detected() {
    let env = env();
    cached(&env);
    let before = fs::metadata(env.path("~/.agents/skills/skill-2/SKILL.md")).unwrap().modified().unwrap();
    env.file("~/.agents/skills/skill-1/SKILL.md", skill_md("skill-1", "Another."));
    // The same size and time of modification, as a program that restores times leaves it.
    let text = fs::read_to_string(env.path("~/.agents/skills/skill-2/SKILL.md")).unwrap();
    env.file("~/.agents/skills/skill-2/SKILL.md", text.replace("Does", "Dose"));
    let file = fs::File::options().append(true).open(env.path("~/.agents/skills/skill-2/SKILL.md")).unwrap();
    file.set_modified(before).unwrap();
    fs::remove_dir_all(env.path("~/.agents/skills/skill-3")).unwrap();
    fs::remove_file(env.path("~/.agents/skills/skill-4/SKILL.md")).unwrap();
    fs::create_dir(env.path("~/.agents/skills/skill-4/SKILL.md")).unwrap();
    env.skill("~/.agents/skills/new");
    fs::rename(env.path("~/.agents/skills/skill-5"), env.path("~/.agents/skills/skill-5b")).unwrap();
    fs::remove_dir_all(env.path("~/.agents/skills/skill-6")).unwrap();
    env.symlink("~/.agents/skills/skill-6", "~/.agents/skills/skill-7");
    assert_same(&env);
    assert!(cached(&env).get("skill-2").unwrap().description().starts_with("Dose"));
    env.wait_for_timestamps();
    assert_same(&env);
    assert_same(&env);
}

#[test]
fn projects_share_the_cache() {
    let env = env();
    for number in 0..3 {
        env.skill(&format!(".agents/skills/mine-{number}"));
    }
    env.trust("").wait_for_timestamps();
    cached(&env);
    let with_project = fs::read(cache_path(&env)).unwrap();
    let mut elsewhere = env.host_env();
    elsewhere.project = env.path("~/");
    Registry::open_with_cache(env.policy.clone(), elsewhere, &cache_path(&env));
    assert_eq!(fs::read(cache_path(&env)).unwrap(), with_project);
    assert_same(&env);
}

#[test]
fn other_rules_give_other_results() {
    let mut env = env();
    cached(&env);
    env.policy.manifest.unknown_keys = prowess::format::RuleLevel::Reject;
    assert_same(&env);
}

#[test]
fn small_collections_have_no_cache() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/a").wait_for_timestamps();
    assert_same(&env);
    assert!(!cache_path(&env).exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_damaged_cache_changes_nothing(cut in 0.0..1.0_f64, place in 0.0..1.0_f64, byte in any::<u8>(), noise in prop::collection::vec(any::<u8>(), 0..40)) {
        use std::sync::OnceLock;
        static ENV: OnceLock<(RegistryEnv, Vec<u8>)> = OnceLock::new();
        let (env, valid) = ENV.get_or_init(|| {
            let env = env();
            cached(&env);
            let valid = fs::read(cache_path(&env)).unwrap();
            (env, valid)
        });
        let mut bytes = valid[..(valid.len() as f64 * cut) as usize].to_vec();
        let place = (bytes.len() as f64 * place) as usize;
        if let Some(damaged) = bytes.get_mut(place) {
            *damaged = byte;
        }
        bytes.extend(noise);
        fs::write(cache_path(env), bytes).unwrap();
        // The second scan uses what the first one stored.
        assert_same(env);
        assert_same(env);
    }
}
