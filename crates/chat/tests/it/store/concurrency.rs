//! Concurrent use of a store.

use std::time::Duration;

use prowess_chat::store::{StoreAddress, StoreError, Topic, open};

use crate::store::support::{TestStore, both, delta, exchange, message_text, messages, new_chat};

both![concurrent_writers_lose_nothing, only_one_of_two_turns_starts];

async fn concurrent_writers_lose_nothing(fixture: &mut TestStore) {
    fixture.options.busy_timeout = Duration::from_secs(60);
    let (first, chat) = fixture.chat().await;
    let other = fixture.open().await;
    let mut tasks = Vec::new();
    for (n, store) in [first.clone(), other.clone(), first.clone(), other.clone()].into_iter().enumerate() {
        let id = chat.id.clone();
        tasks.push(tokio::spawn(async move {
            for m in 0..15 {
                store.add_user_message(&id, &format!("{n}-{m}")).await.unwrap();
            }
            let own = new_chat(&store).await;
            exchange(&store, &own.id, "mine", &n.to_string()).await;
            store.record_skill_uses(&["pdf".to_owned(), format!("s{n}")]).await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let texts: Vec<_> = messages(&other, &chat.id).await.iter().map(message_text).collect();
    assert_eq!(texts.len(), 60);
    for n in 0..4 {
        let mine: Vec<_> = texts.iter().filter(|text| text.starts_with(&format!("{n}-"))).cloned().collect();
        assert_eq!(mine, (0..15).map(|m| format!("{n}-{m}")).collect::<Vec<_>>());
    }
    assert_eq!(first.chat_ids(None, 100).await.unwrap().len(), 5);
    let uses = other.skill_uses().await.unwrap();
    assert_eq!(uses.iter().find(|used| used.name == "pdf").unwrap().count, 4);
}

async fn only_one_of_two_turns_starts(fixture: &mut TestStore) {
    fixture.options.busy_timeout = Duration::from_secs(60);
    let (store, chat) = fixture.chat().await;
    let other = fixture.open().await;
    let (first, second) = tokio::join!(store.ask(&chat.id, "a".into()), other.ask(&chat.id, "b".into()));
    let results = [first.map(drop), second.map(drop)];
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert!(results.contains(&Err(StoreError::TurnInProgress)));
    assert_eq!(store.chat(&chat.id).await.unwrap().messages, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_can_be_opened_by_many_at_once() {
    for _ in 0..10 {
        let dir = tempfile::tempdir().unwrap();
        let address = StoreAddress::File(dir.path().join("chats.sqlite3"));
        let opening: Vec<_> = (0..8)
            .map(|_| {
                let address = address.clone();
                tokio::spawn(async move { open(&address).await.map(drop) })
            })
            .collect();
        for opened in opening {
            opened.await.unwrap().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_notify_each_other() {
    let fixture = TestStore::postgres();
    let (first, chat) = fixture.chat().await;
    let other = fixture.open().await;
    let (mut announced, mut subscription) = (other.announcements(), other.subscribe(&chat.id));
    first.announce(Topic::Skills);
    assert_eq!(announced.next().await, Some(Topic::Skills));
    let turn = first.begin_turn(&chat.id).await.unwrap();
    first.append_events(&turn, turn.first, &[delta("x")]).await.unwrap();
    subscription.changed().await;
    assert_eq!(other.events_after(&chat.id, 0).await.unwrap().events.len(), 1);
    first.rename_chat(&chat.id, "another").await.unwrap();
    assert_eq!(announced.next().await, Some(Topic::Chats));
}

/// Other payloads on the channel are ignored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_notifications_are_ignored() {
    let fixture = TestStore::postgres();
    let store = fixture.open().await;
    let mut announced = store.announcements();
    let (client, connection) =
        tokio_postgres::connect(&fixture.address(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("NOTIFY prowess, 'what'; NOTIFY prowess; NOTIFY prowess, '{\"topic\": \"nothing\"}'")
        .await
        .unwrap();
    client.batch_execute("NOTIFY prowess, '{\"topic\": \"skills\"}'").await.unwrap();
    assert_eq!(announced.next().await, Some(Topic::Skills));
}
