//! The search in chats, and how chats are listed.

use prowess_chat::store::{ListingChange, Store};
use std::sync::Arc;

use crate::store::support::{TestStore, both, exchange, messages, new_chat};

both![
    titles_and_messages_are_found,
    what_is_gone_is_not_found,
    queries_are_no_code,
    pinned_and_archived_chats,
    a_store_without_an_index_is_indexed,
];

async fn found(store: &Arc<dyn Store>, text: &str) -> Vec<String> {
    store.search(text, 10).await.unwrap().into_iter().map(|found| found.chat.title).collect()
}

async fn titled(store: &Arc<dyn Store>, title: &str) -> String {
    let chat = new_chat(store).await.id;
    store.rename_chat(&chat, title).await.unwrap();
    chat
}

async fn titles_and_messages_are_found(fixture: &mut TestStore) {
    let store = fixture.open().await;
    let tax = titled(&store, "Tax return").await;
    let trip = titled(&store, "去北京的旅行").await;
    exchange(&store, &tax, "Where is the invoice of ACME-Corp?", "In the folder Größe/2024.").await;
    exchange(&store, &trip, "请帮我翻译这个文件", "Sure, see example.com/plan.").await;
    let cases = [
        ("tax", vec!["Tax return"]),
        ("invo", vec!["Tax return"]),
        ("INVOICE acme", vec!["Tax return"]),
        ("grösse", vec![]),
        ("größe", vec!["Tax return"]),
        ("invoice trip", vec![]),
        ("翻译", vec!["去北京的旅行"]),
        ("译翻", vec![]),
        ("北京", vec!["去北京的旅行"]),
        ("example", vec!["去北京的旅行"]),
        ("the in", vec!["Tax return"]),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&store, query).await, expected, "{query}");
    }
    let results = store.search("folder", 10).await.unwrap();
    assert_eq!(results[0].excerpt.as_deref(), Some("In the folder Größe/2024."));
    assert_eq!(results[0].message, Some(messages(&store, &tax).await[1].id.clone()));
    let results = store.search("return", 10).await.unwrap();
    assert_eq!((&results[0].excerpt, &results[0].message), (&None, &None));
    // The most recent chat is first.
    exchange(&store, &tax, "see", "you").await;
    assert_eq!(found(&store, "see").await, ["Tax return", "去北京的旅行"]);
    assert_eq!(store.search("see", 1).await.unwrap().len(), 1);
}

async fn what_is_gone_is_not_found(fixture: &mut TestStore) {
    let store = fixture.open().await;
    let chat = titled(&store, "before").await;
    exchange(&store, &chat, "alpha", "beta").await;
    store.rename_chat(&chat, "after").await.unwrap();
    assert!(found(&store, "before").await.is_empty());
    let question = messages(&store, &chat).await[0].id.clone();
    let (_, turn) = store.replace_question(&chat, "gamma".into(), &question).await.unwrap();
    store.stop_turn(&chat, &prowess_chat::TurnOutcome::abandoned()).await.unwrap();
    assert!(found(&store, "alpha").await.is_empty() && found(&store, "beta").await.is_empty());
    store.switch_version(&chat, &question).await.unwrap();
    assert_eq!(found(&store, "alpha").await, ["after"]);
    store.delete_message(&chat, &question).await.unwrap();
    assert!(found(&store, "alpha").await.is_empty());
    assert_eq!(found(&store, "beta").await, ["after"]);
    store.delete_chat(&chat).await.unwrap();
    assert!(found(&store, "after").await.is_empty() && found(&store, "beta").await.is_empty());
    drop(turn);
}

async fn queries_are_no_code(fixture: &mut TestStore) {
    let store = fixture.open().await;
    let chat = titled(&store, "words").await;
    exchange(&store, &chat, "a NEAR b OR c", "d").await;
    let queries = [
        "\"", "'", "*", "words*", "\"words", "words:", "a & | !", "NOT", "(", "-words", "\u{0}", "a\\b",
        "'':*", "^x", "{", "",
    ];
    for query in queries {
        store.search(query, 10).await.unwrap();
    }
    assert_eq!(found(&store, "near").await, ["words"]);
    store.search(&"word ".repeat(100_000), 10).await.unwrap();
}

async fn pinned_and_archived_chats(fixture: &mut TestStore) {
    let store = fixture.open().await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(titled(&store, &n.to_string()).await);
    }
    let pin = ListingChange { pinned: Some(true), archived: None };
    let archive = ListingChange { pinned: None, archived: Some(true) };
    store.change_listing(&ids[1], pin).await.unwrap();
    store.change_listing(&ids[0], pin).await.unwrap();
    store.change_listing(&ids[3], archive).await.unwrap();
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = store.chats(after.as_deref(), 1).await.unwrap();
        listed.extend(page.chats.into_iter().map(|chat| chat.title));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(listed[..2].iter().collect::<std::collections::BTreeSet<_>>().len(), 2);
    assert!(listed[..2].iter().all(|title| title == "0" || title == "1"), "{listed:?}");
    assert_eq!(listed.len(), 4);
    let archived = store.archived_chats(None, 10).await.unwrap().chats;
    assert!(archived.len() == 1 && archived[0].title == "3" && archived[0].archived);
    assert_eq!(found(&store, "3").await, ["3"]);
    store.change_listing(&ids[3], ListingChange { archived: Some(false), ..archive }).await.unwrap();
    assert_eq!(store.chats(None, 10).await.unwrap().chats.len(), 5);
    assert!(store.change_listing("unknown", pin).await.is_err());
}

async fn a_store_without_an_index_is_indexed(fixture: &mut TestStore) {
    let store = fixture.open().await;
    let chat = titled(&store, "old title").await;
    exchange(&store, &chat, "old question", "old reply").await;
    drop(store);
    crate::store::migrations::forget_version_5(fixture).await;
    let store = fixture.open().await;
    for query in ["title", "question", "reply"] {
        assert_eq!(found(&store, query).await, ["old title"], "{query}");
    }
}
