//! Skills over HTTP: seen, made, changed, deleted, switched.

use crate::site::{ADMIN, USER, site, skill_md};
use insta::assert_snapshot;
use prowess::Preset;
use prowess::digest;
use prowess_chat::store::Topic;
use serde_json::{Value, json};

#[tokio::test]
async fn s000_11_s000_18_the_list_tells_id_name_description_and_source() {
    let site = site(Preset::App)
        .file(".agents/skills/weekly-report/SKILL.md", skill_md("Weekly Report", "Writes."))
        .skill(".agents/sys.skills/shipped")
        .file(".agents/skills/broken/SKILL.md", "---\nname: x\n---\n")
        .start()
        .await;
    assert_snapshot!("list", site.told(site.get("/api/skills").await));
    let (_, all) = site.get("/api/skills?all=1").await;
    let told: Vec<_> =
        all["skills"].as_array().unwrap().iter().map(|it| (&it["id"], &it["status"])).collect();
    assert_eq!(
        json!(told),
        json!([["weekly-report", "enabled"], ["broken", "invalid"], ["shipped", "enabled"]])
    );
    // What did not change is not sent again.
    let tag = site.raw("/api/skills").await.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(site.get_with("/api/skills", "if-none-match", &tag).await.status(), 304);
    assert_eq!(site.get_with("/api/skills?all=1", "if-none-match", &tag).await.status(), 200);
    site.send("POST", "/api/skills", json!({"id": "new", "name": "New", "description": "D."})).await;
    assert_eq!(site.get_with("/api/skills", "if-none-match", &tag).await.status(), 200);
    assert_eq!(site.get("/api/skills?all=maybe").await.0, 400);
}

#[tokio::test]
async fn s000_22_without_directories_there_is_nothing_and_the_first_skill_makes_one() {
    let site = site(Preset::App).start().await;
    assert_eq!(site.offered().await, Vec::<String>::new());
    let new = json!({"id": "First One", "name": "First", "description": "Is first.", "body": "Do it."});
    let (status, made) = site.send("POST", "/api/skills", new).await;
    assert_eq!((status, &made["skill"]["id"], &made["editable"]), (201, &json!("first-one"), &json!(true)));
    assert!(site.path(".agents/skills/first-one/SKILL.md").exists());
    assert_eq!(site.offered().await, ["first-one"]);
}

#[tokio::test]
async fn s000_13_s000_16_what_is_made_is_there_in_the_next_request_and_every_server_is_told() {
    let site = site(Preset::App).start().await;
    let mut told = site.store.announcements();
    let new = json!({"id": "report", "name": "Report", "description": "Writes reports."});
    assert_eq!(site.send("POST", "/api/skills", new.clone()).await.0, 201);
    assert_eq!(told.next().await, Some(Topic::Skills));
    let (_, prompt) = site.get("/api/prompt").await;
    assert!(prompt["text"].as_str().unwrap().contains("Writes reports."), "{prompt}");
    assert_eq!(site.send("POST", "/api/skills", new).await.0, 409);
    assert_eq!(site.send("DELETE", "/api/skills/report", Value::Null).await, (204, Value::Null));
    let (_, prompt) = site.get("/api/prompt").await;
    assert!(!prompt["text"].as_str().unwrap().contains("Writes reports."), "{prompt}");
    assert_eq!(site.get("/api/skills/report").await.0, 404);
}

#[tokio::test]
async fn s000_19_what_is_wrong_with_a_form_is_told_field_by_field() {
    let site = site(Preset::Standard).start().await;
    let wrong = json!({"id": "../evil", "name": "", "description": "a\u{202e}b"});
    assert_snapshot!("form", site.told(site.send("POST", "/api/skills", wrong).await));
    for body in [json!({}), json!([]), json!({"id": "a", "name": "a", "description": "d", "more": 1})] {
        assert_eq!(site.send("POST", "/api/skills", body).await.0, 400);
    }
    assert!(!site.path("~/.agents").exists());
}

#[tokio::test]
async fn one_skill_and_its_files() {
    let site = site(Preset::Standard)
        .skill("~/.agents/skills/pdf")
        .file("~/.agents/skills/pdf/scripts/fill.py", "print(1)\n")
        .file("~/.agents/skills/pdf/logo.png", b"\x89PNG\r\n\x1a\n\0")
        .start()
        .await;
    assert_snapshot!("one", site.told(site.get("/api/skills/pdf").await));
    assert_snapshot!("files", site.told(site.get("/api/skills/pdf/files").await));
    let (status, read) = site.get("/api/skills/pdf/files/scripts/fill.py").await;
    assert_eq!((status, &read["content"]), (200, &json!("print(1)\n")));
    assert_eq!(read["digest"], digest(b"print(1)\n"));
    let raw = site.raw("/api/skills/pdf/files/logo.png?raw=1").await;
    assert_eq!(raw.headers()["content-type"], "application/octet-stream");
    assert_eq!(raw.headers()["x-content-type-options"], "nosniff");
    assert_eq!(raw.headers()["content-disposition"], "attachment; filename=\"logo.png\"");
    assert_eq!(raw.bytes().await.unwrap(), b"\x89PNG\r\n\x1a\n\0".as_slice());
    for (path, status) in [
        ("/api/skills/none", 404),
        ("/api/skills/none/files", 404),
        ("/api/skills/pdf/files/none", 404),
        ("/api/skills/pdf/files/scripts", 400),
        ("/api/skills/pdf/files/logo.png", 415),
        ("/api/skills/pdf/files/..%2F..%2Fx", 400),
        ("/api/skills/hello-world/files/..%2F..%2Fx", 403),
    ] {
        assert_eq!(site.get(path).await.0, status, "{path}");
    }
}

#[tokio::test]
async fn s000_18_a_file_is_changed_unless_somebody_else_changed_it() {
    let site =
        site(Preset::App).skill(".agents/skills/pdf").skill(".agents/sys.skills/shipped").start().await;
    let path = "/api/skills/pdf/files/SKILL.md";
    let (_, read) = site.get(path).await;
    let put = |content: &str, digest: &Value| json!({"content": content, "digest": digest});
    let text = skill_md("PDF", "Is edited.");
    let (status, written) = site.send("PUT", path, put(&text, &read["digest"])).await;
    assert_eq!((status, &written["digest"]), (200, &json!(digest(text.as_bytes()))));
    assert!(site.get("/api/skills").await.1.to_string().contains("Is edited."));
    let (status, problem) = site.send("PUT", path, put("x", &read["digest"])).await;
    assert_eq!(status, 400, "a manifest that does not load is refused before anything else: {problem}");
    assert_snapshot!("stale", site.told(site.send("PUT", path, put(&text, &read["digest"])).await));
    assert_snapshot!(
        "broken",
        site.told(site.send("PUT", path, put("# no frontmatter\n", &written["digest"])).await)
    );
    assert_snapshot!(
        "systems",
        site.told(site.send("PUT", "/api/skills/shipped/files/SKILL.md", json!({"content": text})).await)
    );
    let new = "/api/skills/pdf/files/notes/more.md";
    assert_eq!(site.send("PUT", new, json!({"content": "more", "digest": ""})).await.0, 200);
    assert_eq!(site.send("PUT", new, json!({"content": "more", "digest": ""})).await.0, 409);
    assert_eq!(site.text(".agents/skills/pdf/notes/more.md"), "more");
    for path in
        ["/api/skills/pdf/files/..%2Fx", "/api/skills/pdf/files/.git/config", "/api/skills/pdf/files/a%5Cb"]
    {
        assert_eq!(site.send("PUT", path, json!({"content": "x"})).await.0, 400, "{path}");
    }
}

/// A skill that does not load can be read and mended where it is the user's.
#[tokio::test]
async fn a_broken_skill_is_mended() {
    let site = site(Preset::App).file(".agents/skills/pdf/SKILL.md", "---\nname: [\n---\n").start().await;
    assert!(site.offered().await.is_empty());
    let (status, read) = site.get("/api/skills/pdf/files/SKILL.md").await;
    assert_eq!((status, &read["content"]), (200, &json!("---\nname: [\n---\n")));
    let put = json!({"content": skill_md("pdf", "Works."), "digest": read["digest"]});
    assert_eq!(site.send("PUT", "/api/skills/pdf/files/SKILL.md", put).await.0, 200);
    assert_eq!(site.offered().await, ["pdf"]);
}

#[tokio::test]
async fn s000_14_s000_23_only_the_users_are_deleted_and_the_systems_stay() {
    let site =
        site(Preset::App).skill(".agents/sys.skills/report").skill(".agents/skills/report").start().await;
    let (_, admin) = site.get("/api/admin/skills").await;
    assert_eq!(admin["collisions"].as_array().unwrap().len(), 1, "{admin}");
    assert_eq!(site.offered().await, ["report"]);
    // Of the two, the user's.
    assert_eq!(site.send("DELETE", "/api/skills/report", Value::Null).await.0, 204);
    assert_snapshot!(
        "delete_systems",
        site.told(site.send("DELETE", "/api/skills/report", Value::Null).await)
    );
    assert!(site.path(".agents/sys.skills/report/SKILL.md").exists());
    assert!(!site.path(".agents/skills/report").exists());
    assert_eq!(site.send("DELETE", "/api/skills/none", Value::Null).await.0, 404);
}

#[tokio::test]
async fn skills_are_switched_and_directories_looked_at_again() {
    let site = site(Preset::Harness).skill("~/.agent/skills/pdf").start().await;
    let is_offered = async |id: &str| site.offered().await.iter().any(|offered| offered == id);
    assert!(is_offered("pdf").await);
    let (status, switched) = site.send("POST", "/api/skills/pdf/disable", Value::Null).await;
    assert_eq!((status, &switched["status"]), (200, &json!("disabled")));
    assert!(!is_offered("pdf").await);
    assert_eq!(site.send("POST", "/api/skills/pdf/enable", Value::Null).await.0, 200);
    assert!(is_offered("pdf").await);
    assert_eq!(site.send("POST", "/api/skills/none/enable", Value::Null).await.0, 404);
    site.file("~/.agent/skills/csv/SKILL.md", skill_md("csv", "Reads tables."));
    let (status, again) = site.send("POST", "/api/rescan", Value::Null).await;
    assert_eq!(status, 200);
    // Somebody who watches may have seen it before.
    assert!(again["added"] == json!(["csv"]) || again["added"] == json!([]), "{again}");
    assert!(is_offered("csv").await);
}

/// What is changed through one server is so on the other.
#[tokio::test]
async fn every_server_on_a_store_catches_up() {
    let one = site(Preset::Harness).skill("~/.agent/skills/pdf").start().await;
    let other = one.second().await;
    let until = async |wanted: bool, id: &str| {
        for _ in 0..200 {
            if other.offered().await.iter().any(|offered| offered == id) == wanted {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("{id} is not {wanted} on the other server");
    };
    let new = json!({"id": "new", "name": "new", "description": "Is new."});
    assert_eq!(one.send("POST", "/api/skills", new).await.0, 201);
    until(true, "new").await;
    assert_eq!(one.send("POST", "/api/skills/pdf/disable", Value::Null).await.0, 200);
    until(false, "pdf").await;
    assert_eq!(one.send("DELETE", "/api/skills/new", Value::Null).await.0, 204);
    until(false, "new").await;
}

#[tokio::test]
async fn all_there_is_to_know_is_for_administrators_and_nobody_else_learns_where_things_lie() {
    let plan = site(Preset::Standard)
        .skill("~/.agents/skills/pdf")
        .skill(".agents/skills/pdf")
        .file("~/.agents/skills/odd/SKILL.md", "---\nname: odd\ndescription: Odd.\nwhat: x\n---\nbody\n")
        .file("~/.agents/skills/broken/SKILL.md", "---\nname: x\n---\n");
    let mut site = plan.guarded().start().await;
    site.shows(ADMIN);
    let (status, admin) = site.get("/api/admin/skills").await;
    assert_eq!(status, 200);
    let odd = admin["skills"].as_array().unwrap().iter().find(|skill| skill["id"] == "odd").unwrap();
    assert_eq!((&odd["warnings"], &odd["errors"], &odd["editable"]), (&json!(1), &json!(0), &json!(true)));
    assert!(site.get("/api/skills").await.1.to_string().contains(site.path("~/").to_str().unwrap()));
    site.shows(USER);
    let top = site.path("..").canonicalize().unwrap();
    let top = top.to_str().unwrap();
    for path in [
        "/api/skills",
        "/api/skills?all=1",
        "/api/skills/pdf",
        "/api/skills/broken",
        "/api/skills/pdf/files",
        "/api/overview",
        "/api/settings",
        "/api/prompt?query=pdf",
        "/api/match?query=pdf",
        "/api/complete?query=p",
        "/api/inspect?query=pdf",
        "/api/about",
        "/.well-known/agent-skills/index.json",
    ] {
        let (status, answer) = site.get(path).await;
        assert_eq!(status, 200, "{path}: {answer}");
        assert!(!answer.to_string().contains(top), "{path}: {answer}");
    }
    assert_snapshot!("hidden", site.told(site.get("/api/skills?all=1").await));
    let body = json!({"id": "a", "name": "a", "description": "d"});
    for (method, path, body) in [
        ("GET", "/api/admin/skills", Value::Null),
        ("POST", "/api/skills", body),
        ("PUT", "/api/skills/pdf/files/SKILL.md", json!({"content": "x"})),
        ("DELETE", "/api/skills/pdf", Value::Null),
        ("POST", "/api/skills/pdf/disable", Value::Null),
        ("POST", "/api/skills/pdf/enable", Value::Null),
        ("POST", "/api/rescan", Value::Null),
        ("PATCH", "/api/settings", json!({})),
    ] {
        assert_eq!(site.send(method, path, body).await.0, 403, "{method} {path}");
    }
    assert_eq!(site.form("/api/skills/import", &[], &[("SKILL.md", b"x")]).await.0, 403);
}
