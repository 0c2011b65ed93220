//! Exporting and importing chats as JSON.

use prowess::ErrorCode;
use prowess_chat::store::transfer::{ExportSelection, export, import, parse_export};
use prowess_chat::store::{ChatFollower, FollowedEvent, Store, StoreError};
use prowess_chat::{EndReason, Part, SealedContent, ThinkingSeal, TurnEvent, TurnOutcome};
use prowess_chat::{MessageState, TokenUsage};
use std::sync::Arc;

use crate::store::support::{
    TestStore, both, call, delta, exchange, interruption, message_text, messages, new_chat, result,
};

both![
    a_chat_is_exported_and_imported,
    all_chats_are_moved_to_another_kind_of_store,
    an_unfinished_message_is_marked_in_the_export,
    an_invalid_file_changes_nothing,
    many_messages_are_exported_in_order,
    thinking_keeps_its_seal_but_clients_do_not_see_it,
    a_summary_is_exported_and_can_be_deleted,
];

async fn exported(store: &Arc<dyn Store>, selection: ExportSelection<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    export(&**store, selection, &mut out).await.unwrap();
    out
}

async fn a_chat_is_exported_and_imported(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    exchange(&store, &chat.id, "a \"question\"", "an\nanswer").await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    store.append_events(&turn, turn.first, &[call("1"), result("1"), delta("done")]).await.unwrap();
    let usage = Some(TokenUsage { input: 9, output: 8, cached: 7, cache_writes: 0 });
    store.end(&turn, turn.first + 3, &TurnOutcome::finished(EndReason::Finished, usage)).await.unwrap();
    store.set_skills(&chat.id, &["pdf".to_owned()]).await.unwrap();
    let before = (store.chat(&chat.id).await.unwrap(), messages(&store, &chat.id).await);
    let file = exported(&store, ExportSelection::One(&chat.id)).await;

    // A copy in the same store gets new ids; everything else is the same.
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
    // After it was deleted, the chat is restored with its ids.
    store.delete_chat(&chat.id).await.unwrap();
    store.delete_chat(&copies[0].to).await.unwrap();
    assert_eq!(import(&*store, &file).await.unwrap()[0].to, chat.id);
    let mut after = (store.chat(&chat.id).await.unwrap(), messages(&store, &chat.id).await);
    after.0.seq = before.0.seq;
    assert_eq!(after, before);
    exchange(&store, &chat.id, "and it", "goes on").await;
    assert_eq!(store.chat(&chat.id).await.unwrap().messages, 5);
}

async fn thinking_keeps_its_seal_but_clients_do_not_see_it(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let content = SealedContent::Reasoning {
        id: "rs_1".into(),
        summary: vec!["I look.".into()],
        encrypted: "SEALED".into(),
    };
    let seal = ThinkingSeal { model: "openai: m".into(), calls: 1, content };
    let thinking = |text: &str, seal: Option<&ThinkingSeal>| TurnEvent::Thinking {
        text: text.to_owned(),
        seal: seal.cloned(),
    };
    let events = [
        thinking("I ", None),
        thinking("look.", None),
        thinking("", Some(&seal)),
        thinking("b", None),
        delta("done"),
    ];
    let mut follower = ChatFollower::new(store.clone(), &chat.id, chat.seq);
    let turn = store.begin_turn(&chat.id).await.unwrap();
    store.append_events(&turn, turn.first, &events).await.unwrap();
    let usage = TokenUsage { input: 9, output: 8, cached: 7, cache_writes: 6 };
    store.end(&turn, turn.first + 5, &TurnOutcome::finished(EndReason::Finished, Some(usage))).await.unwrap();
    let stored = messages(&store, &chat.id).await;
    let parts = [
        Part::Thinking { text: "I look.".into(), seal: Some(seal) },
        Part::Thinking { text: "b".into(), seal: None },
        Part::Text { text: "done".into() },
    ];
    assert_eq!((stored[0].parts.as_slice(), stored[0].usage), (parts.as_slice(), Some(usage)));
    assert_eq!(store.chat(&chat.id).await.unwrap().usage, usage);
    for _ in 0..6 {
        let FollowedEvent::Event(event) = follower.next().await.unwrap() else { panic!("missed") };
        assert!(!serde_json::to_string(&event).unwrap().contains("SEALED"));
    }
    let shown = serde_json::to_string(&stored[0].clone().without_seals()).unwrap();
    assert!(shown.contains("I look.") && !shown.contains("SEALED"), "{shown}");

    let file = exported(&store, ExportSelection::One(&chat.id)).await;
    let copies = import(&*store, &file).await.unwrap();
    assert_eq!(messages(&store, &copies[0].to).await[0].parts, parts);
    let large = String::from_utf8(file).unwrap().replace("SEALED", &"x".repeat(2 * 1024 * 1024));
    let error = parse_export(large.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "the seal of thinking has 2097172 bytes; the maximum is 1048576");
}

async fn a_summary_is_exported_and_can_be_deleted(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    exchange(&store, &chat.id, "a", "b").await;
    let replaces: Vec<String> =
        messages(&store, &chat.id).await.into_iter().map(|message| message.id).collect();
    let turn = store.begin_turn(&chat.id).await.unwrap();
    let summary = TurnEvent::Summary { text: "short".into(), replaces: replaces.clone() };
    store.append_events(&turn, turn.first, &[summary, delta("c")]).await.unwrap();
    let refused = store.delete_summary(&chat.id, &turn.message).await.unwrap_err();
    assert_eq!(refused, StoreError::TurnInProgress);
    store.end(&turn, turn.first + 2, &TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();

    // The copies of the messages have new ids, and the summary names them.
    let file = exported(&store, ExportSelection::One(&chat.id)).await;
    let copy = import(&*store, &file).await.unwrap().remove(0).to;
    let copies = messages(&store, &copy).await;
    let copied_ids = vec![copies[0].id.clone(), copies[1].id.clone()];
    assert_ne!(copied_ids, replaces);
    assert_eq!(copies[2].parts[0], Part::Summary { text: "short".into(), replaces: copied_ids });

    assert!(store.delete_summary(&chat.id, &turn.message).await.unwrap());
    assert!(!store.delete_summary(&chat.id, &turn.message).await.unwrap());
    assert!(!store.delete_summary(&chat.id, "unknown").await.unwrap());
    assert_eq!(messages(&store, &chat.id).await[2].parts, [Part::Text { text: "c".into() }]);
    assert_eq!(store.delete_summary("unknown", "x").await.unwrap_err(), StoreError::ChatNotFound);
}

async fn all_chats_are_moved_to_another_kind_of_store(fixture: &mut TestStore) {
    let store = fixture.open().await;
    for n in 0..5 {
        let chat = new_chat(&store).await;
        exchange(&store, &chat.id, &n.to_string(), "yes").await;
    }
    let file = exported(&store, ExportSelection::All).await;
    let other = TestStore::sqlite();
    let target = other.open().await;
    assert_eq!(import(&*target, &file).await.unwrap().len(), 5);
    let normalized = |file: &[u8]| {
        let mut file: serde_json::Value = serde_json::from_slice(file).unwrap();
        file["exported"] = 0.into();
        file
    };
    assert_eq!(normalized(&exported(&target, ExportSelection::All).await), normalized(&file));
    assert_eq!(parse_export(&file).unwrap().len(), 5);
}

async fn an_unfinished_message_is_marked_in_the_export(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    store.append_events(&turn, turn.first, &[delta("half")]).await.unwrap();
    let chats = parse_export(&exported(&store, ExportSelection::All).await).unwrap();
    assert_eq!(message_text(&chats[0].messages[0]), "half");
    insta::assert_snapshot!(interruption(&chats[0].messages[0]), @"it was still being written when the chat was exported");
    assert_eq!(messages(&store, &chat.id).await[0].state, MessageState::Writing);
    let mut nothing = Vec::new();
    assert_eq!(
        export(&*store, ExportSelection::One("unknown"), &mut nothing).await,
        Err(StoreError::ChatNotFound)
    );
    assert!(nothing.is_empty());
}

async fn an_invalid_file_changes_nothing(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    exchange(&store, &chat.id, "a", "b").await;
    let file = String::from_utf8(exported(&store, ExportSelection::All).await).unwrap();
    let good = file.split_once('[').unwrap().1.rsplit_once(']').unwrap().0.to_owned();
    let second = good.replacen(&chat.id, "../escape", 1);
    let bad = file.replace(&good, &format!("{good},{second}"));
    let refused = import(&*store, bad.as_bytes()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidParam);
    assert!(refused.to_string().starts_with("chat 2 of the file"), "{refused}");
    assert_eq!(store.chat_ids(None, 10).await.unwrap(), [chat.id]);
    // A chat that occurs twice in a file becomes two chats.
    let twice = file.replace(&good, &format!("{good},{good}"));
    assert_eq!(import(&*store, twice.as_bytes()).await.unwrap().len(), 2);
    assert_eq!(store.chat_ids(None, 10).await.unwrap().len(), 3);
}

async fn many_messages_are_exported_in_order(fixture: &mut TestStore) {
    let store = fixture.open().await;
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
    let out = parse_export(&exported(&store, ExportSelection::One("a")).await).unwrap();
    let numbers: Vec<_> = out[0].messages.iter().map(message_text).collect();
    assert_eq!(numbers, (0..2_345).map(|n| n.to_string()).collect::<Vec<_>>());
}
