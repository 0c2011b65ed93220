//! The endpoints of the editor: checks of a text, and uploading, renaming and deleting files.

use crate::skill_server::{site, skill_md};
use insta::assert_snapshot;
use prowess::{Preset, digest};
use serde_json::{Value, json};

#[tokio::test]
async fn a_text_is_checked_as_prowess_check_would() {
    let site = site(Preset::Standard).skill("~/.agents/skills/pdf").start().await;
    let text = "---\nname: pdf\ndescription: \"Fills förms 𝄞: fast. Use for PDF.\"\ncolour: blue\n---\nRun scripts/x.py.\n";
    let check = json!({"text": text, "skill": "pdf", "path": "SKILL.md"});
    assert_snapshot!("checked", site.redacted(site.send("POST", "/api/check", check).await));
    // The file on disk is not changed.
    assert_eq!(site.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Does pdf."));
    let (status, fixable) = site
        .send(
            "POST",
            "/api/check",
            json!({"text": "---\nname: 𝄞\ndescription: Fill forms: fast\n---\nDo it.\n"}),
        )
        .await;
    assert_eq!(status, 200);
    let fixes: Vec<&Value> = fixable["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["fix"])
        .filter(|fix| !fix.is_null())
        .collect();
    assert!(
        fixes.contains(&&json!({"start": 26, "end": 42, "text": "\"Fill forms: fast\""})),
        "offsets are UTF-16 code units: {fixable}"
    );
    let (_, invalid) = site.send("POST", "/api/check", json!({"text": "# no frontmatter\n"})).await;
    assert_eq!(
        (&invalid["preview"], &invalid["diagnostics"][0]["severity"]),
        (&Value::Null, &json!("error"))
    );
    let other = json!({"text": "hello world", "skill": "pdf", "path": "notes.md"});
    let (_, counted) = site.send("POST", "/api/check", other).await;
    assert_eq!((&counted["tokens"], &counted["diagnostics"]), (&json!(2), &json!([])));
    assert_eq!(site.send("POST", "/api/check", json!({"text": "x", "skill": "none"})).await.0, 404);
    assert_eq!(site.send("POST", "/api/check", json!({"text": 1})).await.0, 400);
}

#[tokio::test]
async fn files_are_uploaded_renamed_and_deleted() {
    let site =
        site(Preset::App).skill(".agents/skills/pdf").skill(".agents/sys.skills/shipped").start().await;
    let bytes = b"\x89PNG\r\n\x1a\n\0\xff";
    let logo = "/api/skills/pdf/files/assets/logo.png";
    let (status, uploaded) = site.upload(logo, bytes, true).await;
    assert_eq!((status, &uploaded["digest"]), (200, &json!(digest(bytes))));
    assert_eq!(std::fs::read(site.path(".agents/skills/pdf/assets/logo.png")).unwrap(), bytes);
    assert_eq!(site.upload(logo, b"other", true).await.0, 409);
    assert_eq!(site.upload(logo, b"other", false).await.0, 200);
    assert_eq!(
        site.upload("/api/skills/pdf/files/SKILL.md", b"\xff", false).await.0,
        400,
        "an invalid manifest"
    );
    assert_eq!(site.upload("/api/skills/shipped/files/x.png", bytes, true).await.0, 403);
    let too_large = vec![0; 16 * 1024 * 1024 + 1];
    assert_eq!(site.upload("/api/skills/pdf/files/large", &too_large, true).await.0, 413);
    let rename = async |from: &str, to: &str, digest: Value| {
        let body = json!({"from": from, "to": to, "digest": digest});
        site.send("POST", "/api/skills/pdf/rename", body).await
    };
    let stale = rename("assets/logo.png", "logo.png", json!(digest(bytes))).await;
    assert_eq!(stale.0, 409, "{}", stale.1);
    assert_eq!(rename("assets/logo.png", "logo.png", json!(digest(b"other"))).await, (204, Value::Null));
    assert_eq!(site.text(".agents/skills/pdf/logo.png"), "other");
    assert!(!site.path(".agents/skills/pdf/assets").exists());
    assert_snapshot!("rename_manifest", site.redacted(rename("SKILL.md", "x.md", Value::Null).await));
    assert_snapshot!("rename_taken", site.redacted(rename("logo.png", "SKILL.md", Value::Null).await));
    for to in ["../x", "/etc/x", ".git/x", ""] {
        assert_eq!(rename("logo.png", to, Value::Null).await.0, 400, "{to}");
    }
    assert_eq!(rename("none", "x", Value::Null).await.0, 404);
    let delete =
        async |path: &str| site.send("DELETE", &format!("/api/skills/pdf/files/{path}"), Value::Null).await;
    assert_eq!(delete(&format!("logo.png?digest={}", digest(bytes))).await.0, 409);
    assert_eq!(delete(&format!("logo.png?digest={}", digest(b"other"))).await, (204, Value::Null));
    assert_eq!(delete("logo.png").await.0, 404);
    assert_eq!(delete("SKILL.md").await.0, 400);
    assert_eq!(delete("..%2Fx").await.0, 400);
    let (_, files) = site.get("/api/skills/pdf/files").await;
    assert_eq!(files["files"].as_array().unwrap().len(), 1, "{files}");
}
