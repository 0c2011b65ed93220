//! Entries of skills: digests, sizes and frontmatter match the served files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::SystemTime;

use prowess::lock::{self, LockEntry, LockFile};
use prowess::{HashedTree, digest, trust};
use serde_json::{Map, Value, json};

use super::resources::read_bytes;
use crate::support::stdio::StdioTestClient;
use crate::support::{SKILLS_DIR, TestHome, error_of};

async fn connected(home: &TestHome) -> StdioTestClient {
    StdioTestClient::connected(&home.server(), "2025-11-25").await
}

async fn entry(client: &mut StdioTestClient, name: &str) -> Value {
    client.result("skills/get", json!({"uri": format!("skill://{name}/SKILL.md")})).await["skill"].take()
}

/// Reads every file of an entry and compares it. Returns the URIs.
async fn verify_files(client: &mut StdioTestClient, entry: &Value) -> Vec<String> {
    let mut uris = Vec::new();
    for file in entry["resources"].as_array().unwrap() {
        let uri = file["uri"].as_str().unwrap();
        let bytes = read_bytes(client, uri).await;
        assert_eq!(
            (&file["size"], file["digest"].as_str().unwrap()),
            (&json!(bytes.len()), digest(&bytes).as_str()),
            "{uri}"
        );
        uris.push(uri.to_owned());
    }
    uris
}

#[tokio::test]
async fn digests_match_for_every_kind_of_file() {
    let home = TestHome::with_skills(&[]);
    let head = "\u{feff}---\r\nname: a\r\ndescription: D.\r\n---\r\nBody.\r\n";
    home.write_file(&format!("{SKILLS_DIR}/a/SKILL.md"), head);
    for (name, content) in [
        ("bom.txt", &b"\xEF\xBB\xBFx"[..]),
        ("crlf.txt", b"a\r\nb\r"),
        ("invalid.txt", b"\xff\xfe\x00"),
        ("empty", b""),
        ("run.sh", b"#!/bin/sh\n"),
        (".hidden", b"h"),
        (".config/x", b"h"),
        ("with space.md", b"s"),
        ("ünïcödé-中文-\u{1F600}.md", b"u"),
        ("decomposed-u\u{308}.md", b"u"),
        ("per%cent%2e.md", b"p"),
        ("que?ry#frag.md", b"q"),
        ("a:b@c;d=e+f&g,h!i$j'k(l)m*n~o.md", b"r"),
        ("[brackets]{braces}|^`\"<>.md", b"b"),
        ("new\nline\ttab.md", b"n"),
        ("...", b"d"),
        ("..x", b"d"),
        ("a/b/c/d/e/f/g/h.md", b"deep"),
    ] {
        home.write_file(&format!("{SKILLS_DIR}/a/{name}"), content);
    }
    fs::set_permissions(home.path(&format!("{SKILLS_DIR}/a/run.sh")), fs::Permissions::from_mode(0o755))
        .unwrap();
    home.write_file("~/outside.txt", "SECRET");
    symlink(home.path("~/outside.txt"), home.path(&format!("{SKILLS_DIR}/a/link.txt"))).unwrap();
    symlink("SKILL.md", home.path(&format!("{SKILLS_DIR}/a/inner-link.md"))).unwrap();
    home.write_file(&format!("{SKILLS_DIR}/a/.git/config"), "[remote]\n");
    let mut client = connected(&home).await;
    let entry = entry(&mut client, "a").await;
    let uris = verify_files(&mut client, &entry).await;
    insta::assert_snapshot!(uris.join("\n"));
    assert!(uris.iter().all(|uri| uri.is_ascii() && !uri.contains([' ', '\n', '"', '<', '>', '\\'])));
    let mut sorted = uris.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), uris.len(), "each file is listed once");
    // The directories contain the same files.
    let (mut found, mut dirs) = (Vec::new(), vec!["skill://a".to_owned()]);
    while let Some(dir) = dirs.pop() {
        for child in client.result("resources/directory/read", json!({"uri": dir})).await["resources"]
            .as_array()
            .unwrap()
        {
            let uri = child["uri"].as_str().unwrap().to_owned();
            if child["mimeType"] == "inode/directory" { dirs.push(uri) } else { found.push(uri) }
        }
    }
    found.sort();
    assert_eq!(found, sorted);
}

/// A change is detected at once, even within the same second, with the same size, or with an old modification time.
#[tokio::test]
async fn a_changed_file_gets_a_new_digest_at_once() {
    let home = TestHome::with_skills(&["a"]);
    let file = format!("{SKILLS_DIR}/a/x.txt");
    home.write_file(&file, "0000");
    let mut client = connected(&home).await;
    let mut before = entry(&mut client, "a").await;
    for number in 1..50 {
        home.write_file(&file, format!("{number:04}"));
        let now = entry(&mut client, "a").await;
        assert_ne!(now["resources"], before["resources"], "{number}");
        verify_files(&mut client, &now).await;
        before = now;
    }
    // Old enough for caching, and requested twice so that it is cached.
    let old = SystemTime::now() - std::time::Duration::from_secs(3600);
    let set_old_time = |path: &str| {
        fs::File::options().write(true).open(home.path(path)).unwrap().set_modified(old).unwrap()
    };
    set_old_time(&file);
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    entry(&mut client, "a").await;
    before = entry(&mut client, "a").await;
    home.write_file(&file, "swap");
    set_old_time(&file);
    let now = entry(&mut client, "a").await;
    assert_ne!(now["resources"], before["resources"]);
    verify_files(&mut client, &now).await;
    // Files are added and removed.
    home.write_file(&format!("{SKILLS_DIR}/a/new.txt"), "n");
    assert_eq!(entry(&mut client, "a").await["resources"].as_array().unwrap().len(), 3);
    fs::remove_file(home.path(&file)).unwrap();
    assert_eq!(entry(&mut client, "a").await["resources"].as_array().unwrap().len(), 2);
    // The listing contains the same entry.
    let listed = client.result("skills/list", json!({})).await;
    assert_eq!(listed["skills"][0], entry(&mut client, "a").await);
}

#[tokio::test]
async fn frontmatter_is_unmodified() {
    let home = TestHome::with_skills(&[]);
    let yaml = r#"name: a
description: >
  Folded text
  of two lines.
license: "MIT"
compatibility: |
  First.
    Second.
allowed-tools: Read Bash(git:*)
version: 1.10
exact: "1.10"
count: 42
negative: -7
hex: 0x1F
octal: 0o17
exponent: 1e3
truth: true
nothing: null
tilde: ~
empty:
date: 2024-01-02
yes-word: yes
"quoted key": 'single ''quoted'''
unicode: "\u00e9\U0001F600 \x41"
escape: "\e[31m"
nested:
  list: [a, 1, 2.5, {k: v}, [x]]
  map: {a: {b: {c: d}}}
anchor: &x
  k: v
alias: *x
multi-line: one
  two
"#;
    home.write_file(&format!("{SKILLS_DIR}/a/SKILL.md"), format!("---\n{yaml}---\n\nBody.\n"));
    let mut client = connected(&home).await;
    let entry = entry(&mut client, "a").await;
    insta::assert_snapshot!(crate::support::pretty(&entry["frontmatter"]));
    // The resource has the same name and description.
    let listed = client.result("resources/list", json!({})).await;
    // The displayed description has no trailing line break.
    let description = entry["frontmatter"]["description"].as_str().unwrap();
    assert_eq!(listed["resources"][0]["description"], description.trim_end());
    assert_eq!(listed["resources"][0]["name"], entry["frontmatter"]["name"]);
}

#[tokio::test]
async fn frontmatter_always_has_a_name_and_a_description() {
    use prowess::Preset;
    for (preset, root) in [
        (Preset::App, ".agents/skills"),
        (Preset::SkillTool, "skills"),
        (Preset::Chat, ".skills"),
        (Preset::Standard, SKILLS_DIR),
    ] {
        let home = TestHome::new(preset);
        for (dir, head) in [
            ("good", "name: good\ndescription: D."),
            ("no-name", "description: D."),
            ("no-description", "name: no-description"),
            ("empty-description", "name: empty-description\ndescription: \"\""),
            ("number", "name: 7\ndescription: 8"),
            ("number-text", "name: number-text\ndescription: 8"),
            ("list", "name: list\ndescription: [a, b]"),
            ("upper", "name: UPPER\ndescription: D."),
            ("spaced", "name: \" spaced \"\ndescription: D."),
            ("nothing", ""),
        ] {
            home.write_file(&format!("{root}/{dir}/SKILL.md"), format!("---\n{head}\n---\nB\n"));
        }
        let mut client = connected(&home).await;
        let listed = client.result("skills/list", json!({})).await;
        let entries = listed["skills"].as_array().unwrap();
        assert!(!entries.is_empty(), "{preset}");
        for entry in entries {
            let (uri, front) = (entry["uri"].as_str().unwrap(), entry["frontmatter"].as_object().unwrap());
            let text =
                |front: &Map<String, Value>, key: &str| front[key].as_str().unwrap_or_default().to_owned();
            let (name, description) = (text(front, "name"), text(front, "description"));
            assert!(!name.is_empty() && !description.is_empty(), "{preset}: {entry}");
            assert!(uri.ends_with(&format!("/{name}/SKILL.md")), "{preset}: {entry}");
            assert!(
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
            verify_files(&mut client, entry).await;
        }
    }
}

#[tokio::test]
async fn a_locked_skill_that_was_modified_is_not_served() {
    let home = TestHome::with_skills(&[]);
    home.write_skill(".agents/skills/locked", "Body.");
    home.write_file(".agents/skills/locked/x.txt", "as installed");
    let registry = home.registry();
    let host_env = registry.host();
    trust::trust(&host_env.project, false, registry.policy(), host_env).unwrap();
    let dir = ".agents/skills/locked".to_owned();
    let tree = HashedTree::from_dir(&home.path(&dir)).unwrap();
    let locked =
        LockEntry { name: "locked".to_owned(), folder: dir.clone(), ..LockEntry::default() }.with_tree(&tree);
    let mut lock = LockFile::default();
    lock.set(&dir, Some(locked));
    fs::write(lock::project_lock_path(&host_env.project), lock.to_bytes()).unwrap();
    let mut client = connected(&home).await;
    let before = entry(&mut client, "locked").await;
    assert_eq!(verify_files(&mut client, &before).await.len(), 2);
    home.write_file(".agents/skills/locked/x.txt", "not as installed");
    let uri = json!({"uri": "skill://locked/SKILL.md"});
    let response = client.request("skills/get", uri.clone()).await;
    let (code, message) = error_of(&response);
    assert_eq!(code, -32602);
    insta::assert_snapshot!(message);
    assert_eq!(client.result("skills/list", json!({})).await["skills"], json!([]));
    assert!(
        client.request("resources/read", json!({"uri": "skill://locked/x.txt"})).await["error"].is_object()
    );
    home.write_file(".agents/skills/locked/x.txt", "as installed");
    // The server may have noticed the modified file in the meantime; it notices this change with its next scan.
    while client.request("skills/get", uri.clone()).await.get("error").is_some() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(entry(&mut client, "locked").await["resources"], before["resources"]);
}
