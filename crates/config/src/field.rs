//! The types of values: how each is parsed, written and compared.

mod choice;
mod count;
mod lists;
mod request;
mod sources;
mod text;

use prowess_format::Span;
use serde_json::Value as Json;

use super::tree::ConfigTree;
use super::values::ConfigValues;

pub(super) use choice::ChoiceField;
pub(super) use count::NumberField;
pub(super) use lists::{
    IgnoredCodesField, PathListField, RootListField, TextListField, UrlListField, parse_path,
};
pub(super) use request::{BodyField, HeadersField, ModelsField, TemperatureField, ThinkingField};
pub(super) use sources::McpSourcesField;
pub(super) use text::{ChatStoreField, PathField, TextField};

/// The type of a key's value: how it is parsed from a file and written back.
pub(super) trait KeyField: Sync {
    /// Returns the accepted values as text, to follow "expected".
    fn expected(&self) -> String;

    /// Returns the accepted words, for suggestions.
    fn words(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Parses a value and stores it.
    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue>;

    /// Returns the effective value, in a form that can be parsed again.
    fn to_json(&self, values: &ConfigValues) -> Json;

    /// Returns how permissive the value is, to compare it with other values of the same key. Not used for
    /// lists.
    fn permissiveness(&self, values: &ConfigValues) -> u64 {
        let _ = values;
        0
    }
}

/// The reason why a value was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InvalidValue {
    /// The value, or the invalid part of it; `None` if it must not be shown.
    pub(super) span: Option<Span>,
    /// The problem, to follow the name of the key: `is "deep"`.
    pub(super) problem: String,
    /// The correction, if it is clear.
    pub(super) help: Option<String>,
    /// How much of the value is invalid.
    extent: InvalidExtent,
}

/// How much of a value is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InvalidExtent {
    /// The value as a whole, so that the message says what the key expects.
    Whole,
    /// A detail that the problem itself explains.
    Detail,
}

impl InvalidValue {
    /// The value has the wrong type or is out of range.
    fn value(tree: &ConfigTree) -> Self {
        Self::whole(Some(tree.span), format!("is {}", tree.describe()))
    }

    /// An item of a list is invalid.
    fn item(item: &ConfigTree, detail: &str) -> Self {
        Self::whole(Some(item.span), format!("contains {}{detail}", item.describe()))
    }

    /// The value is not what the key expects.
    fn whole(span: Option<Span>, problem: String) -> Self {
        Self { span, problem, help: None, extent: InvalidExtent::Whole }
    }

    /// The value has the expected form, but a detail is invalid.
    fn detail(span: Option<Span>, problem: String) -> Self {
        Self { span, problem, help: None, extent: InvalidExtent::Detail }
    }

    /// Returns the message about the value of `key`, as the user wrote it.
    pub(super) fn message(&self, key: &str, expected: &str) -> String {
        match self.extent {
            InvalidExtent::Whole => format!("{key} {}; expected {expected}", self.problem),
            InvalidExtent::Detail => format!("{key} {}", self.problem),
        }
    }

    fn help(mut self, help: String) -> Self {
        self.help = Some(help);
        self
    }
}

/// Joins words: "a, b or c".
pub(super) fn one_of(words: &[impl AsRef<str>]) -> String {
    match words.split_last() {
        Some((last, [])) => last.as_ref().to_owned(),
        Some((last, rest)) => {
            let rest = rest.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
            format!("{rest} or {}", last.as_ref())
        }
        None => String::new(),
    }
}
