//! Thinking and summaries of a model over HTTP: shown to clients, without what only the provider can read.

use crate::support::{ServeChats, TestStore, project_with_model, rejection};
use prowess::Preset;
use prowess_chat::{EndReason, TurnEvent, TurnOutcome};
use prowess_config::ChatProvider;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::{ReplyPart, call, text, thinking};
use reqwest::{Method, StatusCode};
use serde_json::json;

#[tokio::test]
async fn clients_get_thinking_without_its_seal() {
    let provider = ChatProvider::Anthropic;
    let steps = [
        vec![thinking("I look."), ReplyPart::Redacted, call("c1", "skills_search", json!({"query": "x"}))],
        vec![text("hello")],
    ];
    let model = ModelServer::scripted(provider, &steps).await;
    let env = project_with_model(Preset::Standard, provider, &model.base);
    env.skill("report", "The BODY of report.");
    // The directory of the store is removed when it is dropped.
    let store = TestStore::sqlite();
    let site = store.serve(&env).await;
    let chat = site.chat().await;
    let events = site.say(&chat, "hi").await.all().await;
    let streamed: String = events
        .iter()
        .filter(|event| event.event == "thinking")
        .map(|event| event.data["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(streamed, "I look.");
    let stored = site.get(&format!("/api/chats/{chat}")).await;
    let reply = stored["messages"][1].clone();
    assert_eq!(reply["parts"][0], json!({"type": "thinking", "text": "I look."}));
    assert_eq!(
        (&reply["parts"][1]["type"], &reply["usage"]["cache_writes"]),
        (&json!("tool_call"), &json!(10))
    );
    let rendered = site.get(&format!("/api/chats/{chat}?html=1")).await;
    for shown in [
        stored.to_string(),
        rendered.to_string(),
        events.iter().map(|event| event.data.to_string()).collect(),
    ] {
        assert!(!shown.contains("sig_") && !shown.contains("red_1") && !shown.contains("seal"), "{shown}");
    }
}

#[tokio::test]
async fn a_summary_is_shown_and_can_be_deleted() {
    let provider = ChatProvider::OpenAiChat;
    let model = ModelServer::scripted(provider, &[vec![text("hello")]]).await;
    let env = project_with_model(Preset::Standard, provider, &model.base);
    let store = TestStore::sqlite();
    let site = store.serve(&env).await;
    let chat = site.chat().await;
    site.say(&chat, "hi").await.all().await;
    let path = format!("/api/chats/{chat}");
    let before = site.get(&path).await;
    let replaces = vec![before["messages"][0]["id"].as_str().unwrap().to_owned()];
    let other = store.open().await;
    let turn = other.begin_turn(&chat).await.unwrap();
    let summary = TurnEvent::Summary { text: "short".into(), replaces: replaces.clone() };
    other.append_events(&turn, turn.first, &[summary]).await.unwrap();
    other.end(&turn, turn.first + 1, &TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
    let part = json!({"type": "summary", "text": "short", "replaces": replaces});
    assert_eq!(site.get(&path).await["messages"][2]["parts"], json!([part]));

    let summary = format!("{path}/messages/{}/summary", turn.message);
    let deleted = site.request(Method::DELETE, &summary).send().await.unwrap();
    assert_eq!(deleted.status(), StatusCode::NO_CONTENT);
    assert_eq!(site.get(&path).await["messages"][2]["parts"], json!([]));
    let again = rejection(site.request(Method::DELETE, &summary).send().await.unwrap()).await;
    assert_eq!(again, (404, "NOT_FOUND".to_owned(), "the message has no summary".to_owned()));
}
