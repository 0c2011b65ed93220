//! The one form of every tool's answer.

use prowess::ErrorCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All of it.
    Success,
    /// Something was cut, or failed in part; `data` says what.
    Partial,
    /// Nothing; `error` says why.
    Error,
}

/// The answer of a tool. `data` is never null, `error` is there only if the call failed, and there are no other keys.
///
/// ```
/// use prowess_tools::Envelope;
/// use serde_json::json;
///
/// let envelope = Envelope::success(json!({"n": 1}), "one").in_context("/work", json!({"q": "x"}), 3);
/// assert_eq!(
///     serde_json::to_value(envelope).unwrap(),
///     json!({"status": "success", "data": {"n": 1}, "text": "one", "stats": {"time_ms": 3},
///            "context": {"cwd": "/work", "params_input": {"q": "x"}}}),
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Envelope {
    /// How it went.
    pub status: Outcome,
    /// The result for programs.
    pub data: Map<String, Value>,
    /// What the model reads.
    pub text: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// What it cost.
    pub stats: Stats,
    /// What it was called with.
    pub context: Context,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolError {
    /// The code, for programs.
    #[serde(serialize_with = "code")]
    pub code: ErrorCode,
    /// The reason, for the model.
    pub message: String,
}

impl ToolError {
    /// A failure of this kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// What a call cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Stats {
    /// Milliseconds.
    pub time_ms: u64,
}

/// What a call was made with.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Context {
    /// The project.
    pub cwd: String,
    /// The parameters, as they came.
    pub params_input: Value,
}

impl Envelope {
    /// A result. `data` that is not an object is put under `value`: it is never anything else.
    pub fn success(data: Value, text: impl Into<String>) -> Self {
        Self::new(Outcome::Success, data, text.into())
    }

    /// A result of which something was cut or is missing.
    pub fn partial(data: Value, text: impl Into<String>) -> Self {
        Self::new(Outcome::Partial, data, text.into())
    }

    /// A failure.
    pub fn error(error: ToolError) -> Self {
        Self { error: Some(error.clone()), ..Self::new(Outcome::Error, json!({}), error.message) }
    }

    fn new(status: Outcome, data: Value, text: String) -> Self {
        let data = match data {
            Value::Object(data) => data,
            Value::Null => Map::new(),
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        Self { status, data, text, error: None, stats: Stats::default(), context: Context::default() }
    }

    /// With where and with what the call was made, and how long it took.
    #[must_use]
    pub fn in_context(mut self, cwd: impl Into<String>, params_input: Value, time_ms: u64) -> Self {
        self.context = Context { cwd: cwd.into(), params_input };
        self.stats = Stats { time_ms };
        self
    }
}

fn code<S: serde::Serializer>(code: &ErrorCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}
