//! Questions of turns about scripts, as rows.

use prowess_sandbox::ConsentAnswer;

use super::super::questions::QuestionState;
use super::super::turn::StoredTurn;
use super::super::{StoreError, limits};
use super::{SqlTransaction, from_json, to_json, turns, values};
use crate::ConsentQuestion;

/// Opens a question of the current turn of a chat, and returns its new id.
pub(super) async fn open(
    tx: &mut dyn SqlTransaction,
    turn: StoredTurn,
    mut question: ConsentQuestion,
) -> Result<String, StoreError> {
    let id = limits::new_id();
    question.question = Some(id.clone());
    let sql = "INSERT INTO prowess_questions (chat, id, message, body, answer)
        SELECT id, $1, $2, $3, NULL FROM prowess_chats WHERE id = $4 AND turn = $5
        ON CONFLICT (chat) DO UPDATE SET id = excluded.id, message = excluded.message, body = excluded.body,
            answer = NULL";
    let (chat, message) = (turn.chat.as_str(), turn.message.as_str());
    let values = values![id.as_str(), message, to_json(&question)?, chat, message];
    if tx.execute(sql, values).await? == 0 { Err(turns::write_error(tx, &turn).await?) } else { Ok(id) }
}

/// Returns the open question of a chat.
pub(super) async fn get(
    tx: &mut dyn SqlTransaction,
    chat: String,
) -> Result<Option<ConsentQuestion>, StoreError> {
    let sql = "SELECT body FROM prowess_questions
        JOIN prowess_chats ON prowess_chats.id = prowess_questions.chat AND turn = message
        WHERE chat = $1 AND answer IS NULL";
    match tx.query(sql, values![chat]).await?.into_iter().next() {
        Some(mut row) => from_json(&row.text()?).map(Some),
        None => Ok(None),
    }
}

/// Answers a question. Returns `false` if it is not open.
pub(super) async fn answer(
    tx: &mut dyn SqlTransaction,
    chat: String,
    question: String,
    answer: ConsentAnswer,
) -> Result<bool, StoreError> {
    let sql = "UPDATE prowess_questions SET answer = $1 WHERE chat = $2 AND id = $3 AND answer IS NULL
        AND message = (SELECT turn FROM prowess_chats WHERE prowess_chats.id = prowess_questions.chat)";
    Ok(tx.execute(sql, values![answer.as_str(), chat, question]).await? == 1)
}

/// Returns the state of a question.
pub(super) async fn state(
    tx: &mut dyn SqlTransaction,
    chat: String,
    question: String,
) -> Result<QuestionState, StoreError> {
    let sql = "SELECT answer FROM prowess_questions WHERE chat = $1 AND id = $2";
    let Some(mut row) = tx.query(sql, values![chat, question]).await?.into_iter().next() else {
        return Ok(QuestionState::Gone);
    };
    Ok(match row.maybe_text()? {
        None => QuestionState::Open,
        Some(name) => {
            let known = ConsentAnswer::ALL.into_iter().find(|answer| answer.as_str() == name);
            // A program of another version may know other answers.
            QuestionState::Answered(known.unwrap_or(ConsentAnswer::NotNow))
        }
    })
}
