//! Replays the seeds.

use std::path::Path;

fn replay(target: &str, run: fn(&[u8])) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut seeds: Vec<_> = dir.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(seeds.len() >= 20, "{} seeds in {}", seeds.len(), dir.display());
    for seed in seeds {
        // The output is shown only if a seed fails.
        println!("{}", seed.display());
        run(&std::fs::read(&seed).unwrap());
    }
}

#[test]
fn skill_md() {
    replay("skill_md", crate::skill_md);
}

#[test]
fn yaml() {
    replay("yaml", crate::yaml);
}

#[test]
fn repair() {
    replay("repair", crate::repair);
}

#[test]
fn fix() {
    replay("fix", crate::fix);
    replay("skill_md", crate::fix);
}

#[test]
fn audit() {
    replay("audit", crate::audit);
}

#[test]
fn config() {
    replay("config", crate::config);
}

#[test]
fn archive() {
    replay("archive", crate::archive);
}

#[test]
fn source() {
    replay("source", crate::source);
}

#[test]
fn well_known() {
    replay("well_known", crate::well_known);
}

#[test]
fn jsonc() {
    replay("jsonc", crate::jsonc);
}

#[test]
fn lsp() {
    replay("lsp", crate::lsp);
}

#[test]
fn mcp_uri() {
    replay("mcp_uri", crate::mcp_uri);
}

#[test]
fn markdown() {
    replay("markdown", crate::markdown);
}

#[test]
fn route_index() {
    replay("route_index", crate::route_index);
}

#[test]
fn route_vectors() {
    replay("route_vectors", crate::route_vectors);
}

#[test]
fn dependencies() {
    replay("dependencies", crate::dependencies);
}

#[test]
fn plugin() {
    replay("plugin", crate::plugin);
}
