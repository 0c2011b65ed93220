//! The parameters of a call, validated.

use prowess::ErrorCode;
use prowess::format::suggest;
use serde_json::{Map, Value};

use crate::envelope::ToolError;

/// The maximum size of a string parameter, in bytes. Tools may have lower limits.
const TEXT_MAX: usize = 2 * 1024 * 1024;

/// The parameters of one call.
pub(crate) struct ToolParams<'a> {
    values: &'a Map<String, Value>,
}

impl<'a> ToolParams<'a> {
    /// Validates the parameters; an unknown parameter is an error.
    pub(crate) fn new(input: &'a Value, allowed: &[&'static str]) -> Result<Self, ToolError> {
        let Value::Object(values) = input else {
            return Err(invalid_param("the parameters must be an object"));
        };
        if let Some(unknown) = values.keys().find(|key| !allowed.contains(&key.as_str())) {
            let name = prowess::format::hidden::escape_and_truncate(unknown);
            let help = match suggest::nearest(unknown, allowed.iter().copied()) {
                Some(similar) => format!("; did you mean {similar}?"),
                None => format!("; valid parameters: {}", allowed.join(", ")),
            };
            return Err(invalid_param(format!("unknown parameter {name}{help}")));
        }
        Ok(Self { values })
    }

    pub(crate) fn required_text(&self, key: &str) -> Result<&'a str, ToolError> {
        match self.optional_text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(invalid_param(format!("{key} is empty"))),
            None => Err(invalid_param(format!("{key} is missing"))),
        }
    }

    pub(crate) fn optional_text(&self, key: &str) -> Result<Option<&'a str>, ToolError> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.len() > TEXT_MAX => {
                Err(invalid_param(format!("{key} has {} bytes; the limit is {TEXT_MAX}", text.len())))
            }
            Some(Value::String(text)) if text.contains('\0') => {
                Err(invalid_param(format!("{key} contains a NUL character")))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(invalid_param(format!("{key} must be a string"))),
        }
    }

    /// Returns a parameter that the caller validates.
    pub(crate) fn value(&self, key: &str) -> Option<&'a Value> {
        self.values.get(key)
    }

    /// Returns an optional list of strings. The caller validates the items.
    pub(crate) fn text_list(&self, key: &str) -> Result<Vec<String>, ToolError> {
        let items = match self.values.get(key) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(invalid_param(format!("{key} must be a list of strings"))),
        };
        let text = |item: &Value| item.as_str().map(str::to_owned);
        items
            .iter()
            .map(text)
            .collect::<Option<_>>()
            .ok_or_else(|| invalid_param(format!("{key} must be a list of strings")))
    }

    /// Returns an integer in a range, or the default if it is missing.
    pub(crate) fn number(&self, key: &str, default: usize, max: usize) -> Result<usize, ToolError> {
        let Some(value) = self.values.get(key).filter(|value| !value.is_null()) else { return Ok(default) };
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        number
            .filter(|number| (1..=max).contains(number))
            .ok_or_else(|| invalid_param(format!("{key} must be an integer from 1 to {max}")))
    }
}

fn invalid_param(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidParam, message)
}
