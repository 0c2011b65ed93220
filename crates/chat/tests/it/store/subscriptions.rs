//! Following a chat, in this process and from another one.

use prowess_chat::TurnEvent;
use prowess_chat::store::{ChatFollower, FollowedEvent, NumberedEvent, Store, StoreError, Topic, TurnWriter};
use prowess_chat::{EndReason, TurnOutcome};
use std::sync::Arc;

use crate::store::support::{TestStore, both, delta, exchange};

both![
    a_stream_can_be_resumed,
    a_turn_can_be_followed,
    a_turn_can_be_followed_from_another_store,
    missed_events_are_reported,
    following_a_deleted_chat_fails,
    announcements_reach_all_subscribers,
];

/// Returns the events up to the end of a turn.
async fn events_of_turn(follow: &mut ChatFollower) -> Vec<NumberedEvent> {
    let mut events = Vec::new();
    loop {
        match follow.next().await.unwrap() {
            FollowedEvent::Event(event) => events.push(event),
            FollowedEvent::Missed => panic!("missed"),
        }
        if matches!(events.last().unwrap().event, TurnEvent::Done { .. } | TurnEvent::Error { .. }) {
            return events;
        }
    }
}

async fn a_stream_can_be_resumed(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    store.append_events(&turn, 1, &[delta("a"), delta("b"), delta("c")]).await.unwrap();
    store.append_events(&turn, 4, &[delta("d")]).await.unwrap();
    store.end(&turn, 5, &TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
    for seen in 0..5 {
        let events = store.events_after(&chat.id, seen).await.unwrap();
        let numbers: Vec<_> = events.events.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (seen + 1..=5).collect::<Vec<_>>());
        assert_eq!((events.missed, events.last), (false, 5));
    }
    let events = store.events_after(&chat.id, 5).await.unwrap();
    assert_eq!((events.events, events.missed), (vec![], false));
    assert!(store.events_after(&chat.id, 99).await.unwrap().missed);
    assert!(store.events_after(&chat.id, u64::MAX).await.unwrap().missed);
}

async fn follow_from(writer: Arc<dyn Store>, reader: Arc<dyn Store>, chat: &str) {
    let turn = writer.begin_turn(chat).await.unwrap();
    let mut follow = ChatFollower::new(reader.clone(), chat, turn.first - 1);
    let task = tokio::spawn(async move { events_of_turn(&mut follow).await });
    let mut turn_writer = TurnWriter::new(writer, turn);
    let mut pushed = Vec::new();
    for n in 0..40 {
        pushed.push(turn_writer.push(delta(&n.to_string())).await.unwrap());
        if n % 10 == 0 {
            turn_writer.flush().await.unwrap();
        }
    }
    pushed.push(turn_writer.end(TurnOutcome::finished(EndReason::Finished, None)).await.unwrap());
    assert_eq!(task.await.unwrap(), pushed);
}

async fn a_turn_can_be_followed(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    follow_from(store.clone(), store.clone(), &chat.id).await;
    follow_from(store.clone(), store, &chat.id).await;
}

async fn a_turn_can_be_followed_from_another_store(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let other = fixture.open().await;
    follow_from(store, other, &chat.id).await;
}

async fn missed_events_are_reported(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    for n in 0..4 {
        exchange(&store, &chat.id, "again", &n.to_string()).await;
    }
    // Each turn has two events: those of the last two turns are 5 to 8.
    assert!(store.events_after(&chat.id, 3).await.unwrap().missed);
    assert_eq!(store.events_after(&chat.id, 4).await.unwrap().events.len(), 4);
    let mut follow = ChatFollower::new(store.clone(), &chat.id, 1);
    assert_eq!(follow.next().await.unwrap(), FollowedEvent::Missed);
    exchange(&store, &chat.id, "again", "x").await;
    assert_eq!(events_of_turn(&mut follow).await[0].event, delta("x"));
}

async fn following_a_deleted_chat_fails(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let mut follow = ChatFollower::new(store.clone(), &chat.id, 0);
    let task = tokio::spawn(async move { follow.next().await });
    store.delete_chat(&chat.id).await.unwrap();
    assert_eq!(task.await.unwrap(), Err(StoreError::ChatNotFound));
}

async fn announcements_reach_all_subscribers(fixture: &mut TestStore) {
    let store = fixture.open().await;
    let (mut first, mut other) = (store.announcements(), store.announcements());
    store.announce(Topic::Skills);
    assert_eq!((first.next().await, other.next().await), (Some(Topic::Skills), Some(Topic::Skills)));
    let chat = crate::store::support::new_chat(&store).await;
    store.delete_chat(&chat.id).await.unwrap();
    assert_eq!(first.next().await, Some(Topic::Chats));
}
