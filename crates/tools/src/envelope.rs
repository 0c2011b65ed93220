//! The envelope: the response format of all tools.

use prowess::ErrorCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// The call succeeded.
    Success,
    /// The result is truncated or failed in part; see `data`.
    Partial,
    /// The call failed; see `error`.
    Error,
}

/// The response of a tool. `data` is never null, and `error` is only present if the call failed.
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
    /// The result of the call.
    pub status: CallStatus,
    /// The result for programs.
    pub data: Map<String, Value>,
    /// The text for the model.
    pub text: String,
    /// The error, if the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// Statistics of the call.
    pub stats: CallStats,
    /// The inputs of the call.
    pub context: CallContext,
}

/// The error of a failed call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolError {
    /// The code, for programs.
    #[serde(serialize_with = "serialize_code")]
    pub code: ErrorCode,
    /// The reason, for the model.
    pub message: String,
}

impl ToolError {
    /// Creates an error.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Statistics of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CallStats {
    /// The duration in milliseconds.
    pub time_ms: u64,
}

/// The inputs of a call.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CallContext {
    /// The project directory.
    pub cwd: String,
    /// The parameters, as received.
    pub params_input: Value,
}

impl Envelope {
    /// Creates a successful response. `data` that is not an object is stored under the key `value`.
    pub fn success(data: Value, text: impl Into<String>) -> Self {
        Self::new(CallStatus::Success, data, text.into())
    }

    /// Creates a response with a truncated or incomplete result.
    pub fn partial(data: Value, text: impl Into<String>) -> Self {
        Self::new(CallStatus::Partial, data, text.into())
    }

    /// Creates a failed response.
    pub fn error(error: ToolError) -> Self {
        Self { error: Some(error.clone()), ..Self::new(CallStatus::Error, json!({}), error.message) }
    }

    fn new(status: CallStatus, data: Value, text: String) -> Self {
        let data = match data {
            Value::Object(data) => data,
            Value::Null => Map::new(),
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        Self { status, data, text, error: None, stats: CallStats::default(), context: CallContext::default() }
    }

    /// Adds the working directory, the parameters and the duration of the call.
    #[must_use]
    pub fn in_context(mut self, cwd: impl Into<String>, params_input: Value, time_ms: u64) -> Self {
        self.context = CallContext { cwd: cwd.into(), params_input };
        self.stats = CallStats { time_ms };
        self
    }
}

fn serialize_code<S: serde::Serializer>(code: &ErrorCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}
