//! The prompt, matches, completions, inspection, statistics, settings and published skills.

use crate::skill_server::{ServerBuilder, site, skill_md};
use insta::assert_snapshot;
use prowess::{Preset, digest};
use serde_json::{Value, json};

/// Removes the scores, which the routing crate tests.
fn unscored((status, mut response): (u16, Value)) -> (u16, Value) {
    for list in ["matches", "skills"] {
        let found = response.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for found in found.filter(|item| item.get("score").is_some()) {
            assert!(found["reasons"].as_array().is_some_and(|reasons| !reasons.is_empty()));
            (found["score"], found["reasons"]) = (json!("[SCORE]"), json!("[REASONS]"));
        }
    }
    (status, response)
}

fn env(preset: Preset) -> ServerBuilder {
    site(preset)
        .file(".agents/skills/pdf/SKILL.md", skill_md("pdf", "Fills PDF forms."))
        .file(".agents/skills/csv/SKILL.md", skill_md("csv", "Reads tables."))
}

#[tokio::test]
async fn the_prompt_the_matches_and_the_completions() {
    let site = env(Preset::App).start().await;
    assert_snapshot!("prompt", site.redacted(site.get("/api/prompt?query=fill%20a%20pdf%20form").await));
    assert_snapshot!(
        "match",
        site.redacted(unscored(site.get("/api/match?query=fill%20a%20pdf%20form").await))
    );
    assert_snapshot!("complete", site.redacted(site.get("/api/complete?query=cs").await));
    let (_, all) = site.get("/api/complete?query=").await;
    assert_eq!(all["skills"].as_array().unwrap().len(), 2);
    let (_, xml) = site.get("/api/prompt?format=xml").await;
    assert!(xml["text"].as_str().unwrap().contains("<available_skills>"), "{xml}");
    for wrong in [
        "/api/match",
        "/api/match?query=x&k=0",
        "/api/match?query=x&k=101",
        "/api/prompt?format=odd",
        "/api/complete",
    ] {
        assert_eq!(site.get(wrong).await.0, 400, "{wrong}");
    }
}

#[tokio::test]
async fn inspection_previews_the_model_input() {
    let site = env(Preset::Chat).start().await;
    let (status, inspected) = site.get("/api/inspect?query=/pdf%20fill%20it").await;
    assert_eq!(status, 200);
    assert_snapshot!("inspect", site.redacted(unscored((status, inspected.clone()))));
    // The inspection does not count as use.
    let (_, overview) = site.get("/api/overview").await;
    assert_eq!(overview["most_used"], json!([]));
    let sum: u64 =
        inspected["parts"].as_array().unwrap().iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
    assert_eq!(inspected["tokens"], sum);
    // In a chat, with its history.
    let (_, chat) = site.send("POST", "/api/chats", json!({})).await;
    let chat = chat["id"].as_str().unwrap();
    site.store.add_user_message(chat, "Earlier words.").await.unwrap();
    let (_, inspected) = site.get(&format!("/api/inspect?query=now&chat={chat}")).await;
    let history =
        inspected["parts"].as_array().unwrap().iter().find(|part| part["part"] == "history").unwrap();
    assert!(history["text"].as_str().unwrap().contains("Earlier words."), "{inspected}");
    let message = site.store.messages(chat, None, 10).await.unwrap().messages[0].id.clone();
    let (status, then) = site.get(&format!("/api/inspect?chat={chat}&message={message}")).await;
    assert_eq!(status, 200);
    let message = then["parts"].as_array().unwrap().iter().find(|part| part["part"] == "message").unwrap();
    assert_eq!(message["text"], "user: Earlier words.");
    assert_eq!(site.get("/api/inspect?query=x&chat=none").await.0, 404);
    assert_eq!(site.get("/api/inspect?message=x").await.0, 400);
}

#[tokio::test]
async fn overview_statistics() {
    let site = env(Preset::App).skill(".agents/sys.skills/shipped").start().await;
    site.store.record_skill_uses(&["pdf".to_owned(), "pdf".to_owned(), "csv".to_owned()]).await.unwrap();
    let (status, mut figures) = site.get("/api/overview").await;
    for used in figures["most_used"].as_array_mut().unwrap() {
        used["last"] = json!(0);
    }
    assert_snapshot!("overview", site.redacted((status, figures)));
}

#[tokio::test]
async fn settings_are_changed_in_the_user_file_and_take_effect_at_once() {
    let site = site(Preset::Standard)
        .file("~/.prowess/config.toml", "# mine\n\n[catalog]\nformat = \"xml\" # as it was\n")
        .skill("~/.agents/skills/pdf")
        .start()
        .await;
    let change = async |body: Value| site.send("PATCH", "/api/settings", body).await;
    let value = async |key: &str| {
        let (_, settings) = site.get("/api/settings").await;
        let found =
            settings["settings"].as_array().unwrap().iter().find(|setting| setting["key"] == key).unwrap();
        found["value"].clone()
    };
    let (status, _) =
        change(json!({"catalog.format": "bullets", "skills.disabled": ["hello-world"], "enabled": true}))
            .await;
    assert_eq!(status, 200);
    assert_snapshot!("settings_file", site.text("~/.prowess/config.toml"));
    assert_eq!(value("catalog.format").await, "bullets");
    assert!(!site.available().await.contains(&"hello-world".to_owned()));
    let (_, prompt) = site.get("/api/prompt").await;
    assert!(!prompt["text"].as_str().unwrap().contains("<available_skills>"));
    assert_eq!(
        change(json!({"catalog.format": null, "skills.disabled": null, "enabled": null})).await.0,
        200
    );
    assert_eq!(site.text("~/.prowess/config.toml"), "# mine\n\n[catalog]\n\n[skills]\n");
    assert_eq!(value("catalog.format").await, "xml");
    let before = site.text("~/.prowess/config.toml");
    let observed = [
        site.redacted(change(json!({"catalog.format": "odd"})).await),
        site.redacted(change(json!({"none.such": 1})).await),
        site.redacted(change(json!({"run.scripts": "always"})).await),
        site.redacted(change(json!({"chat.base-url": "http://evil"})).await),
        site.redacted(change(json!({"catalog.format": {"a": 1}})).await),
        site.redacted(change(json!({"chat.provider": "anthropic"})).await),
    ];
    assert_snapshot!("settings_refused", observed.join("\n"));
    assert_eq!(site.text("~/.prowess/config.toml"), before);
}

#[tokio::test]
async fn published_skills_can_be_installed() {
    let site = env(Preset::App).file(".agents/skills/pdf/more.md", "more").start().await;
    let (status, index) = site.get("/.well-known/agent-skills/index.json").await;
    assert_snapshot!("index", site.redacted((status, index.clone())));
    for skill in index["skills"].as_array().unwrap() {
        let bytes = site.raw(&format!("/.well-known/agent-skills/{}", skill["url"].as_str().unwrap())).await;
        assert_eq!(digest(&bytes.bytes().await.unwrap()), skill["digest"].as_str().unwrap());
    }
    for none in ["none/SKILL.md", "pdf/SKILL.md", "..%2F..%2Fx", "none.zip"] {
        assert_eq!(site.get(&format!("/.well-known/agent-skills/{none}")).await.0, 404, "{none}");
    }
}
