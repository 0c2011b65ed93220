//! Questions of turns about scripts. They are stored while they wait, so that every process on the same store can show and
//! answer them; only the process that runs the turn acts on an answer.

use prowess_sandbox::ConsentAnswer;

/// The state of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionState {
    /// There is no answer yet.
    Open,
    /// The answer, which is the first one that was given.
    Answered(ConsentAnswer),
    /// The question does not exist any more: its chat was deleted, or another question took its place.
    Gone,
}
