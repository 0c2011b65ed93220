//! Turns: one at a time, numbered, repeatable, ended once.

use std::time::Duration;

use prowess::ErrorCode;
use prowess_chat::store::{Numbered, StoreError, TurnWriter};
use prowess_chat::{End, Ending};
use prowess_chat::{Event, Part, State, Usage};
use serde_json::json;

use crate::store::world::{World, both, call, exchange, marker, messages, new_chat, result, said, words};

both![
    an_answer_is_kept_as_it_is_said,
    one_answer_at_a_time,
    calls_may_be_repeated,
    events_that_do_not_follow_are_refused,
    an_answer_can_be_stopped_by_others,
    a_writer_that_is_dropped_leaves_a_marker,
    many_small_words_are_numbered_at_once,
    an_answer_has_a_bound,
    what_is_nested_too_deeply_leaves_the_chat_readable,
    endings_are_kept,
];

async fn an_answer_is_kept_as_it_is_said(world: &mut World) {
    let (store, chat) = world.chat().await;
    let (question, turn) = store.ask(&chat.id, "What is in it?").await.unwrap();
    assert_eq!(store.chat(&chat.id).await.unwrap().writing.as_ref(), Some(&turn.message));
    let mut writer = TurnWriter::new(store.clone(), turn.clone());
    for event in [said("Let me "), said("look."), call("1"), result("1"), said("A form.")] {
        writer.push(event).await.unwrap();
    }
    writer.flush().await.unwrap();
    let page = store.messages(&chat.id, None, 10).await.unwrap();
    assert_eq!((page.messages.len(), page.seq), (2, 5));
    assert_eq!(page.messages[0], question);
    let answer = &page.messages[1];
    assert_eq!((answer.state.clone(), words(answer)), (State::Writing, "Let me look.A form.".to_owned()));

    let usage = Usage { input: 5, output: 2, cached: 1 };
    let last = writer.end(Ending::finished(End::Finished, Some(usage))).await.unwrap();
    assert_eq!(last.seq, 6);
    let kept = messages(&store, &chat.id).await.remove(1);
    assert_eq!(
        (kept.id.as_str(), &kept.parts, kept.usage),
        (turn.message.as_str(), &answer.parts, Some(usage))
    );
    assert_eq!(kept.state, State::Complete);
    let body = json!({"digest": prowess::digest(b"Read the form first."), "bytes": 20});
    assert!(matches!(&kept.parts[2], Part::ToolResult { summary, .. } if summary["body"] == body));
    assert_eq!(store.chat(&chat.id).await.unwrap().writing, None);
}

async fn one_answer_at_a_time(world: &mut World) {
    let (store, chat) = world.chat().await;
    let turn = store.begin(&chat.id).await.unwrap();
    assert_eq!(store.begin(&chat.id).await, Err(StoreError::Writing));
    assert_eq!(store.say(&chat.id, "x").await, Err(StoreError::Writing));
    assert_eq!(store.ask(&chat.id, "x").await.unwrap_err().code(), ErrorCode::Conflict);
    assert_eq!(store.chat(&chat.id).await.unwrap().messages, 1);
    assert_eq!(store.sweep().await.unwrap(), Vec::<String>::new());
    let other = new_chat(&store).await;
    store.begin(&other.id).await.unwrap();
    store.end(&turn, turn.first, &Ending::finished(End::Finished, None)).await.unwrap();
    store.begin(&chat.id).await.unwrap();
}

async fn calls_may_be_repeated(world: &mut World) {
    let (store, chat) = world.chat().await;
    let turn = store.begin(&chat.id).await.unwrap();
    store.append(&turn, 1, &[said("a"), said("b")]).await.unwrap();
    store.append(&turn, 1, &[said("a"), said("b")]).await.unwrap();
    store.append(&turn, 1, &[said("a"), said("b"), said("c")]).await.unwrap();
    store.append(&turn, 3, &[said("c"), said("d")]).await.unwrap();
    let ending = Ending::finished(End::Finished, None);
    let last = store.end(&turn, 5, &ending).await.unwrap();
    assert_eq!(store.end(&turn, 5, &ending).await.unwrap(), last);
    assert_eq!(store.end(&turn, 5, &Ending::finished(End::Cancelled, None)).await, Err(StoreError::Ended));
    assert_eq!(store.append(&turn, 6, &[said("e")]).await, Err(StoreError::Ended));
    assert_eq!(words(&messages(&store, &chat.id).await[0]), "abcd");
    assert_eq!(store.events_after(&chat.id, 0).await.unwrap().events.len(), 5);
}

async fn events_that_do_not_follow_are_refused(world: &mut World) {
    let (store, chat) = world.chat().await;
    let turn = store.begin(&chat.id).await.unwrap();
    assert_eq!(store.append(&turn, 3, &[said("c")]).await.unwrap_err().code(), ErrorCode::InternalError);
    assert_eq!(store.events_after(&chat.id, 0).await.unwrap().events, []);
}

async fn an_answer_can_be_stopped_by_others(world: &mut World) {
    let (store, chat) = world.chat().await;
    let other = world.open().await;
    let cancelled = Ending::finished(End::Cancelled, None);
    assert!(!other.stop(&chat.id, &cancelled).await.unwrap());
    let turn = store.begin(&chat.id).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn);
    writer.push(said("So ")).await.unwrap();
    writer.flush().await.unwrap();
    assert!(other.stop(&chat.id, &cancelled).await.unwrap());
    let stopped = loop {
        if let Err(error) = writer.push(said("it goes on ")).await {
            break error;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(stopped, StoreError::Ended);
    let kept = messages(&store, &chat.id).await;
    assert_eq!((words(&kept[0]).as_str(), marker(&kept[0])), ("So ", "the turn was cancelled"));
    store.ask(&chat.id, "again").await.unwrap();
}

async fn a_writer_that_is_dropped_leaves_a_marker(world: &mut World) {
    let (store, chat) = world.chat().await;
    let turn = store.begin(&chat.id).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn);
    writer.push(said("half a ")).await.unwrap();
    drop(writer);
    crate::store::world::until(async || store.chat(&chat.id).await.unwrap().writing.is_none()).await;
    let kept = messages(&store, &chat.id).await;
    assert_eq!(words(&kept[0]), "half a ");
    insta::assert_snapshot!(marker(&kept[0]), @"the answer broke off; this is what was said until then");
}

async fn many_small_words_are_numbered_at_once(world: &mut World) {
    let (store, chat) = world.chat().await;
    exchange(&store, &chat.id, "first", "one").await;
    let turn = store.begin(&chat.id).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn.clone());
    let mut pushed = Vec::new();
    for n in 0..2_000 {
        pushed.push(writer.push(said(&format!("{n} "))).await.unwrap());
    }
    pushed.push(writer.end(Ending::finished(End::Finished, None)).await.unwrap());
    assert!(pushed.iter().zip(turn.first..).all(|(Numbered { seq, .. }, expected)| *seq == expected));
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
    assert_eq!(words(&messages(&store, &chat.id).await[2]), expected);
}

async fn an_answer_has_a_bound(world: &mut World) {
    let (store, chat) = world.chat().await;
    let turn = store.begin(&chat.id).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn);
    let much = "x".repeat(8 * 1024 * 1024);
    let refused = loop {
        if let Err(error) = writer.push(said(&much)).await {
            break error;
        }
        if let Err(error) = writer.flush().await {
            break error;
        }
    };
    assert_eq!(refused.code(), ErrorCode::TooLarge);
    crate::store::world::until(async || store.chat(&chat.id).await.unwrap().writing.is_none()).await;
    let kept = messages(&store, &chat.id).await;
    assert_eq!(words(&kept[0]).len(), 3 * much.len());
    assert!(marker(&kept[0]).contains("33554432"), "{}", marker(&kept[0]));
}

async fn what_is_nested_too_deeply_leaves_the_chat_readable(world: &mut World) {
    let (store, chat) = world.chat().await;
    let turn = store.begin(&chat.id).await.unwrap();
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!({"a": inner}));
    for (n, depth) in [(1, 90), (2, 120)] {
        let event = Event::ToolCall { id: "1".into(), name: "x".into(), arguments: nested(depth) };
        store.append(&turn, n, &[event]).await.unwrap();
    }
    let read = messages(&store, &chat.id).await;
    store.end(&turn, 3, &Ending::finished(End::Finished, None)).await.unwrap();
    assert_eq!(messages(&store, &chat.id).await[0].parts, read[0].parts);
    assert!(matches!(&read[0].parts[0], Part::ToolCall { arguments, .. } if *arguments == nested(90)));
}

async fn endings_are_kept(world: &mut World) {
    let (store, chat) = world.chat().await;
    let endings = [
        Ending::finished(End::Steps, None),
        Ending::finished(End::Cancelled, None),
        Ending::broken(ErrorCode::Timeout, "the model did not answer\0"),
    ];
    for ending in &endings {
        let turn = store.begin(&chat.id).await.unwrap();
        store.end(&turn, turn.first, ending).await.unwrap();
    }
    let states: Vec<_> = messages(&store, &chat.id).await.into_iter().map(|message| message.state).collect();
    assert_eq!(states, endings.map(|ending| ending.state()));
}
