//! Prints the dependencies between the top-level modules of each crate. Fails on a cycle, and on platform-specific code in a
//! crate that must be portable.
//!
//! ```sh
//! cargo run --all-features -p prowess-testing --example modules
//! ```

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates that may contain platform-specific code. All others use `fs` instead.
const PLATFORM_SPECIFIC_CRATES: &[&str] = &["fs", "sandbox", "testing"];

type Graph = BTreeMap<String, BTreeSet<String>>;

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut dirs: Vec<PathBuf> = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()).collect();
    dirs.sort();
    let (mut passed, mut failed) = (0, 0);
    for dir in dirs {
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        let graph = module_graph(&dir.join("src"));
        println!("{name}");
        for (module, uses) in &graph {
            let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
            println!(
                "    {module} -> {}",
                if uses.is_empty() { "nothing".to_owned() } else { uses.join(", ") }
            );
        }
        let cycle = modules_in_cycles(&graph);
        let modules: Vec<&str> = cycle.iter().map(String::as_str).collect();
        if !cycle.is_empty() {
            println!("error: modules of {name} use each other in a cycle: {}", modules.join(", "));
        }
        let is_exempt = PLATFORM_SPECIFIC_CRATES.contains(&name.as_str());
        let offenders = if is_exempt { Vec::new() } else { platform_specific_files(&dir.join("src")) };
        for path in &offenders {
            println!("error: {} uses std::os::unix, rustix or libc without a cfg", path.display());
        }
        if cycle.is_empty() && offenders.is_empty() { passed += 1 } else { failed += 1 }
    }
    println!("{passed} passed, {failed} failed");
    std::process::exit(i32::from(failed > 0));
}

/// Returns the files below a directory with platform-specific code in a line that does not follow a `cfg` attribute. Tests are
/// ignored.
fn platform_specific_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                files.extend(platform_specific_files(&path));
            }
            continue;
        }
        if path.ends_with("tests.rs") || path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let mut guarded = false;
        let is_platform_specific = code(&path).lines().any(|line| {
            let uses = ["std::os::unix", "rustix::", "libc::"].iter().any(|name| line.contains(name));
            let was_guarded = std::mem::replace(&mut guarded, line.trim_start().starts_with("#[cfg("));
            uses && !was_guarded
        });
        files.extend(is_platform_specific.then_some(path));
    }
    files
}

/// Returns which top-level modules use which, based on paths that start with `crate::` or lead there by `super::`. Tests are
/// ignored.
fn module_graph(src: &Path) -> Graph {
    let root = ["lib.rs", "main.rs"].iter().map(|file| src.join(file)).find(|file| file.exists()).unwrap();
    let text = code(&root);
    let modules: BTreeSet<String> = words_after(&text, "mod ").into_iter().collect();
    // Names that the root re-exports, with their modules: `pub use module::Thing`.
    let mut reexports: BTreeMap<String, String> = BTreeMap::new();
    for statement in text.split(';') {
        let Some((_, path)) = statement.split_once("use ") else { continue };
        let path = path.trim_start_matches("crate::").trim_start_matches("self::");
        let Some((module, rest)) = path.split_once("::") else { continue };
        if modules.contains(module) {
            reexports.extend(words(rest).map(|word| (word.to_owned(), module.to_owned())));
        }
    }
    let mut graph: Graph = modules.iter().map(|module| (module.clone(), BTreeSet::new())).collect();
    let mut open = vec![src.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let inner: Vec<String> = path
                .strip_prefix(src)
                .unwrap()
                .with_extension("")
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            let is_test = inner.iter().any(|part| part == "tests");
            let Some(top) = inner.first().filter(|top| modules.contains(*top)) else { continue };
            if is_test || path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let depth = inner.len() - usize::from(inner.last().is_some_and(|last| last == "mod"));
            let text = code(&path);
            let super_path = "super::".repeat(depth);
            let used = [names_after(&text, "crate::"), names_after(&text, &super_path)].concat();
            let targets = used.into_iter().filter_map(|name| match modules.contains(&name) {
                true => Some(name),
                false => reexports.get(&name).cloned(),
            });
            let targets: Vec<String> = targets.filter(|target| target != top).collect();
            graph.get_mut(top).unwrap().extend(targets);
        }
    }
    graph
}

/// Returns the text of a file without comments and without the test module at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the first word after each occurrence of a keyword at the start of a statement.
fn words_after(text: &str, keyword: &str) -> Vec<String> {
    let statements = text
        .lines()
        .map(|line| line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub "));
    statements.filter_map(|line| words(line.strip_prefix(keyword)?).next().map(str::to_owned)).collect()
}

/// Returns the name after each occurrence of a path. For a list in braces, returns the first name of each item.
fn names_after(text: &str, path: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (start, _) in text.match_indices(path) {
        let before = text.get(..start).unwrap_or_default();
        if before.ends_with("::") || before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = text.get(start + path.len()..).unwrap_or_default();
        match rest.strip_prefix('{') {
            None => {
                names.extend(words(rest).next().filter(|_| !rest.starts_with("super::")).map(str::to_owned))
            }
            Some(list) => {
                let mut depth = 0_usize;
                let mut at_start = true;
                for (offset, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => at_start = true,
                        c if at_start && c.is_alphabetic() => {
                            names.extend(
                                words(list.get(offset..).unwrap_or_default()).next().map(str::to_owned),
                            );
                            at_start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names
}

/// Returns the modules that depend on themselves, directly or through others.
fn modules_in_cycles(graph: &Graph) -> BTreeSet<String> {
    let leads_back = |start: &String| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&String> = graph.get(start).into_iter().flatten().collect();
        while let Some(module) = open.pop() {
            if module == start {
                return true;
            }
            if seen.insert(module) {
                open.extend(graph.get(module).into_iter().flatten());
            }
        }
        false
    };
    graph.keys().filter(|module| leads_back(module)).cloned().collect()
}
