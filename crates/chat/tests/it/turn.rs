//! The loop: its ends, and what a model that makes mistakes is told.

use crate::world::{Talk, Talks, World};
use prowess::{ErrorCode, Preset};
use prowess_chat::turn::{Begun, Input, Memory, Record, RecordError, TurnError};
use prowess_chat::{End, Ending};
use prowess_chat::{Event, Part, State, Usage};
use prowess_config::Provider;
use prowess_testing::model::speech::{ALL, Say, answer, call, results, text};
use prowess_testing::model::{Reply, Server};
use serde_json::{Value, json};

const CHAT: Provider = Provider::OpenAiChat;

fn replies(provider: Provider, steps: &[Vec<Say>]) -> Vec<Reply> {
    steps.iter().map(|step| Reply::events(answer(provider, step))).collect()
}

/// A world with one skill `a`, and a model that takes these steps.
async fn talk(steps: &[Vec<Say>], set: impl Fn(&mut World)) -> (World, Talk, Server) {
    let server = Server::start(replies(CHAT, steps)).await;
    let mut world = World::new(Preset::Chat).talking(CHAT, &server.base);
    world.skill("a", "Do it well.");
    set(&mut world);
    let talk = world.start();
    (world, talk, server)
}

fn raw(id: &'static str, name: &'static str, arguments: &str) -> Say {
    Say::Call(id, name, arguments.to_owned())
}

#[tokio::test]
async fn everything_that_happens_is_told_in_order() {
    let steps = [
        vec![text("One moment. "), call("c1", "skills_activate", json!({"name": "a"}))],
        vec![text("Done.")],
    ];
    let (world, mut talk, _server) = talk(&steps, |_| {}).await;
    let outcome = talk.say("do a").await;
    assert_eq!(outcome.usage, Some(Usage { input: 200, output: 40, cached: 20 }));
    let mut events: Vec<Value> =
        talk.events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    events.dedup_by(|next, before| match (next["type"] == "delta", before["type"] == "delta") {
        (true, true) => {
            before["text"] =
                format!("{}{}", before["text"].as_str().unwrap(), next["text"].as_str().unwrap()).into();
            true
        }
        _ => false,
    });
    insta::assert_snapshot!(world.filtered(&serde_json::to_string_pretty(&events).unwrap()));
    let mut kept = serde_json::to_value(&talk.chat.messages).unwrap();
    kept[0]["at"] = 0.into();
    kept[1]["at"] = 0.into();
    insta::assert_snapshot!("kept", serde_json::to_string_pretty(&kept).unwrap());
}

#[tokio::test]
async fn mistakes_are_told_to_the_model() {
    let steps = [
        vec![
            raw("c1", "skills_activat", "{\"name\":\"a\"}"),
            raw("c2", "skills_activate", "{\"nme\":\"a\"}"),
            raw("c3", "skills_activate", "{\"name\": \"a"),
            raw("c4", "skills_activate", "[\"a\"]"),
            raw("c5", "skills_activate", ""),
            raw("c6", "rm", "{\"path\":\"/\"}"),
            raw("c7", "skills_activate", "{\"name\": 5}"),
        ],
        vec![text("Sorry.")],
    ];
    let (_world, mut talk, server) = talk(&steps, |_| {}).await;
    assert_eq!(talk.say("go").await.end, Ok(End::Finished));
    let told: Vec<String> =
        results(CHAT, &server.asked()[1]).iter().map(|(id, text)| format!("{id}: {text}")).collect();
    insta::assert_snapshot!(told.join("\n"));
    assert!(talk.results().iter().all(|(_, status, _)| status == "error"));
    // What is sent back as arguments is an object again, whatever it was.
    let calls = server.asked()[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|m| m.get("tool_calls").is_some())
        .unwrap()
        .clone();
    for call in calls["tool_calls"].as_array().unwrap() {
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        assert!(arguments.is_object());
    }
}

#[tokio::test]
async fn a_turn_has_so_many_steps_and_no_more() {
    for provider in ALL {
        let server = Server::answering(move |_, number| {
            let path = ["x1", "x2", "x3", "x4", "x5", "x6"][number];
            Reply::events(answer(
                provider,
                &[call("same", "skills_readResource", json!({"name": "a", "path": path}))],
            ))
        });
        let server = server.await;
        let mut world = World::new(Preset::Chat).talking(provider, &server.base);
        world.skill("a", "x");
        world.chat.limits.steps = 3;
        let mut talk = world.start();
        assert_eq!(talk.say("go").await.end, Ok(End::Steps));
        assert_eq!((talk.reason().as_str(), server.asked().len()), ("steps", 3));
        let results = talk.results();
        assert_eq!(results.len(), 3, "every call has a result");
        assert!(
            results[2].2["error"]["message"]
                .as_str()
                .unwrap()
                .contains("not called: the turn has as many steps")
        );
        // Three calls with one id are three calls.
        let ids = talk.events.iter().filter_map(|event| match event {
            Event::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        assert_eq!(ids.collect::<std::collections::HashSet<_>>().len(), 3);
        assert!(
            matches!(&talk.chat.messages[1].state, State::Interrupted { reason } if reason.contains("chat.max-steps"))
        );
    }
}

#[tokio::test]
async fn the_same_call_for_ever_is_noticed() {
    let steps = [vec![call("c", "skills_readResource", json!({"name": "a", "path": "SKILL.md"}))]];
    let (_world, mut talk, server) = talk(&steps, |_| {}).await;
    assert_eq!(talk.say("go").await.end, Ok(End::Repeated));
    assert_eq!((talk.reason().as_str(), server.asked().len()), ("repeated", 6));
    let told = results(CHAT, server.asked().last().unwrap());
    assert!(!told[1].1.contains("made"), "{}", told[1].1);
    assert!(told[2].1.contains("[This call was made 3 times in this turn"), "{}", told[2].1);
}

#[tokio::test]
async fn a_turn_costs_so_many_tokens_and_no_more() {
    let steps = [vec![call("c", "skills_activate", json!({"name": "a"}))]];
    let (_world, mut talk, server) = talk(&steps, |world| world.chat.limits.turn_tokens = Some(300)).await;
    assert_eq!(talk.say("go").await.end, Ok(End::Tokens));
    assert_eq!((talk.reason().as_str(), server.asked().len()), ("tokens", 3));

    // A server that does not say what it cost cannot go on for ever either.
    let silent = answer(CHAT, &steps[0]);
    let silent = String::from_utf8(silent).unwrap().replace("\"usage\"", "\"no_usage\"");
    let server = Server::start([Reply::events(silent)]).await;
    let mut world = World::new(Preset::Chat).talking(CHAT, &server.base);
    world.skill("a", "x");
    world.chat.limits.turn_tokens = Some(1_000);
    let mut talk = world.start();
    let outcome = talk.say("go").await;
    assert_eq!((outcome.end, outcome.usage), (Ok(End::Tokens), None));
}

#[tokio::test]
async fn an_answer_that_is_too_long_or_declined() {
    for (reason, end) in [("length", End::Length), ("content_filter", End::Declined)] {
        let body = String::from_utf8(answer(CHAT, &[text("half")]))
            .unwrap()
            .replace("\"stop\"", &format!("\"{reason}\""));
        let server = Server::start([Reply::events(body)]).await;
        let mut talk = World::new(Preset::Chat).talking(CHAT, &server.base).start();
        assert_eq!(talk.say("go").await.end, Ok(end));
        assert_eq!((talk.said().as_str(), talk.reason().as_str()), ("half", end.as_str()));
    }
}

#[tokio::test]
async fn a_result_is_cut_and_says_so() {
    let steps =
        [vec![call("c", "skills_readResource", json!({"name": "a", "path": "big.txt"}))], vec![text("ok")]];
    let (world, mut talk, server) = talk(&steps, |world| world.chat.limits.result_bytes = 1_000).await;
    world.file(".skills/a/big.txt", "é".repeat(5_000));
    talk.say("go").await;
    let told = &results(CHAT, &server.asked()[1])[0].1;
    assert!(told.ends_with("é\n[1000 of 10000 bytes shown]"), "{told}");
}

#[tokio::test]
async fn messages_that_are_not_taken() {
    let (_world, mut talk, server) = talk(&[vec![text("x")]], |_| {}).await;
    assert_eq!(talk.say("  \n").await.end, Err(TurnError::Empty));
    assert_eq!(talk.error().0, "INVALID_PARAM");
    let outcome = talk.say(&"x".repeat(10 * 1024 * 1024)).await;
    assert_eq!((outcome.end, outcome.message_id), (Err(TurnError::Long(10 * 1024 * 1024)), None));
    assert_eq!(
        talk.error(),
        ("TOO_LARGE".to_owned(), "the message has 10485760 bytes; at most 1048576 are taken".to_owned())
    );
    assert!(talk.chat.messages.is_empty() && server.asked().is_empty());
}

/// A record that fails after so many calls.
struct Full(Memory, usize);

impl Full {
    fn may(&mut self) -> Result<(), RecordError> {
        self.1 = self
            .1
            .checked_sub(1)
            .ok_or(RecordError { code: ErrorCode::ExecutionError, message: "disk full".to_owned() })?;
        Ok(())
    }
}

type Pending<'a, T> = prowess_chat::provider::Pending<'a, Result<T, RecordError>>;

impl Record for Full {
    fn begin<'a>(&'a mut self, text: &'a str) -> Pending<'a, Begun> {
        Box::pin(async move {
            self.may()?;
            self.0.begin(text).await
        })
    }
    fn delta<'a>(&'a mut self, text: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            self.may()?;
            self.0.delta(text).await
        })
    }
    fn call<'a>(&'a mut self, call: &'a Part) -> Pending<'a, ()> {
        Box::pin(async move {
            self.may()?;
            self.0.call(call).await
        })
    }
    fn result<'a>(&'a mut self, result: &'a Part, names: &'a [String]) -> Pending<'a, ()> {
        Box::pin(async move {
            self.may()?;
            self.0.result(result, names).await
        })
    }
    fn end<'a>(&'a mut self, ending: &'a Ending, names: &'a [String]) -> Pending<'a, ()> {
        Box::pin(async move {
            self.may()?;
            self.0.end(ending, names).await
        })
    }
}

#[tokio::test]
async fn nothing_is_told_that_was_not_written_down() {
    let steps = [vec![text("a"), call("c", "skills_activate", json!({"name": "a"}))], vec![text("b")]];
    for room in 0..6 {
        let (_world, talk, _server) = talk(&steps, |_| {}).await;
        let mut record = Full(Memory::default(), room);
        let mut events = Vec::new();
        let input = Input { chat: "c", history: &[], activated: &[], text: "go" };
        let outcome =
            talk.agent.turn(input, &mut record, &mut |event| events.push(event), &talk.cancel).await;
        assert!(matches!(outcome.end, Err(TurnError::Record(_))), "{room}: {:?}", outcome.end);
        let Some(Event::Error { message, .. }) = events.last() else { panic!("{events:?}") };
        assert_eq!(message, "the chat cannot be kept: disk full");
        let parts: usize = record.0.messages.iter().skip(1).map(|message| message.parts.len()).sum();
        assert!(events.len() - 1 <= parts + 1, "{events:?}");
    }
}

#[tokio::test]
async fn skills_change_between_turns_without_a_restart() {
    let steps = [vec![text("x")]];
    let server = Server::start(replies(CHAT, &steps)).await;
    let world = World::new(Preset::Standard).talking(CHAT, &server.base);
    world.skill("a", "x");
    let mut talk = world.start();
    talk.say("one").await;
    world.skill("b", "x");
    talk.say("two").await;
    let names: Vec<bool> =
        server.asked().iter().map(|asked| asked.body["tools"].to_string().contains("\"b\"")).collect();
    assert_eq!(names, [false, true]);
}

#[tokio::test]
async fn s004_05_s004_18_switched_off_there_are_neither_tools_nor_a_word_of_them() {
    let (_world, mut talk, server) = talk(&[vec![text("x")]], |world| world.policy.enabled = false).await;
    talk.say("/a hello").await;
    let body = &server.asked()[0].body;
    assert!(body.get("tools").is_none());
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    assert!(!body["messages"][0].to_string().contains("skill_"), "{body}");
    assert_eq!(body["messages"][1]["content"], "/a hello");
}
