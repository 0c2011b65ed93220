//! Settings of requests to a chat model, for all models and for single ones.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

/// The fields of a request body that cannot be set by `extra-body`: the conversation itself.
pub const RESERVED_BODY_KEYS: [&str; 7] =
    ["model", "messages", "input", "stream", "tools", "system", "instructions"];

/// The headers that cannot be set by `extra-headers`, in lower case: the request itself needs them.
pub const RESERVED_HEADERS: [&str; 7] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
];

/// What a request asks of a model besides its reply.
///
/// ```
/// use prowess_config::{ModelSettings, ThinkingMode};
///
/// assert_eq!(ModelSettings::default().thinking, ThinkingMode::Auto);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelSettings {
    /// Whether the model thinks before it replies.
    pub thinking: ThinkingMode,
    /// How thorough the model is.
    pub effort: Effort,
    /// The sampling temperature; `None` for the provider's default.
    pub temperature: Option<Temperature>,
    /// The maximum number of tokens in one response, if it differs from the limit of the chat.
    pub output_tokens: Option<u32>,
    /// Additional headers.
    pub extra_headers: ExtraHeaders,
    /// Additional fields of the body.
    pub extra_body: Map<String, Value>,
}

/// The settings of a single model. They take precedence over [`ModelSettings`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelOverrides {
    /// Whether the model thinks before it replies.
    pub thinking: Option<ThinkingMode>,
    /// How thorough the model is.
    pub effort: Option<Effort>,
    /// The sampling temperature.
    pub temperature: Option<Temperature>,
    /// The maximum number of tokens in one response.
    pub output_tokens: Option<u32>,
    /// Headers in addition to those for all models.
    pub extra_headers: ExtraHeaders,
    /// Fields of the body in addition to those for all models.
    pub extra_body: Map<String, Value>,
}

impl ModelSettings {
    /// Returns these settings with the overrides of a model.
    #[must_use]
    pub fn with_overrides(&self, overrides: &ModelOverrides) -> Self {
        let mut extra_headers = self.extra_headers.clone();
        extra_headers.0.extend(overrides.extra_headers.0.clone());
        let mut extra_body = self.extra_body.clone();
        extra_body.extend(overrides.extra_body.clone());
        Self {
            thinking: overrides.thinking.unwrap_or(self.thinking),
            effort: overrides.effort.unwrap_or(self.effort),
            temperature: overrides.temperature.or(self.temperature),
            output_tokens: overrides.output_tokens.or(self.output_tokens),
            extra_headers,
            extra_body,
        }
    }
}

/// Whether a model thinks before it replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThinkingMode {
    /// As the provider decides.
    #[default]
    Auto,
    /// The model does not think, if its API has a setting for that.
    Off,
    /// The model thinks as long as it needs.
    On,
    /// The model thinks for at most this number of tokens.
    Budget(u32),
}

impl ThinkingMode {
    /// The smallest budget that providers accept.
    pub const BUDGET_MIN: u32 = 1_024;
}

prowess_format::named_enum! {
    /// How thorough a model is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Effort {
        /// As the provider decides.
        #[default]
        Auto = "auto",
        /// No thinking.
        None = "none",
        /// As little thinking as possible.
        Minimal = "minimal",
        /// Fast and cheap.
        Low = "low",
        /// Balanced.
        Medium = "medium",
        /// Thorough.
        High = "high",
        /// More thorough than `high`.
        XHigh = "xhigh",
        /// As thorough as possible.
        Max = "max",
    }
}

/// A sampling temperature from 0 to 2, in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Temperature(u8);

impl Temperature {
    /// Returns a temperature from 0 to 2, rounded to hundredths.
    pub fn new(value: f64) -> Option<Self> {
        // The range is checked, so the conversion is exact.
        (0.0..=2.0).contains(&value).then(|| Self((value * 100.0).round() as u8))
    }

    /// Returns the temperature as a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

/// Additional headers by lower-case name. Their values may be secrets and are not printed.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ExtraHeaders(pub BTreeMap<String, String>);

impl fmt::Debug for ExtraHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn overrides_of_a_model_take_precedence() {
        let headers =
            |name: &str, value: &str| ExtraHeaders(BTreeMap::from([(name.to_owned(), value.to_owned())]));
        let body = |value: Value| value.as_object().cloned().unwrap_or_default();
        let base = ModelSettings {
            thinking: ThinkingMode::On,
            temperature: Temperature::new(0.5),
            extra_headers: headers("x-a", "SECRET"),
            extra_body: body(json!({"a": 1, "b": 1})),
            ..ModelSettings::default()
        };
        let overrides = ModelOverrides {
            thinking: Some(ThinkingMode::Off),
            output_tokens: Some(9),
            extra_headers: headers("x-b", "SECRET"),
            extra_body: body(json!({"b": 2})),
            ..ModelOverrides::default()
        };
        let merged = base.with_overrides(&overrides);
        assert_eq!((merged.thinking, merged.output_tokens), (ThinkingMode::Off, Some(9)));
        assert_eq!(merged.temperature.map(Temperature::value), Some(0.5));
        assert_eq!(Value::from(merged.extra_body.clone()), json!({"a": 1, "b": 2}));
        assert_eq!(merged.extra_headers.0.len(), 2);
        assert!(!format!("{merged:?}").contains("SECRET"));
    }

    #[test]
    fn temperatures_are_in_range() {
        assert_eq!(Temperature::new(0.7).map(Temperature::value), Some(0.7));
        assert_eq!(Temperature::new(2.0).map(Temperature::value), Some(2.0));
        assert_eq!(
            (Temperature::new(2.1), Temperature::new(-0.1), Temperature::new(f64::NAN)),
            (None, None, None)
        );
    }
}
