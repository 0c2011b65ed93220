//! The parameters of a call: objects of texts and numbers, and nothing that was not asked for.

use prowess::ErrorCode;
use prowess::format::suggest;
use serde_json::{Map, Value};

use crate::envelope::ToolError;

/// The longest text parameter, in bytes. What a tool takes is bounded further by the tool.
const TEXT_MAX: usize = 2 * 1024 * 1024;

/// The parameters of one call.
pub(crate) struct Params<'a> {
    values: &'a Map<String, Value>,
}

impl<'a> Params<'a> {
    /// Takes the parameters; whatever is not known is an error that names it.
    pub(crate) fn new(input: &'a Value, known: &[&'static str]) -> Result<Self, ToolError> {
        let Value::Object(values) = input else { return Err(wrong("the parameters have to be an object")) };
        if let Some(unknown) = values.keys().find(|key| !known.contains(&key.as_str())) {
            let shown = prowess::format::hidden::brief(unknown);
            let help = match suggest::nearest(unknown, known.iter().copied()) {
                Some(near) => format!("; did you mean {near}?"),
                None => format!("; it takes {}", known.join(", ")),
            };
            return Err(wrong(format!("unknown parameter {shown}{help}")));
        }
        Ok(Self { values })
    }

    /// A text that has to be there.
    pub(crate) fn text(&self, key: &str) -> Result<&'a str, ToolError> {
        match self.optional(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(wrong(format!("{key} is empty"))),
            None => Err(wrong(format!("{key} is missing"))),
        }
    }

    /// A text that may be there.
    pub(crate) fn optional(&self, key: &str) -> Result<Option<&'a str>, ToolError> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.len() > TEXT_MAX => {
                Err(wrong(format!("{key} has {} bytes; at most {TEXT_MAX} are taken", text.len())))
            }
            Some(Value::String(text)) if text.contains('\0') => {
                Err(wrong(format!("{key} has a NUL character")))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(format!("{key} has to be text"))),
        }
    }

    /// A list of texts that may be there. What each may be is judged by whoever takes them.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>, ToolError> {
        let items = match self.values.get(key) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(wrong(format!("{key} has to be a list of texts"))),
        };
        let text = |item: &Value| item.as_str().map(str::to_owned);
        items
            .iter()
            .map(text)
            .collect::<Option<_>>()
            .ok_or_else(|| wrong(format!("{key} has to be a list of texts")))
    }

    /// A whole number in a range, with what it is if it is not there.
    pub(crate) fn number(&self, key: &str, default: usize, max: usize) -> Result<usize, ToolError> {
        let Some(value) = self.values.get(key).filter(|value| !value.is_null()) else { return Ok(default) };
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        number
            .filter(|number| (1..=max).contains(number))
            .ok_or_else(|| wrong(format!("{key} has to be a whole number from 1 to {max}")))
    }
}

fn wrong(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidParam, message)
}
