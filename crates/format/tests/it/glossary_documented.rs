//! `docs/glossary.md` names only types and modules that exist.

use std::fs;
use std::path::Path;

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

/// Returns `true` if the item at a path exists: its modules have source files, and the innermost one, or the crate's root,
/// contains its name. A path with one segment is a crate.
fn exists(root: &Path, path: &str) -> bool {
    let segments: Vec<&str> = path.split("::").collect();
    let [krate, modules @ .., name] = segments.as_slice() else { return true };
    let krate = krate.strip_prefix("prowess_").unwrap_or("core");
    let mut dir = root.join("crates").join(krate).join("src");
    let mut source = dir.join("lib.rs");
    for module in modules {
        let file = dir.join(format!("{module}.rs"));
        dir.push(module);
        source = if file.exists() { file } else { dir.join("mod.rs") };
    }
    let text = fs::read_to_string(source).unwrap_or_default();
    text.split(|c| !is_identifier(c)).any(|word| word == *name)
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
