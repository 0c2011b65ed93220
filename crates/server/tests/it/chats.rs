//! The chat endpoints: create, list, read, change, delete, send and stop; and the server requirements of the founding documents.

use std::collections::HashSet;
use std::time::Duration;

use crate::support::stream::{event_kinds, is_contiguous, streamed_text};
use crate::support::{ChatServer, ServeChats, TestStore, both, message_text, project_with_model, rejection};
use prowess::{Policy, Preset};
use prowess_config::ChatProvider;
use prowess_testing::TestEnv;
use prowess_testing::model::wire_format::{ReplyPart, call, encode_reply, system_prompt, text, tool_results};
use prowess_testing::model::{ModelServer, Reply, ReplyPiece};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

both![
    chats_are_created_listed_read_changed_and_deleted,
    messages_come_in_pages,
    one_answer_at_a_time,
    consecutive_turns_are_not_confused,
    a_turn_can_start_after_a_stopped_one,
    s004_19_active_skills_are_stored_and_can_be_deactivated,
];

/// Starts a server whose model sends these replies.
async fn site(
    test_store: &TestStore,
    preset: Preset,
    steps: &[Vec<ReplyPart>],
) -> (ChatServer, ModelServer, TestEnv) {
    let model = ModelServer::scripted(CHAT, steps).await;
    let env = project_with_model(preset, CHAT, &model.base);
    env.skill("report", "The BODY of report.").skill("other", "Another BODY.");
    (test_store.serve(&env).await, model, env)
}

async fn chats_are_created_listed_read_changed_and_deleted(test_store: &mut TestStore) {
    let (site, _model, _env) = site(test_store, Preset::Chat, &[vec![text("hello")]]).await;
    assert_eq!(site.get("/api/chats").await, json!({"schema": 1, "chats": [], "next": null}));
    let empty = site.request(Method::POST, "/api/chats").send().await.unwrap();
    assert_eq!(empty.status(), StatusCode::CREATED);
    let named: Value = site.post("/api/chats", &json!({"title": "A talk"})).await.json().await.unwrap();
    assert_eq!(
        (&named["title"], &named["preset"], &named["message_count"]),
        (&json!("A talk"), &json!("chat"), &json!(0))
    );
    let third = site.chat().await;
    site.say(&third, "first words\nand more").await.all().await;

    let page = site.get("/api/chats?limit=2").await;
    let (first, next) = (page["chats"].as_array().unwrap(), page["next"].as_str().unwrap());
    assert_eq!(first[0]["title"], "first words", "most recent first, titled after its first message");
    let rest = site.get(&format!("/api/chats?limit=2&after={next}")).await;
    assert_eq!((rest["chats"].as_array().unwrap().len(), &rest["next"]), (1, &Value::Null));
    let ids: HashSet<&str> = first
        .iter()
        .chain(rest["chats"].as_array().unwrap())
        .map(|chat| chat["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 3);

    let path = format!("/api/chats/{third}");
    let changed = site.request(Method::PATCH, &path).json(&json!({"title": "Renamed"})).send().await.unwrap();
    assert_eq!(changed.json::<Value>().await.unwrap()["title"], "Renamed");
    let deleted = site.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!((deleted.status(), deleted.text().await.unwrap().as_str()), (StatusCode::NO_CONTENT, ""));
    for method in [Method::GET, Method::DELETE] {
        let gone = rejection(site.request(method, &path).send().await.unwrap()).await;
        assert_eq!(gone, (404, "NOT_FOUND".to_owned(), "chat not found".to_owned()));
    }
    assert_eq!(site.get("/api/chats").await["chats"].as_array().unwrap().len(), 2);
}

async fn messages_come_in_pages(test_store: &mut TestStore) {
    let (site, _model, _env) = site(test_store, Preset::Chat, &[vec![text("yes")]]).await;
    let chat = site.chat().await;
    for n in 0..4 {
        site.say(&chat, &format!("question {n}")).await.all().await;
    }
    let last = site.get(&format!("/api/chats/{chat}?limit=3")).await;
    let observed =
        |page: &Value| page["messages"].as_array().unwrap().iter().map(message_text).collect::<Vec<_>>();
    assert_eq!(observed(&last), ["yes", "question 3", "yes"]);
    let earlier = site.get(&format!("/api/chats/{chat}?limit=5&before={}", last["before"])).await;
    assert_eq!(observed(&earlier), ["question 0", "yes", "question 1", "yes", "question 2"]);
    assert_eq!(earlier["before"], Value::Null);
    for wrong in ["limit=0", "limit=1001", "limit=x", "before=-1", "unknown=1"] {
        let (status, code, _) =
            rejection(site.request(Method::GET, &format!("/api/chats/{chat}?{wrong}")).send().await.unwrap())
                .await;
        assert_eq!((status, code.as_str()), (400, "INVALID_PARAM"), "{wrong}");
    }
}

async fn one_answer_at_a_time(test_store: &mut TestStore) {
    let reply = Reply::events(encode_reply(CHAT, &[text("slow")]))
        .then(ReplyPiece::Pause(Duration::from_millis(300)));
    let model =
        ModelServer::start([Reply { pieces: reply.pieces.into_iter().rev().collect(), ..Reply::events("") }])
            .await;
    let site = test_store.serve(&project_with_model(Preset::Chat, CHAT, &model.base)).await;
    let chat = site.chat().await;
    // Of ten concurrent messages, one is answered and the others are rejected.
    let path = format!("/api/chats/{chat}/messages");
    let requests =
        (0..10).map(|n| site.request(Method::POST, &path).json(&json!({"text": n.to_string()})).send());
    let mut started = Vec::new();
    for response in futures_util::future::join_all(requests).await {
        let response = response.unwrap();
        match response.status() {
            StatusCode::OK => started.push(response),
            _ => assert_eq!(
                rejection(response).await,
                (
                    409,
                    "CONFLICT".to_owned(),
                    "a reply is being written in this chat; wait for it or stop it".to_owned()
                )
            ),
        }
    }
    assert!(!started.is_empty());
    let now = site.wait_until_idle(&chat).await;
    assert_eq!(now["messages"].as_array().unwrap().len(), 2 * model.requests().len());
}

/// The next turn can start as soon as the client sees the end of the last one.
async fn consecutive_turns_are_not_confused(test_store: &mut TestStore) {
    let hang = Reply::events("").then(ReplyPiece::Hang);
    // Depends on the request, not on its number: a turn may be stopped before it calls the model.
    let model = ModelServer::with_handler(move |request, _| match request.body.to_string().contains("two") {
        false => Reply::events(encode_reply(CHAT, &[text("short")])),
        true => hang.clone(),
    });
    let model = model.await;
    let site = test_store.serve(&project_with_model(Preset::Chat, CHAT, &model.base)).await;
    for _ in 0..10 {
        let chat = site.chat().await;
        let first = site.say(&chat, "one").await.all().await;
        assert_eq!(first.last().unwrap().event, "done");
        let second = site.say(&chat, "two").await;
        assert!(site.stop(&chat).await, "the second turn is stopped");
        let all = second.all().await;
        assert_eq!((all.len(), &all[0].data["reason"]), (1, &json!("cancelled")), "{all:?}");
        assert!(!site.stop(&chat).await, "no turn is left to stop");
    }
}

async fn a_turn_can_start_after_a_stopped_one(test_store: &mut TestStore) {
    let stuck =
        Reply::events(encode_reply(CHAT, &[text("as far as this")])[..400].to_vec()).then(ReplyPiece::Hang);
    let fine = Reply::events(encode_reply(CHAT, &[text("fine")]));
    let model = ModelServer::start([stuck, fine]).await;
    let site = test_store.serve(&project_with_model(Preset::Chat, CHAT, &model.base)).await;
    let chat = site.chat().await;
    let mut events = site.say(&chat, "one").await;
    let first = events.expect("delta").await;
    assert!(site.stop(&chat).await);
    let rest = events.all().await;
    let done = rest.last().unwrap();
    assert_eq!((done.event.as_str(), &done.data["reason"]), ("done", &json!("cancelled")));
    let kept = site.messages(&chat).await;
    let observed: String =
        [vec![first], rest].concat().iter().filter_map(|received| received.data["text"].as_str()).collect();
    assert_eq!(message_text(&kept[1]), observed, "the streamed text is stored");
    assert_eq!(
        (&kept[1]["state"], &kept[1]["reason"]),
        (&json!("interrupted"), &json!("the turn was cancelled"))
    );
    let next = site.say(&chat, "two").await.all().await;
    assert!(is_contiguous(&next) && streamed_text(&next) == "fine");
}

async fn s004_19_active_skills_are_stored_and_can_be_deactivated(test_store: &mut TestStore) {
    let steps = [
        vec![call("c1", "skills_activate", json!({"name": "other"}))],
        vec![text("ok")],
        vec![call("c2", "skills_activate", json!({"name": "missing"}))],
        vec![text("ok")],
    ];
    let (site, model, _env) = site(test_store, Preset::Chat, &steps).await;
    let chat = site.chat().await;
    let path = format!("/api/chats/{chat}");
    site.say(&chat, "/report please").await.all().await;
    let both = json!(["report", "other"]);
    assert_eq!(site.get(&path).await["activated_skill_names"], both);
    let done = site.say(&chat, "go on").await.all().await;
    assert_eq!(
        done.last().unwrap().data["activated_skill_names"],
        both,
        "skills that failed to load are not active"
    );
    let prompt = system_prompt(CHAT, &model.requests()[2]);
    assert!(prompt.contains("report") && prompt.contains("other") && !prompt.contains("BODY"), "{prompt}");
    // Another process sees the same: the state is in the store.
    assert_eq!(test_store.open().await.chat(&chat).await.unwrap().activated_skill_names, ["report", "other"]);

    let let_go = json!({"activated_skill_names": ["other"]});
    let changed = site.request(Method::PATCH, &path).json(&let_go).send().await.unwrap();
    assert_eq!(changed.json::<Value>().await.unwrap()["activated_skill_names"], json!(["other"]));
    let more = site
        .request(Method::PATCH, &path)
        .json(&json!({"activated_skill_names": ["report"]}))
        .send()
        .await
        .unwrap();
    assert_eq!(rejection(more).await.0, 400, "skills cannot be activated this way");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_01_skills_are_discovered_at_startup() {
    let test_store = TestStore::sqlite();
    let (site, model, env) = site(&test_store, Preset::Chat, &[vec![text("ok")]]).await;
    let chat = site.chat().await;
    site.say(&chat, "hello").await.all().await;
    assert!(system_prompt(CHAT, &model.requests()[0]).contains("Does report."));
    // A new server discovers added skills.
    env.skill("added", "x");
    let again = test_store.serve(&env).await;
    again.say(&chat, "hello").await.all().await;
    assert!(system_prompt(CHAT, &model.requests()[1]).contains("Does added."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_05_s004_18_disabled_skills_add_neither_tools_nor_text() {
    let test_store = TestStore::sqlite();
    let model = ModelServer::scripted(CHAT, &[vec![text("ok")]]).await;
    let mut env = project_with_model(Preset::Chat, CHAT, &model.base);
    env.policy.enabled = false;
    env.skill("report", "The BODY of report.");
    let site = test_store.serve(&env).await;
    assert_eq!(site.get("/api/about").await["skills_enabled"], false);
    let chat = site.chat().await;
    let all = site.say(&chat, "/report hello").await.all().await;
    assert_eq!(event_kinds(&all), ["delta", "done"], "no skill is activated by name, either");
    let body = &model.requests()[0].body;
    assert!(
        body.get("tools").is_none() && !system_prompt(CHAT, &model.requests()[0]).contains("skill"),
        "{body}"
    );
    assert!(body.to_string().contains("/report hello"), "the message is sent unchanged");
    assert!(!Policy::from_preset(Preset::Chat).enabled, "skills are off by default in this preset");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_13_a_known_name_activates_and_an_unknown_one_is_text() {
    let test_store = TestStore::sqlite();
    let (site, model, _env) = site(&test_store, Preset::Chat, &[vec![text("ok")]]).await;
    let chat = site.chat().await;
    for (message, shown, called) in [
        ("/report make it short", "make it short", true),
        ("/other\nsecond line", "second line", true),
        ("/nobody hello", "/nobody hello", false),
        ("/reports hello", "/reports hello", false),
        ("please /report", "please /report", false),
    ] {
        let all = site.say(&chat, message).await.all().await;
        assert_eq!(event_kinds(&all)[0] == "tool_call", called, "{message}");
        let request = model.requests().pop().unwrap();
        let last = request.body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .rfind(|message| message["role"] == "user")
            .unwrap()
            .clone();
        assert_eq!(last["content"], shown, "{message}");
        // The message is stored as written.
        assert!(site.messages(&chat).await.iter().any(|kept| message_text(kept) == message));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_15_s004_16_s004_22_long_content_is_truncated_and_marked() {
    let test_store = TestStore::sqlite();
    let steps = [
        vec![call("c1", "skills_activate", json!({"name": "long"}))],
        vec![call("c2", "skills_readResource", json!({"name": "long", "path": "long.md"}))],
        vec![call("c3", "skills_readResource", json!({"name": "long", "path": "huge.md"}))],
        vec![text("ok")],
    ];
    let model = ModelServer::scripted(CHAT, &steps).await;
    let env = project_with_model(Preset::Chat, CHAT, &model.base);
    env.skill("long", &"word ".repeat(50_000));
    env.file(".skills/long/long.md", "text ".repeat(500_000))
        .file(".skills/long/huge.md", vec![b'x'; 40_000_000]);
    let site = test_store.serve(&env).await;
    let chat = site.chat().await;
    let all = site.say(&chat, "read all of it").await.all().await;
    let observed: Vec<(String, Value)> = all
        .iter()
        .filter(|received| received.event == "tool_result")
        .map(|received| (received.data["status"].as_str().unwrap().to_owned(), received.data["data"].clone()))
        .collect();
    assert_eq!(
        (observed[0].0.as_str(), &observed[0].1["truncated"], &observed[0].1["name"]),
        ("partial", &json!(true), &json!("long"))
    );
    assert_eq!(
        (observed[1].0.as_str(), &observed[1].1["truncated"], &observed[1].1["path"]),
        ("partial", &json!(true), &json!("long.md"))
    );
    assert_eq!((observed[2].0.as_str(), &observed[2].1["error"]["code"]), ("error", &json!("TOO_LARGE")));
    for (_, data) in &observed {
        assert!(data.to_string().len() < 8_000);
        assert_eq!(env.redact(&data.to_string()), data.to_string(), "no paths");
    }
    let results = tool_results(CHAT, model.requests().last().unwrap());
    assert!(
        results[0].1.contains("cut") || results[0].1.contains("truncated"),
        "{}",
        &results[0].1[results[0].1.len() - 300..]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_model_the_server_uses_rehearsal_mode() {
    let test_store = TestStore::sqlite();
    let env = TestEnv::with_bundled(Preset::Standard);
    let site = test_store.serve(&env).await;
    let about = site.get("/api/about").await;
    assert_eq!(
        (&about["provider"], &about["is_model"], &about["admin"]),
        (&json!("rehearsal"), &json!(false), &json!(true))
    );
    let chat = site.chat().await;
    let all = site.say(&chat, "/hello-world").await.all().await;
    assert!(
        is_contiguous(&all) && all.last().unwrap().data["activated_skill_names"] == json!(["hello-world"])
    );
    assert!(streamed_text(&all).contains("not a model"), "{}", streamed_text(&all));
}
