//! Prints which top-level modules of each crate use which, and fails on a cycle, and on a crate that knows the operating
//! system though it should not.
//!
//! ```sh
//! cargo run --all-features -p prowess-testing --example modules
//! ```

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates that may use what only some systems have. Everything else asks `fs`.
const OF_THE_SYSTEM: &[&str] = &["fs", "sandbox", "testing"];

type Graph = BTreeMap<String, BTreeSet<String>>;

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<PathBuf> =
        fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let (mut passed, mut failed) = (0, 0);
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let graph = graph(&folder.join("src"));
        println!("{name}");
        for (module, uses) in &graph {
            let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
            println!(
                "    {module} -> {}",
                if uses.is_empty() { "nothing".to_owned() } else { uses.join(", ") }
            );
        }
        let cycle = in_cycles(&graph);
        let modules: Vec<&str> = cycle.iter().map(String::as_str).collect();
        if !cycle.is_empty() {
            println!("error: modules of {name} use each other in a cycle: {}", modules.join(", "));
        }
        let may = OF_THE_SYSTEM.contains(&name.as_str());
        let bound = if may { Vec::new() } else { bound_to_system(&folder.join("src")) };
        for path in &bound {
            println!("error: {} uses std::os::unix, rustix or libc without a cfg", path.display());
        }
        if cycle.is_empty() && bound.is_empty() { passed += 1 } else { failed += 1 }
    }
    println!("{passed} passed, {failed} failed");
    std::process::exit(i32::from(failed > 0));
}

/// The files below a folder that use what only some systems have in a line that no `cfg` attribute precedes. Tests do
/// not count.
fn bound_to_system(folder: &Path) -> Vec<PathBuf> {
    let mut bound = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                bound.extend(bound_to_system(&path));
            }
            continue;
        }
        if path.ends_with("tests.rs") || path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let mut guarded = false;
        let is_bound = code(&path).lines().any(|line| {
            let uses = ["std::os::unix", "rustix::", "libc::"].iter().any(|name| line.contains(name));
            let was_guarded = std::mem::replace(&mut guarded, line.trim_start().starts_with("#[cfg("));
            uses && !was_guarded
        });
        bound.extend(is_bound.then_some(path));
    }
    bound
}

/// Which top-level modules use which, as far as paths that begin with `crate` or climb to it say. Tests do not count.
fn graph(src: &Path) -> Graph {
    let root = ["lib.rs", "main.rs"].iter().map(|file| src.join(file)).find(|file| file.exists()).unwrap();
    let text = code(&root);
    let modules: BTreeSet<String> = words_after(&text, "mod ").into_iter().collect();
    // What the root gives other names: `pub use module::Thing`.
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    for statement in text.split(';') {
        let Some((_, path)) = statement.split_once("use ") else { continue };
        let path = path.trim_start_matches("crate::").trim_start_matches("self::");
        let Some((module, rest)) = path.split_once("::") else { continue };
        if modules.contains(module) {
            given.extend(words(rest).map(|word| (word.to_owned(), module.to_owned())));
        }
    }
    let mut graph: Graph = modules.iter().map(|module| (module.clone(), BTreeSet::new())).collect();
    let mut open = vec![src.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
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
            let climbing = "super::".repeat(depth);
            let used = [after(&text, "crate::"), after(&text, &climbing)].concat();
            let targets = used.into_iter().filter_map(|name| match modules.contains(&name) {
                true => Some(name),
                false => given.get(&name).cloned(),
            });
            let targets: Vec<String> = targets.filter(|target| target != top).collect();
            graph.get_mut(top).unwrap().extend(targets);
        }
    }
    graph
}

/// A file without comments and without the tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The word behind each of these, where it begins a statement.
fn words_after(text: &str, mark: &str) -> Vec<String> {
    let statements = text
        .lines()
        .map(|line| line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub "));
    statements.filter_map(|line| words(line.strip_prefix(mark)?).next().map(str::to_owned)).collect()
}

/// The names behind each of these paths: one, or the first of each in braces.
fn after(text: &str, path: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(path) {
        let before = text.get(..at).unwrap_or_default();
        if before.ends_with("::") || before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = text.get(at + path.len()..).unwrap_or_default();
        match rest.strip_prefix('{') {
            None => {
                names.extend(words(rest).next().filter(|_| !rest.starts_with("super::")).map(str::to_owned))
            }
            Some(list) => {
                let mut depth = 0_usize;
                let mut begins = true;
                for (at, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => begins = true,
                        c if begins && c.is_alphabetic() => {
                            names.extend(words(list.get(at..).unwrap_or_default()).next().map(str::to_owned));
                            begins = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names
}

/// The modules from which a way leads back to themselves.
fn in_cycles(graph: &Graph) -> BTreeSet<String> {
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
