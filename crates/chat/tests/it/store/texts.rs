//! Whatever people and models write comes back as it was, or is refused.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use prowess::ErrorCode;
use prowess_chat::store::NewChat;
use prowess_chat::{End, Ending};
use prowess_chat::{Event, Part};
use serde_json::json;

use crate::store::world::{World, both, messages, said, words};

both![
    ten_megabytes_are_kept_and_more_is_refused,
    nul_is_refused_from_people_and_replaced_from_models,
    statements_stay_text
];

async fn ten_megabytes_are_kept_and_more_is_refused(world: &mut World) {
    let (store, chat) = world.chat().await;
    let long: String = "0123456789 \"quoted\" é漢🦀\n".chars().cycle().take(5_000_000).collect();
    assert!(long.len() > 10_000_000 / 2 && long.len() < 16 * 1024 * 1024);
    let ten = "x".repeat(10_000_000);
    store.say(&chat.id, &long).await.unwrap();
    store.say(&chat.id, &ten).await.unwrap();
    let kept = messages(&store, &chat.id).await;
    assert!(words(&kept[0]) == long && words(&kept[1]) == ten);
    let refused = store.say(&chat.id, &"x".repeat(16 * 1024 * 1024 + 1)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::TooLarge);
    assert_eq!(store.chat(&chat.id).await.unwrap().messages, 2);
}

async fn nul_is_refused_from_people_and_replaced_from_models(world: &mut World) {
    let (store, chat) = world.chat().await;
    assert_eq!(store.say(&chat.id, "a\0b").await.unwrap_err().code(), ErrorCode::InvalidParam);
    assert_eq!(store.ask(&chat.id, "\0").await.unwrap_err().code(), ErrorCode::InvalidParam);
    let turn = store.begin(&chat.id).await.unwrap();
    let arguments = json!({"\0": "\0"});
    let call = Event::ToolCall { id: "\0".into(), name: "\0".into(), arguments: arguments.clone() };
    store.append(&turn, 1, &[said("a\0b"), call]).await.unwrap();
    store.end(&turn, 3, &Ending::finished(End::Finished, None)).await.unwrap();
    let kept = messages(&store, &chat.id).await.remove(0);
    let replaced = "\u{fffd}".to_owned();
    assert_eq!(
        kept.parts,
        [
            Part::Text { text: "a\u{fffd}b".into() },
            Part::ToolCall { id: replaced.clone(), name: replaced, arguments },
        ]
    );
}

async fn statements_stay_text(world: &mut World) {
    let (store, chat) = world.chat().await;
    let hostile = [
        "'); DROP TABLE prowess_chats; --",
        "$1 $2 ?1 :a @b %s {} \\",
        "\"; DELETE FROM prowess_messages; --",
        "\\u0000 \\x00 E'\\000'",
        "$$ ; $tag$ x $tag$",
        "\u{feff}\u{202e}\u{e0041}\x1b[31m\r\n\t",
    ];
    for text in hostile {
        store.say(&chat.id, text).await.unwrap();
        store.note_uses(&[text.to_owned()]).await.unwrap();
        store.set_skills(&chat.id, &[text.to_owned()]).await.unwrap();
        assert_eq!(store.chat(&chat.id).await.unwrap().activated_skill_names, [text]);
    }
    let kept: Vec<_> = messages(&store, &chat.id).await.iter().map(words).collect();
    assert_eq!(kept, hostile);
    assert_eq!(store.skill_uses().await.unwrap().len(), hostile.len());
}

/// Any text, anywhere that text can stand.
fn round_trip(world: &World) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let store = runtime.block_on(world.open());
    let strategy =
        (any::<String>(), any::<String>(), "\\PC{0,40}", proptest::collection::vec(any::<String>(), 0..4));
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let ran = runner.run(&strategy, |(question, answer, title, names)| {
        let question = question.replace('\0', "");
        let answer = answer.replace('\0', "");
        let title: String = title.chars().filter(|c| !c.is_control()).collect();
        let names: Vec<_> = names.iter().map(|name| name.replace('\0', "")).collect();
        runtime.block_on(async {
            let chat = store
                .create_chat(NewChat { title: title.clone(), preset: question.chars().take(256).collect() });
            let chat = chat.await.map_err(failed)?;
            store.set_skills(&chat.id, &names).await.map_err(failed)?;
            let (_, turn) = store.ask(&chat.id, &question).await.map_err(failed)?;
            let arguments = json!({answer.clone(): [question, {"a": answer}]});
            let call =
                Event::ToolCall { id: answer.clone(), name: question.clone(), arguments: arguments.clone() };
            store.append(&turn, 1, &[call.clone(), said("."), said(&answer)]).await.map_err(failed)?;
            let page = store.messages(&chat.id, None, 10).await.map_err(failed)?;
            prop_assert_eq!(words(&page.messages[0]), question.clone());
            let parts = [
                Part::ToolCall { id: answer.clone(), name: question.clone(), arguments },
                Part::Text { text: format!(".{answer}") },
            ];
            prop_assert_eq!(&page.messages[1].parts, &parts);
            store.end(&turn, 4, &Ending::broken(ErrorCode::Timeout, &answer)).await.map_err(failed)?;
            let page = store.messages(&chat.id, None, 10).await.map_err(failed)?;
            prop_assert_eq!(&page.messages[1].parts, &parts);
            prop_assert_eq!(crate::store::world::marker(&page.messages[1]), &answer);
            let events = store.events_after(&chat.id, 0).await.map_err(failed)?.events;
            prop_assert_eq!(&events[0].event, &call);
            let chat = store.chat(&chat.id).await.map_err(failed)?;
            prop_assert_eq!(chat.title, title);
            Ok(())
        })
    });
    ran.unwrap();
}

fn failed(error: prowess_chat::store::StoreError) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

#[test]
fn any_text_comes_back_from_sqlite() {
    round_trip(&World::sqlite());
}

#[test]
fn any_text_comes_back_from_postgres() {
    round_trip(&World::postgres());
}
