//! Resources: the exact bytes of files, and only of available skills.

use std::os::unix::fs::symlink;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::Preset;
use serde_json::{Value, json};

use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, SKILLS_DIR, TestHome, error_of, pretty};

async fn connected(home: &TestHome) -> StdioTestClient {
    StdioTestClient::connected(&home.server(), "2025-11-25").await
}

/// Returns all entries of a list, and the number of pages.
pub(crate) async fn all_pages(client: &mut StdioTestClient, method: &str, list: &str) -> (Vec<Value>, usize) {
    let (mut entries, mut pages, mut params) = (Vec::new(), 0, json!({}));
    loop {
        let mut page = client.result(method, params).await;
        entries.append(page[list].as_array_mut().unwrap());
        pages += 1;
        match page.get("nextCursor") {
            Some(next) => params = json!({"cursor": next}),
            None => return (entries, pages),
        }
    }
}

/// Returns the bytes of a resource.
pub(crate) async fn read_bytes(client: &mut StdioTestClient, uri: &str) -> Vec<u8> {
    let result = client.result("resources/read", json!({"uri": uri})).await;
    let contents = result["contents"].as_array().unwrap();
    assert_eq!((contents.len(), contents[0]["uri"].as_str().unwrap()), (1, uri));
    match (contents[0]["text"].as_str(), contents[0]["blob"].as_str()) {
        (Some(text), None) => text.into(),
        (None, Some(blob)) => BASE64_STANDARD.decode(blob).unwrap(),
        _ => panic!("{result}"),
    }
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let home = TestHome::with_skills(&["a", "b"]);
    home.write_file(&format!("{SKILLS_DIR}/a/logo.png"), b"\x89PNG\r\n\x1a\n123");
    let mut client = connected(&home).await;
    insta::assert_snapshot!("resources_list", pretty(&client.result("resources/list", json!({})).await));
    let templates = client.result("resources/templates/list", json!({})).await;
    insta::assert_snapshot!("resources_templates", pretty(&templates));
    for (name, uri) in [("text", "skill://a/SKILL.md"), ("picture", "skill://a/logo.png")] {
        let read = client.result("resources/read", json!({"uri": uri})).await;
        insta::assert_snapshot!(format!("resources_read_{name}"), pretty(&read));
    }
}

#[tokio::test]
async fn bytes_are_preserved() {
    let home = TestHome::with_skills(&["a"]);
    let all_bytes: Vec<u8> = (0..=255).collect();
    let files: [(&str, &[u8], &str); 10] = [
        ("bom.md", b"\xEF\xBB\xBF# A\n", "text/markdown"),
        ("crlf.txt", b"a\r\nb\rc\n\n", "text/plain"),
        ("empty.md", b"", "text/markdown"),
        ("nul.txt", b"a\0b", "application/octet-stream"),
        ("latin.txt", b"caf\xe9", "application/octet-stream"),
        ("escapes.txt", b"\x1b[31mred\x1b[0m \xe2\x80\xae", "text/plain"),
        ("all.bin", &all_bytes, "application/octet-stream"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0", "image/png"),
        ("drawing.svg", b"<svg/>", "image/svg+xml"),
        (".hidden", b"h", "text/plain"),
    ];
    for (name, content, _) in files {
        home.write_file(&format!("{SKILLS_DIR}/a/{name}"), content);
    }
    let mut client = connected(&home).await;
    for (name, content, mime) in files {
        let uri = format!("skill://a/{name}");
        assert_eq!(read_bytes(&mut client, &uri).await, content, "{name}");
        let read = client.result("resources/read", json!({"uri": uri})).await;
        assert_eq!(read["contents"][0]["mimeType"], mime, "{name}");
    }
}

#[tokio::test]
async fn long_lists_are_paginated() {
    let home = TestHome::with_skills(&[]);
    let names: Vec<String> = (0..450).map(|number| format!("s{number:03}")).collect();
    for name in &names {
        home.write_skill(&format!("{SKILLS_DIR}/{name}"), "B.");
    }
    let server = home.server();
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    let (resources, pages) = all_pages(&mut client, "resources/list", "resources").await;
    let listed: Vec<_> = resources.iter().map(|resource| resource["name"].as_str().unwrap()).collect();
    assert_eq!((listed, pages), (names.iter().map(String::as_str).collect(), 3));
    let (prompts, pages) = all_pages(&mut client, "prompts/list", "prompts").await;
    assert_eq!((prompts.len(), pages), (450, 3));
    // Forged cursors, and cursors of another list or another process.
    let first = client.result("resources/list", json!({})).await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let other = home.server();
    let mut other_client = StdioTestClient::connected(&other, "2025-11-25").await;
    for (is_other, method, cursor) in [
        (false, "resources/list", "0"),
        (false, "resources/list", ""),
        (false, "resources/list", "c2tpbGw"),
        (false, "resources/list", &cursor[1..]),
        (false, "prompts/list", cursor),
        (false, "tools/list", cursor),
        (false, "skills/list", cursor),
        (true, "resources/list", cursor),
    ] {
        let client = if is_other { &mut other_client } else { &mut client };
        let response = client.request(method, json!({"cursor": cursor})).await;
        let (code, message) = error_of(&response);
        assert_eq!(code, -32602, "{method} {cursor}");
        assert_eq!(message, "unknown cursor; start again without a cursor");
    }
    // Another session of the same server may continue.
    let mut third = StdioTestClient::connected(&server, "2025-06-18").await;
    assert_eq!(
        third.result("resources/list", json!({"cursor": cursor})).await["resources"][0]["name"],
        "s200"
    );
}

#[tokio::test]
async fn a_hidden_skill_can_be_read_by_its_uri() {
    let home = TestHome::with_skills(&["open"]);
    home.write_skill_with(&format!("{SKILLS_DIR}/quiet"), "disable-model-invocation: true\n", "Quiet body.");
    let mut client = connected(&home).await;
    for (method, list) in [("resources/list", "resources"), ("skills/list", "skills")] {
        let listed = client.result(method, json!({})).await[list].to_string();
        assert!(listed.contains("open") && !listed.contains("quiet"), "{method}");
    }
    assert!(!client.result("tools/list", json!({})).await.to_string().contains("quiet"));
    let got = client.result("skills/get", json!({"uri": "skill://quiet/SKILL.md"})).await;
    assert_eq!(got["skill"]["frontmatter"]["disable-model-invocation"], true);
    assert!(
        String::from_utf8(read_bytes(&mut client, "skill://quiet/SKILL.md").await).unwrap().contains("Quiet")
    );
    assert!(client.result("prompts/list", json!({})).await.to_string().contains("quiet"));
}

/// Skills that are unavailable for different reasons: no method returns anything of them.
#[tokio::test]
async fn unavailable_skills_are_not_served() {
    let mut home = TestHome::with_skills(&["good", "off", "twice"]);
    home.policy.selection.disabled.push("off".to_owned());
    home.write_file(&format!("{SKILLS_DIR}/broken/SKILL.md"), "no frontmatter at all: MARK\n");
    home.write_skill(".agents/skills/foreign", "MARK");
    home.write_skill("~/.claude/skills/twice", "MARK of the other copy");
    home.write_skill("~/elsewhere/away", "MARK");
    symlink(home.path("~/elsewhere/away"), home.path(&format!("{SKILLS_DIR}/away"))).unwrap();
    home.write_file("~/secret.txt", "MARK");
    symlink(home.path("~/secret.txt"), home.path(&format!("{SKILLS_DIR}/good/link.txt"))).unwrap();
    symlink("/etc", home.path(&format!("{SKILLS_DIR}/good/etc"))).unwrap();
    let server = home.server();
    let site = HttpTestServer::start(&server).await;
    let mut report = Vec::new();
    for mut client in [
        StdioTestClient::connected(&server, "2025-11-25").await,
        StdioTestClient::stateless(&server, NEWEST_VERSION),
    ] {
        for method in ["skills/list", "resources/list", "prompts/list", "tools/list"] {
            let listed = client.result(method, json!({})).await.to_string();
            for name in ["off", "broken", "foreign", "away", "MARK", "link.txt"] {
                let is_named =
                    listed.contains(&format!("\"{name}\"")) || listed.contains(&format!("//{name}/"));
                assert!(!is_named, "{method} has {name}: {listed}");
            }
        }
        for name in ["off", "broken", "foreign", "away", "none"] {
            let (file, dir) = (format!("skill://{name}/SKILL.md"), format!("skill://{name}"));
            for (method, params) in [
                ("resources/read", json!({"uri": file})),
                ("skills/get", json!({"uri": file})),
                ("resources/directory/read", json!({"uri": dir})),
                ("prompts/get", json!({"name": name})),
                (
                    "completion/complete",
                    json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "args", "value": ""}}),
                ),
            ] {
                let response = client.request(method, params).await;
                let (code, message) = error_of(&response);
                assert!([-32602, -32002].contains(&code), "{method} {name}: {response}");
                report.push(format!("{method} {name}: {code} {message}"));
            }
            for (tool, path) in [("skills_activate", None), ("skills_readResource", Some("SKILL.md"))] {
                let mut arguments = json!({"name": name});
                if let Some(path) = path {
                    arguments["path"] = json!(path);
                }
                assert_eq!(client.call(tool, arguments).await["isError"], true, "{tool} {name}");
            }
        }
        for path in ["link.txt", "etc/passwd", "etc"] {
            let uri = format!("skill://good/{path}");
            assert!(
                client.request("resources/read", json!({"uri": uri})).await["error"].is_object(),
                "{path}"
            );
            let listed = client.request("resources/directory/read", json!({"uri": uri})).await;
            assert_eq!(error_of(&listed).0, -32602, "{path}");
        }
        // The effective copy is served.
        assert!(
            !String::from_utf8(read_bytes(&mut client, "skill://twice/SKILL.md").await)
                .unwrap()
                .contains("MARK")
        );
        let dir = client.result("resources/directory/read", json!({"uri": "skill://good"})).await;
        assert_eq!(dir["resources"].as_array().unwrap().len(), 1, "{dir}");
    }
    assert!(!report.iter().any(|line| line.contains("MARK") || line.contains("home/")), "{report:?}");
    insta::assert_snapshot!(report.join("\n"));
    site.stop().await;
}

#[tokio::test]
async fn a_missing_resource_has_the_code_of_the_revision() {
    let home = TestHome::with_skills(&["a"]);
    let server = home.server();
    let (mut older, mut newer) = (
        StdioTestClient::connected(&server, "2025-06-18").await,
        StdioTestClient::stateless(&server, NEWEST_VERSION),
    );
    let mut report = Vec::new();
    for uri in [
        "skill://a/none.md",
        "skill://a/SKILL.MD",
        "skill://none/SKILL.md",
        "skill://a",
        "file:///etc/passwd",
    ] {
        let (old, new) = (
            older.request("resources/read", json!({"uri": uri})).await,
            newer.request("resources/read", json!({"uri": uri})).await,
        );
        assert_eq!(error_of(&new).0, -32602, "{uri}");
        report.push(format!("{uri}: {} {}", error_of(&old).0, error_of(&old).1));
    }
    insta::assert_snapshot!(report.join("\n"));
}

#[tokio::test]
async fn names_and_paths_are_completed() {
    let home = TestHome::with_skills(&["pdf", "pdf-forms", "docx"]);
    home.write_file(&format!("{SKILLS_DIR}/pdf/references/forms.md"), "F");
    home.write_skill_with(&format!("{SKILLS_DIR}/quiet"), "disable-model-invocation: true\n", "B.");
    let mut client = connected(&home).await;
    let template = json!({"type": "ref/resource", "uri": "skill://{name}/{+path}"});
    let ask = |argument: &str, value: &str, context: Value| json!({"ref": template, "argument": {"name": argument, "value": value}, "context": {"arguments": context}});
    let mut values = Vec::new();
    for params in [
        ask("name", "pd", json!({})),
        ask("name", "", json!({})),
        ask("path", "for", json!({"name": "pdf"})),
        ask("path", "", json!({"name": "pdf"})),
        ask("path", "", json!({"name": "none"})),
        json!({"ref": {"type": "ref/prompt", "name": "pdf"}, "argument": {"name": "args", "value": "ref"}}),
    ] {
        let completion = client.result("completion/complete", params).await;
        values.push(completion["completion"].to_string());
    }
    insta::assert_snapshot!(values.join("\n"));
    for params in [
        ask("other", "", json!({})),
        json!({"ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "args", "value": ""}}),
        json!({"ref": {"type": "ref/resource", "uri": "file://{path}"}, "argument": {"name": "path", "value": ""}}),
        json!({"ref": {"type": "ref/other"}, "argument": {"name": "path", "value": ""}}),
        json!({}),
    ] {
        assert_eq!(error_of(&client.request("completion/complete", params).await).0, -32602);
    }
}

#[tokio::test]
async fn preset_app_identifies_skills_by_directory() {
    let home = TestHome::new(Preset::App);
    home.write_file(".agents/skills/folder/SKILL.md", "---\nname: named\ndescription: D.\n---\nBody.\n");
    home.write_file(".agents/skills/folder/x/y.md", "Y");
    let mut client = connected(&home).await;
    let entry = client.result("skills/list", json!({})).await["skills"][0].take();
    assert_eq!(entry["uri"], "skill://folder/named/SKILL.md");
    assert_eq!(entry["resources"][1]["uri"], "skill://folder/named/x/y.md");
    let listed = client.result("resources/list", json!({})).await;
    assert_eq!(listed["resources"][0]["uri"], entry["uri"]);
    assert_eq!(read_bytes(&mut client, "skill://folder/named/x/y.md").await, b"Y");
    let got = client.result("skills/get", json!({"uri": entry["uri"]})).await;
    assert_eq!(got["skill"], entry);
    for uri in ["skill://folder/SKILL.md", "skill://named/SKILL.md", "skill://folder/other/SKILL.md"] {
        assert_eq!(error_of(&client.request("skills/get", json!({"uri": uri})).await).0, -32602, "{uri}");
    }
}
