//! The forms that values have: how each is read, written, and compared.

mod choice;
mod count;
mod lists;
mod sources;
mod text;

use prowess_format::Span;
use serde_json::Value as Json;

use super::tree::Tree;
use super::values::Values;

pub(super) use choice::Choice;
pub(super) use count::Count;
pub(super) use lists::{Paths, Roots, Texts, path_of};
pub(super) use sources::Sources;
pub(super) use text::{File, Store, Text};

/// One value among all: how it is read from a file and written back.
pub(super) trait Field: Sync {
    /// What it takes, to follow "it takes".
    fn takes(&self) -> String;

    /// The words it takes, to guess from.
    fn words(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Takes a value over.
    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong>;

    /// The value in force, in a form that can be read back.
    fn write(&self, values: &Values) -> Json;

    /// How much it allows; only to be compared with itself. Lists are not compared this way.
    fn width(&self, values: &Values) -> u64 {
        let _ = values;
        0
    }
}

/// Why a value was not taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The value, or the part of it that is wrong; `None` where nobody is to be shown it.
    pub(super) span: Option<Span>,
    /// What is wrong, to follow the key's name: `is "deep"`.
    pub(super) what: String,
    /// What to write instead, where that is clear.
    pub(super) help: Option<String>,
}

impl Wrong {
    /// The value is of the wrong kind or out of range.
    fn is(tree: &Tree) -> Self {
        Self { span: Some(tree.span), what: format!("is {}", tree.shown()), help: None }
    }

    /// An item of a list is wrong.
    fn has(item: &Tree, why: &str) -> Self {
        Self { span: Some(item.span), what: format!("has {} in it{why}", item.shown()), help: None }
    }

    fn help(mut self, help: String) -> Self {
        self.help = Some(help);
        self
    }
}

/// "a, b or c".
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
