//! Manifests that name the same files many times.

use super::limits::{ALL_DIAGNOSTICS_MAX, DIAGNOSTICS_MAX, LOADED_BYTES_MAX, SERVERS_MAX};
use super::*;

const MEBIBYTE: usize = 1024 * 1024;

/// Returns a list with one path many times.
fn repeated(path: &str) -> String {
    format!("[{}]", vec![format!("\"{path}\""); 1024].join(","))
}

fn bytes_read(source: &TestSource) -> usize {
    source.bytes_read.load(Ordering::Relaxed)
}

fn count(files: &[CheckedManifest]) -> usize {
    files.iter().map(|file| file.diagnostics.len()).sum()
}

#[test]
fn a_path_that_is_named_many_times_is_read_once() {
    let text = format!(
        r#"{{"name": "demo", "mcpServers": {}, "skills": {}}}"#,
        repeated("./m.json"),
        repeated("./skills")
    );
    let servers = format!(r#"{{"db": {{"command": "npx"}}, "x": "{}"}}"#, "x".repeat(MEBIBYTE - 100));
    let mut source = TestSource::default()
        .file(".claude-plugin/plugin.json", &text)
        .file("m.json", &servers)
        .skill("skills/sum");
    for number in 0..200 {
        source = source.link(&format!("skills/link{number}"));
    }
    let load = source.load();
    let plugin = load.plugin.unwrap();
    assert_eq!((plugin.skills.len(), plugin.servers.len()), (1, 1));
    assert!(bytes_read(&source) < 2 * MEBIBYTE, "{}", bytes_read(&source));
    assert_eq!(count(&load.files), DIAGNOSTICS_MAX);
    let text = report(&load.files);
    assert!(text.contains(" (and 151 more problems in other files)"), "{text}");
}

#[test]
fn a_plugin_has_a_limited_number_of_servers() {
    let entries = |file: usize| {
        let entry = |number: usize| format!(r#""s{file}-{number}": {{"command": "npx"}}"#);
        format!("{{{}}}", (0..40).map(entry).collect::<Vec<_>>().join(","))
    };
    let source = TestSource::default()
        .file(".claude-plugin/plugin.json", r#"{"name": "demo", "mcpServers": ["./a.json", "./b.json"]}"#)
        .file("a.json", &entries(1))
        .file("b.json", &entries(2));
    let load = source.load();
    assert_eq!(load.plugin.unwrap().servers.len(), SERVERS_MAX);
    insta::assert_snapshot!(report(&load.files));
}

/// Many entries of a marketplace name the same directory, whose files are large.
#[test]
fn all_plugins_of_a_marketplace_are_read_within_a_limit() {
    let entry = |number: usize| format!(r#"{{"name": "p{number}", "source": "./kit"}}"#);
    let entries: Vec<String> = (0..500).map(entry).collect();
    let marketplace =
        format!(r#"{{"name": "m", "owner": {{"name": "A"}}, "plugins": [{}]}}"#, entries.join(","));
    let large = format!(r#"{{"x": "{}"}}"#, "x".repeat(MEBIBYTE - 100));
    let source = TestSource::default()
        .file(".claude-plugin/marketplace.json", &marketplace)
        .file("kit/.claude-plugin/plugin.json", r#"{"name": "kit"}"#)
        .file("kit/.mcp.json", &large)
        .skill("kit/skills/sum");
    let (found, plugins) = load_all_plugins(&source, "").unwrap();
    assert!((60..70).contains(&plugins.len()), "{}", plugins.len());
    assert!(bytes_read(&source) < LOADED_BYTES_MAX + 3 * MEBIBYTE, "{}", bytes_read(&source));
    let text = report(&found.files);
    assert!(text.contains(&format!("only the first {} plugins", plugins.len())), "{text}");
}

#[test]
fn all_plugins_of_a_marketplace_have_a_limited_number_of_diagnostics() {
    let entry = |number: usize| format!(r#"{{"name": "p{number}", "source": "./p{number}"}}"#);
    let entries: Vec<String> = (0..40).map(entry).collect();
    let marketplace =
        format!(r#"{{"name": "m", "owner": {{"name": "A"}}, "plugins": [{}]}}"#, entries.join(","));
    let mut source = TestSource::default().file(".claude-plugin/marketplace.json", &marketplace);
    for plugin in 0..40 {
        for number in 0..60 {
            source = source.link(&format!("p{plugin}/skills/link{number}"));
        }
    }
    let (found, plugins) = load_all_plugins(&source, "").unwrap();
    assert_eq!((plugins.len(), count(&found.files)), (40, ALL_DIAGNOSTICS_MAX));
}
