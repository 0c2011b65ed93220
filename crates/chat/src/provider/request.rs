//! What a model is asked, and what comes back.

use prowess_tools::ToolDefinition;
use serde_json::Value;

use crate::message::Usage;

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What it is told before everything else.
    pub system: &'a str,
    /// What was said, the oldest first. It ends with the person's message or with results of tools.
    pub entries: &'a [Entry],
    /// The tools that it may call; none where it cannot call any.
    pub tools: &'a [ToolDefinition],
    /// The most tokens of its answer.
    pub max_output_tokens: u32,
}

/// One step of a conversation, as a model is shown it.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// The person said this.
    User(String),
    /// The model said this, and called these tools.
    Assistant {
        /// What it said.
        text: String,
        /// What it called.
        calls: Vec<Call>,
    },
    /// The tools answered, one result for each call.
    Results(Vec<CallResult>),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What its result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it was called with; anything but an object is shown as an empty one.
    pub arguments: Value,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
}

/// A piece of a model's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chunk {
    /// It said more.
    Text(String),
    /// It called a tool. The call is whole.
    Call {
        /// What the result has to refer to.
        id: String,
        /// The tool, by its own name.
        name: String,
        /// The arguments as they came: it may not even be JSON.
        arguments: String,
    },
    /// What this request has cost so far.
    Usage(Usage),
    /// It is done.
    End(Stop),
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It has said what it wanted to, or waits for its tools.
    Finished,
    /// Its answer was longer than was allowed.
    Length,
    /// It or its provider declined to go on.
    Declined,
    /// Something that this version does not know.
    Other(String),
}
