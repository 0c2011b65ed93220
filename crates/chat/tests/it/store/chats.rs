//! Creating, listing, renaming and deleting chats.

use prowess::ErrorCode;
use prowess_chat::store::{NewChat, SkillUse, StoreError, to_skill_usage};
use prowess_chat::{EndReason, TurnOutcome};
use prowess_chat::{MessageState, Role, TokenUsage};

use crate::store::support::{TestStore, both, call, delta, exchange, messages, new_chat, result};

both![
    a_chat_is_stored,
    chats_are_listed_in_pages_most_recent_first,
    messages_are_read_in_pages_from_the_end,
    pages_with_long_messages_are_shorter,
    deleting_a_chat_removes_everything_in_it,
    titles_and_names_are_checked,
    missing_chats_are_not_found,
    active_skills_are_stored_by_name_in_order,
    skill_uses_are_counted,
];

async fn a_chat_is_stored(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    assert_eq!((chat.title.as_str(), chat.preset.as_str(), chat.messages), ("A talk", "standard", 0));
    assert_eq!((chat.seq, chat.writing.clone(), chat.usage), (0, None, TokenUsage::default()));
    assert_eq!(store.chat(&chat.id).await.unwrap(), chat);
    store.rename_chat(&chat.id, "翻译 & \"quotes\"").await.unwrap();
    exchange(&store, &chat.id, "hello", "there").await;
    drop(store);

    let store = fixture.open().await;
    let reopened = store.chat(&chat.id).await.unwrap();
    assert_eq!((reopened.title.as_str(), reopened.messages), ("翻译 & \"quotes\"", 2));
    assert!(reopened.updated >= chat.updated && reopened.created == chat.created);
    let stored = messages(&store, &chat.id).await;
    assert_eq!([stored[0].role, stored[1].role], [Role::User, Role::Assistant]);
    assert!(stored.iter().all(|message| message.state == MessageState::Complete));
    assert!(!store.location().is_empty());
    store.check().await.unwrap();
}

async fn chats_are_listed_in_pages_most_recent_first(fixture: &mut TestStore) {
    let store = fixture.open().await;
    let mut ids = Vec::new();
    for _ in 0..7 {
        ids.push(new_chat(&store).await.id);
    }
    store.add_user_message(&ids[2], "the latest").await.unwrap();
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = store.chats(after.as_deref(), 3).await.unwrap();
        listed.extend(page.chats.into_iter().map(|chat| chat.id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(listed.len(), 7);
    // Chats that are created within one millisecond are ordered by id.
    let times: Vec<_> = {
        let mut times = Vec::new();
        for id in &listed {
            times.push((store.chat(id).await.unwrap().updated, id.clone()));
        }
        times
    };
    assert!(times.is_sorted_by(|earlier, later| earlier > later), "{times:?}");
    assert_eq!(store.chat_ids(None, 100).await.unwrap(), ids);
    assert_eq!(store.chat_count().await.unwrap(), ids.len() as u64);
    assert_eq!(store.chat_ids(Some(&ids[4]), 1).await.unwrap(), [ids[5].clone()]);
    for invalid in ["", "x", "-1-a", "1-", "1-a b", "99999999999999999999-a"] {
        assert_eq!(
            store.chats(Some(invalid), 3).await.unwrap_err().code(),
            ErrorCode::InvalidParam,
            "{invalid}"
        );
    }
}

async fn messages_are_read_in_pages_from_the_end(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    for n in 0..25 {
        store.add_user_message(&chat.id, &n.to_string()).await.unwrap();
    }
    let (mut pages, mut before) = (Vec::new(), None);
    loop {
        let page = store.messages(&chat.id, before, 10).await.unwrap();
        pages.push(page.messages.iter().map(crate::store::support::message_text).collect::<Vec<_>>());
        before = page.before;
        if before.is_none() {
            break;
        }
    }
    let expected = |range: std::ops::Range<i32>| range.map(|n| n.to_string()).collect::<Vec<_>>();
    assert_eq!(pages, [expected(15..25), expected(5..15), expected(0..5)]);
    let beyond = store.messages(&chat.id, Some(u64::MAX), 2).await.unwrap();
    assert_eq!(beyond.messages.len(), 2);
    let none = store.messages(&chat.id, Some(0), 10).await.unwrap();
    assert_eq!((none.messages.len(), none.before), (0, None));
}

async fn pages_with_long_messages_are_shorter(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let long = "x".repeat(12 * 1024 * 1024);
    for _ in 0..4 {
        store.add_user_message(&chat.id, &long).await.unwrap();
    }
    let page = store.messages(&chat.id, None, 100).await.unwrap();
    assert_eq!((page.messages.len(), page.before), (3, Some(1)));
    let rest = store.messages(&chat.id, page.before, 100).await.unwrap();
    assert_eq!((rest.messages.len(), rest.before), (1, None));
}

async fn deleting_a_chat_removes_everything_in_it(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let other = new_chat(&store).await;
    exchange(&store, &chat.id, "UNFORGETTABLE question", "UNFORGETTABLE answer").await;
    exchange(&store, &other.id, "stays", "too").await;
    let turn = store.begin_turn(&chat.id).await.unwrap();
    store.append_events(&turn, turn.first, &[delta("UNFORGETTABLE, too")]).await.unwrap();
    store.delete_chat(&chat.id).await.unwrap();

    assert_eq!(store.chat(&chat.id).await, Err(StoreError::ChatNotFound));
    assert_eq!(store.delete_chat(&chat.id).await, Err(StoreError::ChatNotFound));
    assert_eq!(store.events_after(&chat.id, 0).await, Err(StoreError::ChatNotFound));
    assert_eq!(
        store.append_events(&turn, turn.first + 1, &[delta("more")]).await,
        Err(StoreError::ChatNotFound)
    );
    assert_eq!(store.chat_ids(None, 100).await.unwrap(), std::slice::from_ref(&other.id));
    assert_eq!(messages(&store, &other.id).await.len(), 2);
    match &fixture.server {
        None => {
            for file in ["chats.sqlite3", "chats.sqlite3-wal"] {
                let bytes = std::fs::read(fixture.file().with_file_name(file)).unwrap();
                assert!(!bytes.windows(13).any(|window| window == b"UNFORGETTABLE"), "{file}");
            }
        }
        Some(server) => {
            let (client, connection) =
                tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            for table in ["prowess_messages", "prowess_events"] {
                let sql = format!("SELECT 1 FROM {table} WHERE chat = $1");
                assert!(client.query(&sql, &[&chat.id]).await.unwrap().is_empty(), "{table}");
            }
        }
    }
}

async fn titles_and_names_are_checked(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let long = "x".repeat(201);
    for title in ["a\0b", "two\nlines", long.as_str()] {
        let new = NewChat { title: title.into(), preset: String::new() };
        assert_eq!(store.create_chat(new).await.unwrap_err().code(), ErrorCode::InvalidParam);
        assert_eq!(store.rename_chat(&chat.id, title).await.unwrap_err().code(), ErrorCode::InvalidParam);
    }
    let names = ["pdf".to_owned(), "a\0".to_owned()];
    assert_eq!(store.set_skills(&chat.id, &names).await.unwrap_err().code(), ErrorCode::InvalidParam);
    assert_eq!(store.record_skill_uses(&names).await.unwrap_err().code(), ErrorCode::InvalidParam);
    assert_eq!(store.chat(&chat.id).await.unwrap(), chat);
    assert_eq!(store.skill_uses().await.unwrap(), []);
}

async fn missing_chats_are_not_found(fixture: &mut TestStore) {
    let store = fixture.open().await;
    let long = "a".repeat(1_000);
    for id in ["", "nothing", "a\0b", "' OR 1=1 --", "../..", "é", long.as_str()] {
        assert_eq!(store.chat(id).await, Err(StoreError::ChatNotFound), "{id:?}");
        assert_eq!(store.messages(id, None, 10).await, Err(StoreError::ChatNotFound));
        assert_eq!(store.rename_chat(id, "x").await, Err(StoreError::ChatNotFound));
        assert_eq!(store.delete_chat(id).await, Err(StoreError::ChatNotFound));
        assert_eq!(store.add_user_message(id, "x").await, Err(StoreError::ChatNotFound));
        assert_eq!(store.begin_turn(id).await, Err(StoreError::ChatNotFound));
        assert_eq!(store.ask(id, "x".into()).await, Err(StoreError::ChatNotFound));
        assert_eq!(store.events_after(id, 0).await, Err(StoreError::ChatNotFound));
        assert_eq!(store.set_skills(id, &[]).await, Err(StoreError::ChatNotFound));
    }
}

async fn active_skills_are_stored_by_name_in_order(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let names = ["pdf", "翻译", "a", "pdf"].map(String::from);
    store.set_skills(&chat.id, &names).await.unwrap();
    assert_eq!(store.chat(&chat.id).await.unwrap().activated_skill_names, ["pdf", "翻译", "a"]);
    let turn = store.begin_turn(&chat.id).await.unwrap();
    store.append_events(&turn, turn.first, &[call("1"), result("1")]).await.unwrap();
    let usage = TokenUsage { input: 7, output: 3, cached: 1, cache_writes: 0 };
    let outcome = TurnOutcome::finished(EndReason::Finished, Some(usage));
    let last = store.end(&turn, turn.first + 2, &outcome).await.unwrap();
    let text = serde_json::to_string(&last).unwrap();
    assert!(text.contains(r#""activated_skill_names":["pdf","翻译","a"]"#), "{text}");
    assert_eq!(store.chat(&chat.id).await.unwrap().usage, usage);
    let all = serde_json::to_string(&messages(&store, &chat.id).await).unwrap();
    assert!(!all.contains("Read the form first"), "the body of a skill is not stored: {all}");
    assert!(all.contains(&prowess::digest(b"Read the form first.")));
}

async fn skill_uses_are_counted(fixture: &mut TestStore) {
    let store = fixture.open().await;
    store.record_skill_uses(&["pdf".to_owned(), "docx".to_owned()]).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    store.record_skill_uses(&["docx".to_owned()]).await.unwrap();
    let uses = store.skill_uses().await.unwrap();
    let counted: Vec<_> = uses.iter().map(|SkillUse { name, count, .. }| (name.as_str(), *count)).collect();
    assert_eq!(counted, [("docx", 2), ("pdf", 1)]);
    assert_eq!(to_skill_usage(&uses).recent(5).len(), 2);

    let many: Vec<_> = (0..1_000).map(|n| format!("skill-{n}")).collect();
    store.record_skill_uses(&many).await.unwrap();
    store.record_skill_uses(&["one-more".to_owned()]).await.unwrap();
    let uses = store.skill_uses().await.unwrap();
    assert_eq!(uses.len(), 1_000);
    assert!(!uses.iter().any(|used| used.name == "pdf"));
}
