//! The skills extension: what its specification asks of a server.

use prowess::Preset;
use serde_json::{Value, json};

use super::resources::{all, bytes};
use crate::world::http::Site;
use crate::world::stdio::Client;
use crate::world::{NEWEST, ROOT, World, error, pretty};

async fn connected(world: &World) -> Client {
    Client::connected(&world.server(), "2025-11-25").await
}

fn world() -> World {
    let world = World::new(Preset::Standard);
    let head = "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT\nmetadata:\n  version: 2.10\n  tags: [a, b]\n---\n";
    world.file(&format!("{ROOT}/pdf/SKILL.md"), format!("{head}\nRead references/forms.md.\n"));
    world.file(&format!("{ROOT}/pdf/references/forms.md"), "# Forms\n");
    world.file(&format!("{ROOT}/pdf/references/deep/er/x.txt"), "x");
    world.file(&format!("{ROOT}/pdf/scripts/a.py"), "print(1)\n");
    world.file(&format!("{ROOT}/pdf/LICENSE"), "MIT\n");
    world
}

#[tokio::test]
async fn a_listing_is_complete() {
    let world = world();
    let server = world.server();
    for mut client in [Client::connected(&server, "2025-06-18").await, Client::inline(&server, NEWEST)] {
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
    let site = Site::of(&server).await;
    let answer = site.inline(1, "skills/list", json!({})).send().await.message().await;
    assert_eq!(answer["result"]["skills"][0]["uri"], "skill://pdf/SKILL.md");
    let mut session = site.session("2025-11-25").await;
    assert_eq!(session.result("skills/list", json!({})).await["skills"], answer["result"]["skills"]);
    site.close().await;
}

#[tokio::test]
async fn folders_are_listed_one_level_at_a_time() {
    let world = world();
    std::fs::create_dir_all(world.path(&format!("{ROOT}/pdf/empty/inner"))).unwrap();
    let mut client = Client::inline(&world.server(), NEWEST);
    let mut shown = Vec::new();
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
            shown.push(child.to_string());
            // What is said to be a folder is one, and the rest can be read.
            let child_uri = child["uri"].as_str().unwrap();
            match child["mimeType"] == "inode/directory" {
                true => drop(client.result("resources/directory/read", json!({"uri": child_uri})).await),
                false => assert_eq!(bytes(&mut client, child_uri).await.len() as u64, child["size"]),
            }
        }
        shown.push(format!("in {uri}"));
    }
    insta::assert_snapshot!(shown.join("\n"));
    for uri in
        ["skill://pdf/SKILL.md", "skill://pdf/none", "skill://pdf/", "skill://none", "skill://pdf/LICENSE"]
    {
        let answer = client.request("resources/directory/read", json!({"uri": uri})).await;
        assert_eq!(error(&answer).0, -32602, "{uri}");
    }
}

#[tokio::test]
async fn long_folders_come_in_pages() {
    let world = World::with(&["a", "b"]);
    for at in 0..450 {
        world.file(&format!("{ROOT}/a/many/{at:03}.md"), "x");
        world.file(&format!("{ROOT}/b/many/{at:03}.md"), "x");
    }
    let mut client = connected(&world).await;
    let (mut names, mut params) = (Vec::new(), json!({"uri": "skill://a/many"}));
    loop {
        let page = client.result("resources/directory/read", params.clone()).await;
        names.extend(
            page["resources"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page.get("nextCursor") else { break };
        params["cursor"] = next.clone();
        // A cursor belongs to its folder.
        let other = json!({"uri": "skill://b/many", "cursor": next});
        assert_eq!(error(&client.request("resources/directory/read", other).await).0, -32602);
    }
    assert_eq!(names, (0..450).map(|at| format!("{at:03}.md")).collect::<Vec<_>>());
}

#[tokio::test]
async fn long_listings_come_in_pages_and_may_change_meanwhile() {
    let world = World::with(&[]);
    let name = |at: usize| format!("s{at:03}");
    for at in 0..120 {
        world.skill(&format!("{ROOT}/{}", name(at)), "B.");
        world.file(&format!("{ROOT}/{}/more.md", name(at)), "more");
    }
    let mut client = connected(&world).await;
    let (entries, pages) = all(&mut client, "skills/list", "skills").await;
    assert_eq!((entries.len(), pages), (120, 3));
    for (at, entry) in entries.iter().enumerate() {
        assert_eq!(entry["uri"], format!("skill://{}/SKILL.md", name(at)));
        assert_eq!(entry["resources"].as_array().unwrap().len(), 2, "no entry is split");
    }
    // Some come and go between two pages: what was there all the time is seen, once.
    let first = client.result("skills/list", json!({})).await;
    world.skill(&format!("{ROOT}/aaa"), "Too early.");
    world.skill(&format!("{ROOT}/s100b"), "In time.");
    for gone in [10, 49, 50, 51, 119] {
        std::fs::remove_dir_all(world.path(&format!("{ROOT}/{}", name(gone)))).unwrap();
    }
    client.note("notifications/resources/list_changed").await;
    let mut listed = Value::Null;
    // The file system tells of changes one by one.
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
                .map(|it| it["frontmatter"]["name"].as_str().unwrap().to_owned()),
        );
        cursor = page["nextCursor"].clone();
    }
    let mut expected: Vec<String> = (50..119).filter(|at| ![50, 51].contains(at)).map(name).collect();
    expected.push("s100b".to_owned());
    expected.sort();
    assert_eq!(rest, expected);
}

#[tokio::test]
async fn what_hosts_would_refuse_is_not_listed_and_says_why() {
    let world = World::with(&["fine", "full", "many", "huge", "heavy", "slashed"]);
    for at in 1..512 {
        world.file(&format!("{ROOT}/full/{at}.md"), "");
        world.file(&format!("{ROOT}/many/{at}.md"), "");
    }
    world.file(&format!("{ROOT}/many/one-more.md"), "");
    let own = std::fs::metadata(world.path(&format!("{ROOT}/heavy/SKILL.md"))).unwrap().len() as usize;
    world.file(&format!("{ROOT}/heavy/x.bin"), vec![7; 16 * 1024 * 1024 - own]);
    world.file(&format!("{ROOT}/huge/x.bin"), vec![7; 16 * 1024 * 1024]);
    world.file(&format!("{ROOT}/slashed/a\\b.md"), "x");
    world.file(
        &format!("{ROOT}/repaired/SKILL.md"),
        "---\nname: repaired\ndescription: Use when: always\n---\nB\n",
    );
    world.file(&format!("{ROOT}/lower/skill.md"), "---\nname: lower\ndescription: D.\n---\nB\n");
    world.file(&format!("{ROOT}/Upper/SKILL.md"), "---\nname: Upper Case\ndescription: D.\n---\nB\n");
    world.file(&format!("{ROOT}/numbered/SKILL.md"), "---\nname: 7\ndescription: D.\n---\nB\n");
    let mut client = connected(&world).await;
    let listed = client.result("skills/list", json!({})).await;
    let names: Vec<_> = listed["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["frontmatter"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["fine", "full", "heavy"]);
    let offered = client.result("resources/list", json!({})).await;
    let mut said = Vec::new();
    for resource in offered["resources"].as_array().unwrap() {
        let uri = resource["uri"].as_str().unwrap();
        // Whatever is listed can be read.
        assert!(!bytes(&mut client, uri).await.is_empty(), "{uri}");
        let answer = client.request("skills/get", json!({"uri": uri})).await;
        if answer.get("error").is_some() {
            said.push(format!("{} {}", error(&answer).0, error(&answer).1));
        }
    }
    insta::assert_snapshot!(said.join("\n"));
}

/// A skill inside a skill: its files are files of the outer one.
#[tokio::test]
async fn a_skill_inside_a_skill() {
    let world = World::with(&["outer"]);
    world.skill(&format!("{ROOT}/outer/skills/inner"), "Inner body.");
    world.file(&format!("{ROOT}/outer/skills/inner/x.md"), "x");
    let mut client = connected(&world).await;
    let listed = client.result("skills/list", json!({})).await;
    let entries = listed["skills"].as_array().unwrap();
    let outer = entries.iter().find(|entry| entry["frontmatter"]["name"] == "outer").unwrap();
    let files: Vec<_> =
        outer["resources"].as_array().unwrap().iter().map(|file| file["uri"].as_str().unwrap()).collect();
    let inner =
        ["skill://outer/SKILL.md", "skill://outer/skills/inner/SKILL.md", "skill://outer/skills/inner/x.md"];
    assert_eq!(files, inner);
    assert!(String::from_utf8(bytes(&mut client, files[1]).await).unwrap().contains("Inner body."));
    // It is a skill of its own only where it is listed as one.
    let own = entries.iter().any(|entry| entry["frontmatter"]["name"] == "inner");
    let answer = client.request("skills/get", json!({"uri": "skill://outer/skills/inner/SKILL.md"})).await;
    assert!(!own && error(&answer).0 == -32602, "{entries:?}");
}

#[tokio::test]
async fn only_the_address_of_a_skill_is_one() {
    let world = world();
    let mut client = connected(&world).await;
    let mut said = Vec::new();
    for uri in [
        "skill://pdf",
        "skill://pdf/references/forms.md",
        "skill://pdf/skill.md",
        "skill://none/SKILL.md",
        "skill://",
        "other",
    ] {
        let answer = client.request("skills/get", json!({"uri": uri})).await;
        said.push(format!("{uri}: {} {}", error(&answer).0, error(&answer).1));
    }
    insta::assert_snapshot!(said.join("\n"));
}
