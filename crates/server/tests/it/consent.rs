//! Questions about scripts: who is asked, and who may answer on which server.

use crate::running_server::{ADMIN, USER, with_tokens};
use crate::support::stream::{Events, SseEvent};
use crate::support::{ChatServer, TestStore, both, project_with_model, rejection};
use prowess::Preset;
use prowess_config::ChatProvider;
use prowess_server::ServerOptions;
use prowess_testing::TestEnv;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::{call, text};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

both![a_question_is_answered_on_any_server];

/// Returns a model that calls a script and then replies, and a project with the script.
async fn project() -> (ModelServer, TestEnv) {
    let arguments = json!({"name": "a", "script": "scripts/hi.sh"});
    let steps = [vec![call("c1", "skills_run", arguments)], vec![text("Done.")]];
    let model = ModelServer::scripted(CHAT, &steps).await;
    let env = project_with_model(Preset::Standard, CHAT, &model.base);
    env.skill("a", "Run scripts/hi.sh.");
    env.file(&format!("{}/a/scripts/hi.sh", env.root()), "#!/bin/sh\necho hi\n");
    (model, env)
}

fn asking() -> ServerOptions {
    ServerOptions { ask_consent: true, ..ServerOptions::default() }
}

async fn answer(site: &ChatServer, chat: &str, question: &str, decision: &str) -> Response {
    let path = format!("/api/chats/{chat}/consents/{question}");
    site.post(&path, &json!({"decision": decision})).await
}

/// Returns the question of a turn that waits.
async fn question(events: &mut Events) -> SseEvent {
    events.expect("tool_call").await;
    events.expect("consent").await
}

async fn a_question_is_answered_on_any_server(test_store: &mut TestStore) {
    let (_model, env) = project().await;
    let first = ChatServer::start(&env, test_store.open().await, asking()).await;
    let second = ChatServer::start(&env, test_store.open().await, asking()).await;
    let shared = ChatServer::start(&env, test_store.open().await, ServerOptions::default()).await;
    let chat = first.chat().await;
    let mut events = first.say(&chat, "Say hi.").await;
    let asked = question(&mut events).await.data;
    assert_eq!((&asked["id"], &asked["skill"]), (&json!("c1"), &json!("a")));
    let id = asked["question"].as_str().unwrap();
    for site in [&first, &second] {
        let shown = site.get(&format!("/api/chats/{chat}")).await["consent"].take();
        assert_eq!((&shown["question"], &shown["access"]), (&asked["question"], &asked["access"]));
    }
    // The id of the call, which the model chose, is not the id of the question.
    let mut refused = Vec::new();
    for wrong in ["c1", "x"] {
        refused.push(rejection(answer(&second, &chat, wrong, "once").await).await);
    }
    let other = first.chat().await;
    refused.push(rejection(answer(&first, &other, id, "once").await).await);
    refused.push(rejection(answer(&shared, &chat, id, "once").await).await);
    assert_eq!(answer(&second, &chat, id, "maybe").await.status(), StatusCode::BAD_REQUEST);
    assert_eq!(answer(&second, &chat, id, "never").await.status(), StatusCode::NO_CONTENT);
    let result = events.expect("tool_result").await.data;
    assert_eq!(
        (&result["status"], &result["data"]["error"]["code"]),
        (&json!("error"), &json!("ACCESS_DENIED"))
    );
    // The second answer, and an answer after the turn.
    refused.push(rejection(answer(&first, &chat, id, "once").await).await);
    events.all().await;
    refused.push(rejection(answer(&second, &chat, id, "once").await).await);
    assert_eq!(second.get(&format!("/api/chats/{chat}")).await["consent"], Value::Null);
    let lines: Vec<_> =
        refused.iter().map(|(status, code, detail)| format!("{status} {code}: {detail}")).collect();
    insta::allow_duplicates! { insta::assert_snapshot!(lines.join("\n"), @r"
    404 NOT_FOUND: this question is no longer open: it was answered, or the reply has ended
    404 NOT_FOUND: this question is no longer open: it was answered, or the reply has ended
    404 NOT_FOUND: this question is no longer open: it was answered, or the reply has ended
    403 ACCESS_DENIED: scripts cannot be allowed on this server, because other machines can reach it; answer on the machine where the reply runs, or allow the skill with run.allowed-skills
    404 NOT_FOUND: this question is no longer open: it was answered, or the reply has ended
    404 NOT_FOUND: this question is no longer open: it was answered, or the reply has ended
    "); }
}

/// A server with tokens for users and administrators.
async fn shared_server(test_store: &TestStore, env: &TestEnv) -> ChatServer {
    let options = ServerOptions { ask_consent: true, ..with_tokens() };
    ChatServer::start(env, test_store.open().await, options).await
}

async fn post_as(site: &ChatServer, token: &str, path: &str, body: Value) -> Response {
    site.request(Method::POST, path).bearer_auth(token).json(&body).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_are_not_asked() {
    let test_store = TestStore::sqlite();
    let (model, env) = project().await;
    let site = shared_server(&test_store, &env).await;
    let chat: Value = post_as(&site, USER, "/api/chats", json!({})).await.json().await.unwrap();
    let path = format!("/api/chats/{}/messages", chat["id"].as_str().unwrap());
    let events = Events::of(post_as(&site, USER, &path, json!({"text": "Say hi."})).await).await.all().await;
    assert!(events.iter().all(|event| event.event != "consent"), "{events:?}");
    let result = events.iter().find(|event| event.event == "tool_result").unwrap();
    assert_eq!(result.data["data"]["error"]["code"], "ACCESS_DENIED");
    assert!(!model.requests()[0].body["tools"].to_string().contains("skills_run"), "the tool is not offered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_cannot_answer_the_questions_of_administrators() {
    let test_store = TestStore::sqlite();
    let (_model, env) = project().await;
    let site = shared_server(&test_store, &env).await;
    let chat: Value = post_as(&site, USER, "/api/chats", json!({})).await.json().await.unwrap();
    let chat = format!("/api/chats/{}", chat["id"].as_str().unwrap());
    let sent = post_as(&site, ADMIN, &format!("{chat}/messages"), json!({"text": "Say hi."})).await;
    let mut events = Events::of(sent).await;
    let asked = question(&mut events).await.data;
    let consent = format!("{chat}/consents/{}", asked["question"].as_str().unwrap());
    let refused = rejection(post_as(&site, USER, &consent, json!({"decision": "always"})).await).await;
    assert_eq!((refused.0, refused.2.as_str()), (403, "administrator access required"));
    let answered = post_as(&site, ADMIN, &consent, json!({"decision": "not_now"})).await;
    assert_eq!(answered.status(), StatusCode::NO_CONTENT);
    let result = events.expect("tool_result").await.data;
    assert_eq!(result["status"], "error");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_mcp_clients_of_administrators_ask() {
    let test_store = TestStore::sqlite();
    let (_model, env) = project().await;
    let site = shared_server(&test_store, &env).await;
    let lists_run = async |token: &str| {
        let version = "2026-07-28";
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        });
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).to_string();
        let request = site.request(Method::POST, "/mcp").bearer_auth(token).body(message);
        let request = request.header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        let request = request.header("mcp-protocol-version", version).header("mcp-method", "tools/list");
        let tools = request.send().await.unwrap().text().await.unwrap();
        assert!(tools.contains("skills_activate"), "{tools}");
        tools.contains("skills_run")
    };
    assert!(lists_run(ADMIN).await && !lists_run(USER).await);
}
