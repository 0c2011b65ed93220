//! Versions of messages: editing, generating again, switching, deleting.

use std::sync::Arc;

use prowess::ErrorCode;
use prowess_chat::store::transfer::{ExportSelection, export, import};
use prowess_chat::store::{
    FollowedEvent, ListingChange, MessageVersions, Store, StoreError, StoredTurn, TurnWriter,
};
use prowess_chat::{EndReason, TurnOutcome};

use crate::store::support::{TestStore, both, call, delta, exchange, message_text, messages, result};

both![
    an_edited_message_has_versions,
    a_reply_is_generated_again,
    versions_of_versions_are_kept,
    skills_belong_to_their_version,
    messages_are_deleted,
    a_deleted_version_is_replaced_by_another,
    changes_are_refused_while_a_reply_is_written,
    random_changes_agree_with_a_tree,
    versions_are_exported_and_imported,
    exports_with_wrong_versions_are_refused,
];

async fn answer(store: &Arc<dyn Store>, turn: StoredTurn, text: &str) {
    let mut writer = TurnWriter::new(store.clone(), turn);
    writer.push(delta(text)).await.unwrap();
    writer.end(TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
}

async fn edit(store: &Arc<dyn Store>, chat: &str, replaced: &str, question: &str, reply: &str) {
    let (_, turn) = store.replace_question(chat, question.into(), replaced).await.unwrap();
    answer(store, turn, reply).await;
}

/// Returns the texts of the path, with the number of the version if there are several.
async fn path(store: &Arc<dyn Store>, chat: &str) -> Vec<String> {
    let page = store.messages(chat, None, 1_000).await.unwrap();
    assert_eq!(store.chat(chat).await.unwrap().messages, page.messages.len() as u64);
    let text = |message| {
        let MessageVersions { index, count, .. } = page.versions.get(&message_id(message))?;
        Some(format!("{} {index}/{count}", message_text(message)))
    };
    page.messages.iter().map(|message| text(message).unwrap_or_else(|| message_text(message))).collect()
}

fn message_id(message: &prowess_chat::Message) -> String {
    message.id.clone()
}

/// Returns the id of the message with this text.
async fn id(store: &Arc<dyn Store>, chat: &str, text: &str) -> String {
    let stored = messages(store, chat).await;
    stored.iter().find(|message| message_text(message) == text).map(message_id).unwrap()
}

async fn other(store: &Arc<dyn Store>, chat: &str, text: &str, next: bool) -> String {
    let id = id(store, chat, text).await;
    let versions = store.messages(chat, None, 1_000).await.unwrap().versions.remove(&id).unwrap();
    if next { versions.next.unwrap() } else { versions.previous.unwrap() }
}

async fn an_edited_message_has_versions(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    for (question, reply) in [("q1", "r1"), ("q2", "r2"), ("q3", "r3")] {
        exchange(&store, &chat.id, question, reply).await;
    }
    let mut follower = prowess_chat::store::ChatFollower::new(
        store.clone(),
        &chat.id,
        store.chat(&chat.id).await.unwrap().seq,
    );
    edit(&store, &chat.id, &id(&store, &chat.id, "q2").await, "q2b", "r2b").await;
    assert_eq!(path(&store, &chat.id).await, ["q1", "r1", "q2b 2/2", "r2b"]);
    assert!(matches!(follower.next().await.unwrap(), FollowedEvent::Event(_)));
    let first = other(&store, &chat.id, "q2b", false).await;
    store.switch_version(&chat.id, &first).await.unwrap();
    assert_eq!(path(&store, &chat.id).await, ["q1", "r1", "q2 1/2", "r2", "q3", "r3"]);
    // Clients that follow the chat read it again.
    while !matches!(follower.next().await.unwrap(), FollowedEvent::Missed) {}
    // Another tab does the same.
    store.switch_version(&chat.id, &first).await.unwrap();
    assert_eq!(path(&store, &chat.id).await, ["q1", "r1", "q2 1/2", "r2", "q3", "r3"]);
    exchange(&store, &chat.id, "q4", "r4").await;
    assert_eq!(path(&store, &chat.id).await[5..], ["r3", "q4", "r4"]);
    drop(store);
    let store = fixture.open().await;
    assert_eq!(path(&store, &chat.id).await[2], "q2 1/2");
    let reply = id(&store, &chat.id, "r3").await;
    let refused = store.replace_question(&chat.id, "x".into(), &reply).await.unwrap_err();
    assert_eq!(refused.to_string(), "only a message of the user can be replaced");
    for error in [
        store.replace_question(&chat.id, "x".into(), "unknown").await.unwrap_err(),
        store.switch_version(&chat.id, "unknown").await.unwrap_err(),
        store.delete_message(&chat.id, "'; DROP TABLE prowess_chats; --").await.unwrap_err(),
    ] {
        assert_eq!((error.code(), error), (ErrorCode::NotFound, StoreError::MessageNotFound));
    }
    assert_eq!(path(&store, &chat.id).await.len(), 8);
}

async fn a_reply_is_generated_again(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    exchange(&store, &chat.id, "q1", "r1").await;
    exchange(&store, &chat.id, "q2", "r2").await;
    let (question, turn) = store.regenerate(&chat.id, &id(&store, &chat.id, "r1").await).await.unwrap();
    assert_eq!(message_text(&question), "q1");
    answer(&store, turn, "r1b").await;
    assert_eq!(path(&store, &chat.id).await, ["q1", "r1b 2/2"]);
    store.switch_version(&chat.id, &other(&store, &chat.id, "r1b", false).await).await.unwrap();
    assert_eq!(path(&store, &chat.id).await, ["q1", "r1 1/2", "q2", "r2"]);
    let question = id(&store, &chat.id, "q1").await;
    let refused = store.regenerate(&chat.id, &question).await.unwrap_err();
    assert_eq!(refused.to_string(), "only a reply can be generated again");
}

async fn versions_of_versions_are_kept(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let chat = chat.id.as_str();
    exchange(&store, chat, "a", "ra").await;
    exchange(&store, chat, "b", "rb").await;
    edit(&store, chat, &id(&store, chat, "b").await, "b2", "rb2").await;
    edit(&store, chat, &id(&store, chat, "a").await, "a2", "ra2").await;
    edit(&store, chat, &id(&store, chat, "a2").await, "a3", "ra3").await;
    assert_eq!(path(&store, chat).await, ["a3 3/3", "ra3"]);
    for _ in 0..2 {
        let text = messages(&store, chat).await;
        store.switch_version(chat, &other(&store, chat, &message_text(&text[0]), false).await).await.unwrap();
    }
    assert_eq!(path(&store, chat).await, ["a 1/3", "ra", "b2 2/2", "rb2"]);
    store.switch_version(chat, &other(&store, chat, "b2", false).await).await.unwrap();
    assert_eq!(path(&store, chat).await, ["a 1/3", "ra", "b 1/2", "rb"]);
    store.delete_chat(chat).await.unwrap();
    assert_eq!(store.switch_version(chat, "x").await, Err(StoreError::ChatNotFound));
}

async fn skills_belong_to_their_version(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let (_, turn) = store.ask(&chat.id, "q".into()).await.unwrap();
    store.set_turn_skills(&turn, &["pdf".to_owned()]).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn);
    for event in [call("1"), result("1"), delta("r")] {
        writer.push(event).await.unwrap();
    }
    writer.end(TurnOutcome::finished(EndReason::Finished, None)).await.unwrap();
    let names = async || store.chat(&chat.id).await.unwrap().activated_skill_names;
    assert_eq!(names().await, ["pdf"]);
    edit(&store, &chat.id, &id(&store, &chat.id, "q").await, "q2", "r2").await;
    assert!(names().await.is_empty());
    store.switch_version(&chat.id, &other(&store, &chat.id, "q2", false).await).await.unwrap();
    assert_eq!(names().await, ["pdf"]);
    store.delete_message(&chat.id, &id(&store, &chat.id, "r").await).await.unwrap();
    assert!(names().await.is_empty());
}

async fn messages_are_deleted(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let chat = chat.id.as_str();
    for (question, reply) in [("q1", "r1"), ("q2", "r2"), ("q3", "r3")] {
        exchange(&store, chat, question, reply).await;
    }
    edit(&store, chat, &id(&store, chat, "q3").await, "q3b", "r3b").await;
    for text in ["r1", "q2", "q1"] {
        store.delete_message(chat, &id(&store, chat, text).await).await.unwrap();
    }
    assert_eq!(path(&store, chat).await, ["r2", "q3b 2/2", "r3b"]);
    store.switch_version(chat, &other(&store, chat, "q3b", false).await).await.unwrap();
    assert_eq!(path(&store, chat).await, ["r2", "q3 1/2", "r3"]);
    exchange(&store, chat, "q4", "r4").await;
    assert_eq!(path(&store, chat).await, ["r2", "q3 1/2", "r3", "q4", "r4"]);
    let page = store.messages(chat, None, 2).await.unwrap();
    let earlier = store.messages(chat, page.before, 10).await.unwrap();
    assert_eq!(earlier.messages.iter().map(message_text).collect::<Vec<_>>(), ["r2", "q3", "r3"]);
}

async fn a_deleted_version_is_replaced_by_another(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let chat = chat.id.as_str();
    exchange(&store, chat, "q", "r").await;
    for text in ["r2", "r3"] {
        let last = messages(&store, chat).await.pop().unwrap();
        let (_, turn) = store.regenerate(chat, &last.id).await.unwrap();
        answer(&store, turn, text).await;
    }
    assert_eq!(path(&store, chat).await, ["q", "r3 3/3"]);
    for expected in [vec!["q", "r2 2/2"], vec!["q", "r"], vec!["q"]] {
        let last = messages(&store, chat).await.pop().unwrap();
        store.delete_message(chat, &last.id).await.unwrap();
        assert_eq!(path(&store, chat).await, expected);
    }
}

async fn changes_are_refused_while_a_reply_is_written(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    exchange(&store, &chat.id, "q", "r").await;
    edit(&store, &chat.id, &id(&store, &chat.id, "q").await, "q2", "r2").await;
    let previous = other(&store, &chat.id, "q2", false).await;
    let (question, turn) = store.ask(&chat.id, "q3".into()).await.unwrap();
    let errors = [
        store.switch_version(&chat.id, &previous).await.unwrap_err(),
        store.delete_message(&chat.id, &question.id).await.unwrap_err(),
        store.regenerate(&chat.id, &turn.message).await.unwrap_err(),
    ];
    assert_eq!(errors, [StoreError::TurnInProgress, StoreError::TurnInProgress, StoreError::TurnInProgress]);
    answer(&store, turn, "r3").await;
    assert_eq!(path(&store, &chat.id).await, ["q2 2/2", "r2", "q3", "r3"]);
}

/// A message of a tree: its text, its versions of what follows, and which of them is active.
#[derive(Debug, Default, Clone)]
struct Node {
    text: String,
    next: Vec<Node>,
    active: usize,
}

impl Node {
    fn at(&mut self, depth: usize) -> &mut Node {
        match depth {
            0 => self,
            _ => {
                let active = self.active;
                self.next[active].at(depth - 1)
            }
        }
    }

    fn path(&self) -> Vec<String> {
        let Some(next) = self.next.get(self.active) else { return vec![] };
        let text = match self.next.len() {
            1 => next.text.clone(),
            count => format!("{} {}/{count}", next.text, self.active + 1),
        };
        [vec![text], next.path()].concat()
    }

    fn add(&mut self, text: &str) {
        self.next.push(Node { text: text.to_owned(), ..Node::default() });
        self.active = self.next.len() - 1;
    }
}

/// Random edits, switches and new messages give the path of a tree.
async fn random_changes_agree_with_a_tree(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let chat = chat.id.as_str();
    let mut tree = Node::default();
    let mut state = 42_u64;
    let mut random = move |max: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % max.max(1)
    };
    for step in 0..60 {
        let stored = messages(&store, chat).await;
        let (question, reply) = (format!("q{step}"), format!("r{step}"));
        let position = random(stored.len());
        match random(4) {
            0 => {
                exchange(&store, chat, &question, &reply).await;
                let end = tree.at(stored.len());
                end.add(&question);
                end.at(1).add(&reply);
            }
            1 if !stored.is_empty() => {
                let is_question = message_text(&stored[position]).starts_with('q');
                if is_question {
                    edit(&store, chat, &stored[position].id, &question, &reply).await;
                    tree.at(position).add(&question);
                    tree.at(position + 1).add(&reply);
                } else {
                    let (_, turn) = store.regenerate(chat, &stored[position].id).await.unwrap();
                    answer(&store, turn, &reply).await;
                    tree.at(position).add(&reply);
                }
            }
            _ if !stored.is_empty() => {
                let versions = store.messages(chat, None, 1_000).await.unwrap().versions;
                let Some(versions) = versions.get(&stored[position].id) else { continue };
                let (target, step) = match (&versions.previous, &versions.next) {
                    (Some(previous), _) if random(2) == 0 => (previous, -1),
                    (_, Some(next)) => (next, 1),
                    (Some(previous), None) => (previous, -1),
                    (None, None) => continue,
                };
                store.switch_version(chat, target).await.unwrap();
                let node = tree.at(position);
                node.active = node.active.checked_add_signed(step).unwrap();
            }
            _ => {}
        }
        assert_eq!(path(&store, chat).await, tree.path(), "step {step}");
    }
}

async fn versions_are_exported_and_imported(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let chat = chat.id.as_str();
    exchange(&store, chat, "a", "ra").await;
    exchange(&store, chat, "b", "rb").await;
    edit(&store, chat, &id(&store, chat, "b").await, "b2", "rb2").await;
    edit(&store, chat, &id(&store, chat, "a").await, "a2", "ra2").await;
    let listing = ListingChange { pinned: Some(true), archived: Some(true) };
    store.change_listing(chat, listing).await.unwrap();
    let mut bytes = Vec::new();
    export(&*store, ExportSelection::One(chat), &mut bytes).await.unwrap();
    // Once where all ids are taken, and once where none is.
    for _ in 0..2 {
        let copy = import(&*store, &bytes).await.unwrap().remove(0).to;
        let stored = store.chat(&copy).await.unwrap();
        assert!(stored.pinned && stored.archived);
        assert_eq!(path(&store, &copy).await, ["a2 2/2", "ra2"]);
        store.switch_version(&copy, &other(&store, &copy, "a2", false).await).await.unwrap();
        assert_eq!(path(&store, &copy).await, ["a 1/2", "ra", "b2 2/2", "rb2"]);
        store.switch_version(&copy, &other(&store, &copy, "b2", false).await).await.unwrap();
        assert_eq!(path(&store, &copy).await, ["a 1/2", "ra", "b 1/2", "rb"]);
        if copy != chat {
            assert_eq!(path(&store, chat).await, ["a2 2/2", "ra2"]);
            store.delete_chat(chat).await.unwrap();
            store.delete_chat(&copy).await.unwrap();
        }
    }
}

async fn exports_with_wrong_versions_are_refused(fixture: &mut TestStore) {
    let store = fixture.open().await;
    let message = |id: &str| {
        format!(
            r#"{{"id":"{id}","role":"user","at":1,"state":"complete","parts":[{{"type":"text","text":"x"}}]}}"#
        )
    };
    let branches = [
        format!(r#"{{"id":"m2","position":9,"number":0,"messages":[{}]}}"#, message("m2")),
        format!(r#"{{"id":"other","position":0,"number":0,"messages":[{}]}}"#, message("m2")),
        format!(r#"{{"id":"m1","position":0,"number":0,"messages":[{}]}}"#, message("m1")),
        format!(r#"{{"id":"m2","position":0,"number":0,"parent":"m2","messages":[{}]}}"#, message("m2")),
        format!(r#"{{"id":"m2","position":0,"number":0,"parent":"m1","messages":[{}]}}"#, message("m2")),
        r#"{"id":"m2","position":0,"number":0,"messages":[]}"#.to_owned(),
        r#"{"id":"m2","position":0,"number":0}"#.to_owned(),
        r#"{"id":"m1","position":0,"number":0},{"id":"m1","position":0,"number":0}"#.to_owned(),
    ];
    for branch in branches {
        let file = format!(
            r#"{{"format":"prowess-chats","version":3,"chats":[{{"id":"a","created":1,"updated":1,"messages":[{}],"branches":[{branch}]}}]}}"#,
            message("m1"),
        );
        let refused = import(&*store, file.as_bytes()).await.unwrap_err().to_string();
        assert_eq!(
            refused, "chat 1 of the file: the versions of its messages do not fit together",
            "{branch}"
        );
    }
}
