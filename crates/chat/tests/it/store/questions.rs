//! Questions about scripts: any process can answer them, once, while the turn runs.

use prowess_chat::store::{QuestionState, StoreError, UserMessage};
use prowess_chat::{AccessRow, ConsentQuestion, EndReason, TurnOutcome};
use prowess_sandbox::ConsentAnswer;

use crate::store::support::{TestStore, both};

both![
    a_question_is_answered_once_by_any_process,
    a_question_ends_with_its_turn,
    an_answer_counts_for_one_question,
    an_answer_wakes_the_process_that_asked,
];

fn question(id: &str) -> ConsentQuestion {
    ConsentQuestion {
        id: id.to_owned(),
        question: None,
        skill: "pdf".to_owned(),
        script: "scripts/fill.py".to_owned(),
        access: vec![AccessRow { title: "reads".to_owned(), text: "the skill".to_owned() }],
    }
}

async fn a_question_is_answered_once_by_any_process(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let other = fixture.open().await;
    assert_eq!(other.question(&chat.id).await, Ok(None));
    let (_, turn) = store.ask(&chat.id, UserMessage::from("Fill it in.")).await.unwrap();
    let id = store.open_question(&turn, &question("call_1")).await.unwrap();
    let shown = other.question(&chat.id).await.unwrap().unwrap();
    assert_eq!(shown, ConsentQuestion { question: Some(id.clone()), ..question("call_1") });
    assert_eq!(store.question_state(&chat.id, &id).await, Ok(QuestionState::Open));
    for wrong in ["call_1", "", "../x", "\0", &id[1..]] {
        assert_eq!(other.answer_question(&chat.id, wrong, ConsentAnswer::Once).await, Ok(false), "{wrong:?}");
    }
    assert_eq!(other.answer_question(&chat.id, &id, ConsentAnswer::NotNow).await, Ok(true));
    assert_eq!(
        store.answer_question(&chat.id, &id, ConsentAnswer::Always).await,
        Ok(false),
        "a second answer"
    );
    let answered = QuestionState::Answered(ConsentAnswer::NotNow);
    assert_eq!(store.question_state(&chat.id, &id).await, Ok(answered));
    assert_eq!(store.question(&chat.id).await, Ok(None));
}

async fn a_question_ends_with_its_turn(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let (_, turn) = store.ask(&chat.id, UserMessage::from("Fill it in.")).await.unwrap();
    let id = store.open_question(&turn, &question("call_1")).await.unwrap();
    store.end(&turn, turn.first, &TurnOutcome::finished(EndReason::Cancelled, None)).await.unwrap();
    assert_eq!(store.question(&chat.id).await, Ok(None));
    assert_eq!(store.answer_question(&chat.id, &id, ConsentAnswer::Once).await, Ok(false));
    assert_eq!(store.open_question(&turn, &question("call_2")).await, Err(StoreError::TurnEnded));
    // The next turn does not open it again.
    let (_, turn) = store.ask(&chat.id, UserMessage::from("Again.")).await.unwrap();
    assert_eq!(store.question(&chat.id).await, Ok(None));
    assert_eq!(store.answer_question(&chat.id, &id, ConsentAnswer::Once).await, Ok(false));
    store.delete_chat(&chat.id).await.unwrap();
    assert_eq!(store.question_state(&chat.id, &id).await, Ok(QuestionState::Gone));
    assert_eq!(store.open_question(&turn, &question("call_2")).await, Err(StoreError::ChatNotFound));
}

async fn an_answer_counts_for_one_question(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let (_, turn) = store.ask(&chat.id, UserMessage::from("Fill it in.")).await.unwrap();
    let first = store.open_question(&turn, &question("call_1")).await.unwrap();
    store.answer_question(&chat.id, &first, ConsentAnswer::Once).await.unwrap();
    // A model may use the same id for another call.
    let second = store.open_question(&turn, &question("call_1")).await.unwrap();
    assert_ne!(first, second);
    assert_eq!(store.answer_question(&chat.id, &first, ConsentAnswer::Once).await, Ok(false));
    assert_eq!(store.question_state(&chat.id, &first).await, Ok(QuestionState::Gone));
    assert_eq!(store.question_state(&chat.id, &second).await, Ok(QuestionState::Open));
    // Another chat cannot answer it.
    let other = store.create_chat(Default::default()).await.unwrap();
    assert_eq!(store.answer_question(&other.id, &second, ConsentAnswer::Once).await, Ok(false));
}

async fn an_answer_wakes_the_process_that_asked(fixture: &mut TestStore) {
    let (store, chat) = fixture.chat().await;
    let (_, turn) = store.ask(&chat.id, UserMessage::from("Fill it in.")).await.unwrap();
    let id = store.open_question(&turn, &question("call_1")).await.unwrap();
    let mut changes = store.subscribe(&chat.id);
    // Processes on one SQLite file do not notify each other; they poll.
    let other = if fixture.server.is_some() { fixture.open().await } else { store.clone() };
    assert_eq!(other.answer_question(&chat.id, &id, ConsentAnswer::Once).await, Ok(true));
    changes.changed().await;
    let answered = QuestionState::Answered(ConsentAnswer::Once);
    assert_eq!(store.question_state(&chat.id, &id).await, Ok(answered));
}
