//! Killed processes and lost databases: text that was written stays, and work continues.

use std::time::Duration;

use prowess::ErrorCode;
use prowess_chat::MessageState;
use prowess_chat::store::{ChatFollower, FollowedEvent, StoreError, Topic, TurnWriter};
use prowess_chat::{EndReason, TurnOutcome};

use crate::store::child::{Job, Process};
use crate::store::support::{TestStore, both, delta, interruption, message_text, messages, wait_until};

both![a_killed_process_loses_no_stored_text, a_turn_of_a_live_process_is_not_ended];

async fn a_killed_process_loses_no_stored_text(fixture: &mut TestStore) {
    // Killed at three arbitrary moments.
    for enough in [1, 7, 40] {
        let mut process = Process::start(fixture, Job::Write);
        process.wait_for_notes(enough + 1).await;
        process.kill();
        let notes = process.notes();
        let (chat, last) = (&notes[0], notes.len() - 2);

        let store = fixture.open().await;
        // The chat is readable before the turn is ended.
        assert!(message_text(&messages(&store, chat).await[1]).starts_with("0 "));
        wait_until(async || {
            store.end_abandoned_turns().await.unwrap();
            store.chat(chat).await.unwrap().writing.is_none()
        })
        .await;
        let stored = messages(&store, chat).await;
        let numbers: Vec<usize> =
            message_text(&stored[1]).split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
        assert!(numbers.len() > last, "{} of {last}", numbers.len());
        assert_eq!(
            interruption(&stored[1]),
            "the process that was replying stopped; this is the reply up to that point"
        );

        // Followers see the end, and a new turn can start.
        let events = store.events_after(chat, stored[1].parts.len() as u64 - 1).await.unwrap();
        assert!(events.last > numbers.len() as u64);
        let (_, turn) = store.ask(chat, "again".into()).await.unwrap();
        store.end(&turn, turn.first, &TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
        assert_eq!(store.chat(chat).await.unwrap().messages, 4);
    }
}

async fn a_turn_of_a_live_process_is_not_ended(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let mut dead = Process::start(fixture, Job::Write);
    let notes = dead.wait_for_notes(2).await;
    dead.kill();
    let other = fixture.open().await;
    wait_until(async || other.chat(&notes[0]).await.unwrap().writing.is_none()).await;
    assert_eq!(other.chat(&chat.id).await.unwrap().writing, Some(turn.message.clone()));
    store.append_events(&turn, turn.first, &[delta("still here")]).await.unwrap();
    store.end(&turn, turn.first + 1, &TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
    assert_eq!(messages(&other, &chat.id).await[0].state, MessageState::Complete);
}

/// A new turn in the chat of a killed process starts without waiting.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_detects_exited_processes_at_once() {
    let fixture = TestStore::sqlite();
    let store = fixture.open().await;
    let mut process = Process::start(&fixture, Job::Write);
    let chat = process.wait_for_notes(3).await.remove(0);
    assert_eq!(store.begin_turn(&chat).await, Err(StoreError::TurnInProgress));
    process.kill();
    store.ask(&chat, "again".into()).await.unwrap();
    let stored = messages(&store, &chat).await;
    assert!(message_text(&stored[1]).starts_with("0 1 "));
    assert!(!interruption(&stored[1]).is_empty());
}

/// Stops the server in the middle of a turn with this signal, and starts it again.
async fn restart_server(signal: &str) {
    let mut fixture = TestStore::postgres();
    let (store, chat) = fixture.chat().await;
    let other = fixture.open().await;
    let mut announced = other.announcements();
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let mut follow = ChatFollower::new(other.clone(), &chat.id, turn.first - 1);
    let mut writer = TurnWriter::new(store.clone(), turn);
    for n in 0..20 {
        writer.push(delta(&format!("{n} "))).await.unwrap();
    }
    writer.flush().await.unwrap();

    fixture.server.as_mut().unwrap().stop(signal);
    assert_eq!(store.chat(&chat.id).await.unwrap_err().code(), ErrorCode::Unavailable);
    assert!(store.check().await.unwrap_err().is_retryable());
    assert!(fixture.try_open().await.err().unwrap().is_retryable());
    for n in 20..40 {
        writer.push(delta(&format!("{n} "))).await.unwrap();
    }
    // Longer than the lease: turns must not be ended because the database was unreachable.
    tokio::time::sleep(Duration::from_secs(3)).await;
    fixture.server.as_mut().unwrap().run();

    writer.push(delta("end")).await.unwrap();
    writer.end(TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
    let stored = messages(&store, &chat.id).await;
    let expected: String = (0..40).map(|n| format!("{n} ")).collect::<String>() + "end";
    assert_eq!((message_text(&stored[0]), stored[0].state.clone()), (expected, MessageState::Complete));
    let mut seen = 0;
    while seen < 42 {
        match follow.next().await {
            Ok(FollowedEvent::Event(event)) => {
                seen += 1;
                assert_eq!(event.seq, seen);
            }
            Ok(FollowedEvent::Missed) => panic!("missed"),
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
    }
    // Announcements were missed meanwhile: that is reported, and then they work again.
    wait_until(async || announced.next().await == Some(Topic::Missed)).await;
    store.announce(Topic::Skills);
    wait_until(async || announced.next().await == Some(Topic::Skills)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_restarted() {
    restart_server("INT").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_crashes_and_restarts() {
    restart_server("QUIT").await;
}

/// The turn fails, and its text is stored as soon as possible.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_unreachable_for_too_long() {
    let mut fixture = TestStore::postgres();
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let mut writer = TurnWriter::with_timeout(store.clone(), turn, Duration::from_millis(300));
    writer.push(delta("one ")).await.unwrap();
    writer.flush().await.unwrap();
    fixture.server.as_mut().unwrap().stop("QUIT");
    writer.push(delta("two")).await.unwrap();
    let failure = loop {
        if let Err(error) = writer.push(delta("")).await {
            break error;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(failure.code(), ErrorCode::Unavailable);
    fixture.server.as_mut().unwrap().run();
    wait_until(async || matches!(store.chat(&chat.id).await, Ok(chat) if chat.writing.is_none())).await;
    let stored = messages(&store, &chat.id).await;
    assert_eq!(message_text(&stored[0]), "one two");
    assert!(interruption(&stored[0]).starts_with("cannot reach the store"), "{}", interruption(&stored[0]));
}
