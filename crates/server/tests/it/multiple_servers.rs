//! Several servers on one database: a server follows, stops and recovers the turns of another.

use std::time::Duration;

use crate::support::process::{Process, serve_if_requested};
use crate::support::stream::{is_contiguous, streamed_text};
use crate::support::{ChatServer, ServeChats, TestStore, both, message_text, project_with_model, wait_until};
use prowess::Preset;
use prowess_chat::store::Topic;
use prowess_config::ChatProvider;
use prowess_server::ServerOptions;
use prowess_testing::TestEnv;
use prowess_testing::model::wire_format::{encode_reply, system_prompt, text};
use prowess_testing::model::{ModelServer, Reply, ReplyPiece};
use serde_json::json;

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

/// The server that the processes of these tests run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_serves() {
    serve_if_requested().await;
}

both![
    a_turn_can_be_followed_on_another_server,
    a_streaming_turn_can_be_stopped_on_another_server,
    a_silent_turn_can_be_stopped_on_another_server,
    a_killed_server_leaves_the_partial_answer,
    a_stopping_server_marks_unfinished_turns,
    a_stopping_server_lets_turns_finish,
    servers_can_start_concurrently,
];

fn word(n: usize) -> Vec<u8> {
    let delta =
        json!({"choices": [{"index": 0, "delta": {"content": format!("w{n} ")}, "finish_reason": null}]});
    format!("data: {delta}\n\n").into_bytes()
}

/// A reply that streams words for a long time.
fn long() -> Reply {
    let mut reply = Reply::events("");
    for n in 0..5_000 {
        reply = reply.then(ReplyPiece::Bytes(word(n))).then(ReplyPiece::Pause(Duration::from_millis(10)));
    }
    reply.then(ReplyPiece::Bytes(encode_reply(CHAT, &[])))
}

fn short() -> Reply {
    Reply::events(encode_reply(CHAT, &[text("fine")]))
}

async fn two_servers(
    test_store: &TestStore,
    replies: Vec<Reply>,
) -> (ChatServer, ChatServer, ModelServer, TestEnv) {
    let model = ModelServer::start(replies).await;
    let env = project_with_model(Preset::Chat, CHAT, &model.base);
    (test_store.serve(&env).await, test_store.serve(&env).await, model, env)
}

async fn a_turn_can_be_followed_on_another_server(test_store: &mut TestStore) {
    let mut reply = Reply::events(word(0));
    for n in 1..30 {
        reply = reply.then(ReplyPiece::Pause(Duration::from_millis(20))).then(ReplyPiece::Bytes(word(n)));
    }
    let (a, b, _model, _env) =
        two_servers(test_store, vec![reply.then(ReplyPiece::Bytes(encode_reply(CHAT, &[])))]).await;
    let chat = a.chat().await;
    let mut events = a.say(&chat, "count").await;
    let first = events.expect("delta").await;
    let mut elsewhere = b.follow(&chat, first.id.unwrap() - 1).await;
    // The unfinished answer is visible on the other server.
    wait_until(async || b.messages(&chat).await.len() == 2).await;
    assert_eq!(b.messages(&chat).await[1]["state"], "writing");
    let mut all = vec![first];
    all.extend(events.turn().await);
    assert!(is_contiguous(&all));
    assert_eq!(elsewhere.turn().await, all);
    assert_eq!(message_text(&b.messages(&chat).await[1]), streamed_text(&all));
}

async fn a_streaming_turn_can_be_stopped_on_another_server(test_store: &mut TestStore) {
    let (a, b, _model, _env) = two_servers(test_store, vec![long(), short()]).await;
    let chat = a.chat().await;
    let mut events = a.say(&chat, "count").await;
    let first = events.expect("delta").await;
    let mut elsewhere = b.follow(&chat, first.id.unwrap() - 1).await;
    elsewhere.expect("delta").await;
    assert!(b.stop(&chat).await);
    // Both clients receive the end, even if some streamed events were too late to be stored.
    for all in [events.all().await, elsewhere.turn().await] {
        let end = all.last().unwrap();
        assert_eq!((end.event.as_str(), &end.data["reason"]), ("done", &json!("cancelled")));
        assert!(all.windows(2).all(|pair| pair[0].id < pair[1].id));
    }
    let kept = b.messages(&chat).await;
    assert!(message_text(&kept[1]).starts_with("w0 "));
    assert_eq!(kept[1]["reason"], "the turn was cancelled");
    // Both servers can continue.
    assert_eq!(streamed_text(&b.say(&chat, "again").await.all().await), "fine");
    assert_eq!(streamed_text(&a.say(&chat, "and again").await.all().await), "fine");
    assert!(!a.stop(&chat).await);
}

async fn a_silent_turn_can_be_stopped_on_another_server(test_store: &mut TestStore) {
    let never = Reply { pieces: vec![ReplyPiece::Hang], ..Reply::events("") };
    let (a, b, model, _env) = two_servers(test_store, vec![never, short()]).await;
    let chat = a.chat().await;
    let events = a.say(&chat, "hello?").await;
    wait_until(async || model.requests().len() == 1).await;
    assert!(b.stop(&chat).await);
    let all = events.all().await;
    assert_eq!((all.len(), &all[0].data["reason"]), (1, &json!("cancelled")), "{all:?}");
    assert_eq!(streamed_text(&b.say(&chat, "again").await.all().await), "fine");
}

async fn a_killed_server_leaves_the_partial_answer(test_store: &mut TestStore) {
    let model = ModelServer::start([long(), short()]).await;
    let mut a = Process::start(test_store, &model.base);
    let b = test_store.serve(&project_with_model(Preset::Chat, CHAT, &model.base)).await;
    let chat = a.client.chat().await;
    let mut events = a.client.say(&chat, "count").await;
    let mut received = Vec::new();
    for _ in 0..20 {
        received.push(events.expect("delta").await);
    }
    let mut elsewhere = b.follow(&chat, 0).await;
    let first = elsewhere.expect("delta").await;
    a.kill();
    let mut all = vec![first];
    all.extend(elsewhere.turn().await);
    let end = all.last().unwrap();
    assert_eq!(
        (end.event.as_str(), &end.data["message"]),
        ("error", &json!("the process that was replying stopped; this is the reply up to that point"))
    );
    let kept = b.messages(&chat).await;
    assert_eq!((&kept[1]["state"], message_text(&kept[1])), (&json!("interrupted"), streamed_text(&all)));
    assert!(message_text(&kept[1]).starts_with("w0 w1 "));
    // The last streamed events may not be stored, but the stored text matches the streamed text.
    let observed = streamed_text(&received);
    assert!(
        message_text(&kept[1]).starts_with(&observed) || observed.starts_with(&message_text(&kept[1])),
        "{observed}"
    );
    assert_eq!(streamed_text(&b.say(&chat, "again").await.all().await), "fine");
    assert_eq!(b.messages(&chat).await.len(), 4);
}

async fn a_stopping_server_marks_unfinished_turns(test_store: &mut TestStore) {
    let never = Reply { pieces: vec![ReplyPiece::Hang], ..Reply::events("") };
    let model = ModelServer::start([long(), long(), never, short()]).await;
    let mut a = Process::start(test_store, &model.base);
    let b = test_store.serve(&project_with_model(Preset::Chat, CHAT, &model.base)).await;
    // One with a client, one without, and one whose model is silent.
    let chats = [a.client.chat().await, a.client.chat().await, a.client.chat().await];
    let mut listening = a.client.say(&chats[0], "count").await;
    listening.expect("delta").await;
    drop(a.client.say(&chats[1], "count").await);
    wait_until(async || model.requests().len() == 2).await;
    let silent = a.client.say(&chats[2], "count").await;
    wait_until(async || model.requests().len() == 3).await;
    assert!(a.end(), "the process exits successfully");
    for events in [listening, silent] {
        let all = events.all().await;
        assert_eq!(all.last().unwrap().data["code"], "UNAVAILABLE", "{:?}", all.last());
    }
    for (number, chat) in chats.iter().enumerate() {
        // Marked at shutdown, not by another server later.
        let kept = b.get(&format!("/api/chats/{chat}")).await;
        assert_eq!(kept["writing"], json!(null), "{number}");
        let response = &kept["messages"][1];
        assert_eq!(
            (&response["state"], &response["reason"]),
            (&json!("interrupted"), &json!("the server stopped before the reply was complete"))
        );
        assert_eq!(message_text(response).is_empty(), number == 2);
        assert_eq!(streamed_text(&b.say(chat, "again").await.all().await), "fine");
    }
}

async fn a_stopping_server_lets_turns_finish(test_store: &mut TestStore) {
    let mut reply = Reply::events(word(0)).then(ReplyPiece::Pause(Duration::from_millis(700)));
    reply = reply.then(ReplyPiece::Bytes(word(1))).then(ReplyPiece::Bytes(encode_reply(CHAT, &[])));
    let model = ModelServer::start([reply]).await;
    let env = project_with_model(Preset::Chat, CHAT, &model.base);
    let options = ServerOptions { grace: Duration::from_secs(60), ..ServerOptions::default() };
    let mut site = ChatServer::start(&env, test_store.open().await, options).await;
    let (first, other) = (site.chat().await, site.chat().await);
    let mut events = site.say(&first, "count").await;
    events.expect("delta").await;
    drop(site.say(&other, "count").await);
    let following = site.follow(&first, 0).await;
    let client = site.client.clone();
    site.end().await;
    let all = events.all().await;
    assert_eq!((streamed_text(&all).as_str(), all.last().unwrap().event.as_str()), ("w1 ", "done"));
    following.all().await;
    assert!(
        client.request(reqwest::Method::GET, "/healthz").send().await.is_err(),
        "the server no longer accepts connections"
    );
    let again = test_store.serve(&env).await;
    for chat in [first, other] {
        assert_eq!(again.messages(&chat).await[1]["state"], "complete");
    }
}

async fn servers_can_start_concurrently(test_store: &mut TestStore) {
    let model = ModelServer::start([short()]).await;
    let (test_store, base) = (&*test_store, model.base.as_str());
    // The database is empty; any of them may create the tables.
    let processes: Vec<Process> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..4).map(|_| scope.spawn(|| Process::start(test_store, base))).collect();
        started.into_iter().map(|started| started.join().unwrap()).collect()
    });
    let chat = processes[0].client.chat().await;
    for process in &processes {
        assert_eq!(streamed_text(&process.client.say(&chat, "hello").await.all().await), "fine");
    }
    assert_eq!(processes[0].client.messages(&chat).await.len(), 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_skills_are_visible_on_all_servers() {
    let test_store = TestStore::postgres();
    let (a, b, model, env) = two_servers(&test_store, vec![short()]).await;
    let chat = a.chat().await;
    b.say(&chat, "hello").await.all().await;
    let mut received = b.store().announcements();
    env.skill("added", "x");
    // As after a change through the API.
    a.store().announce(Topic::Skills);
    while received.next().await != Some(Topic::Skills) {}
    wait_until(async || {
        b.say(&chat, "hello").await.all().await;
        system_prompt(CHAT, model.requests().last().unwrap()).contains("Does added.")
    })
    .await;
    assert!(!system_prompt(CHAT, &model.requests()[0]).contains("Does added."));
    a.say(&chat, "hello").await.all().await;
    assert!(system_prompt(CHAT, model.requests().last().unwrap()).contains("Does added."));
}
