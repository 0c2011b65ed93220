//! The thinking of a model over HTTP: shown to clients, without what only the provider can read.

use crate::support::{ServeChats, TestStore, project_with_model};
use prowess::Preset;
use prowess_config::ChatProvider;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::{ReplyPart, call, text, thinking};
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
