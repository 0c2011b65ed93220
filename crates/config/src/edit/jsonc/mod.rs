//! JSON as editors write it: with comments and commas at the end, read into nodes that know their place.
//!
//! | module | subject |
//! |---|---|
//! | `read` | text to nodes, or where it is broken |
//! | `write` | values to text, on one line or several |
//! | `put` | one entry added or replaced |
//! | `take` | one entry removed; what was added leaves no trace |

mod put;
mod read;
mod take;
mod write;

use prowess_format::Value;

use super::entry::{EntryError, Found};
use super::text::line_of;

pub(super) use put::put;
pub(super) use take::take;

/// The entry at a path.
pub(super) fn find(text: &str, [section, name]: [&str; 2]) -> Result<Option<Found>, EntryError> {
    let Some(root) = put::read(text)? else { return Ok(None) };
    let outer = put::members(text, &root, "the configuration")?;
    let Some(outer) = put::only(text, outer, section)? else { return Ok(None) };
    let inner = put::members(text, &outer.value, section)?;
    let found = put::only(text, inner, name)?;
    Ok(found.map(|found| Found { value: found.value.value(), line: line_of(text, found.start) }))
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// Its first byte.
    pub(super) start: usize,
    /// One past its last byte.
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// `null`, `true`, a number, a text.
    Plain(Value),
    List(Vec<Node>),
    Map(Vec<Member>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    /// The first byte of the key, which is its quote.
    pub(super) start: usize,
    pub(super) value: Node,
    /// The comma that follows.
    pub(super) comma: Option<usize>,
}

/// Where a text is broken, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Node {
    /// What it stands for.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Plain(value) => value.clone(),
            Kind::List(items) => Value::List(items.iter().map(Self::value).collect()),
            Kind::Map(members) => {
                let entry = |member: &Member| (member.key.as_str().into(), member.value.value());
                Value::Map(members.iter().map(entry).collect())
            }
        }
    }

    /// The brace or bracket that ends it.
    pub(super) fn close(&self) -> usize {
        self.end.saturating_sub(1)
    }
}

impl Member {
    /// One past its last byte, the comma apart.
    pub(super) fn end(&self) -> usize {
        self.value.end
    }
}
