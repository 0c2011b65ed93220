//! Any text is stored unchanged or refused.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use prowess::ErrorCode;
use prowess_chat::store::NewChat;
use prowess_chat::{EndReason, TurnOutcome};
use prowess_chat::{Part, TurnEvent};
use serde_json::json;

use crate::store::support::{TestStore, both, delta, message_text, messages};

both![
    ten_megabytes_are_stored_and_more_is_refused,
    nul_is_refused_from_users_and_replaced_from_models,
    sql_in_texts_is_harmless
];

async fn ten_megabytes_are_stored_and_more_is_refused(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let long: String = "0123456789 \"quoted\" é漢🦀\n".chars().cycle().take(5_000_000).collect();
    assert!(long.len() > 10_000_000 / 2 && long.len() < 16 * 1024 * 1024);
    let ten = "x".repeat(10_000_000);
    store.add_user_message(&chat.id, &long).await.unwrap();
    store.add_user_message(&chat.id, &ten).await.unwrap();
    let stored = messages(&store, &chat.id).await;
    assert!(message_text(&stored[0]) == long && message_text(&stored[1]) == ten);
    let refused = store.add_user_message(&chat.id, &"x".repeat(16 * 1024 * 1024 + 1)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::TooLarge);
    assert_eq!(store.chat(&chat.id).await.unwrap().messages, 2);
}

async fn nul_is_refused_from_users_and_replaced_from_models(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    assert_eq!(store.add_user_message(&chat.id, "a\0b").await.unwrap_err().code(), ErrorCode::InvalidParam);
    assert_eq!(store.ask(&chat.id, "\0".into()).await.unwrap_err().code(), ErrorCode::InvalidParam);
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let arguments = json!({"\0": "\0"});
    let call = TurnEvent::ToolCall { id: "\0".into(), name: "\0".into(), arguments: arguments.clone() };
    store.append_events(&turn, 1, &[delta("a\0b"), call]).await.unwrap();
    store.end(&turn, 3, &TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
    let stored = messages(&store, &chat.id).await.remove(0);
    let replaced = "\u{fffd}".to_owned();
    assert_eq!(
        stored.parts,
        [
            Part::Text { text: "a\u{fffd}b".into() },
            Part::ToolCall { id: replaced.clone(), name: replaced, arguments },
        ]
    );
}

async fn sql_in_texts_is_harmless(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let hostile = [
        "'); DROP TABLE prowess_chats; --",
        "$1 $2 ?1 :a @b %s {} \\",
        "\"; DELETE FROM prowess_messages; --",
        "\\u0000 \\x00 E'\\000'",
        "$$ ; $tag$ x $tag$",
        "\u{feff}\u{202e}\u{e0041}\x1b[31m\r\n\t",
    ];
    for text in hostile {
        store.add_user_message(&chat.id, text).await.unwrap();
        store.record_skill_uses(&[text.to_owned()]).await.unwrap();
        store.set_skills(&chat.id, &[text.to_owned()]).await.unwrap();
        assert_eq!(store.chat(&chat.id).await.unwrap().activated_skill_names, [text]);
    }
    let stored: Vec<_> = messages(&store, &chat.id).await.iter().map(message_text).collect();
    assert_eq!(stored, hostile);
    assert_eq!(store.skill_uses().await.unwrap().len(), hostile.len());
}

/// Checks that any text in any field is stored unchanged.
fn round_trip(fixture: &TestStore) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let store = runtime.block_on(fixture.open());
    let strategy =
        (any::<String>(), any::<String>(), "\\PC{0,40}", proptest::collection::vec(any::<String>(), 0..4));
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&strategy, |(question, answer, title, names)| {
        let question = question.replace('\0', "");
        let answer = answer.replace('\0', "");
        let title: String = title.chars().filter(|c| !c.is_control()).collect();
        let names: Vec<_> = names.iter().map(|name| name.replace('\0', "")).collect();
        runtime.block_on(async {
            let chat = store
                .create_chat(NewChat { title: title.clone(), preset: question.chars().take(256).collect() });
            let chat = chat.await.map_err(failed)?;
            store.set_skills(&chat.id, &names).await.map_err(failed)?;
            let (_, turn) = store.ask(&chat.id, question.as_str().into()).await.map_err(failed)?;
            let arguments = json!({answer.clone(): [question, {"a": answer}]});
            let call = TurnEvent::ToolCall {
                id: answer.clone(),
                name: question.clone(),
                arguments: arguments.clone(),
            };
            store
                .append_events(&turn, 1, &[call.clone(), delta("."), delta(&answer)])
                .await
                .map_err(failed)?;
            let page = store.messages(&chat.id, None, 10).await.map_err(failed)?;
            prop_assert_eq!(message_text(&page.messages[0]), question.clone());
            let parts = [
                Part::ToolCall { id: answer.clone(), name: question.clone(), arguments },
                Part::Text { text: format!(".{answer}") },
            ];
            prop_assert_eq!(&page.messages[1].parts, &parts);
            store.end(&turn, 4, &TurnOutcome::failed(ErrorCode::Timeout, &answer)).await.map_err(failed)?;
            let page = store.messages(&chat.id, None, 10).await.map_err(failed)?;
            prop_assert_eq!(&page.messages[1].parts, &parts);
            prop_assert_eq!(crate::store::support::interruption(&page.messages[1]), &answer);
            let events = store.events_after(&chat.id, 0).await.map_err(failed)?.events;
            prop_assert_eq!(&events[0].event, &call);
            let chat = store.chat(&chat.id).await.map_err(failed)?;
            prop_assert_eq!(chat.title, title);
            Ok(())
        })
    });
    outcome.unwrap();
}

fn failed(error: prowess_chat::store::StoreError) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

#[test]
fn sqlite_preserves_any_text() {
    round_trip(&TestStore::sqlite());
}

#[test]
fn postgres_preserves_any_text() {
    round_trip(&TestStore::postgres());
}
