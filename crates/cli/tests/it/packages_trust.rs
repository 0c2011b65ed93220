//! What is trusted by installing and updating: what the user chose, never what a project brought along.

use std::fs;

use crate::world::World;

/// Its lock says what is got; that is nobody's decision to trust it.
#[test]
fn a_project_that_was_cloned_is_not_trusted_by_updating_it() {
    let world = World::bare();
    world.skill("../source/pdf");
    assert_eq!(world.run(&["install", "../source/pdf", "--project"]).code, 0);
    assert_eq!(world.run(&["activate", "pdf"]).code, 0);
    world.described("../source/pdf", "Does something else.");
    // Somebody else's machine, where the project came with its lock.
    world.file("../other/x", "");
    let other = world.path("../other").canonicalize().unwrap();
    let other = |words: &[&'static str]| {
        let home = ["--home".to_owned(), other.to_str().unwrap().to_owned()];
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).chain(home).collect();
        world.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(other(&["update", "--yes", "--project"]).code, 0);
    let told = other(&["activate", "pdf", "--json"]);
    assert_eq!((told.code, told.error().0.as_str()), (1, "UNTRUSTED"));
}

/// The user's own update of what the user installed stays trusted.
#[test]
fn what_was_trusted_stays_so_when_it_is_updated() {
    let world = World::bare();
    world.skill("../source/pdf");
    assert_eq!(world.run(&["install", "../source/pdf", "--project"]).code, 0);
    world.described("../source/pdf", "Does something else.");
    assert_eq!(world.run(&["update", "--project"]).code, 0);
    assert_eq!(world.run(&["activate", "pdf"]).code, 0);
    fs::remove_dir_all(world.path(".agents/skills/pdf")).unwrap();
    assert_eq!(
        world.run(&["remove", "pdf", "--project"]).code,
        0,
        "what was deleted by hand leaves the lock"
    );
    assert!(!world.path("skills.lock").exists());
}
