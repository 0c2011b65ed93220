//! Versions of messages, the search, and how chats are listed, over HTTP.

use crate::support::stream::Events;
use crate::support::{ChatServer, ServeChats, TestStore, both, message_text, project_with_model, rejection};
use prowess::Preset;
use prowess_config::ChatProvider;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::text;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

both![
    messages_are_edited_regenerated_switched_and_deleted,
    invalid_requests_are_rejected,
    chats_are_searched_pinned_and_archived,
];

async fn send(site: &ChatServer, chat: &str, message: Value) {
    Events::of(site.post(&format!("/api/chats/{chat}/messages"), &message).await).await.all().await;
}

async fn switch(site: &ChatServer, chat: &str, id: &Value) -> StatusCode {
    site.post(&format!("/api/chats/{chat}/branch"), &json!({"message": id})).await.status()
}

async fn path(site: &ChatServer, chat: &str) -> Vec<String> {
    let text = |message: &Value| match &message["versions"] {
        Value::Null => message_text(message),
        versions => format!("{} {}/{}", message_text(message), versions["index"], versions["count"]),
    };
    site.messages(chat).await.iter().map(text).collect()
}

async fn messages_are_edited_regenerated_switched_and_deleted(test_store: &mut TestStore) {
    let steps = ["r1", "r2", "r2b", "r1b"].map(|reply| vec![text(reply)]);
    let model = ModelServer::scripted(CHAT, &steps).await;
    let env = project_with_model(Preset::Chat, CHAT, &model.base);
    let site = test_store.serve(&env).await;
    let chat = site.chat().await;
    send(&site, &chat, json!({"text": "q1"})).await;
    send(&site, &chat, json!({"text": "q2"})).await;
    let stored = site.messages(&chat).await;
    send(&site, &chat, json!({"regenerate": stored[3]["id"]})).await;
    assert_eq!(path(&site, &chat).await, ["q1", "r1", "q2", "r2b 2/2"]);
    // The model does not see the reply that is replaced.
    let body = model.requests()[2].body.clone();
    assert!(body.to_string().contains("q2") && !body.to_string().contains("r2"), "{body}");
    send(&site, &chat, json!({"text": "q1b", "replaces": stored[0]["id"]})).await;
    assert_eq!(path(&site, &chat).await, ["q1b 2/2", "r1b"]);
    let body = model.requests()[3].body.to_string();
    assert!(body.contains("q1b") && !body.contains("q2") && !body.contains("r1"), "{body}");
    let versions = site.messages(&chat).await[0]["versions"].clone();
    assert_eq!(switch(&site, &chat, &versions["previous"]).await, StatusCode::NO_CONTENT);
    assert_eq!(path(&site, &chat).await, ["q1 1/2", "r1", "q2", "r2b 2/2"]);
    let rendered = site.get(&format!("/api/chats/{chat}?html=1")).await;
    assert_eq!(rendered["messages"][3]["versions"]["count"], 2);
    let last = site.messages(&chat).await[3]["id"].as_str().unwrap().to_owned();
    let deleted =
        site.request(Method::DELETE, &format!("/api/chats/{chat}/messages/{last}")).send().await.unwrap();
    assert_eq!(deleted.status(), StatusCode::NO_CONTENT);
    assert_eq!(path(&site, &chat).await, ["q1 1/2", "r1", "q2", "r2"]);
}

async fn invalid_requests_are_rejected(test_store: &mut TestStore) {
    let model = ModelServer::scripted(CHAT, &[vec![text("r")]]).await;
    let env = project_with_model(Preset::Chat, CHAT, &model.base);
    let site = test_store.serve(&env).await;
    let chat = site.chat().await;
    send(&site, &chat, json!({"text": "q"})).await;
    let stored = site.messages(&chat).await;
    let (question, reply) = (&stored[0]["id"], &stored[1]["id"]);
    let at = format!("/api/chats/{chat}/messages");
    let mut seen = Vec::new();
    for body in [
        json!({"regenerate": reply, "text": "x"}),
        json!({"regenerate": reply, "replaces": question}),
        json!({"regenerate": question}),
        json!({"regenerate": "none"}),
        json!({"replaces": "none", "text": "x"}),
        json!({"replaces": reply, "text": "x"}),
        json!({}),
    ] {
        let (status, code, detail) = rejection(site.post(&at, &body).await).await;
        seen.push(format!("{status} {code}: {detail}"));
    }
    let long = format!("/api/chats?search={}", "x".repeat(1_001));
    for path in ["/api/chats?search=a&after=b", "/api/chats?archived=2", long.as_str()] {
        let (status, code, detail) = rejection(site.request(Method::GET, path).send().await.unwrap()).await;
        seen.push(format!("{status} {code}: {detail}"));
    }
    insta::assert_snapshot!("invalid_requests_about_versions", seen.join("\n"));
    assert_eq!(switch(&site, &chat, &json!("none")).await, StatusCode::NOT_FOUND);
    assert_eq!(switch(&site, "none", &json!("none")).await, StatusCode::NOT_FOUND);
    assert_eq!(path(&site, &chat).await, ["q", "r"]);
}

async fn chats_are_searched_pinned_and_archived(test_store: &mut TestStore) {
    let steps = ["About the invoice", "none", "none"].map(|reply| vec![text(reply)]);
    let model = ModelServer::scripted(CHAT, &steps).await;
    let env = project_with_model(Preset::Chat, CHAT, &model.base);
    let site = test_store.serve(&env).await;
    let (first, second) = (site.chat().await, site.chat().await);
    send(&site, &first, json!({"text": "first"})).await;
    send(&site, &second, json!({"text": "second"})).await;
    let titles = async |path: &str| -> Vec<String> {
        let page = site.get(path).await;
        page["chats"]
            .as_array()
            .unwrap()
            .iter()
            .map(|chat| chat["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles("/api/chats").await, ["second", "first"]);
    let found = site.get("/api/chats?search=invo").await;
    assert_eq!(found["chats"][0]["excerpt"], "About the invoice");
    assert_eq!(titles("/api/chats?search=seco").await, ["second"]);
    let change = async |chat: &str, body: Value| {
        let request = site.request(Method::PATCH, &format!("/api/chats/{chat}")).json(&body);
        assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    };
    change(&first, json!({"pinned": true})).await;
    assert_eq!(titles("/api/chats").await, ["first", "second"]);
    change(&second, json!({"archived": true})).await;
    assert_eq!(titles("/api/chats").await, ["first"]);
    assert_eq!(titles("/api/chats?archived=1").await, ["second"]);
}
