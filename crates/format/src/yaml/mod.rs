//! Parsing YAML into a tree of nodes with spans, within a budget.
//!
//! The tree is built from parser events without recursion, so that nesting, aliases and node counts are limited
//! while parsing.

mod build;
mod value;

use std::borrow::Cow;

pub use build::{YamlBudget, YamlError, parse};
pub use value::Value;

use crate::position::Span;

/// A node of the tree. Text is borrowed from the source where possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node<'s> {
    /// The bytes of the node.
    pub span: Span,
    /// The content of the node.
    pub kind: NodeKind<'s>,
}

/// The content of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind<'s> {
    /// A scalar.
    Scalar(Cow<'s, str>, Quoting),
    /// A sequence.
    List(Vec<Node<'s>>),
    /// A mapping, in the order of the source, with duplicate keys.
    Map(Vec<(Node<'s>, Node<'s>)>),
}

/// How a scalar was written: only a plain one can have a type other than text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    /// Without quotes.
    Plain,
    /// In quotes, or as a block.
    Quoted,
}

impl Node<'_> {
    /// Returns the value of the node.
    pub fn value(&self) -> Value {
        Value::from_node(self)
    }

    /// Describes the type of the node for a message.
    pub fn describe(&self) -> &'static str {
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
