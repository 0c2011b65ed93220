//! YAML text to a tree of nodes that know their place, within a budget.
//!
//! The tree is built without recursion from the parser's events, so that nesting, aliases and node counts are bounded
//! while they are read and not after.

mod build;
mod value;

use std::borrow::Cow;

pub use build::{Budget, YamlError, parse};
pub use value::Value;

use crate::position::Span;

/// A node of the tree. Text is borrowed from the source wherever it stands there as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node<'s> {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: Kind<'s>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind<'s> {
    /// A scalar.
    Scalar(Cow<'s, str>, Style),
    /// A sequence.
    List(Vec<Node<'s>>),
    /// A mapping, in the order of the source, with keys that stand twice.
    Map(Vec<(Node<'s>, Node<'s>)>),
}

/// How a scalar was written: only a plain one can be anything but text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In quotes, or as a block.
    Text,
}

impl Node<'_> {
    /// The value it stands for.
    pub fn value(&self) -> Value {
        Value::of(self)
    }

    /// What to call it in a message.
    pub fn noun(&self) -> &'static str {
        match self.value() {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}
