//! The index of a large collection is kept, brought up to date, and never believed where it is damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prowess::Preset;
use prowess::disclose::{Budget, Request, catalog};
use prowess::usage::Usage;
use prowess_routing::{Options, Router};
use prowess_testing::library::{World, skill_md};

const SKILLS: usize = 300;

fn world() -> World {
    let mut world = World::new(Preset::Standard);
    world.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    world.policy.trust = prowess::policy::ProjectTrust::NotNeeded;
    for number in 0..SKILLS {
        world.file(&path(number), skill(number, "plain"));
    }
    world
}

fn path(number: usize) -> String {
    format!(".agents/skills/skill-{number}/SKILL.md")
}

fn skill(number: usize, word: &str) -> String {
    let about = format!("Does the thing of animal{} and colour{}.", number % 17, number % 13);
    skill_md(&format!("skill-{number}"), &about)
        + &format!("\nIt is {word}, and more of animal{}.\n", number % 7)
}

/// Files are young for two seconds: until then their times are not believed, and they are indexed again.
fn settle() {
    std::thread::sleep(Duration::from_millis(3_100));
}

fn answers(world: &World, folder: Option<&Path>) -> Vec<String> {
    let router = Router::new(world.snapshot()).keeping(folder.map(Path::to_path_buf));
    let usage = Usage::default();
    let mut told = Vec::new();
    for query in ["animal3 and colour5", "thing of colour12", "changed", "animal6"] {
        for found in router.route(query, &Options::new(&usage, 0)).matches {
            told.push(format!("{query}: {} {:.3} {}", found.name, found.score, found.reasons.join("; ")));
        }
    }
    told
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "index"));
    files.sort();
    files
}

fn level(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().rsplit('.').next().unwrap().to_owned()
}

#[test]
fn kept_brought_up_to_date_and_never_believed_where_damaged() {
    let world = world();
    settle();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("index");
    let fresh = answers(&world, None);
    assert_eq!(fresh.len(), 30, "{fresh:#?}");

    // Written the first time, read the second: the same bytes, the same answers.
    assert_eq!(answers(&world, Some(&folder)), fresh);
    let first = files(&folder);
    assert_eq!(first.iter().map(|path| level(path)).collect::<Vec<_>>(), ["0"]);
    assert_eq!(fs::metadata(&first[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&first[0]).unwrap();
    assert_eq!(answers(&world, Some(&folder)), fresh);
    assert_eq!(fs::read(&first[0]).unwrap(), bytes);

    // One skill changes, one goes, one comes: a small file beside the large one, which stays as it is.
    world.file(&path(5), skill(5, "changed"));
    fs::remove_dir_all(world.path(".agents/skills/skill-6")).unwrap();
    world.file(&path(SKILLS), skill(SKILLS, "changed"));
    settle();
    let told = answers(&world, Some(&folder));
    let changed: Vec<_> = told.iter().filter(|line| line.starts_with("changed: ")).collect();
    assert_eq!(changed.len(), 2, "{told:#?}");
    assert!(!told.iter().any(|line| line.contains("skill-6 ")));
    let both = files(&folder);
    assert_eq!(both.iter().map(|path| level(path)).collect::<Vec<_>>(), ["0", "3"]);
    assert_eq!(fs::read(&both[0]).unwrap(), bytes);
    assert!(fs::metadata(&both[1]).unwrap().len() * 20 < bytes.len() as u64);
    assert_eq!(answers(&world, Some(&folder)), told);

    // Torn at any place, overwritten, or something else altogether: built again.
    let fresh = answers(&world, None);
    let names = |told: &[String]| {
        told.iter().map(|line| line.split(' ').nth(3).map(str::to_owned)).collect::<Vec<_>>()
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
        assert_eq!(names(&answers(&world, Some(&folder))), names(&fresh));
    }
    // A link or a pipe in its place is not followed and not waited for.
    fs::remove_file(&both[0]).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &both[0]).unwrap();
    assert_eq!(answers(&world, Some(&folder)), fresh);

    // Where nothing can be written, it is built each time.
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(answers(&world, Some(&file.join("index"))), fresh);
}

#[test]
fn small_collections_are_not_kept() {
    let world = World::new(Preset::Standard);
    world.file(".agents/skills/a/SKILL.md", skill_md("a", "Does a."));
    let place = tempfile::tempdir().unwrap();
    answers(&world, Some(place.path()));
    assert_eq!(files(place.path()), [] as [PathBuf; 0]);
}

#[test]
fn a_catalog_of_thousands_under_a_budget_holds_the_right_skill() {
    let mut world = World::large(Preset::Standard);
    world.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    world.policy.trust = prowess::policy::ProjectTrust::NotNeeded;
    for number in 0..5_000 {
        world.file(&path(number), skill(number, "plain"));
    }
    let about = "Converts recipes to metric units. Use when cups and ounces are in the way.";
    world.file(".agents/skills/zz-kitchen/SKILL.md", skill_md("zz-kitchen", about));
    let snapshot = world.snapshot();
    let place = tempfile::tempdir().unwrap();
    let router = Router::new(snapshot.clone()).keeping(Some(place.path().to_path_buf()));
    let usage = Usage::default();
    let routing =
        router.route("how many grams are three cups of flour in this recipe?", &Options::new(&usage, 0));
    assert_eq!(routing.matches[0].name, "zz-kitchen", "{:?}", routing.matches);
    let relevant: Vec<String> = routing.matches.iter().map(|found| found.name.clone()).collect();
    let budget = Budget::chars(Some(4_000));
    let request = Request { budget, relevant: &relevant, ..Request::of(&world.policy) };
    let made = catalog(&snapshot, &world.policy, &request);
    assert!(made.text.chars().count() <= 4_000, "{}", made.text.chars().count());
    assert!(made.text.contains("Converts recipes to metric units."));
}
