//! The requirements of the skills extension for servers.

use prowess::Preset;
use serde_json::{Value, json};

use super::resources::{all_pages, read_bytes};
use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, SKILLS_DIR, TestHome, error_of, pretty};

async fn connected(home: &TestHome) -> StdioTestClient {
    StdioTestClient::connected(&home.server(), "2025-11-25").await
}

fn home() -> TestHome {
    let home = TestHome::new(Preset::Standard);
    let head = "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT\nmetadata:\n  version: 2.10\n  tags: [a, b]\n---\n";
    home.write_file(&format!("{SKILLS_DIR}/pdf/SKILL.md"), format!("{head}\nRead references/forms.md.\n"));
    home.write_file(&format!("{SKILLS_DIR}/pdf/references/forms.md"), "# Forms\n");
    home.write_file(&format!("{SKILLS_DIR}/pdf/references/deep/er/x.txt"), "x");
    home.write_file(&format!("{SKILLS_DIR}/pdf/scripts/a.py"), "print(1)\n");
    home.write_file(&format!("{SKILLS_DIR}/pdf/LICENSE"), "MIT\n");
    home
}

#[tokio::test]
async fn a_listing_is_complete() {
    let home = home();
    let server = home.server();
    for mut client in [
        StdioTestClient::connected(&server, "2025-06-18").await,
        StdioTestClient::stateless(&server, NEWEST_VERSION),
    ] {
        let listed = client.result("skills/list", json!({})).await;
        assert_eq!(listed["resultType"], "complete");
        assert!(listed["ttlMs"].is_u64() && listed["cacheScope"] == "private", "{listed}");
        assert!(listed.get("nextCursor").is_none());
        let entry = &listed["skills"][0];
        insta::assert_snapshot!("skills_list_entry", pretty(entry));
        let got = client.result("skills/get", json!({"uri": "skill://pdf/SKILL.md"})).await;
        assert_eq!((&got["skill"], &got["resultType"]), (entry, &json!("complete")));
        assert!(got["ttlMs"].is_u64() && got["cacheScope"] == "private" && got.get("nextCursor").is_none());
    }
    let site = HttpTestServer::start(&server).await;
    let response = site.stateless_request(1, "skills/list", json!({})).send().await.message().await;
    assert_eq!(response["result"]["skills"][0]["uri"], "skill://pdf/SKILL.md");
    let mut session = site.session("2025-11-25").await;
    assert_eq!(session.result("skills/list", json!({})).await["skills"], response["result"]["skills"]);
    site.stop().await;
}

#[tokio::test]
async fn directories_are_listed_one_level_at_a_time() {
    let home = home();
    std::fs::create_dir_all(home.path(&format!("{SKILLS_DIR}/pdf/empty/inner"))).unwrap();
    let mut client = StdioTestClient::stateless(&home.server(), NEWEST_VERSION);
    let mut report = Vec::new();
    for uri in [
        "skill://pdf",
        "skill://pdf/references",
        "skill://pdf/references/deep",
        "skill://pdf/empty",
        "skill://pdf/empty/inner",
    ] {
        let listed = client.result("resources/directory/read", json!({"uri": uri})).await;
        assert_eq!(listed["resultType"], "complete");
        for child in listed["resources"].as_array().unwrap() {
            report.push(child.to_string());
            // Directories are marked as such, and everything else can be read.
            let child_uri = child["uri"].as_str().unwrap();
            match child["mimeType"] == "inode/directory" {
                true => drop(client.result("resources/directory/read", json!({"uri": child_uri})).await),
                false => assert_eq!(read_bytes(&mut client, child_uri).await.len() as u64, child["size"]),
            }
        }
        report.push(format!("in {uri}"));
    }
    insta::assert_snapshot!(report.join("\n"));
    for uri in
        ["skill://pdf/SKILL.md", "skill://pdf/none", "skill://pdf/", "skill://none", "skill://pdf/LICENSE"]
    {
        let response = client.request("resources/directory/read", json!({"uri": uri})).await;
        assert_eq!(error_of(&response).0, -32602, "{uri}");
    }
}

#[tokio::test]
async fn long_directories_are_paginated() {
    let home = TestHome::with_skills(&["a", "b"]);
    for number in 0..450 {
        home.write_file(&format!("{SKILLS_DIR}/a/many/{number:03}.md"), "x");
        home.write_file(&format!("{SKILLS_DIR}/b/many/{number:03}.md"), "x");
    }
    let mut client = connected(&home).await;
    let (mut names, mut params) = (Vec::new(), json!({"uri": "skill://a/many"}));
    loop {
        let page = client.result("resources/directory/read", params.clone()).await;
        names.extend(
            page["resources"]
                .as_array()
                .unwrap()
                .iter()
                .map(|resource| resource["name"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page.get("nextCursor") else { break };
        params["cursor"] = next.clone();
        // A cursor is valid for its directory only.
        let other = json!({"uri": "skill://b/many", "cursor": next});
        assert_eq!(error_of(&client.request("resources/directory/read", other).await).0, -32602);
    }
    assert_eq!(names, (0..450).map(|number| format!("{number:03}.md")).collect::<Vec<_>>());
}

#[tokio::test]
async fn long_listings_are_paginated_and_may_change() {
    let home = TestHome::with_skills(&[]);
    let name = |number: usize| format!("s{number:03}");
    for number in 0..120 {
        home.write_skill(&format!("{SKILLS_DIR}/{}", name(number)), "B.");
        home.write_file(&format!("{SKILLS_DIR}/{}/more.md", name(number)), "more");
    }
    let mut client = connected(&home).await;
    let (entries, pages) = all_pages(&mut client, "skills/list", "skills").await;
    assert_eq!((entries.len(), pages), (120, 3));
    for (number, entry) in entries.iter().enumerate() {
        assert_eq!(entry["uri"], format!("skill://{}/SKILL.md", name(number)));
        assert_eq!(entry["resources"].as_array().unwrap().len(), 2, "entries are complete");
    }
    // Skills are added and removed between two pages: each unchanged skill is listed exactly once.
    let first = client.result("skills/list", json!({})).await;
    home.write_skill(&format!("{SKILLS_DIR}/aaa"), "Before the cursor.");
    home.write_skill(&format!("{SKILLS_DIR}/s100b"), "After the cursor.");
    for removed in [10, 49, 50, 51, 119] {
        std::fs::remove_dir_all(home.path(&format!("{SKILLS_DIR}/{}", name(removed)))).unwrap();
    }
    client.notification("notifications/resources/list_changed").await;
    let mut listed = Value::Null;
    // The file system reports changes one by one.
    for _ in 0..200 {
        listed = client.result("resources/list", json!({})).await;
        if listed["resources"].as_array().unwrap().len() == 117 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(listed["resources"].as_array().unwrap().len(), 117);
    let mut rest = Vec::new();
    let mut cursor = first["nextCursor"].clone();
    while !cursor.is_null() {
        let page = client.result("skills/list", json!({"cursor": cursor})).await;
        rest.extend(
            page["skills"]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry["frontmatter"]["name"].as_str().unwrap().to_owned()),
        );
        cursor = page["nextCursor"].clone();
    }
    let mut expected: Vec<String> = (50..119).filter(|number| ![50, 51].contains(number)).map(name).collect();
    expected.push("s100b".to_owned());
    expected.sort();
    assert_eq!(rest, expected);
}

#[tokio::test]
async fn skills_that_hosts_would_reject_are_not_listed() {
    let home = TestHome::with_skills(&["fine", "full", "many", "huge", "heavy", "slashed"]);
    for number in 1..512 {
        home.write_file(&format!("{SKILLS_DIR}/full/{number}.md"), "");
        home.write_file(&format!("{SKILLS_DIR}/many/{number}.md"), "");
    }
    home.write_file(&format!("{SKILLS_DIR}/many/one-more.md"), "");
    let own = std::fs::metadata(home.path(&format!("{SKILLS_DIR}/heavy/SKILL.md"))).unwrap().len() as usize;
    home.write_file(&format!("{SKILLS_DIR}/heavy/x.bin"), vec![7; 16 * 1024 * 1024 - own]);
    home.write_file(&format!("{SKILLS_DIR}/huge/x.bin"), vec![7; 16 * 1024 * 1024]);
    home.write_file(&format!("{SKILLS_DIR}/slashed/a\\b.md"), "x");
    home.write_file(
        &format!("{SKILLS_DIR}/repaired/SKILL.md"),
        "---\nname: repaired\ndescription: Use when: always\n---\nB\n",
    );
    home.write_file(&format!("{SKILLS_DIR}/lower/skill.md"), "---\nname: lower\ndescription: D.\n---\nB\n");
    home.write_file(
        &format!("{SKILLS_DIR}/Upper/SKILL.md"),
        "---\nname: Upper Case\ndescription: D.\n---\nB\n",
    );
    home.write_file(&format!("{SKILLS_DIR}/numbered/SKILL.md"), "---\nname: 7\ndescription: D.\n---\nB\n");
    let mut client = connected(&home).await;
    let listed = client.result("skills/list", json!({})).await;
    let names: Vec<_> = listed["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["frontmatter"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["fine", "full", "heavy"]);
    let resources = client.result("resources/list", json!({})).await;
    let mut reasons = Vec::new();
    for resource in resources["resources"].as_array().unwrap() {
        let uri = resource["uri"].as_str().unwrap();
        // Everything that is listed can be read.
        assert!(!read_bytes(&mut client, uri).await.is_empty(), "{uri}");
        let response = client.request("skills/get", json!({"uri": uri})).await;
        if response.get("error").is_some() {
            reasons.push(format!("{} {}", error_of(&response).0, error_of(&response).1));
        }
    }
    insta::assert_snapshot!(reasons.join("\n"));
}

/// The files of a nested skill are files of the outer one.
#[tokio::test]
async fn a_nested_skill_belongs_to_the_outer_one() {
    let home = TestHome::with_skills(&["outer"]);
    home.write_skill(&format!("{SKILLS_DIR}/outer/skills/inner"), "Inner body.");
    home.write_file(&format!("{SKILLS_DIR}/outer/skills/inner/x.md"), "x");
    let mut client = connected(&home).await;
    let listed = client.result("skills/list", json!({})).await;
    let entries = listed["skills"].as_array().unwrap();
    let outer = entries.iter().find(|entry| entry["frontmatter"]["name"] == "outer").unwrap();
    let files: Vec<_> =
        outer["resources"].as_array().unwrap().iter().map(|file| file["uri"].as_str().unwrap()).collect();
    let inner =
        ["skill://outer/SKILL.md", "skill://outer/skills/inner/SKILL.md", "skill://outer/skills/inner/x.md"];
    assert_eq!(files, inner);
    assert!(String::from_utf8(read_bytes(&mut client, files[1]).await).unwrap().contains("Inner body."));
    // It is a separate skill only if it is listed as one.
    let is_listed = entries.iter().any(|entry| entry["frontmatter"]["name"] == "inner");
    let response = client.request("skills/get", json!({"uri": "skill://outer/skills/inner/SKILL.md"})).await;
    assert!(!is_listed && error_of(&response).0 == -32602, "{entries:?}");
}

#[tokio::test]
async fn only_the_uri_of_a_skill_md_is_accepted() {
    let home = home();
    let mut client = connected(&home).await;
    let mut report = Vec::new();
    for uri in [
        "skill://pdf",
        "skill://pdf/references/forms.md",
        "skill://pdf/skill.md",
        "skill://none/SKILL.md",
        "skill://",
        "other",
    ] {
        let response = client.request("skills/get", json!({"uri": uri})).await;
        report.push(format!("{uri}: {} {}", error_of(&response).0, error_of(&response).1));
    }
    insta::assert_snapshot!(report.join("\n"));
}
