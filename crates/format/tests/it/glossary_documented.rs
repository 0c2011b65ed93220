//! `docs/glossary.md` names only types and modules that exist.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_item_in_the_glossary_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/glossary.md")).unwrap();
    let paths: Vec<&str> = page.lines().flat_map(items).collect();
    assert!(paths.len() > 50, "only {} items found", paths.len());
    let missing: Vec<&str> = paths.into_iter().filter(|path| !exists(&root, path)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// Returns the code paths such as `prowess::Skill` in the last column of a table row.
fn items(line: &str) -> Vec<&str> {
    let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) else { return Vec::new() };
    let code = row.rsplit(" | ").next().unwrap_or_default();
    code.split('`').skip(1).step_by(2).filter(|path| path.starts_with("prowess")).collect()
}

/// Returns `true` if the crate of a path defines its last segment as a type, or has a module of that name.
fn exists(root: &Path, path: &str) -> bool {
    let name = path.rsplit("::").next().unwrap_or_default();
    let krate = path.split("::").next().unwrap_or_default();
    let krate = krate.strip_prefix("prowess_").unwrap_or("core");
    let sources = rust_files(&root.join("crates").join(krate).join("src"));
    let is_type = name.starts_with(char::is_uppercase);
    let defines = |source: &PathBuf| {
        let text = fs::read_to_string(source).unwrap();
        let kinds: &[&str] = if is_type { &["struct", "enum", "trait", "type"] } else { &["mod", "fn"] };
        kinds.iter().any(|kind| {
            text.split(&format!("{kind} {name}")).skip(1).any(|rest| !rest.starts_with(is_identifier))
        })
    };
    path == name || sources.iter().any(defines)
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
