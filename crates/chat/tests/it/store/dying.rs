//! Processes that are killed, and a database that goes away: what was said until then is there, and it goes on.

use std::time::Duration;

use prowess::ErrorCode;
use prowess_chat::State;
use prowess_chat::store::{Follow, Followed, StoreError, Topic, TurnWriter};
use prowess_chat::{End, Ending};

use crate::store::child::{Job, Process};
use crate::store::world::{World, both, marker, messages, said, until, words};

both![a_process_that_is_killed_loses_nothing_that_was_said, a_living_turn_is_left_alone];

async fn a_process_that_is_killed_loses_nothing_that_was_said(world: &mut World) {
    // Killed at three moments, none of them chosen.
    for enough in [1, 7, 40] {
        let mut process = Process::start(world, Job::Write);
        process.noted(enough + 1).await;
        process.kill();
        let notes = process.notes();
        let (chat, last) = (&notes[0], notes.len() - 2);

        let store = world.open().await;
        // Before anybody has noticed, the chat can be read as well.
        assert!(words(&messages(&store, chat).await[1]).starts_with("0 "));
        until(async || {
            store.sweep().await.unwrap();
            store.chat(chat).await.unwrap().writing.is_none()
        })
        .await;
        let kept = messages(&store, chat).await;
        let said: Vec<usize> = words(&kept[1]).split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(said, (0..said.len()).collect::<Vec<_>>());
        assert!(said.len() > last, "{} of {last}", said.len());
        assert_eq!(
            marker(&kept[1]),
            "the program that was answering stopped; this is what it said until then"
        );

        // Those who followed it are told, and sending again works.
        let events = store.events_after(chat, kept[1].parts.len() as u64 - 1).await.unwrap();
        assert!(events.last > said.len() as u64);
        let (_, turn) = store.ask(chat, "again").await.unwrap();
        store.end(&turn, turn.first, &Ending::finished(End::Finished, None)).await.unwrap();
        assert_eq!(store.chat(chat).await.unwrap().messages, 4);
    }
}

async fn a_living_turn_is_left_alone(world: &mut World) {
    let (store, chat) = world.chat().await;
    let turn = store.begin(&chat.id).await.unwrap();
    let mut dead = Process::start(world, Job::Write);
    let notes = dead.noted(2).await;
    dead.kill();
    let other = world.open().await;
    until(async || other.chat(&notes[0]).await.unwrap().writing.is_none()).await;
    assert_eq!(other.chat(&chat.id).await.unwrap().writing, Some(turn.message.clone()));
    store.append(&turn, turn.first, &[said("still here")]).await.unwrap();
    store.end(&turn, turn.first + 1, &Ending::finished(End::Finished, None)).await.unwrap();
    assert_eq!(messages(&other, &chat.id).await[0].state, State::Complete);
}

/// Whoever begins in a chat whose writer was killed does not wait for anybody to notice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_sqlite_it_is_known_at_once_that_a_process_is_gone() {
    let world = World::sqlite();
    let store = world.open().await;
    let mut process = Process::start(&world, Job::Write);
    let chat = process.noted(3).await.remove(0);
    assert_eq!(store.begin(&chat).await, Err(StoreError::Writing));
    process.kill();
    store.ask(&chat, "again").await.unwrap();
    let kept = messages(&store, &chat).await;
    assert!(words(&kept[1]).starts_with("0 1 "));
    assert!(!marker(&kept[1]).is_empty());
}

/// Stops the server in the middle of an answer, in order or as if the power failed.
async fn gone_and_back(signal: &str) {
    let mut world = World::postgres();
    let (store, chat) = world.chat().await;
    let other = world.open().await;
    let mut announced = other.announcements();
    let turn = store.begin(&chat.id).await.unwrap();
    let mut follow = Follow::new(other.clone(), &chat.id, turn.first - 1);
    let mut writer = TurnWriter::new(store.clone(), turn);
    for n in 0..20 {
        writer.push(said(&format!("{n} "))).await.unwrap();
    }
    writer.flush().await.unwrap();

    world.server.as_mut().unwrap().stop(signal);
    assert_eq!(store.chat(&chat.id).await.unwrap_err().code(), ErrorCode::Unavailable);
    assert!(store.check().await.unwrap_err().is_passing());
    assert!(world.try_open().await.err().unwrap().is_passing());
    for n in 20..40 {
        writer.push(said(&format!("{n} "))).await.unwrap();
    }
    // Longer than the lease: nobody may be given up because the database was away.
    tokio::time::sleep(Duration::from_secs(3)).await;
    world.server.as_mut().unwrap().run();

    writer.push(said("end")).await.unwrap();
    writer.end(Ending::finished(End::Finished, None)).await.unwrap();
    let kept = messages(&store, &chat.id).await;
    let expected: String = (0..40).map(|n| format!("{n} ")).collect::<String>() + "end";
    assert_eq!((words(&kept[0]), kept[0].state.clone()), (expected, State::Complete));
    let mut seen = 0;
    while seen < 42 {
        match follow.next().await {
            Ok(Followed::Event(event)) => {
                seen += 1;
                assert_eq!(event.seq, seen);
            }
            Ok(Followed::Missed) => panic!("missed"),
            Err(error) => assert!(error.is_passing(), "{error}"),
        }
    }
    // What was announced meanwhile did not get here: that is said, and then it works again.
    until(async || announced.next().await == Some(Topic::Missed)).await;
    store.announce(Topic::Skills);
    until(async || announced.next().await == Some(Topic::Skills)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_stopped_and_started_again() {
    gone_and_back("INT").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_crashes_and_comes_back() {
    gone_and_back("QUIT").await;
}

/// The turn is given up, and what was said is kept all the same once that can be done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_for_too_long() {
    let mut world = World::postgres();
    let (store, chat) = world.chat().await;
    let turn = store.begin(&chat.id).await.unwrap();
    let mut writer = TurnWriter::with_patience(store.clone(), turn, Duration::from_millis(300));
    writer.push(said("one ")).await.unwrap();
    writer.flush().await.unwrap();
    world.server.as_mut().unwrap().stop("QUIT");
    writer.push(said("two")).await.unwrap();
    let given_up = loop {
        if let Err(error) = writer.push(said("")).await {
            break error;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(given_up.code(), ErrorCode::Unavailable);
    world.server.as_mut().unwrap().run();
    until(async || matches!(store.chat(&chat.id).await, Ok(chat) if chat.writing.is_none())).await;
    let kept = messages(&store, &chat.id).await;
    assert_eq!(words(&kept[0]), "one two");
    assert!(marker(&kept[0]).starts_with("the store cannot be reached"), "{}", marker(&kept[0]));
}
