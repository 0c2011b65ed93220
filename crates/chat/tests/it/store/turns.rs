//! Turns: one at a time, numbered, repeatable, ended once.

use std::time::Duration;

use prowess::ErrorCode;
use prowess_chat::store::{NumberedEvent, StoreError, TurnWriter};
use prowess_chat::{EndReason, TurnOutcome};
use prowess_chat::{MessageState, Part, TokenUsage, TurnEvent};
use serde_json::json;

use crate::store::support::{
    TestStore, both, call, delta, exchange, interruption, message_text, messages, new_chat, result,
};

both![
    a_turn_is_stored_as_it_is_written,
    only_one_turn_at_a_time,
    calls_may_be_repeated,
    events_that_do_not_follow_are_refused,
    a_turn_can_be_stopped_by_another_process,
    dropping_a_writer_marks_the_message,
    many_small_events_are_numbered_at_once,
    the_size_of_a_turn_is_limited,
    deeply_nested_arguments_leave_the_chat_readable,
    outcomes_are_stored,
];

async fn a_turn_is_stored_as_it_is_written(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let (question, turn) = store.ask(&chat.id, "What is in it?".into()).await.unwrap();
    assert_eq!(store.chat(&chat.id).await.unwrap().writing.as_ref(), Some(&turn.message));
    let mut writer = TurnWriter::new(store.clone(), turn.clone());
    for event in [delta("Let me "), delta("look."), call("1"), result("1"), delta("A form.")] {
        writer.push(event).await.unwrap();
    }
    writer.flush().await.unwrap();
    let page = store.messages(&chat.id, None, 10).await.unwrap();
    assert_eq!((page.messages.len(), page.seq), (2, 5));
    assert_eq!(page.messages[0], question);
    let answer = &page.messages[1];
    assert_eq!(
        (answer.state.clone(), message_text(answer)),
        (MessageState::Writing, "Let me look.A form.".to_owned())
    );

    let usage = TokenUsage { input: 5, output: 2, cached: 1, cache_writes: 0 };
    let last = writer.end(TurnOutcome::finished(EndReason::Finished, Some(usage))).await.unwrap();
    assert_eq!(last.seq, 6);
    let stored = messages(&store, &chat.id).await.remove(1);
    assert_eq!(
        (stored.id.as_str(), &stored.parts, stored.usage),
        (turn.message.as_str(), &answer.parts, Some(usage))
    );
    assert_eq!(stored.state, MessageState::Complete);
    let body = json!({"digest": prowess::digest(b"Read the form first."), "bytes": 20});
    assert!(matches!(&stored.parts[2], Part::ToolResult { summary, .. } if summary["body"] == body));
    assert_eq!(store.chat(&chat.id).await.unwrap().writing, None);
}

async fn only_one_turn_at_a_time(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    assert_eq!(store.begin_turn(&chat.id).await, Err(StoreError::TurnInProgress));
    assert_eq!(store.add_user_message(&chat.id, "x").await, Err(StoreError::TurnInProgress));
    assert_eq!(store.ask(&chat.id, "x".into()).await.unwrap_err().code(), ErrorCode::Conflict);
    assert_eq!(store.chat(&chat.id).await.unwrap().messages, 1);
    assert_eq!(store.end_abandoned_turns().await.unwrap(), Vec::<String>::new());
    let other = new_chat(&store).await;
    store.begin_turn(&other.id).await.unwrap();
    store.end(&turn, turn.first, &TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
    store.begin_turn(&chat.id).await.unwrap();
}

async fn calls_may_be_repeated(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    store.append_events(&turn, 1, &[delta("a"), delta("b")]).await.unwrap();
    store.append_events(&turn, 1, &[delta("a"), delta("b")]).await.unwrap();
    store.append_events(&turn, 1, &[delta("a"), delta("b"), delta("c")]).await.unwrap();
    store.append_events(&turn, 3, &[delta("c"), delta("d")]).await.unwrap();
    let outcome = TurnOutcome::finished(EndReason::Finished, None);
    let last = store.end(&turn, 5, &outcome).await.unwrap();
    assert_eq!(store.end(&turn, 5, &outcome).await.unwrap(), last);
    assert_eq!(
        store.end(&turn, 5, &TurnOutcome::finished(EndReason::Cancelled, None)).await,
        Err(StoreError::TurnEnded)
    );
    assert_eq!(store.append_events(&turn, 6, &[delta("e")]).await, Err(StoreError::TurnEnded));
    assert_eq!(message_text(&messages(&store, &chat.id).await[0]), "abcd");
    assert_eq!(store.events_after(&chat.id, 0).await.unwrap().events.len(), 5);
}

async fn events_that_do_not_follow_are_refused(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    assert_eq!(
        store.append_events(&turn, 3, &[delta("c")]).await.unwrap_err().code(),
        ErrorCode::InternalError
    );
    assert_eq!(store.events_after(&chat.id, 0).await.unwrap().events, []);
}

async fn a_turn_can_be_stopped_by_another_process(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let other = fixture.open().await;
    let cancelled = TurnOutcome::finished(EndReason::Cancelled, None);
    assert!(!other.stop_turn(&chat.id, &cancelled).await.unwrap());
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn);
    writer.push(delta("So ")).await.unwrap();
    writer.flush().await.unwrap();
    assert!(other.stop_turn(&chat.id, &cancelled).await.unwrap());
    let stopped = loop {
        if let Err(error) = writer.push(delta("it goes on ")).await {
            break error;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(stopped, StoreError::TurnEnded);
    let stored = messages(&store, &chat.id).await;
    assert_eq!(
        (message_text(&stored[0]).as_str(), interruption(&stored[0])),
        ("So ", "the turn was cancelled")
    );
    store.ask(&chat.id, "again".into()).await.unwrap();
}

async fn dropping_a_writer_marks_the_message(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn);
    writer.push(delta("half a ")).await.unwrap();
    drop(writer);
    crate::store::support::wait_until(async || store.chat(&chat.id).await.unwrap().writing.is_none()).await;
    let stored = messages(&store, &chat.id).await;
    assert_eq!(message_text(&stored[0]), "half a ");
    insta::assert_snapshot!(interruption(&stored[0]), @"the reply was interrupted; this is the text up to that point");
}

async fn many_small_events_are_numbered_at_once(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    exchange(&store, &chat.id, "first", "one").await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn.clone());
    let mut pushed = Vec::new();
    for n in 0..2_000 {
        pushed.push(writer.push(delta(&format!("{n} "))).await.unwrap());
    }
    pushed.push(writer.end(TurnOutcome::finished(EndReason::Finished, None)).await.unwrap());
    assert!(pushed.iter().zip(turn.first..).all(|(NumberedEvent { seq, .. }, expected)| *seq == expected));
    let mut found = Vec::new();
    loop {
        let events = store.events_after(&chat.id, turn.first - 1 + found.len() as u64).await.unwrap();
        if events.events.is_empty() {
            break;
        }
        found.extend(events.events);
    }
    assert_eq!(found, pushed);
    let expected: String = (0..2_000).map(|n| format!("{n} ")).collect();
    assert_eq!(message_text(&messages(&store, &chat.id).await[2]), expected);
}

async fn the_size_of_a_turn_is_limited(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn);
    let much = "x".repeat(8 * 1024 * 1024);
    let refused = loop {
        if let Err(error) = writer.push(delta(&much)).await {
            break error;
        }
        if let Err(error) = writer.flush().await {
            break error;
        }
    };
    assert_eq!(refused.code(), ErrorCode::TooLarge);
    crate::store::support::wait_until(async || store.chat(&chat.id).await.unwrap().writing.is_none()).await;
    let stored = messages(&store, &chat.id).await;
    assert_eq!(message_text(&stored[0]).len(), 3 * much.len());
    assert!(interruption(&stored[0]).contains("33554432"), "{}", interruption(&stored[0]));
}

async fn deeply_nested_arguments_leave_the_chat_readable(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!({"a": inner}));
    for (n, depth) in [(1, 90), (2, 120)] {
        let event = TurnEvent::ToolCall { id: "1".into(), name: "x".into(), arguments: nested(depth) };
        store.append_events(&turn, n, &[event]).await.unwrap();
    }
    let read = messages(&store, &chat.id).await;
    store.end(&turn, 3, &TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
    assert_eq!(messages(&store, &chat.id).await[0].parts, read[0].parts);
    assert!(matches!(&read[0].parts[0], Part::ToolCall { arguments, .. } if *arguments == nested(90)));
}

async fn outcomes_are_stored(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let outcomes = [
        TurnOutcome::finished(EndReason::Steps, None),
        TurnOutcome::finished(EndReason::Cancelled, None),
        TurnOutcome::failed(ErrorCode::Timeout, "the model did not answer\0"),
    ];
    for outcome in &outcomes {
        let turn = store.begin_turn(&chat.id).await.unwrap();
        store.end(&turn, turn.first, outcome).await.unwrap();
    }
    let states: Vec<_> = messages(&store, &chat.id).await.into_iter().map(|message| message.state).collect();
    assert_eq!(states, outcomes.map(|outcome| outcome.message_state()));
}
