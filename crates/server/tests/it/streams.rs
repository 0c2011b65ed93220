//! Streams that break, are resumed, are read by several, or too slowly: nothing is lost, and nobody holds up an answer.

use std::time::Duration;

use crate::world::stream::{Events, Heard, is_whole, said};
use crate::world::{Place, Site, both, talking, until, words};
use prowess::Preset;
use prowess_config::Provider;
use prowess_testing::model::speech::answer;
use prowess_testing::model::{Piece, Reply, Server};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const CHAT: Provider = Provider::OpenAiChat;

both![
    a_turn_goes_on_when_whoever_asked_is_gone,
    a_stream_is_resumed_after_any_of_its_events,
    several_follow_and_see_the_same,
    one_stream_follows_several_chats,
    a_question_takes_the_place_of_the_last_one,
    a_slow_reader_loses_nothing,
    what_is_not_kept_any_more_is_said,
    a_chat_that_is_deleted_while_it_is_followed,
    a_chat_that_is_deleted_while_it_is_answered,
];

fn words_of(count: usize) -> String {
    (0..count).map(|n| format!("w{n} ")).collect()
}

/// What a model says that says each word by itself.
fn spoken(count: usize) -> Vec<Vec<u8>> {
    let word = |n: usize| {
        let delta =
            json!({"choices": [{"index": 0, "delta": {"content": format!("w{n} ")}, "finish_reason": null}]});
        format!("data: {delta}\n\n").into_bytes()
    };
    (0..count).map(word).collect()
}

fn over() -> Vec<u8> {
    answer(CHAT, &[])
}

/// A model that says so many words, then nothing for so long, then the rest.
fn halting(before: usize, pause: Piece, after: usize) -> Reply {
    let mut reply = Reply::events(spoken(before).concat()).then(pause);
    reply.pieces.push(Piece::Bytes(spoken(before + after).split_off(before).concat()));
    reply.then(Piece::Bytes(over()))
}

async fn site(place: &Place, replies: Vec<Reply>) -> (Site, Server, prowess_testing::World) {
    let model = Server::start(replies).await;
    let world = talking(Preset::Chat, CHAT, &model.base);
    (place.serve(&world).await, model, world)
}

async fn a_turn_goes_on_when_whoever_asked_is_gone(place: &mut Place) {
    let pause = Piece::Pause(Duration::from_millis(400));
    let (site, model, _world) = site(place, vec![halting(3, pause, 3)]).await;
    let chat = site.chat().await;
    let mut events = site.say(&chat, "count").await;
    events.expect("delta").await;
    drop(events);
    let now = site.settled(&chat).await;
    assert_eq!(words(&now["messages"][1]), words_of(6));
    assert_eq!(now["messages"][1]["state"], "complete");

    // Gone before the answer began: whatever was kept of the question is answered.
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
        let now = site.settled(&chat).await;
        let last = now["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["role"], &last["state"]), (&json!("assistant"), &json!("complete")));
    }
    assert_eq!(site.say(&chat, "and again").await.all().await.last().unwrap().event, "done");
    assert!(model.asked().len() >= 2);
}

async fn a_stream_is_resumed_after_any_of_its_events(place: &mut Place) {
    let (site, _model, _world) =
        site(place, vec![halting(4, Piece::Pause(Duration::from_millis(50)), 4)]).await;
    let chat = site.chat().await;
    let all = site.say(&chat, "count").await.all().await;
    assert!(is_whole(&all) && said(&all) == words_of(8), "{all:?}");
    let first = all[0].id.unwrap();
    for (at, heard) in all.iter().enumerate() {
        let after = heard.id.unwrap() - 1;
        let path = format!("/api/chats/{chat}/events");
        let by_header = site.request(Method::GET, &path).header("last-event-id", after.to_string());
        let by_query = site.request(Method::GET, &format!("{path}?after={after}"));
        // The header is what a browser sends when it connects again; the address is then an old one.
        let by_both = site
            .request(Method::GET, &format!("{path}?after={first}"))
            .header("last-event-id", after.to_string());
        for request in [by_header, by_query, by_both] {
            let mut events = Events::of(request.send().await.unwrap()).await;
            assert_eq!(events.turn().await, all[at..]);
        }
    }
    // Turn after turn.
    let mut events = site.follow(&chat, all.last().unwrap().id.unwrap()).await;
    let next = site.say(&chat, "again").await.all().await;
    assert_eq!(events.turn().await, next);
    // Without saying from where: what is new.
    let path = format!("/api/chats/{chat}/events");
    let mut events = Events::of(site.request(Method::GET, &path).send().await.unwrap()).await;
    let third = site.say(&chat, "again").await.all().await;
    assert_eq!(events.turn().await, third);
}

async fn several_follow_and_see_the_same(place: &mut Place) {
    let (site, _model, _world) =
        site(place, vec![halting(3, Piece::Pause(Duration::from_millis(500)), 200)]).await;
    let chat = site.chat().await;
    let mut one = site.say(&chat, "count").await;
    let first = one.expect("delta").await;
    let mut others = [site.follow(&chat, first.id.unwrap() - 1).await, site.follow(&chat, 0).await];
    let mut all = vec![first];
    all.extend(one.turn().await);
    for other in &mut others {
        assert_eq!(other.turn().await, all);
    }
    assert_eq!((said(&all), one.next().await), (words_of(203), None), "and it ends with the turn");
}

async fn one_stream_follows_several_chats(place: &mut Place) {
    let (site, _model, _world) = site(place, vec![halting(2, Piece::Pause(Duration::ZERO), 0)]).await;
    let [one, two, other] = [site.chat().await, site.chat().await, site.chat().await];
    let first = site.say(&one, "before").await.all().await;
    let known = first.last().unwrap().id.unwrap();
    let path = format!("/api/events?chats={one}:{known},{two}:0,none:0");
    let mut events = Events::of(site.request(Method::GET, &path).send().await.unwrap()).await;
    let gone = events.expect("gone").await;
    assert_eq!(gone.data["chat"], "none");
    site.say(&other, "not this one").await.all().await;
    for chat in [&one, &two] {
        let told = site.say(chat, "now").await.all().await;
        let mut heard = Vec::new();
        while heard.len() < told.len() {
            let event = events.next().await.unwrap();
            // What concerns everybody comes in between.
            if event.data.get("chat").is_some() {
                heard.push(event);
            }
        }
        for (heard, mut told) in heard.into_iter().zip(told) {
            told.data["chat"] = chat.as_str().into();
            assert_eq!(heard, told);
        }
    }
    let many: Vec<_> = (0..65).map(|n| format!("c{n}:0")).collect();
    for wrong in ["x", "x:", "x:-1", many.join(",").as_str()] {
        let refused = site.request(Method::GET, &format!("/api/events?chats={wrong}")).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{wrong}");
    }
}

async fn a_question_takes_the_place_of_the_last_one(place: &mut Place) {
    let (site, model, _world) = site(place, vec![halting(2, Piece::Pause(Duration::ZERO), 0)]).await;
    let chat = site.chat().await;
    site.say(&chat, "one").await.all().await;
    site.say(&chat, "two").await.all().await;
    let id = |messages: &[serde_json::Value], at: usize| messages[at]["id"].as_str().unwrap().to_owned();
    let before = site.messages(&chat).await;
    let path = format!("/api/chats/{chat}/messages");
    let wrong = site.post(&path, &json!({"text": "x", "replaces": id(&before, 0)})).await;
    assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
    let again = site.post(&path, &json!({"text": "two, again", "replaces": id(&before, 2)})).await;
    Events::of(again).await.all().await;
    let after = site.messages(&chat).await;
    let said: Vec<_> = after.iter().step_by(2).map(words).collect();
    assert_eq!(said, ["one", "two, again"]);
    assert_eq!(id(&after, 0), id(&before, 0));
    let asked = model.asked().last().unwrap().body.to_string();
    assert!(asked.contains("two, again") && !asked.contains(r#""two""#), "{asked}");
}

async fn a_slow_reader_loses_nothing(place: &mut Place) {
    // More than the connection, the system and the server hold for whoever does not read.
    let count = 120_000;
    let reply = Reply::events(spoken(count).concat()).then(Piece::Bytes(over()));
    let (site, _model, _world) = site(place, vec![reply]).await;
    let chat = site.chat().await;
    let mut slow = site.say(&chat, "count").await;
    let mut all: Vec<Heard> = vec![slow.expect("delta").await];
    // The answer does not wait for whoever does not read.
    site.settled(&chat).await;
    all.extend(slow.turn().await);
    assert!(is_whole(&all), "{} events", all.len());
    assert_eq!(said(&all), words_of(count));
    assert_eq!(slow.next().await, None);
}

async fn what_is_not_kept_any_more_is_said(place: &mut Place) {
    let (site, _model, _world) = site(place, vec![halting(2, Piece::Pause(Duration::ZERO), 0)]).await;
    let chat = site.chat().await;
    let first = site.say(&chat, "one").await.all().await;
    site.say(&chat, "two").await.all().await;
    // The turn before the last is still there, for whoever was away for a moment.
    assert_eq!(site.follow(&chat, first[0].id.unwrap()).await.turn().await, first[1..]);
    let second = site.say(&chat, "three").await.all().await;
    let mut events = site.follow(&chat, first[0].id.unwrap()).await;
    let missed = events.expect("missed").await;
    assert_eq!((missed.id, &missed.data), (None, &json!({})));
    // A number that nobody gave out.
    let mut ahead = site.follow(&chat, second.last().unwrap().id.unwrap() + 1_000).await;
    ahead.expect("missed").await;
    let third = site.say(&chat, "four").await.all().await;
    assert_eq!(events.turn().await, third, "what comes next comes after what is read anew");
    assert_eq!(ahead.turn().await, third);
    for wrong in ["x", "-1", "99999999999999999999999"] {
        let path = format!("/api/chats/{chat}/events");
        let header = site.request(Method::GET, &path).header("last-event-id", wrong).send().await.unwrap();
        let query = site.request(Method::GET, &format!("{path}?after={wrong}")).send().await.unwrap();
        assert_eq!([header.status(), query.status()], [StatusCode::BAD_REQUEST; 2], "{wrong}");
    }
}

async fn a_chat_that_is_deleted_while_it_is_followed(place: &mut Place) {
    let (site, _model, _world) = site(place, vec![halting(2, Piece::Pause(Duration::ZERO), 0)]).await;
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

async fn a_chat_that_is_deleted_while_it_is_answered(place: &mut Place) {
    let (site, model, _world) = site(place, vec![halting(2, Piece::Hang, 0)]).await;
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
    assert_eq!(model.asked().len(), 1);
    let gone = site.request(Method::GET, &format!("/api/chats/{chat}")).send().await.unwrap();
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
}

/// A client that has asked and does not read at all is not waited for, not even when the server ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_who_does_not_read_keeps_a_server_from_ending() {
    let place = Place::sqlite();
    let reply = Reply::events(spoken(120_000).concat()).then(Piece::Bytes(over()));
    let (mut site, _model, _world) = site(&place, vec![reply]).await;
    let chat = site.chat().await;
    let mut asking = site.say(&chat, "one").await;
    asking.expect("delta").await;
    let _following = site.follow(&chat, 0).await;
    site.end().await;
    let store = place.open().await;
    let kept = store.messages(&chat, None, 10).await.unwrap().messages;
    assert_eq!(serde_json::to_value(&kept[1]).unwrap()["state"], "complete");
}

/// While nothing is said, a comment keeps the connection alive, which programs pass over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_comment_that_keeps_a_connection_alive_is_no_event() {
    let place = Place::sqlite();
    let (site, _model, _world) =
        site(&place, vec![halting(1, Piece::Pause(Duration::from_secs(16)), 1)]).await;
    let chat = site.chat().await;
    let mut stream = tokio::net::TcpStream::connect(&site.base["http://".len()..]).await.unwrap();
    let head = format!("GET /api/chats/{chat}/events?after=0 HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let turn = site.say(&chat, "one").await.all();
    let mut heard = Vec::new();
    let reading = async {
        while !String::from_utf8_lossy(&heard).contains("event: done") {
            assert!(stream.read_buf(&mut heard).await.unwrap() > 0);
        }
    };
    let (turn, ()) = tokio::join!(turn, reading);
    assert_eq!(said(&turn), words_of(2));
    let heard = String::from_utf8(heard).unwrap();
    assert!(heard.lines().any(|line| line == ":" || line.starts_with(": ")), "{heard}");
    until(async || site.get("/healthz").await["status"] == "ok").await;
}
