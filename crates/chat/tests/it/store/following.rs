//! Following a chat, in this process and from another.

use prowess_chat::Event;
use prowess_chat::store::{Follow, Followed, Numbered, Store, StoreError, Topic, TurnWriter};
use prowess_chat::{End, Ending};
use std::sync::Arc;

use crate::store::world::{World, both, exchange, said};

both![
    a_stream_is_resumed_where_it_broke_off,
    an_answer_is_followed_while_it_is_written,
    an_answer_is_followed_through_another_store,
    what_is_not_kept_any_more_is_told,
    whoever_follows_a_deleted_chat_is_told,
    announcements_reach_everybody_here,
];

/// Events until the end of a turn.
async fn turn(follow: &mut Follow) -> Vec<Numbered> {
    let mut events = Vec::new();
    loop {
        match follow.next().await.unwrap() {
            Followed::Event(event) => events.push(event),
            Followed::Missed => panic!("missed"),
        }
        if matches!(events.last().unwrap().event, Event::Done { .. } | Event::Error { .. }) {
            return events;
        }
    }
}

async fn a_stream_is_resumed_where_it_broke_off(world: &mut World) {
    let (store, chat) = world.chat().await;
    let begun = store.begin(&chat.id).await.unwrap();
    store.append(&begun, 1, &[said("a"), said("b"), said("c")]).await.unwrap();
    store.append(&begun, 4, &[said("d")]).await.unwrap();
    store.end(&begun, 5, &Ending::finished(End::Finished, None)).await.unwrap();
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
    let begun = writer.begin(chat).await.unwrap();
    let mut follow = Follow::new(reader.clone(), chat, begun.first - 1);
    let task = tokio::spawn(async move { turn(&mut follow).await });
    let mut pen = TurnWriter::new(writer, begun);
    let mut pushed = Vec::new();
    for n in 0..40 {
        pushed.push(pen.push(said(&n.to_string())).await.unwrap());
        if n % 10 == 0 {
            pen.flush().await.unwrap();
        }
    }
    pushed.push(pen.end(Ending::finished(End::Finished, None)).await.unwrap());
    assert_eq!(task.await.unwrap(), pushed);
}

async fn an_answer_is_followed_while_it_is_written(world: &mut World) {
    let (store, chat) = world.chat().await;
    follow_from(store.clone(), store.clone(), &chat.id).await;
    follow_from(store.clone(), store, &chat.id).await;
}

async fn an_answer_is_followed_through_another_store(world: &mut World) {
    let (store, chat) = world.chat().await;
    let other = world.open().await;
    follow_from(store, other, &chat.id).await;
}

async fn what_is_not_kept_any_more_is_told(world: &mut World) {
    let (store, chat) = world.chat().await;
    for n in 0..4 {
        exchange(&store, &chat.id, "again", &n.to_string()).await;
    }
    // Two events each: those of the last two turns are 5 to 8.
    assert!(store.events_after(&chat.id, 3).await.unwrap().missed);
    assert_eq!(store.events_after(&chat.id, 4).await.unwrap().events.len(), 4);
    let mut follow = Follow::new(store.clone(), &chat.id, 1);
    assert_eq!(follow.next().await.unwrap(), Followed::Missed);
    exchange(&store, &chat.id, "again", "x").await;
    assert_eq!(turn(&mut follow).await[0].event, said("x"));
}

async fn whoever_follows_a_deleted_chat_is_told(world: &mut World) {
    let (store, chat) = world.chat().await;
    let mut follow = Follow::new(store.clone(), &chat.id, 0);
    let task = tokio::spawn(async move { follow.next().await });
    store.delete_chat(&chat.id).await.unwrap();
    assert_eq!(task.await.unwrap(), Err(StoreError::NoChat));
}

async fn announcements_reach_everybody_here(world: &mut World) {
    let store = world.open().await;
    let (mut one, mut other) = (store.announcements(), store.announcements());
    store.announce(Topic::Skills);
    assert_eq!((one.next().await, other.next().await), (Some(Topic::Skills), Some(Topic::Skills)));
    let chat = crate::store::world::new_chat(&store).await;
    store.delete_chat(&chat.id).await.unwrap();
    assert_eq!(one.next().await, Some(Topic::Chats));
}
