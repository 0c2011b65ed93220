//! The skill endpoints: list, create, change, delete, enable and disable.

use crate::skill_server::{ADMIN, USER, site, skill_md};
use insta::assert_snapshot;
use prowess::Preset;
use prowess::digest;
use prowess_chat::store::Topic;
use prowess_testing::wait::wait_until;
use serde_json::{Value, json};

#[tokio::test]
async fn s000_11_s000_18_the_list_has_id_name_description_and_source() {
    let site = site(Preset::App)
        .file(".agents/skills/weekly-report/SKILL.md", skill_md("Weekly Report", "Writes."))
        .skill(".agents/sys.skills/shipped")
        .file(".agents/skills/broken/SKILL.md", "---\nname: x\n---\n")
        .start()
        .await;
    assert_snapshot!("list", site.redacted(site.get("/api/skills").await));
    let (_, all) = site.get("/api/skills?all=1").await;
    let observed: Vec<_> =
        all["skills"].as_array().unwrap().iter().map(|skill| (&skill["id"], &skill["status"])).collect();
    assert_eq!(
        json!(observed),
        json!([["weekly-report", "enabled"], ["broken", "invalid"], ["shipped", "enabled"]])
    );
    // An unchanged list is not sent again.
    let tag = site.raw("/api/skills").await.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(site.get_with("/api/skills", "if-none-match", &tag).await.status(), 304);
    assert_eq!(site.get_with("/api/skills?all=1", "if-none-match", &tag).await.status(), 200);
    site.send("POST", "/api/skills", json!({"id": "new", "name": "New", "description": "D."})).await;
    assert_eq!(site.get_with("/api/skills", "if-none-match", &tag).await.status(), 200);
    assert_eq!(site.get("/api/skills?all=maybe").await.0, 400);
}

#[tokio::test]
async fn s000_22_without_directories_the_list_is_empty_and_the_first_skill_creates_one() {
    let site = site(Preset::App).start().await;
    assert_eq!(site.available().await, Vec::<String>::new());
    let new = json!({"id": "First One", "name": "First", "description": "Is first.", "body": "Do it."});
    let (status, created) = site.send("POST", "/api/skills", new).await;
    assert_eq!(
        (status, &created["skill"]["id"], &created["editable"]),
        (201, &json!("first-one"), &json!(true))
    );
    assert!(site.path(".agents/skills/first-one/SKILL.md").exists());
    assert_eq!(site.available().await, ["first-one"]);
}

#[tokio::test]
async fn s000_13_s000_16_a_created_skill_is_visible_at_once_and_announced() {
    let site = site(Preset::App).start().await;
    let mut observed = site.store.announcements();
    let new = json!({"id": "report", "name": "Report", "description": "Writes reports."});
    assert_eq!(site.send("POST", "/api/skills", new.clone()).await.0, 201);
    assert_eq!(observed.next().await, Some(Topic::Skills));
    let (_, prompt) = site.get("/api/prompt").await;
    assert!(prompt["text"].as_str().unwrap().contains("Writes reports."), "{prompt}");
    assert_eq!(site.send("POST", "/api/skills", new).await.0, 409);
    assert_eq!(site.send("DELETE", "/api/skills/report", Value::Null).await, (204, Value::Null));
    let (_, prompt) = site.get("/api/prompt").await;
    assert!(!prompt["text"].as_str().unwrap().contains("Writes reports."), "{prompt}");
    assert_eq!(site.get("/api/skills/report").await.0, 404);
}

#[tokio::test]
async fn s000_19_form_errors_are_reported_per_field() {
    let site = site(Preset::Standard).start().await;
    let wrong = json!({"id": "../evil", "name": "", "description": "a\u{202e}b"});
    assert_snapshot!("form", site.redacted(site.send("POST", "/api/skills", wrong).await));
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
    assert_snapshot!("one", site.redacted(site.get("/api/skills/pdf").await));
    assert_snapshot!("files", site.redacted(site.get("/api/skills/pdf/files").await));
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
async fn s000_18_a_file_is_written_unless_it_changed_meanwhile() {
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
    assert_eq!(status, 400, "an invalid manifest is rejected first: {problem}");
    assert_snapshot!("stale", site.redacted(site.send("PUT", path, put(&text, &read["digest"])).await));
    assert_snapshot!(
        "broken",
        site.redacted(site.send("PUT", path, put("# no frontmatter\n", &written["digest"])).await)
    );
    assert_snapshot!(
        "systems",
        site.redacted(site.send("PUT", "/api/skills/shipped/files/SKILL.md", json!({"content": text})).await)
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

/// An invalid user skill can be read and fixed.
#[tokio::test]
async fn an_invalid_skill_can_be_fixed() {
    let site = site(Preset::App).file(".agents/skills/pdf/SKILL.md", "---\nname: [\n---\n").start().await;
    assert!(site.available().await.is_empty());
    let (status, read) = site.get("/api/skills/pdf/files/SKILL.md").await;
    assert_eq!((status, &read["content"]), (200, &json!("---\nname: [\n---\n")));
    let put = json!({"content": skill_md("pdf", "Works."), "digest": read["digest"]});
    assert_eq!(site.send("PUT", "/api/skills/pdf/files/SKILL.md", put).await.0, 200);
    assert_eq!(site.available().await, ["pdf"]);
}

#[tokio::test]
async fn s000_14_s000_23_only_user_skills_can_be_deleted() {
    let site =
        site(Preset::App).skill(".agents/sys.skills/report").skill(".agents/skills/report").start().await;
    let (_, admin) = site.get("/api/admin/skills").await;
    assert_eq!(admin["collisions"].as_array().unwrap().len(), 1, "{admin}");
    assert_eq!(site.available().await, ["report"]);
    // Deletes the user skill of the two.
    assert_eq!(site.send("DELETE", "/api/skills/report", Value::Null).await.0, 204);
    assert_snapshot!(
        "delete_systems",
        site.redacted(site.send("DELETE", "/api/skills/report", Value::Null).await)
    );
    assert!(site.path(".agents/sys.skills/report/SKILL.md").exists());
    assert!(!site.path(".agents/skills/report").exists());
    assert_eq!(site.send("DELETE", "/api/skills/none", Value::Null).await.0, 404);
}

#[tokio::test]
async fn skills_are_enabled_disabled_and_rescanned() {
    let site = site(Preset::Harness).skill("~/.agent/skills/pdf").start().await;
    let is_available = async |id: &str| site.available().await.iter().any(|available| available == id);
    assert!(is_available("pdf").await);
    let (status, switched) = site.send("POST", "/api/skills/pdf/disable", Value::Null).await;
    assert_eq!((status, &switched["status"]), (200, &json!("disabled")));
    assert!(!is_available("pdf").await);
    assert_eq!(site.send("POST", "/api/skills/pdf/enable", Value::Null).await.0, 200);
    assert!(is_available("pdf").await);
    assert_eq!(site.send("POST", "/api/skills/none/enable", Value::Null).await.0, 404);
    site.file("~/.agent/skills/csv/SKILL.md", skill_md("csv", "Reads tables."));
    let (status, again) = site.send("POST", "/api/rescan", Value::Null).await;
    assert_eq!(status, 200);
    // The watcher may have found it first.
    assert!(again["added"] == json!(["csv"]) || again["added"] == json!([]), "{again}");
    assert!(is_available("csv").await);
}

/// A change through one server is visible on the other.
#[tokio::test]
async fn all_servers_on_a_store_see_changes() {
    let one = site(Preset::Harness).skill("~/.agent/skills/pdf").start().await;
    let other = one.second().await;
    let wait_for = async |wanted: bool, id: &str| {
        wait_until(async || other.available().await.iter().any(|available| available == id) == wanted).await;
    };
    let new = json!({"id": "new", "name": "new", "description": "Is new."});
    assert_eq!(one.send("POST", "/api/skills", new).await.0, 201);
    wait_for(true, "new").await;
    assert_eq!(one.send("POST", "/api/skills/pdf/disable", Value::Null).await.0, 200);
    wait_for(false, "pdf").await;
    assert_eq!(one.send("DELETE", "/api/skills/new", Value::Null).await.0, 204);
    wait_for(false, "new").await;
}

#[tokio::test]
async fn only_administrators_see_details_and_paths() {
    let plan = site(Preset::Standard)
        .skill("~/.agents/skills/pdf")
        .skill(".agents/skills/pdf")
        .file("~/.agents/skills/odd/SKILL.md", "---\nname: odd\ndescription: Odd.\nwhat: x\n---\nbody\n")
        .file("~/.agents/skills/broken/SKILL.md", "---\nname: x\n---\n");
    let mut site = plan.with_tokens().start().await;
    site.use_token(ADMIN);
    let (status, admin) = site.get("/api/admin/skills").await;
    assert_eq!(status, 200);
    let odd = admin["skills"].as_array().unwrap().iter().find(|skill| skill["id"] == "odd").unwrap();
    assert_eq!((&odd["warnings"], &odd["errors"], &odd["editable"]), (&json!(1), &json!(0), &json!(true)));
    assert!(site.get("/api/skills").await.1.to_string().contains(site.path("~/").to_str().unwrap()));
    site.use_token(USER);
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
        let (status, response) = site.get(path).await;
        assert_eq!(status, 200, "{path}: {response}");
        assert!(!response.to_string().contains(top), "{path}: {response}");
    }
    assert_snapshot!("hidden", site.redacted(site.get("/api/skills?all=1").await));
    let body = json!({"id": "a", "name": "a", "description": "d"});
    for (method, path, body) in [
        ("GET", "/api/admin/skills", Value::Null),
        ("POST", "/api/skills", body),
        ("PUT", "/api/skills/pdf/files/SKILL.md", json!({"content": "x"})),
        ("DELETE", "/api/skills/pdf", Value::Null),
        ("DELETE", "/api/skills/pdf/files/x.md", Value::Null),
        ("POST", "/api/skills/pdf/rename", json!({"from": "x.md", "to": "y.md"})),
        ("POST", "/api/check", json!({"text": "x"})),
        ("POST", "/api/skills/install", json!({"source": "owner/repo"})),
        ("POST", "/api/skills/update", json!({})),
        ("POST", "/api/skills/pdf/disable", Value::Null),
        ("POST", "/api/skills/pdf/enable", Value::Null),
        ("POST", "/api/rescan", Value::Null),
        ("PATCH", "/api/settings", json!({})),
    ] {
        assert_eq!(site.send(method, path, body).await.0, 403, "{method} {path}");
    }
    assert_eq!(site.form("/api/skills/import", &[], &[("SKILL.md", b"x")]).await.0, 403);
}
