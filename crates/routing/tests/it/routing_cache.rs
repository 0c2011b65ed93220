//! The index of a large collection is cached, updated, and rebuilt if it is damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prowess::Preset;
use prowess::catalog::{CatalogBudget, CatalogRequest, render_catalog};
use prowess::usage::SkillUsage;
use prowess_routing::{RouteOptions, Router};
use prowess_testing::registry_env::{RegistryEnv, skill_md};

const SKILLS: usize = 300;

fn large_project() -> RegistryEnv {
    let mut project = RegistryEnv::new(Preset::Standard);
    project.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    project.policy.trust = prowess::policy::ProjectTrust::NotNeeded;
    for number in 0..SKILLS {
        project.file(&path(number), skill(number, "plain"));
    }
    project
}

fn path(number: usize) -> String {
    format!(".agents/skills/skill-{number}/SKILL.md")
}

fn skill(number: usize, word: &str) -> String {
    let about = format!("Does the thing of animal{} and colour{}.", number % 17, number % 13);
    skill_md(&format!("skill-{number}"), &about)
        + &format!("\nIt is {word}, and more of animal{}.\n", number % 7)
}

/// The times of files younger than two seconds are unreliable, so such files are indexed again.
fn settle() {
    std::thread::sleep(Duration::from_millis(3_100));
}

fn results(project: &RegistryEnv, cache_dir: Option<&Path>) -> Vec<String> {
    let router = Router::new(project.snapshot()).with_cache_dir(cache_dir.map(Path::to_path_buf));
    let usage = SkillUsage::default();
    let mut results = Vec::new();
    for query in ["animal3 and colour5", "thing of colour12", "changed", "animal6"] {
        for found in router.route(query, &RouteOptions::new(&usage, 0)).matches {
            results.push(format!("{query}: {} {:.3} {}", found.name, found.score, found.reasons.join("; ")));
        }
    }
    results
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "index"));
    files.sort();
    files
}

fn level(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().rsplit('.').next().unwrap().to_owned()
}

#[test]
fn the_index_is_cached_updated_and_rebuilt_if_damaged() {
    let project = large_project();
    settle();
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("index");
    let fresh = results(&project, None);
    assert_eq!(fresh.len(), 30, "{fresh:#?}");

    // Written the first time, read the second time: the same bytes and the same results.
    assert_eq!(results(&project, Some(&dir)), fresh);
    let first = files(&dir);
    assert_eq!(first.iter().map(|path| level(path)).collect::<Vec<_>>(), ["0"]);
    assert_eq!(fs::metadata(&first[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&first[0]).unwrap();
    assert_eq!(results(&project, Some(&dir)), fresh);
    assert_eq!(fs::read(&first[0]).unwrap(), bytes);

    // One skill changes, one is removed, one is added: a small file is written, and the large one stays
    // unchanged.
    project.file(&path(5), skill(5, "changed"));
    fs::remove_dir_all(project.path(".agents/skills/skill-6")).unwrap();
    project.file(&path(SKILLS), skill(SKILLS, "changed"));
    settle();
    let updated = results(&project, Some(&dir));
    let changed: Vec<_> = updated.iter().filter(|line| line.starts_with("changed: ")).collect();
    assert_eq!(changed.len(), 2, "{updated:#?}");
    assert!(!updated.iter().any(|line| line.contains("skill-6 ")));
    let both = files(&dir);
    assert_eq!(both.iter().map(|path| level(path)).collect::<Vec<_>>(), ["0", "3"]);
    assert_eq!(fs::read(&both[0]).unwrap(), bytes);
    assert!(fs::metadata(&both[1]).unwrap().len() * 20 < bytes.len() as u64);
    assert_eq!(results(&project, Some(&dir)), updated);

    // Truncated, overwritten, or something else: rebuilt.
    let fresh = results(&project, None);
    let names = |results: &[String]| {
        results.iter().map(|line| line.split(' ').nth(3).map(str::to_owned)).collect::<Vec<_>>()
    };
    for damage in [
        bytes[..bytes.len() / 2].to_vec(),
        bytes[..10].to_vec(),
        Vec::new(),
        b"a picture of a cat".repeat(100),
        bytes.iter().enumerate().map(|(at, byte)| if at % 1000 > 900 { 0xff } else { *byte }).collect(),
        bytes.iter().enumerate().map(|(at, byte)| if at > bytes.len() / 2 { 0xff } else { *byte }).collect(),
    ] {
        fs::write(&both[0], damage).unwrap();
        let _ = fs::remove_file(&both[1]);
        assert_eq!(names(&results(&project, Some(&dir))), names(&fresh));
    }
    // A symlink in its place is not followed.
    fs::remove_file(&both[0]).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &both[0]).unwrap();
    assert_eq!(results(&project, Some(&dir)), fresh);

    // If nothing can be written, the index is built each time.
    let file = temp.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(results(&project, Some(&file.join("index"))), fresh);
}

#[test]
fn small_collections_are_not_cached() {
    let project = RegistryEnv::new(Preset::Standard);
    project.file(".agents/skills/a/SKILL.md", skill_md("a", "Does a."));
    let temp = tempfile::tempdir().unwrap();
    results(&project, Some(temp.path()));
    assert_eq!(files(temp.path()), [] as [PathBuf; 0]);
}

#[test]
fn a_large_catalog_under_a_budget_contains_the_right_skill() {
    let mut project = RegistryEnv::large(Preset::Standard);
    project.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    project.policy.trust = prowess::policy::ProjectTrust::NotNeeded;
    for number in 0..5_000 {
        project.file(&path(number), skill(number, "plain"));
    }
    let about = "Converts recipes to metric units. Use when cups and ounces are in the way.";
    project.file(".agents/skills/zz-kitchen/SKILL.md", skill_md("zz-kitchen", about));
    let snapshot = project.snapshot();
    let temp = tempfile::tempdir().unwrap();
    let router = Router::new(snapshot.clone()).with_cache_dir(Some(temp.path().to_path_buf()));
    let usage = SkillUsage::default();
    let routing =
        router.route("how many grams are three cups of flour in this recipe?", &RouteOptions::new(&usage, 0));
    assert_eq!(routing.matches[0].name, "zz-kitchen", "{:?}", routing.matches);
    let relevant: Vec<String> = routing.matches.iter().map(|found| found.name.clone()).collect();
    let budget = CatalogBudget::chars(Some(4_000));
    let request =
        CatalogRequest { budget, relevant: &relevant, ..CatalogRequest::from_policy(&project.policy) };
    let rendered = render_catalog(&snapshot, &project.policy, &request);
    assert!(rendered.text.chars().count() <= 4_000, "{}", rendered.text.chars().count());
    assert!(rendered.text.contains("Converts recipes to metric units."));
}
