//! Recording whole turns: reported events match the stored ones.

use std::sync::{Arc, Mutex};

use prowess::{HostEnv, Policy, Registry};
use prowess_chat::provider::connect;
use prowess_chat::store::{ChatHistory, NewChat, NumberedEvent, StoreError, StoreRecorder};
use prowess_chat::turn::{Agent, TurnInput, TurnRecorder};
use prowess_chat::{EndReason, MessageState, Part, Role, TurnEvent, TurnOutcome};
use prowess_config::{ChatLimits, ChatSettings as ChatConfig};
use prowess_tools::Toolbox;
use serde_json::json;

use crate::store::support::{TestStore, both};

both![
    reported_events_match_stored_events,
    questions_can_be_replaced,
    dropping_a_recorder_marks_the_message,
    a_stopped_turn_changes_no_skills,
    replacing_a_question_deactivates_skills_of_servers
];

const SKILL: &str = "---\nname: notes\ndescription: Take notes.\n---\nWrite it down. SECRET\n";

/// Creates an agent with the rehearsal and one skill.
fn agent(fixture: &TestStore) -> Agent {
    let project = fixture.dir.path().join("project");
    let skill = project.join("skills/notes");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), SKILL).unwrap();
    let policy = Policy::default().with_roots([project.join("skills")]);
    let host_env = HostEnv { project, home: None, path: Default::default() };
    let registry = Registry::open_in(policy, host_env, &Default::default());
    let toolbox = Arc::new(Toolbox::new(Arc::new(registry)));
    let model = connect(&ChatConfig::default(), |_| None, &toolbox).unwrap();
    Agent::new(toolbox, model, ChatLimits::default())
}

async fn reported_events_match_stored_events(fixture: &mut TestStore) {
    let agent = agent(fixture);
    let store = fixture.open().await;
    let chat = store.create_chat(NewChat::default()).await.unwrap().id;
    let reported: Arc<Mutex<Vec<NumberedEvent>>> = Arc::default();
    for text in ["/notes buy milk", "and bread"] {
        let past = ChatHistory::load(&*store, &chat).await.unwrap();
        let sink = reported.clone();
        let on_event = move |event| sink.lock().unwrap().push(event);
        let mut recorder = StoreRecorder::ask(&store, &chat, text.into(), &past, on_event).await.unwrap();
        let input = TurnInput {
            chat: &chat,
            history: &past.messages,
            activated: &past.activated,
            text,
            ..TurnInput::default()
        };
        let outcome = agent.turn(input, &mut recorder, &mut |_| {}, &Default::default()).await;
        assert_eq!(outcome.end, Ok(EndReason::Finished));
        assert_eq!(outcome.activated, ["notes"]);
    }
    let stored = store.chat(&chat).await.unwrap();
    assert_eq!((stored.title.as_str(), stored.messages), ("/notes buy milk", 4));
    assert_eq!(stored.activated_skill_names, ["notes"]);
    assert_eq!(store.skill_uses().await.unwrap()[0].name, "notes");

    let reported = reported.lock().unwrap().clone();
    assert_eq!(store.events_after(&chat, 0).await.unwrap().events, reported);
    let messages = ChatHistory::load(&*store, &chat).await.unwrap().messages;
    assert!(messages.iter().all(|message| message.state == MessageState::Complete));
    let answer = &messages[1];
    assert_eq!(answer.role, Role::Assistant);
    let (shown, summary) = (
        reported.iter().find_map(|event| match &event.event {
            TurnEvent::ToolResult { data, .. } => Some(data),
            _ => None,
        }),
        answer.parts.iter().find_map(|part| match part {
            Part::ToolResult { summary, .. } => Some(summary),
            _ => None,
        }),
    );
    assert_eq!(shown, summary);
    assert!(summary.unwrap()["text_digest"].is_string());
    assert!(!summary.unwrap().to_string().contains("SECRET"));
}

async fn questions_can_be_replaced(fixture: &mut TestStore) {
    let agent = agent(fixture);
    let store = fixture.open().await;
    let chat = store.create_chat(NewChat::default()).await.unwrap().id;
    let mut question_id = String::new();
    let ignore = |_| {};
    for (text, again) in [("hello", false), ("/notes buy milk", false), ("just buy milk", true)] {
        let past = ChatHistory::load(&*store, &chat).await.unwrap();
        let (past, mut recorder) = match again {
            false => {
                let recorder = StoreRecorder::ask(&store, &chat, text.into(), &past, ignore).await.unwrap();
                (past, recorder)
            }
            true => {
                let past = past.before(&question_id);
                let recorder =
                    StoreRecorder::replace_question(&store, &chat, text.into(), &question_id, &past, ignore)
                        .await
                        .unwrap();
                (past, recorder)
            }
        };
        // While the reply is written, the question cannot be replaced.
        let refused = store.replace_question(&chat, "no".into(), &question_id).await.unwrap_err();
        assert!(matches!(refused, StoreError::TurnInProgress), "{refused}");
        let input = TurnInput {
            chat: &chat,
            history: &past.messages,
            activated: &past.activated,
            text,
            ..TurnInput::default()
        };
        agent.turn(input, &mut recorder, &mut |_| {}, &Default::default()).await;
        let messages = ChatHistory::load(&*store, &chat).await.unwrap().messages;
        question_id = messages[messages.len() - 2].id.clone();
        if text.starts_with('/') {
            assert_eq!(store.chat(&chat).await.unwrap().activated_skill_names, ["notes"]);
        }
    }
    let past = ChatHistory::load(&*store, &chat).await.unwrap();
    let questions: Vec<_> =
        past.messages.iter().step_by(2).map(crate::store::support::message_text).collect();
    assert_eq!(questions, ["hello", "just buy milk"]);
    assert_eq!((past.messages.len(), store.chat(&chat).await.unwrap().messages), (4, 4));
    assert_eq!(past.activated, [""; 0], "the skill was loaded by the removed reply");
    // Only a message of the user can be replaced.
    for invalid in [past.messages[3].id.as_str(), "none"] {
        let refused = store.replace_question(&chat, "no".into(), invalid).await.unwrap_err();
        assert!(matches!(refused, StoreError::Invalid(_) | StoreError::MessageNotFound), "{refused}");
    }
    assert_eq!(ChatHistory::load(&*store, &chat).await.unwrap(), past, "a failed call changes nothing");
}

async fn dropping_a_recorder_marks_the_message(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let past = ChatHistory::load(&*store, &chat.id).await.unwrap();
    drop(StoreRecorder::ask(&store, &chat.id, "hello".into(), &past, |_| {}).await.unwrap());
    crate::store::support::wait_until(async || store.chat(&chat.id).await.unwrap().writing.is_none()).await;
    let messages = crate::store::support::messages(&store, &chat.id).await;
    assert_eq!(crate::store::support::message_text(&messages[0]), "hello");
    crate::store::support::interruption(&messages[1]);
    StoreRecorder::ask(&store, &chat.id, "again".into(), &past, |_| {}).await.unwrap();
}

/// Returns the result of activating a skill.
fn activation(name: &str) -> Part {
    let summary = json!({"name": name});
    Part::ToolResult {
        id: "c".to_owned(),
        name: "skills.activate".to_owned(),
        summary,
        status: "success".to_owned(),
    }
}

async fn a_stopped_turn_changes_no_skills(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let past = ChatHistory::load(&*store, &chat.id).await.unwrap();
    let mut recorder = StoreRecorder::ask(&store, &chat.id, "hello".into(), &past, |_| {}).await.unwrap();
    let cancelled = TurnOutcome::finished(EndReason::Cancelled, None);
    assert!(fixture.open().await.stop_turn(&chat.id, &cancelled).await.unwrap());
    let active = ["pdf".to_owned()];
    assert!(recorder.result(&activation("pdf"), &active).await.is_err());
    assert!(recorder.end(&cancelled, &active).await.is_err());
    assert_eq!(store.chat(&chat.id).await.unwrap().activated_skill_names, [""; 0]);
}

async fn replacing_a_question_deactivates_skills_of_servers(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let past = ChatHistory::load(&*store, &chat.id).await.unwrap();
    let mut recorder = StoreRecorder::ask(&store, &chat.id, "hello".into(), &past, |_| {}).await.unwrap();
    let active = ["docs/pdf".to_owned(), "docs/my-pdf".to_owned()];
    recorder.result(&activation("pdf"), &active).await.unwrap();
    recorder.end(&TurnOutcome::finished(EndReason::Finished, None), &active).await.unwrap();
    let past = ChatHistory::load(&*store, &chat.id).await.unwrap();
    assert_eq!(past.activated, active);
    store.replace_question(&chat.id, "again".into(), &past.messages[0].id).await.unwrap();
    assert_eq!(store.chat(&chat.id).await.unwrap().activated_skill_names, ["docs/my-pdf"]);
}
