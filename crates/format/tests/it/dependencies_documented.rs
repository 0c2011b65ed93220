//! `docs/dependencies.md` has a line for every direct dependency of the workspace, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_dependency_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/dependencies.md")).unwrap();
    let documented: BTreeSet<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .collect();

    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let others = ["bench", "bench/engines", "fuzz"].map(|dir_name| root.join(dir_name));
    let manifests = crates.chain(others).map(|dir_name| dir_name.join("Cargo.toml"));
    let used: BTreeSet<_> = manifests
        .filter_map(|manifest| fs::read_to_string(manifest).ok())
        .flat_map(|manifest| dependencies(&manifest))
        .filter(|name| !name.starts_with("prowess"))
        .collect();
    assert_eq!(documented, used);
}

/// Returns the names in the dependency tables.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside && line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            names.extend(line.split(['.', ' ', '=']).next().map(String::from));
        }
    }
    names
}
