//! Chats as JSON, out of one store and into another.

use prowess::ErrorCode;
use prowess_chat::store::transfer::{Which, export, import, read};
use prowess_chat::store::{Store, StoreError};
use prowess_chat::{End, Ending};
use prowess_chat::{State, Usage};
use std::sync::Arc;

use crate::store::world::{World, both, call, exchange, marker, messages, new_chat, result, said, words};

both![
    a_chat_goes_out_and_comes_back,
    all_chats_go_into_another_kind_of_store,
    what_is_being_written_is_exported_with_a_marker,
    a_wrong_file_changes_nothing,
    many_messages_go_out_in_order,
];

async fn exported(store: &Arc<dyn Store>, which: Which<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    export(&**store, which, &mut out).await.unwrap();
    out
}

async fn a_chat_goes_out_and_comes_back(world: &mut World) {
    let (store, chat) = world.chat().await;
    exchange(&store, &chat.id, "a \"question\"", "an\nanswer").await;
    let turn = store.begin(&chat.id).await.unwrap();
    store.append(&turn, turn.first, &[call("1"), result("1"), said("done")]).await.unwrap();
    let usage = Some(Usage { input: 9, output: 8, cached: 7 });
    store.end(&turn, turn.first + 3, &Ending::finished(End::Finished, usage)).await.unwrap();
    store.set_skills(&chat.id, &["pdf".to_owned()]).await.unwrap();
    let before = (store.chat(&chat.id).await.unwrap(), messages(&store, &chat.id).await);
    let file = exported(&store, Which::One(&chat.id)).await;

    // Beside itself it gets other ids, everything else is the same.
    let copies = import(&*store, &file).await.unwrap();
    assert!(copies.len() == 1 && copies[0].from == chat.id && copies[0].to != chat.id);
    let copy = messages(&store, &copies[0].to).await;
    assert_eq!(copy.len(), 3);
    for (copy, original) in copy.iter().zip(&before.1) {
        assert_ne!(copy.id, original.id);
        assert_eq!(
            (&copy.parts, &copy.state, copy.usage, copy.at),
            (&original.parts, &original.state, original.usage, original.at)
        );
    }
    // Where it was deleted it comes back as it was.
    store.delete_chat(&chat.id).await.unwrap();
    store.delete_chat(&copies[0].to).await.unwrap();
    assert_eq!(import(&*store, &file).await.unwrap()[0].to, chat.id);
    let mut after = (store.chat(&chat.id).await.unwrap(), messages(&store, &chat.id).await);
    after.0.seq = before.0.seq;
    assert_eq!(after, before);
    exchange(&store, &chat.id, "and it", "goes on").await;
    assert_eq!(store.chat(&chat.id).await.unwrap().messages, 5);
}

async fn all_chats_go_into_another_kind_of_store(world: &mut World) {
    let store = world.open().await;
    for n in 0..5 {
        let chat = new_chat(&store).await;
        exchange(&store, &chat.id, &n.to_string(), "yes").await;
    }
    let file = exported(&store, Which::All).await;
    let other = World::sqlite();
    let there = other.open().await;
    assert_eq!(import(&*there, &file).await.unwrap().len(), 5);
    let normal = |file: &[u8]| {
        let mut file: serde_json::Value = serde_json::from_slice(file).unwrap();
        file["exported"] = 0.into();
        file
    };
    assert_eq!(normal(&exported(&there, Which::All).await), normal(&file));
    assert_eq!(read(&file).unwrap().len(), 5);
}

async fn what_is_being_written_is_exported_with_a_marker(world: &mut World) {
    let (store, chat) = world.chat().await;
    let turn = store.begin(&chat.id).await.unwrap();
    store.append(&turn, turn.first, &[said("half")]).await.unwrap();
    let read = read(&exported(&store, Which::All).await).unwrap();
    assert_eq!(words(&read[0].messages[0]), "half");
    insta::assert_snapshot!(marker(&read[0].messages[0]), @"it was being written when the chat was exported");
    assert_eq!(messages(&store, &chat.id).await[0].state, State::Writing);
    let mut nothing = Vec::new();
    assert_eq!(export(&*store, Which::One("unknown"), &mut nothing).await, Err(StoreError::NoChat));
    assert!(nothing.is_empty());
}

async fn a_wrong_file_changes_nothing(world: &mut World) {
    let (store, chat) = world.chat().await;
    exchange(&store, &chat.id, "a", "b").await;
    let file = String::from_utf8(exported(&store, Which::All).await).unwrap();
    let good = file.split_once('[').unwrap().1.rsplit_once(']').unwrap().0.to_owned();
    let second = good.replacen(&chat.id, "../escape", 1);
    let bad = file.replace(&good, &format!("{good},{second}"));
    let refused = import(&*store, bad.as_bytes()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidParam);
    assert!(refused.to_string().starts_with("chat 2 of the file"), "{refused}");
    assert_eq!(store.chat_ids(None, 10).await.unwrap(), [chat.id]);
    // The same chat twice in a file is two chats.
    let twice = file.replace(&good, &format!("{good},{good}"));
    assert_eq!(import(&*store, twice.as_bytes()).await.unwrap().len(), 2);
    assert_eq!(store.chat_ids(None, 10).await.unwrap().len(), 3);
}

async fn many_messages_go_out_in_order(world: &mut World) {
    let store = world.open().await;
    let message = |n: u64| {
        format!(
            r#"{{"id":"m{n}","role":"user","at":{n},"state":"complete","parts":[{{"type":"text","text":"{n}"}}]}}"#
        )
    };
    let all: Vec<_> = (0..2_345).map(message).collect();
    let file = format!(
        r#"{{"format":"prowess-chats","version":1,"chats":[{{"id":"a","created":1,"updated":2,"messages":[{}]}}]}}"#,
        all.join(",")
    );
    import(&*store, file.as_bytes()).await.unwrap();
    let out = read(&exported(&store, Which::One("a")).await).unwrap();
    let numbers: Vec<_> = out[0].messages.iter().map(words).collect();
    assert_eq!(numbers, (0..2_345).map(|n| n.to_string()).collect::<Vec<_>>());
}
