//! Interrupted, resumed, shared and slow event streams: no event is lost, and no client delays a turn.

use std::time::Duration;

use crate::support::stream::{Events, SseEvent, is_contiguous, streamed_text};
use crate::support::{ChatServer, ServeChats, TestStore, both, message_text, project_with_model, wait_until};
use prowess::Preset;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::encode_reply;
use prowess_testing::model::{ModelServer, Reply, ReplyPiece};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

both![
    a_turn_continues_after_the_client_disconnects,
    a_stream_can_resume_after_any_event,
    several_clients_receive_the_same_events,
    one_stream_follows_several_chats,
    a_message_can_replace_another,
    a_slow_client_loses_no_events,
    missing_events_are_reported,
    deleting_a_followed_chat_ends_the_stream,
    deleting_a_chat_stops_its_turn,
];

fn words_of(count: usize) -> String {
    (0..count).map(|n| format!("w{n} ")).collect()
}

/// Returns the chunks of a model that streams single words.
fn spoken(count: usize) -> Vec<Vec<u8>> {
    let word = |n: usize| {
        let delta =
            json!({"choices": [{"index": 0, "delta": {"content": format!("w{n} ")}, "finish_reason": null}]});
        format!("data: {delta}\n\n").into_bytes()
    };
    (0..count).map(word).collect()
}

fn over() -> Vec<u8> {
    encode_reply(CHAT, &[])
}

/// Returns a reply with `before` words, a pause, and `after` words.
fn halting(before: usize, pause: ReplyPiece, after: usize) -> Reply {
    let mut reply = Reply::events(spoken(before).concat()).then(pause);
    reply.pieces.push(ReplyPiece::Bytes(spoken(before + after).split_off(before).concat()));
    reply.then(ReplyPiece::Bytes(over()))
}

async fn site(
    test_store: &TestStore,
    replies: Vec<Reply>,
) -> (ChatServer, ModelServer, prowess_testing::TestEnv) {
    let model = ModelServer::start(replies).await;
    let env = project_with_model(Preset::Chat, CHAT, &model.base);
    (test_store.serve(&env).await, model, env)
}

async fn a_turn_continues_after_the_client_disconnects(test_store: &mut TestStore) {
    let pause = ReplyPiece::Pause(Duration::from_millis(400));
    let (site, model, _env) = site(test_store, vec![halting(3, pause, 3)]).await;
    let chat = site.chat().await;
    let mut events = site.say(&chat, "count").await;
    events.expect("delta").await;
    drop(events);
    let now = site.wait_until_idle(&chat).await;
    assert_eq!(message_text(&now["messages"][1]), words_of(6));
    assert_eq!(now["messages"][1]["state"], "complete");

    // Disconnected before the answer started: a stored message is answered anyway.
    let body = json!({"text": "again"}).to_string();
    for bytes in [body.len(), body.len() / 2] {
        let mut stream = tokio::net::TcpStream::connect(&site.base["http://".len()..]).await.unwrap();
        let head = format!(
            "POST /api/chats/{chat}/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{}", &body[..bytes]).as_bytes()).await.unwrap();
        drop(stream);
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = site.wait_until_idle(&chat).await;
        let last = now["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["role"], &last["state"]), (&json!("assistant"), &json!("complete")));
    }
    assert_eq!(site.say(&chat, "and again").await.all().await.last().unwrap().event, "done");
    assert!(model.requests().len() >= 2);
}

async fn a_stream_can_resume_after_any_event(test_store: &mut TestStore) {
    let (site, _model, _env) =
        site(test_store, vec![halting(4, ReplyPiece::Pause(Duration::from_millis(50)), 4)]).await;
    let chat = site.chat().await;
    let all = site.say(&chat, "count").await.all().await;
    assert!(is_contiguous(&all) && streamed_text(&all) == words_of(8), "{all:?}");
    let first = all[0].id.unwrap();
    for (index, received) in all.iter().enumerate() {
        let after = received.id.unwrap() - 1;
        let path = format!("/api/chats/{chat}/events");
        let by_header = site.request(Method::GET, &path).header("last-event-id", after.to_string());
        let by_query = site.request(Method::GET, &format!("{path}?after={after}"));
        // A reconnecting browser sends the header with the old URL.
        let by_both = site
            .request(Method::GET, &format!("{path}?after={first}"))
            .header("last-event-id", after.to_string());
        for request in [by_header, by_query, by_both] {
            let mut events = Events::of(request.send().await.unwrap()).await;
            assert_eq!(events.turn().await, all[index..]);
        }
    }
    // The stream continues with the next turn.
    let mut events = site.follow(&chat, all.last().unwrap().id.unwrap()).await;
    let next = site.say(&chat, "again").await.all().await;
    assert_eq!(events.turn().await, next);
    // Without a position, only new events.
    let path = format!("/api/chats/{chat}/events");
    let mut events = Events::of(site.request(Method::GET, &path).send().await.unwrap()).await;
    let third = site.say(&chat, "again").await.all().await;
    assert_eq!(events.turn().await, third);
}

async fn several_clients_receive_the_same_events(test_store: &mut TestStore) {
    let (site, _model, _env) =
        site(test_store, vec![halting(3, ReplyPiece::Pause(Duration::from_millis(500)), 200)]).await;
    let chat = site.chat().await;
    let mut one = site.say(&chat, "count").await;
    let first = one.expect("delta").await;
    let mut others = [site.follow(&chat, first.id.unwrap() - 1).await, site.follow(&chat, 0).await];
    let mut all = vec![first];
    all.extend(one.turn().await);
    for other in &mut others {
        assert_eq!(other.turn().await, all);
    }
    assert_eq!(
        (streamed_text(&all), one.next().await),
        (words_of(203), None),
        "the stream ends with the turn"
    );
}

async fn one_stream_follows_several_chats(test_store: &mut TestStore) {
    let (site, _model, _env) = site(test_store, vec![halting(2, ReplyPiece::Pause(Duration::ZERO), 0)]).await;
    let [one, two, other] = [site.chat().await, site.chat().await, site.chat().await];
    let first = site.say(&one, "before").await.all().await;
    let known = first.last().unwrap().id.unwrap();
    let path = format!("/api/events?chats={one}:{known},{two}:0,none:0");
    let mut events = Events::of(site.request(Method::GET, &path).send().await.unwrap()).await;
    let gone = events.expect("gone").await;
    assert_eq!(gone.data["chat"], "none");
    site.say(&other, "not this one").await.all().await;
    for chat in [&one, &two] {
        let observed = site.say(chat, "now").await.all().await;
        let mut received = Vec::new();
        while received.len() < observed.len() {
            let event = events.next().await.unwrap();
            // Notifications may come in between.
            if event.data.get("chat").is_some() {
                received.push(event);
            }
        }
        for (received, mut observed) in received.into_iter().zip(observed) {
            observed.data["chat"] = chat.as_str().into();
            assert_eq!(received, observed);
        }
    }
    let many: Vec<_> = (0..65).map(|n| format!("c{n}:0")).collect();
    for wrong in ["x", "x:", "x:-1", many.join(",").as_str()] {
        let rejection =
            site.request(Method::GET, &format!("/api/events?chats={wrong}")).send().await.unwrap();
        assert_eq!(rejection.status(), StatusCode::BAD_REQUEST, "{wrong}");
    }
}

async fn a_message_can_replace_another(test_store: &mut TestStore) {
    let (site, model, _env) = site(test_store, vec![halting(2, ReplyPiece::Pause(Duration::ZERO), 0)]).await;
    let chat = site.chat().await;
    site.say(&chat, "one").await.all().await;
    site.say(&chat, "two").await.all().await;
    let id =
        |messages: &[serde_json::Value], index: usize| messages[index]["id"].as_str().unwrap().to_owned();
    let before = site.messages(&chat).await;
    let path = format!("/api/chats/{chat}/messages");
    let wrong = site.post(&path, &json!({"text": "x", "replaces": id(&before, 1)})).await;
    assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
    let again = site.post(&path, &json!({"text": "two, again", "replaces": id(&before, 2)})).await;
    Events::of(again).await.all().await;
    let after = site.messages(&chat).await;
    let questions: Vec<_> = after.iter().step_by(2).map(message_text).collect();
    assert_eq!(questions, ["one", "two, again"]);
    assert_eq!(id(&after, 0), id(&before, 0));
    let request = model.requests().last().unwrap().body.to_string();
    assert!(request.contains("two, again") && !request.contains(r#""two""#), "{request}");
}

async fn a_slow_client_loses_no_events(test_store: &mut TestStore) {
    // More than all buffers between server and client hold.
    let count = 120_000;
    let reply = Reply::events(spoken(count).concat()).then(ReplyPiece::Bytes(over()));
    let (site, _model, _env) = site(test_store, vec![reply]).await;
    let chat = site.chat().await;
    let mut slow = site.say(&chat, "count").await;
    let mut all: Vec<SseEvent> = vec![slow.expect("delta").await];
    // The turn does not wait for the client.
    site.wait_until_idle(&chat).await;
    all.extend(slow.turn().await);
    assert!(is_contiguous(&all), "{} events", all.len());
    assert_eq!(streamed_text(&all), words_of(count));
    assert_eq!(slow.next().await, None);
}

async fn missing_events_are_reported(test_store: &mut TestStore) {
    let (site, _model, _env) = site(test_store, vec![halting(2, ReplyPiece::Pause(Duration::ZERO), 0)]).await;
    let chat = site.chat().await;
    let first = site.say(&chat, "one").await.all().await;
    site.say(&chat, "two").await.all().await;
    // The previous turn is still stored, for short disconnects.
    assert_eq!(site.follow(&chat, first[0].id.unwrap()).await.turn().await, first[1..]);
    let second = site.say(&chat, "three").await.all().await;
    let mut events = site.follow(&chat, first[0].id.unwrap()).await;
    let missed = events.expect("missed").await;
    assert_eq!((missed.id, &missed.data), (None, &json!({})));
    // A number that was never assigned.
    let mut ahead = site.follow(&chat, second.last().unwrap().id.unwrap() + 1_000).await;
    ahead.expect("missed").await;
    let third = site.say(&chat, "four").await.all().await;
    assert_eq!(events.turn().await, third, "the stream continues after the reload");
    assert_eq!(ahead.turn().await, third);
    for wrong in ["x", "-1", "99999999999999999999999"] {
        let path = format!("/api/chats/{chat}/events");
        let header = site.request(Method::GET, &path).header("last-event-id", wrong).send().await.unwrap();
        let query = site.request(Method::GET, &format!("{path}?after={wrong}")).send().await.unwrap();
        assert_eq!([header.status(), query.status()], [StatusCode::BAD_REQUEST; 2], "{wrong}");
    }
}

async fn deleting_a_followed_chat_ends_the_stream(test_store: &mut TestStore) {
    let (site, _model, _env) = site(test_store, vec![halting(2, ReplyPiece::Pause(Duration::ZERO), 0)]).await;
    let chat = site.chat().await;
    let mut events = site.follow(&chat, 0).await;
    site.say(&chat, "one").await.all().await;
    events.turn().await;
    let deleted = site.request(Method::DELETE, &format!("/api/chats/{chat}")).send().await.unwrap();
    assert_eq!(deleted.status(), StatusCode::NO_CONTENT);
    let end = events.expect("error").await;
    assert_eq!(end.data, json!({"code": "NOT_FOUND", "message": "the chat was deleted"}));
    assert_eq!(events.next().await, None);
}

async fn deleting_a_chat_stops_its_turn(test_store: &mut TestStore) {
    let (site, model, _env) = site(test_store, vec![halting(2, ReplyPiece::Hang, 0)]).await;
    let chat = site.chat().await;
    let mut asking = site.say(&chat, "one").await;
    asking.expect("delta").await;
    let mut following = site.follow(&chat, 0).await;
    following.expect("delta").await;
    site.request(Method::DELETE, &format!("/api/chats/{chat}")).send().await.unwrap();
    for events in [asking, following] {
        let all = events.all().await;
        assert_eq!(all.last().unwrap().data["message"], "the chat was deleted", "{all:?}");
    }
    assert_eq!(model.requests().len(), 1);
    let gone = site.request(Method::GET, &format!("/api/chats/{chat}")).send().await.unwrap();
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
}

/// The shutdown does not wait for clients that do not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_client_does_not_delay_the_shutdown() {
    let test_store = TestStore::sqlite();
    let reply = Reply::events(spoken(120_000).concat()).then(ReplyPiece::Bytes(over()));
    let (mut site, _model, _env) = site(&test_store, vec![reply]).await;
    let chat = site.chat().await;
    let mut asking = site.say(&chat, "one").await;
    asking.expect("delta").await;
    let _following = site.follow(&chat, 0).await;
    site.end().await;
    let store = test_store.open().await;
    let kept = store.messages(&chat, None, 10).await.unwrap().messages;
    assert_eq!(serde_json::to_value(&kept[1]).unwrap()["state"], "complete");
}

/// During silence, comments keep the connection alive; clients skip them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keep_alive_comments_are_not_events() {
    let test_store = TestStore::sqlite();
    let (site, _model, _env) =
        site(&test_store, vec![halting(1, ReplyPiece::Pause(Duration::from_secs(16)), 1)]).await;
    let chat = site.chat().await;
    let mut stream = tokio::net::TcpStream::connect(&site.base["http://".len()..]).await.unwrap();
    let head = format!("GET /api/chats/{chat}/events?after=0 HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let turn = site.say(&chat, "one").await.all();
    let mut received = Vec::new();
    let reading = async {
        while !String::from_utf8_lossy(&received).contains("event: done") {
            assert!(stream.read_buf(&mut received).await.unwrap() > 0);
        }
    };
    let (turn, ()) = tokio::join!(turn, reading);
    assert_eq!(streamed_text(&turn), words_of(2));
    let received = String::from_utf8(received).unwrap();
    assert!(received.lines().any(|line| line == ":" || line.starts_with(": ")), "{received}");
    wait_until(async || site.get("/healthz").await["status"] == "ok").await;
}
