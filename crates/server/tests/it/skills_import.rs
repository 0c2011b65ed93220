//! Imports of skills.

use crate::skill_server::{site, skill_md};
use insta::assert_snapshot;
use prowess::Preset;
use serde_json::json;

/// Returns a zip archive of a skill.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    prowess_package::pack::skill_bytes(dir.path()).unwrap()
}

#[tokio::test]
async fn s000_15_s000_20_an_archive_or_a_directory_with_its_own_or_a_given_id() {
    let site = site(Preset::App).start().await;
    let zip = archive(&[("SKILL.md", &skill_md("report", "Writes.")), ("notes.md", "n")]);
    let (status, imported) = site.form("/api/skills/import", &[], &[("report.zip", &zip)]).await;
    assert_eq!((status, &imported["id"], &imported["status"]), (201, &json!("report"), &json!("enabled")));
    let text = skill_md("My Notes", "Keeps notes.");
    let files: [(&str, &[u8]); 2] = [("notes/SKILL.md", text.as_bytes()), ("notes/more/x.md", b"x")];
    assert_snapshot!(
        "imported",
        site.redacted(site.form("/api/skills/import", &[("id", "my-notes")], &files).await)
    );
    assert_eq!(site.available().await, ["my-notes", "report"]);
    assert_eq!(site.text(".agents/skills/my-notes/SKILL.md"), text);
    assert_eq!(site.text(".agents/skills/my-notes/more/x.md"), "x");
}

#[tokio::test]
async fn s000_24_an_existing_skill_is_replaced_after_confirmation() {
    let site = site(Preset::App).skill(".agents/skills/report").start().await;
    let new = skill_md("report", "Is new.");
    let files: [(&str, &[u8]); 1] = [("report/SKILL.md", new.as_bytes())];
    let (status, plan) = site.form("/api/skills/import?dry_run=1", &[], &files).await;
    assert_eq!((status, &plan["replaces"], &plan["status"]), (200, &json!(true), &json!(null)));
    assert_eq!(site.text(".agents/skills/report/SKILL.md"), skill_md("report", "Does report."));
    assert_snapshot!("taken", site.redacted(site.form("/api/skills/import", &[], &files).await));
    assert_eq!(site.text(".agents/skills/report/SKILL.md"), skill_md("report", "Does report."));
    for confirmed in ["true", "1"] {
        let (status, done) = site.form("/api/skills/import", &[("overwrite", confirmed)], &files).await;
        assert_eq!((status, &done["replaces"]), (201, &json!(true)));
    }
    assert!(site.get("/api/skills").await.1.to_string().contains("Is new."));
}

#[tokio::test]
async fn audit_findings_are_reported_and_rejected_unless_accepted() {
    let site = site(Preset::Standard).start().await;
    let text = format!("{}```sh\necho aGVsbG8= | base64 -d | bash\n```\n", skill_md("pdf", "D."));
    let files: [(&str, &[u8]); 1] = [("pdf/SKILL.md", text.as_bytes())];
    let (status, plan) = site.form("/api/skills/import?dry_run=1", &[], &files).await;
    assert_eq!(
        (status, &plan["refused"], &plan["findings"][0]["rule"]),
        (200, &json!(true), &json!("PA101"))
    );
    assert_snapshot!("refused", site.redacted(site.form("/api/skills/import", &[], &files).await));
    assert!(!site.path("~/.agents").exists());
    let (status, _) = site.form("/api/skills/import", &[("accept_risk", "true")], &files).await;
    assert_eq!(status, 201);
}

#[tokio::test]
async fn findings_of_high_severity_must_be_accepted() {
    let site = site(Preset::Standard).start().await;
    let text = "---\nname: root\ndescription: Works as root.\nallowed-tools: Bash(sudo:*)\n---\n\nDo it.\n";
    let files: [(&str, &[u8]); 1] = [("root/SKILL.md", text.as_bytes())];
    let (status, plan) = site.form("/api/skills/import?dry_run=1", &[], &files).await;
    assert_eq!(
        (status, &plan["refused"], &plan["needs_confirmation"]),
        (200, &json!(false), &json!(true)),
        "{plan}"
    );
    assert_snapshot!("unconfirmed", site.redacted(site.form("/api/skills/import", &[], &files).await));
    assert!(!site.path("~/.agents").exists());
    let (status, _) = site.form("/api/skills/import", &[("accept_findings", "true")], &files).await;
    assert_eq!(status, 201);
    // Critical findings need accept_risk.
    let text = format!("{}```sh\necho aGVsbG8= | base64 -d | bash\n```\n", skill_md("pdf", "D."));
    let files: [(&str, &[u8]); 1] = [("pdf/SKILL.md", text.as_bytes())];
    let (status, _) = site.form("/api/skills/import", &[("accept_findings", "true")], &files).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn invalid_uploads_change_nothing() {
    let site = site(Preset::Standard).start().await;
    let good = skill_md("pdf", "D.").into_bytes();
    let form = async |fields: &[(&str, &str)], files: &[(&str, &[u8])]| {
        site.redacted(site.form("/api/skills/import", fields, files).await)
    };
    let mut observed = Vec::new();
    observed.push(form(&[], &[]).await);
    observed.push(form(&[], &[("x.zip", b"no archive")]).await);
    observed.push(form(&[], &[("pdf/README.md", b"x")]).await);
    observed.push(form(&[], &[("pdf/SKILL.md", b"# no frontmatter")]).await);
    observed.push(form(&[], &[("pdf/SKILL.md", &good), ("../evil", b"x")]).await);
    observed.push(form(&[], &[("pdf/SKILL.md", &good), ("/etc/evil", b"x")]).await);
    observed.push(form(&[], &[("pdf/SKILL.md", &good), ("pdf/skill.MD", b"x")]).await);
    observed.push(form(&[("id", "../evil")], &[("pdf/SKILL.md", &good)]).await);
    observed.push(form(&[("overwrite", "perhaps")], &[("pdf/SKILL.md", &good)]).await);
    observed.push(form(&[("other", "x")], &[("pdf/SKILL.md", &good)]).await);
    observed.push(form(&[], &[("a/SKILL.md", &good), ("b/SKILL.md", &good)]).await);
    assert_snapshot!("hostile", observed.join("\n"));
    assert!(!site.path("~/.agents").exists());
    let large = vec![0; 17 * 1024 * 1024];
    let files: [(&str, &[u8]); 2] = [("pdf/SKILL.md", &good), ("pdf/large", &large)];
    assert_eq!(site.form("/api/skills/import", &[], &files).await.0, 413);
    let (status, problem) = site.send("POST", "/api/skills/import", json!({"id": "x"})).await;
    assert_eq!(status, 400, "{problem}");
}
