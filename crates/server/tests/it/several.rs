//! Several servers on one database: what one begins, another follows, stops, and finds when the first is gone.

use std::time::Duration;

use crate::world::process::{Process, serve_if_asked};
use crate::world::stream::{is_whole, said};
use crate::world::{Place, Site, both, talking, until, words};
use prowess::Preset;
use prowess_chat::store::Topic;
use prowess_config::Provider;
use prowess_server::Options;
use prowess_testing::World;
use prowess_testing::model::speech::{answer, system, text};
use prowess_testing::model::{Piece, Reply, Server};
use serde_json::json;

const CHAT: Provider = Provider::OpenAiChat;

/// What the processes of these tests run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_serves() {
    serve_if_asked().await;
}

both![
    a_turn_is_followed_elsewhere_from_its_first_event,
    a_turn_is_stopped_elsewhere_while_the_model_speaks,
    a_turn_is_stopped_elsewhere_while_the_model_is_silent,
    a_server_that_is_killed_leaves_what_was_said,
    a_server_that_is_asked_to_end_marks_what_it_could_not_finish,
    a_server_that_is_asked_to_end_finishes_what_it_can,
    servers_that_start_at_once,
];

fn word(n: usize) -> Vec<u8> {
    let delta =
        json!({"choices": [{"index": 0, "delta": {"content": format!("w{n} ")}, "finish_reason": null}]});
    format!("data: {delta}\n\n").into_bytes()
}

/// Speaks for a long time, a word now and then.
fn long() -> Reply {
    let mut reply = Reply::events("");
    for n in 0..5_000 {
        reply = reply.then(Piece::Bytes(word(n))).then(Piece::Pause(Duration::from_millis(10)));
    }
    reply.then(Piece::Bytes(answer(CHAT, &[])))
}

fn short() -> Reply {
    Reply::events(answer(CHAT, &[text("fine")]))
}

async fn two(place: &Place, replies: Vec<Reply>) -> (Site, Site, Server, World) {
    let model = Server::start(replies).await;
    let world = talking(Preset::Chat, CHAT, &model.base);
    (place.serve(&world).await, place.serve(&world).await, model, world)
}

async fn a_turn_is_followed_elsewhere_from_its_first_event(place: &mut Place) {
    let mut reply = Reply::events(word(0));
    for n in 1..30 {
        reply = reply.then(Piece::Pause(Duration::from_millis(20))).then(Piece::Bytes(word(n)));
    }
    let (a, b, _model, _world) = two(place, vec![reply.then(Piece::Bytes(answer(CHAT, &[])))]).await;
    let chat = a.chat().await;
    let mut events = a.say(&chat, "count").await;
    let first = events.expect("delta").await;
    let mut elsewhere = b.follow(&chat, first.id.unwrap() - 1).await;
    // The chat is there in the middle of the answer, and says so.
    until(async || b.messages(&chat).await.len() == 2).await;
    assert_eq!(b.messages(&chat).await[1]["state"], "writing");
    let mut all = vec![first];
    all.extend(events.turn().await);
    assert!(is_whole(&all));
    assert_eq!(elsewhere.turn().await, all);
    assert_eq!(words(&b.messages(&chat).await[1]), said(&all));
}

async fn a_turn_is_stopped_elsewhere_while_the_model_speaks(place: &mut Place) {
    let (a, b, _model, _world) = two(place, vec![long(), short()]).await;
    let chat = a.chat().await;
    let mut events = a.say(&chat, "count").await;
    let first = events.expect("delta").await;
    let mut elsewhere = b.follow(&chat, first.id.unwrap() - 1).await;
    elsewhere.expect("delta").await;
    assert!(b.stop(&chat).await);
    // Whoever asked hears of the end, too, whatever was told of what came too late to be kept.
    for all in [events.all().await, elsewhere.turn().await] {
        let end = all.last().unwrap();
        assert_eq!((end.event.as_str(), &end.data["reason"]), ("done", &json!("cancelled")));
        assert!(all.windows(2).all(|pair| pair[0].id < pair[1].id));
    }
    let kept = b.messages(&chat).await;
    assert!(words(&kept[1]).starts_with("w0 "));
    assert_eq!(kept[1]["reason"], "the turn was cancelled");
    // Both can go on.
    assert_eq!(said(&b.say(&chat, "again").await.all().await), "fine");
    assert_eq!(said(&a.say(&chat, "and again").await.all().await), "fine");
    assert!(!a.stop(&chat).await);
}

async fn a_turn_is_stopped_elsewhere_while_the_model_is_silent(place: &mut Place) {
    let never = Reply { pieces: vec![Piece::Hang], ..Reply::events("") };
    let (a, b, model, _world) = two(place, vec![never, short()]).await;
    let chat = a.chat().await;
    let events = a.say(&chat, "hello?").await;
    until(async || model.asked().len() == 1).await;
    assert!(b.stop(&chat).await);
    let all = events.all().await;
    assert_eq!((all.len(), &all[0].data["reason"]), (1, &json!("cancelled")), "{all:?}");
    assert_eq!(said(&b.say(&chat, "again").await.all().await), "fine");
}

async fn a_server_that_is_killed_leaves_what_was_said(place: &mut Place) {
    let model = Server::start([long(), short()]).await;
    let mut a = Process::start(place, &model.base);
    let b = place.serve(&talking(Preset::Chat, CHAT, &model.base)).await;
    let chat = a.client.chat().await;
    let mut events = a.client.say(&chat, "count").await;
    let mut heard = Vec::new();
    for _ in 0..20 {
        heard.push(events.expect("delta").await);
    }
    let mut elsewhere = b.follow(&chat, 0).await;
    let first = elsewhere.expect("delta").await;
    a.kill();
    let mut all = vec![first];
    all.extend(elsewhere.turn().await);
    let end = all.last().unwrap();
    assert_eq!(
        (end.event.as_str(), &end.data["message"]),
        ("error", &json!("the program that was answering stopped; this is what it said until then"))
    );
    let kept = b.messages(&chat).await;
    assert_eq!((&kept[1]["state"], words(&kept[1])), (&json!("interrupted"), said(&all)));
    assert!(words(&kept[1]).starts_with("w0 w1 "));
    // What was told shortly before may not have been kept; what is kept is what was told.
    let told = said(&heard);
    assert!(words(&kept[1]).starts_with(&told) || told.starts_with(&words(&kept[1])), "{told}");
    assert_eq!(said(&b.say(&chat, "again").await.all().await), "fine");
    assert_eq!(b.messages(&chat).await.len(), 4);
}

async fn a_server_that_is_asked_to_end_marks_what_it_could_not_finish(place: &mut Place) {
    let never = Reply { pieces: vec![Piece::Hang], ..Reply::events("") };
    let model = Server::start([long(), long(), never, short()]).await;
    let mut a = Process::start(place, &model.base);
    let b = place.serve(&talking(Preset::Chat, CHAT, &model.base)).await;
    // One with somebody who listens, one without, and one whose model says nothing.
    let chats = [a.client.chat().await, a.client.chat().await, a.client.chat().await];
    let mut listening = a.client.say(&chats[0], "count").await;
    listening.expect("delta").await;
    drop(a.client.say(&chats[1], "count").await);
    until(async || model.asked().len() == 2).await;
    let silent = a.client.say(&chats[2], "count").await;
    until(async || model.asked().len() == 3).await;
    assert!(a.end(), "it ends well");
    for events in [listening, silent] {
        let all = events.all().await;
        assert_eq!(all.last().unwrap().data["code"], "UNAVAILABLE", "{:?}", all.last());
    }
    for (number, chat) in chats.iter().enumerate() {
        // At once: nobody had to find out.
        let kept = b.get(&format!("/api/chats/{chat}")).await;
        assert_eq!(kept["writing"], json!(null), "{number}");
        let answer = &kept["messages"][1];
        assert_eq!(
            (&answer["state"], &answer["reason"]),
            (
                &json!("interrupted"),
                &json!("the server was stopped while it answered; this is what was said until then")
            )
        );
        assert_eq!(words(answer).is_empty(), number == 2);
        assert_eq!(said(&b.say(chat, "again").await.all().await), "fine");
    }
}

async fn a_server_that_is_asked_to_end_finishes_what_it_can(place: &mut Place) {
    let mut reply = Reply::events(word(0)).then(Piece::Pause(Duration::from_millis(700)));
    reply = reply.then(Piece::Bytes(word(1))).then(Piece::Bytes(answer(CHAT, &[])));
    let model = Server::start([reply]).await;
    let world = talking(Preset::Chat, CHAT, &model.base);
    let options = Options { grace: Duration::from_secs(60), ..Options::default() };
    let mut site = Site::start(&world, place.open().await, options).await;
    let (one, other) = (site.chat().await, site.chat().await);
    let mut events = site.say(&one, "count").await;
    events.expect("delta").await;
    drop(site.say(&other, "count").await);
    let following = site.follow(&one, 0).await;
    let client = site.client.clone();
    site.end().await;
    let all = events.all().await;
    assert_eq!((said(&all).as_str(), all.last().unwrap().event.as_str()), ("w1 ", "done"));
    following.all().await;
    assert!(
        client.request(reqwest::Method::GET, "/healthz").send().await.is_err(),
        "nobody is there any more"
    );
    let again = place.serve(&world).await;
    for chat in [one, other] {
        assert_eq!(again.messages(&chat).await[1]["state"], "complete");
    }
}

async fn servers_that_start_at_once(place: &mut Place) {
    let model = Server::start([short()]).await;
    let (place, base) = (&*place, model.base.as_str());
    // None of them finds any table; each of them may be the one that makes them.
    let processes: Vec<Process> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..4).map(|_| scope.spawn(|| Process::start(place, base))).collect();
        started.into_iter().map(|started| started.join().unwrap()).collect()
    });
    let chat = processes[0].client.chat().await;
    for process in &processes {
        assert_eq!(said(&process.client.say(&chat, "hello").await.all().await), "fine");
    }
    assert_eq!(processes[0].client.messages(&chat).await.len(), 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn skills_that_change_are_there_in_the_next_request_of_all() {
    let place = Place::postgres();
    let (a, b, model, world) = two(&place, vec![short()]).await;
    let chat = a.chat().await;
    b.say(&chat, "hello").await.all().await;
    let mut heard = b.store().announcements();
    world.skill("added", "x");
    // As after a change over HTTP.
    a.store().announce(Topic::Skills);
    while heard.next().await != Some(Topic::Skills) {}
    until(async || {
        b.say(&chat, "hello").await.all().await;
        system(CHAT, model.asked().last().unwrap()).contains("Does added.")
    })
    .await;
    assert!(!system(CHAT, &model.asked()[0]).contains("Does added."));
    a.say(&chat, "hello").await.all().await;
    assert!(system(CHAT, model.asked().last().unwrap()).contains("Does added."));
}
