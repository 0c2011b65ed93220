//! Whole turns, kept as they happen: what is told live is what is there afterwards.

use std::sync::{Arc, Mutex};

use prowess::{Policy, Registry, Surroundings};
use prowess_chat::provider::connect;
use prowess_chat::store::{Keeper, NewChat, Numbered, Past, StoreError};
use prowess_chat::turn::{Agent, Input};
use prowess_chat::{End, Event, Part, Role, State};
use prowess_config::{Chat as Wanted, ChatLimits};
use prowess_tools::Toolbox;

use crate::store::world::{World, both};

both![
    what_is_told_is_what_is_kept,
    a_question_is_asked_again_in_its_own_place,
    a_keeper_that_is_dropped_leaves_a_marker
];

const SKILL: &str = "---\nname: notes\ndescription: Take notes.\n---\nWrite it down. SECRET\n";

/// An agent without a model, with one skill.
fn agent(world: &World) -> Agent {
    let project = world.folder.path().join("project");
    let skill = project.join("skills/notes");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), SKILL).unwrap();
    let policy = Policy::default().with_roots([project.join("skills")]);
    let surroundings = Surroundings { project, home: None, path: Default::default() };
    let registry = Registry::open_in(policy, surroundings, &Default::default());
    let toolbox = Arc::new(Toolbox::new(Arc::new(registry)));
    let model = connect(&Wanted::default(), |_| None, &toolbox).unwrap();
    Agent::new(toolbox, model, ChatLimits::default())
}

async fn what_is_told_is_what_is_kept(world: &mut World) {
    let agent = agent(world);
    let store = world.open().await;
    let chat = store.create_chat(NewChat::default()).await.unwrap().id;
    let told: Arc<Mutex<Vec<Numbered>>> = Arc::default();
    for text in ["/notes buy milk", "and bread"] {
        let past = Past::of(&*store, &chat).await.unwrap();
        let heard = told.clone();
        let keep = move |event| heard.lock().unwrap().push(event);
        let mut keeper = Keeper::ask(&store, &chat, text, &past, keep).await.unwrap();
        let input = Input { chat: &chat, history: &past.messages, activated: &past.activated, text };
        let outcome = agent.turn(input, &mut keeper, &mut |_| {}, &Default::default()).await;
        assert_eq!(outcome.end, Ok(End::Finished));
        assert_eq!(outcome.activated, ["notes"]);
    }
    let kept = store.chat(&chat).await.unwrap();
    assert_eq!((kept.title.as_str(), kept.messages), ("/notes buy milk", 4));
    assert_eq!(kept.activated_skill_names, ["notes"]);
    assert_eq!(store.skill_uses().await.unwrap()[0].name, "notes");

    let told = told.lock().unwrap().clone();
    assert_eq!(store.events_after(&chat, 0).await.unwrap().events, told);
    let messages = Past::of(&*store, &chat).await.unwrap().messages;
    assert!(messages.iter().all(|message| message.state == State::Complete));
    let answer = &messages[1];
    assert_eq!(answer.role, Role::Assistant);
    let (shown, summary) = (
        told.iter().find_map(|told| match &told.event {
            Event::ToolResult { data, .. } => Some(data),
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

async fn a_question_is_asked_again_in_its_own_place(world: &mut World) {
    let agent = agent(world);
    let store = world.open().await;
    let chat = store.create_chat(NewChat::default()).await.unwrap().id;
    let mut asked = String::new();
    let unheard = |_| {};
    for (text, again) in [("hello", false), ("/notes buy milk", false), ("just buy milk", true)] {
        let past = Past::of(&*store, &chat).await.unwrap();
        let (past, mut keeper) = match again {
            false => {
                let keeper = Keeper::ask(&store, &chat, text, &past, unheard).await.unwrap();
                (past, keeper)
            }
            true => {
                let past = past.before(&asked);
                let keeper = Keeper::ask_instead(&store, &chat, text, &asked, &past, unheard).await.unwrap();
                (past, keeper)
            }
        };
        // While it is answered, nothing takes its place.
        let refused = store.ask_instead(&chat, "no", &asked).await.unwrap_err();
        assert!(matches!(refused, StoreError::Writing), "{refused}");
        let input = Input { chat: &chat, history: &past.messages, activated: &past.activated, text };
        agent.turn(input, &mut keeper, &mut |_| {}, &Default::default()).await;
        let messages = Past::of(&*store, &chat).await.unwrap().messages;
        asked = messages[messages.len() - 2].id.clone();
        if text.starts_with('/') {
            assert_eq!(store.chat(&chat).await.unwrap().activated_skill_names, ["notes"]);
        }
    }
    let past = Past::of(&*store, &chat).await.unwrap();
    let questions: Vec<_> = past.messages.iter().step_by(2).map(crate::store::world::words).collect();
    assert_eq!(questions, ["hello", "just buy milk"]);
    assert_eq!((past.messages.len(), store.chat(&chat).await.unwrap().messages), (4, 4));
    assert_eq!(past.activated, [""; 0], "the skill was loaded by the answer that is gone");
    // Only the last question can be asked again.
    for wrong in [past.messages[0].id.as_str(), past.messages[3].id.as_str(), "none"] {
        let refused = store.ask_instead(&chat, "no", wrong).await.unwrap_err();
        assert!(matches!(refused, StoreError::Invalid(_)), "{refused}");
    }
    assert_eq!(Past::of(&*store, &chat).await.unwrap(), past, "what is refused changes nothing");
}

async fn a_keeper_that_is_dropped_leaves_a_marker(world: &mut World) {
    let (store, chat) = world.chat().await;
    let past = Past::of(&*store, &chat.id).await.unwrap();
    drop(Keeper::ask(&store, &chat.id, "hello", &past, |_| {}).await.unwrap());
    crate::store::world::until(async || store.chat(&chat.id).await.unwrap().writing.is_none()).await;
    let messages = crate::store::world::messages(&store, &chat.id).await;
    assert_eq!(crate::store::world::words(&messages[0]), "hello");
    crate::store::world::marker(&messages[1]);
    Keeper::ask(&store, &chat.id, "again", &past, |_| {}).await.unwrap();
}
