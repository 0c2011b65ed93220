//! Long conversations: what is left out, and what never is.

use crate::world::{Talks, World};
use prowess::Preset;
use prowess_chat::End;
use prowess_chat::{Message, Part, Role, State};
use prowess_config::Provider;
use prowess_testing::model::speech::{ALL, answer, call, results, system, text};
use prowess_testing::model::{Reply, Server};
use prowess_tools::tokens;
use serde_json::json;

fn message(number: usize, role: Role, text: &str) -> Message {
    let parts = vec![Part::Text { text: text.to_owned() }];
    Message { id: format!("h{number}"), role, parts, state: State::Complete, usage: None, at: 0 }
}

/// So many exchanges of about a hundred tokens each.
fn history(exchanges: usize) -> Vec<Message> {
    (0..exchanges)
        .flat_map(|at| {
            let words = "and some more words ".repeat(12);
            [
                message(2 * at, Role::User, &format!("question {at} {words}")),
                message(2 * at + 1, Role::Assistant, &format!("answer {at} {words}")),
            ]
        })
        .collect()
}

#[tokio::test]
async fn the_oldest_goes_and_active_skills_stay() {
    for provider in ALL {
        let steps = [
            vec![call("c1", "skills_activate", json!({"name": "pdf"}))],
            vec![text("loaded")],
            vec![text("ok")],
        ];
        let server = Server::start(steps.iter().map(|step| Reply::events(answer(provider, step)))).await;
        let mut world = World::new(Preset::Standard).talking(provider, &server.base);
        world.chat.limits.context_tokens = 6_000;
        world.chat.limits.output_tokens = 500;
        world.skill("pdf", "Merge with UNFORGETTABLE care.");
        let mut talk = world.start();
        talk.say("load it").await;
        talk.chat.messages.extend(history(100));
        let outcome = talk.say("and now?").await;
        assert_eq!((outcome.end, outcome.activated), (Ok(End::Finished), vec!["pdf".to_owned()]));
        let asked = &server.asked()[2];
        let body = asked.body.to_string();
        assert!(body.contains("UNFORGETTABLE"), "its instructions are put in again");
        assert!(results(provider, asked).is_empty(), "the call itself is long gone");
        assert!(body.contains("question 99") && body.contains("answer 99") && !body.contains("answer 3 "));
        assert!(system(provider, asked).contains("Skills already active in this conversation: pdf."));
        assert!(tokens::count(&body) < 6_000, "{}", tokens::count(&body));
        if provider == Provider::OpenAiChat {
            let first = asked.body["messages"][1]["content"].as_str().unwrap();
            let first =
                first.lines().map(|line| line.chars().take(120).collect::<String>()).collect::<Vec<_>>();
            insta::assert_snapshot!(world.filtered(&first.join("\n")));
        }
    }
}

#[tokio::test]
async fn a_reminder_does_not_stand_for_the_instructions() {
    let provider = Provider::OpenAiChat;
    let steps = [
        vec![call("c1", "skills_activate", json!({"name": "pdf", "args": "Ada"}))],
        vec![text("loaded")],
        vec![call("c2", "skills_activate", json!({"name": "pdf"}))],
        vec![call("c3", "skills_readResource", json!({"name": "pdf", "path": "big.md"}))],
        vec![text("ok")],
    ];
    let server = Server::start(steps.iter().map(|step| Reply::events(answer(provider, step)))).await;
    let mut world = World::new(Preset::Chat).talking(provider, &server.base);
    world.chat.limits.context_tokens = 4_000;
    world.chat.limits.output_tokens = 200;
    world
        .skill("pdf", "Merge for $ARGUMENTS with UNFORGETTABLE care.")
        .file(".skills/pdf/big.md", "alpha ".repeat(4_000));
    let mut talk = world.start();
    talk.say("load it").await;
    assert_eq!(talk.say("and read").await.end, Ok(End::Finished));
    let asked = server.asked();
    let reminder = &results(provider, &asked[3]).last().unwrap().1.clone();
    assert!(reminder.contains("already loaded in this conversation"), "{reminder}");
    let last = asked[4].body.to_string();
    assert!(last.contains("the first message of this conversation"), "the first turn was left out: {last}");
    assert!(last.contains("Merge for Ada with UNFORGETTABLE care."), "with its arguments: {last}");
}

#[tokio::test]
async fn a_skill_whose_file_was_read_is_active_like_any_other() {
    let provider = Provider::OpenAiChat;
    let read = |id| vec![call(id, "ReadFile", json!({"path": ".agents/skills/pdf/SKILL.md"}))];
    let steps = [read("c1"), vec![text("loaded")], read("c2"), vec![text("ok")], vec![text("ok")]];
    let server = Server::start(steps.iter().map(|step| Reply::events(answer(provider, step)))).await;
    let mut world = World::new(Preset::App).talking(provider, &server.base);
    world.chat.limits.context_tokens = 6_000;
    world.chat.limits.output_tokens = 500;
    world.skill("pdf", "Merge with UNFORGETTABLE care.");
    let mut talk = world.start();
    assert_eq!(talk.say("load it").await.activated, ["pdf"]);
    talk.say("and again").await;
    let told = results(provider, &server.asked()[3]);
    assert!(told[0].1.contains("UNFORGETTABLE"), "{told:?}");
    assert!(told[1].1.contains("already loaded in this conversation"), "{told:?}");
    talk.chat.messages.extend(history(100));
    talk.say("and now?").await;
    let body = server.asked()[4].body.to_string();
    assert!(body.contains("UNFORGETTABLE") && !body.contains("load it\""), "{body}");
}

#[tokio::test]
async fn a_skill_that_does_not_fit_is_named_and_can_be_loaded_again() {
    let provider = Provider::OpenAiChat;
    let steps =
        [vec![text("ok")], vec![call("c1", "skills_activate", json!({"name": "big"}))], vec![text("ok")]];
    let server = Server::start(steps.iter().map(|step| Reply::events(answer(provider, step)))).await;
    let mut world = World::new(Preset::Chat).talking(provider, &server.base);
    world.chat.limits.context_tokens = 4_000;
    world.chat.limits.output_tokens = 200;
    world.skill("big", &"many words of instruction ".repeat(200)).skill("small", "Small INSTRUCTIONS.");
    let mut talk = world.start();
    talk.chat.messages = history(60);
    talk.chat.activated = vec!["big".to_owned(), "small".to_owned()];
    let outcome = talk.say(&"a long question ".repeat(700)).await;
    assert_eq!(
        (outcome.end, outcome.activated),
        (Ok(End::Finished), vec!["big".to_owned(), "small".to_owned()])
    );
    let body = server.asked()[0].body.to_string();
    assert!(body.contains("load them again when you need them: big.]"), "{body}");
    assert!(!body.contains("many words of instruction many words"));
}

#[tokio::test]
async fn results_of_this_turn_go_before_the_turn_does() {
    let provider = Provider::OpenAiChat;
    let read = |id, path| vec![call(id, "skills_readResource", json!({"name": "pdf", "path": path}))];
    let steps = [read("c1", "one.md"), read("c2", "two.md"), vec![text("ok")]];
    let server = Server::start(steps.iter().map(|step| Reply::events(answer(provider, step)))).await;
    let mut world = World::new(Preset::Chat).talking(provider, &server.base);
    world.chat.limits.context_tokens = 4_000;
    world.chat.limits.output_tokens = 200;
    world
        .skill("pdf", "x")
        .file(".skills/pdf/one.md", "alpha ".repeat(2_000))
        .file(".skills/pdf/two.md", "beta ".repeat(2_000));
    let mut talk = world.start();
    assert_eq!(talk.say("/pdf read both").await.end, Ok(End::Finished));
    let told = results(provider, &server.asked()[2]);
    assert_eq!(told[1].1, "[The result was left out for want of room. Call the tool again if you need it.]");
    assert!(told[2].1.starts_with("beta"));
}

#[tokio::test]
async fn a_turn_that_is_too_long_by_itself_is_an_error_with_a_number() {
    let server = Server::start([Reply::events(answer(Provider::OpenAi, &[text("ok")]))]).await;
    let mut world = World::new(Preset::Chat).talking(Provider::OpenAi, &server.base);
    world.chat.limits.context_tokens = 2_000;
    let mut talk = world.start();
    talk.say(&"too many words ".repeat(2_000)).await;
    let (code, message) = talk.error();
    assert_eq!(code, "TOO_LARGE");
    assert!(
        message.contains("this turn alone has about 6") && message.contains("chat.context-tokens"),
        "{message}"
    );
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_provider_that_says_it_is_too_long_is_sent_less() {
    for provider in ALL {
        let fine = answer(provider, &[text("ok")]);
        let server = Server::answering(move |asked, _| match asked.body.to_string().len() {
            0..60_000 => Reply::events(fine.clone()),
            _ => Reply::failure(
                400,
                r#"{"error":{"message":"prompt is too long: 50000 tokens > 40000 maximum"}}"#,
            ),
        });
        let server = server.await;
        let mut world = World::new(Preset::Chat).talking(provider, &server.base);
        world.chat.limits.context_tokens = 30_000;
        let mut talk = world.start();
        talk.chat.messages = history(250);
        assert_eq!(talk.say("still there?").await.end, Ok(End::Finished));
        assert!(server.asked().len() > 1);
    }
}

#[tokio::test]
async fn what_a_dead_turn_left_can_be_gone_on_with() {
    for provider in ALL {
        let server = Server::start([Reply::events(answer(provider, &[text("ok")]))]).await;
        let world = World::new(Preset::Chat).talking(provider, &server.base);
        world.skill("pdf", "x");
        let mut talk = world.start();
        let call = |id: &str| Part::ToolCall {
            id: id.to_owned(),
            name: "skills.activate".to_owned(),
            arguments: json!({"name": "pdf"}),
        };
        let answered = Part::ToolResult {
            id: "one two".to_owned(),
            name: "skills.run".to_owned(),
            summary: json!({"text": "out"}),
            status: "success".to_owned(),
        };
        let dead = Message {
            parts: vec![call("one two"), call("b"), answered],
            state: State::Writing,
            ..message(1, Role::Assistant, "")
        };
        let empty = Message {
            parts: vec![],
            state: State::Interrupted { reason: "killed".to_owned() },
            ..message(3, Role::Assistant, "")
        };
        talk.chat.messages = vec![
            message(0, Role::User, "go"),
            dead,
            message(2, Role::User, "and?"),
            empty,
            message(4, Role::User, "hello?"),
        ];
        assert_eq!(talk.say("are you there?").await.end, Ok(End::Finished));
        let told = results(provider, &server.asked()[0]);
        assert_eq!(
            told.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
            ["out", "[no result: the turn was broken off]"]
        );
        assert!(told.iter().all(|(id, _)| !id.contains(' ')));
        let body = server.asked()[0].body.to_string();
        for words in ["[The answer broke off.]", "[The answer broke off: killed.]", "[no answer]"] {
            assert!(body.contains(words), "{words}: {body}");
        }
    }
}
