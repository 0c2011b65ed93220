//! Several who use one store at the same time.

use std::time::Duration;

use prowess_chat::store::{StoreError, Topic};

use crate::store::world::{World, both, exchange, messages, new_chat, said, words};

both![two_who_write_at_once_lose_nothing, only_one_of_two_begins];

async fn two_who_write_at_once_lose_nothing(world: &mut World) {
    world.options.busy = Duration::from_secs(60);
    let (one, chat) = world.chat().await;
    let other = world.open().await;
    let mut tasks = Vec::new();
    for (n, store) in [one.clone(), other.clone(), one.clone(), other.clone()].into_iter().enumerate() {
        let id = chat.id.clone();
        tasks.push(tokio::spawn(async move {
            for m in 0..15 {
                store.say(&id, &format!("{n}-{m}")).await.unwrap();
            }
            let own = new_chat(&store).await;
            exchange(&store, &own.id, "mine", &n.to_string()).await;
            store.note_uses(&["pdf".to_owned(), format!("s{n}")]).await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let said: Vec<_> = messages(&other, &chat.id).await.iter().map(words).collect();
    assert_eq!(said.len(), 60);
    for n in 0..4 {
        let mine: Vec<_> = said.iter().filter(|text| text.starts_with(&format!("{n}-"))).cloned().collect();
        assert_eq!(mine, (0..15).map(|m| format!("{n}-{m}")).collect::<Vec<_>>());
    }
    assert_eq!(one.chat_ids(None, 100).await.unwrap().len(), 5);
    let uses = other.skill_uses().await.unwrap();
    assert_eq!(uses.iter().find(|used| used.name == "pdf").unwrap().count, 4);
}

async fn only_one_of_two_begins(world: &mut World) {
    world.options.busy = Duration::from_secs(60);
    let (one, chat) = world.chat().await;
    let other = world.open().await;
    let (first, second) = tokio::join!(one.ask(&chat.id, "a"), other.ask(&chat.id, "b"));
    let refused = [first.map(drop), second.map(drop)];
    assert_eq!(refused.iter().filter(|begun| begun.is_ok()).count(), 1, "{refused:?}");
    assert!(refused.contains(&Err(StoreError::Writing)));
    assert_eq!(one.chat(&chat.id).await.unwrap().messages, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_on_one_database_tell_each_other() {
    let world = World::postgres();
    let (one, chat) = world.chat().await;
    let other = world.open().await;
    let (mut announced, mut subscription) = (other.announcements(), other.subscribe(&chat.id));
    one.announce(Topic::Skills);
    assert_eq!(announced.next().await, Some(Topic::Skills));
    let turn = one.begin(&chat.id).await.unwrap();
    one.append(&turn, turn.first, &[said("x")]).await.unwrap();
    subscription.changed().await;
    assert_eq!(other.events_after(&chat.id, 0).await.unwrap().events.len(), 1);
    one.rename_chat(&chat.id, "another").await.unwrap();
    assert_eq!(announced.next().await, Some(Topic::Chats));
}

/// What others say on the channel is not for us, and does no harm.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn noise_on_the_channel() {
    let world = World::postgres();
    let store = world.open().await;
    let mut announced = store.announcements();
    let (client, connection) =
        tokio_postgres::connect(&world.address(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("NOTIFY prowess, 'what'; NOTIFY prowess; NOTIFY prowess, '{\"topic\": \"nothing\"}'")
        .await
        .unwrap();
    client.batch_execute("NOTIFY prowess, '{\"topic\": \"skills\"}'").await.unwrap();
    assert_eq!(announced.next().await, Some(Topic::Skills));
}
