//! Building nodes from parser events, with limits.

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError};

use super::{Node, NodeKind, Quoting};
use crate::position::Span;

/// The limits for one YAML document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YamlBudget {
    /// The maximum nesting depth.
    pub depth: usize,
    /// The maximum number of nodes, including those repeated by aliases.
    pub nodes: usize,
    /// The maximum number of aliases.
    pub aliases: usize,
}

impl YamlBudget {
    /// Enough for any hand-written frontmatter or configuration.
    pub const DEFAULT: Self = Self { depth: 32, nodes: 65_536, aliases: 64 };
}

/// Why YAML could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// The text is not valid YAML.
    #[error("{message}")]
    Syntax {
        /// The byte offset of the error.
        offset: usize,
        /// The message of the parser.
        message: String,
    },
    /// The document exceeds the budget.
    #[error("{quantity} exceeds the limit of {limit}")]
    Limit {
        /// The byte offset of the error.
        offset: usize,
        /// The quantity that exceeds the limit.
        quantity: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl YamlError {
    /// Returns the byte offset of the error.
    pub fn offset(&self) -> usize {
        match self {
            Self::Syntax { offset, .. } | Self::Limit { offset, .. } => *offset,
        }
    }
}

/// Parses one YAML document. Returns `None` if the source has none.
///
/// ```
/// use prowess_format::yaml::{parse, YamlBudget};
///
/// let node = parse("a: [1, two]", YamlBudget::DEFAULT).unwrap().unwrap();
/// assert_eq!(node.describe(), "a mapping");
/// assert!(parse(&"[".repeat(40_000), YamlBudget::DEFAULT).is_err());
/// ```
pub fn parse(source: &str, budget: YamlBudget) -> Result<Option<Node<'_>>, YamlError> {
    let mut builder = Builder {
        source,
        budget,
        nodes: 0,
        aliases: 0,
        unused_anchors: Vec::new(),
        open: Vec::new(),
        anchors: Vec::new(),
    };
    let mut options = Options::default();
    options.flow_nesting_limit = budget.depth + 1;
    options.block_nesting_limit = budget.depth + 1;
    let mut root = None;
    for event in Parser::new_from_str_with_options(source, options) {
        let (event, span) = event.map_err(|error| builder.syntax_error(&error))?;
        let span = span.byte_range().map_or_else(Span::default, |range| Span::new(range.start, range.end));
        if root.is_some() && matches!(event, Event::DocumentStart(..)) {
            let message = "only one YAML document is allowed, and a second one starts here".to_owned();
            return Err(YamlError::Syntax { offset: span.start as usize, message });
        }
        root = root.or(builder.handle_event(event, span)?);
    }
    match builder.unused_anchors.first() {
        // `&files here` is meant as text, unless an alias refers to it.
        Some(&(_, offset)) => {
            let message = "a value that starts with & is an anchor, not text".to_owned();
            Err(YamlError::Syntax { offset, message })
        }
        None => Ok(root),
    }
}

struct Builder<'s> {
    source: &'s str,
    budget: YamlBudget,
    nodes: usize,
    aliases: usize,
    /// The anchors of scalars that no alias refers to yet: the parser's anchor id and the offset.
    unused_anchors: Vec<(usize, usize)>,
    open: Vec<OpenCollection<'s>>,
    /// Finished nodes that an alias may repeat, by the parser's anchor id.
    anchors: Vec<(usize, Node<'s>)>,
}

/// A collection that is not closed yet.
struct OpenCollection<'s> {
    start: Span,
    anchor: usize,
    items: Items<'s>,
}

enum Items<'s> {
    List(Vec<Node<'s>>),
    Map { entries: Vec<(Node<'s>, Node<'s>)>, key: Option<Node<'s>> },
}

impl<'s> Builder<'s> {
    /// Handles one event. Returns the root once it is complete.
    fn handle_event(&mut self, event: Event<'s>, span: Span) -> Result<Option<Node<'s>>, YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if tag.as_ref().is_some_and(|tag| !tag.is_yaml_core_schema()) {
                    // `!important files` is meant as text; as a tag, the first word would be lost.
                    let message = "a value that starts with ! is a tag, not text".to_owned();
                    return Err(YamlError::Syntax { offset: span.start as usize, message });
                }
                if anchor != 0 {
                    self.unused_anchors.push((anchor, span.start as usize));
                }
                let plain = style == ScalarStyle::Plain && tag.is_none();
                let kind = NodeKind::Scalar(text, if plain { Quoting::Plain } else { Quoting::Quoted });
                self.count_nodes(1, span)?;
                Ok(self.attach(Node { span, kind }, anchor))
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open(OpenCollection { start: span, anchor, items: Items::List(Vec::new()) }, span)
            }
            Event::MappingStart(_, anchor, _) => {
                let items = Items::Map { entries: Vec::new(), key: None };
                self.open(OpenCollection { start: span, anchor, items }, span)
            }
            Event::SequenceEnd | Event::MappingEnd => Ok(self.close(span)),
            Event::Alias(anchor) => self.expand_alias(anchor, span),
            // Stream and document events carry no values.
            _ => Ok(None),
        }
    }

    fn open(&mut self, open: OpenCollection<'s>, span: Span) -> Result<Option<Node<'s>>, YamlError> {
        self.count_nodes(1, span)?;
        if self.open.len() >= self.budget.depth {
            return Err(self.limit_error(span, "nesting", self.budget.depth));
        }
        self.open.push(open);
        Ok(None)
    }

    fn close(&mut self, end: Span) -> Option<Node<'s>> {
        let OpenCollection { start, anchor, items } = self.open.pop()?;
        let kind = match items {
            Items::List(items) => NodeKind::List(items),
            Items::Map { entries, .. } => NodeKind::Map(entries),
        };
        let span = Span { start: start.start, end: end.end.max(start.start) };
        self.attach(Node { span, kind }, anchor)
    }

    /// Adds a finished node to the open collection, or returns it if it is the root.
    fn attach(&mut self, node: Node<'s>, anchor: usize) -> Option<Node<'s>> {
        if anchor != 0 {
            self.anchors.push((anchor, node.clone()));
        }
        let Some(open) = self.open.last_mut() else { return Some(node) };
        match &mut open.items {
            Items::List(items) => items.push(node),
            Items::Map { entries, key } => match key.take() {
                None => *key = Some(node),
                Some(key) => entries.push((key, node)),
            },
        }
        None
    }

    fn expand_alias(&mut self, anchor: usize, span: Span) -> Result<Option<Node<'s>>, YamlError> {
        self.aliases += 1;
        self.unused_anchors.retain(|(id, _)| *id != anchor);
        if self.aliases > self.budget.aliases {
            return Err(self.limit_error(span, "the number of aliases", self.budget.aliases));
        }
        let Some(node) = self.anchors.iter().rev().find(|(id, _)| *id == anchor).map(|(_, node)| node) else {
            let message = "an alias refers to a value that contains it".to_owned();
            return Err(YamlError::Syntax { offset: span.start as usize, message });
        };
        let (size, depth, mut node) = (size(node), depth(node), node.clone());
        node.span = span;
        self.count_nodes(size, span)?;
        if self.open.len() + depth > self.budget.depth {
            return Err(self.limit_error(span, "nesting", self.budget.depth));
        }
        Ok(self.attach(node, 0))
    }

    fn count_nodes(&mut self, nodes: usize, span: Span) -> Result<(), YamlError> {
        self.nodes += nodes;
        if self.nodes > self.budget.nodes {
            return Err(self.limit_error(span, "the number of values", self.budget.nodes));
        }
        Ok(())
    }

    fn limit_error(&self, span: Span, quantity: &'static str, limit: usize) -> YamlError {
        YamlError::Limit { offset: span.start as usize, quantity, limit }
    }

    fn syntax_error(&self, error: &ScanError) -> YamlError {
        let offset = error.marker().byte_offset().unwrap_or_default().min(self.source.len());
        let message = error.info();
        if message.contains("nesting") || message.contains("recursion") {
            return YamlError::Limit { offset, quantity: "nesting", limit: self.budget.depth };
        }
        YamlError::Syntax { offset, message }
    }
}

/// Returns how deeply collections are nested.
fn depth(node: &Node<'_>) -> usize {
    match &node.kind {
        NodeKind::Scalar(..) => 0,
        NodeKind::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        NodeKind::Map(entries) => {
            1 + entries.iter().map(|(key, value)| depth(key).max(depth(value))).max().unwrap_or(0)
        }
    }
}

fn size(node: &Node<'_>) -> usize {
    match &node.kind {
        NodeKind::Scalar(..) => 1,
        NodeKind::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        NodeKind::Map(entries) => {
            1 + entries.iter().map(|(key, value)| size(key) + size(value)).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    #[test]
    fn aliases_are_expanded_within_the_budget() {
        let node = parse("a: &x [1, 2]\nb: *x\n", YamlBudget::DEFAULT).unwrap().unwrap();
        let NodeKind::Map(entries) = &node.kind else { panic!("{node:?}") };
        assert_eq!(entries[0].1.value(), entries[1].1.value());
    }

    #[test]
    fn bombs_exceed_a_limit() {
        let laughs = (1..9).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, n| {
            let alias = format!("*a{}", n - 1);
            text + &format!("a{n}: &a{n} [{}]\n", [alias.as_str(); 9].join(","))
        });
        for bomb in
            [laughs, "[".repeat(40_000), "- ".repeat(20_000), "{a: ".repeat(10_000), "? ".repeat(9_999)]
        {
            let error = parse(&bomb, YamlBudget::DEFAULT).unwrap_err();
            assert!(matches!(error, YamlError::Limit { .. }), "{error:?} for {}", &bomb[..40]);
        }
    }

    #[test]
    fn aliases_do_not_bypass_the_depth_limit() {
        let chain = (1..60)
            .fold("a0: &a0 [x]\n".to_owned(), |text, n| text + &format!("a{n}: &a{n} [*a{}]\n", n - 1));
        let error = parse(&chain, YamlBudget::DEFAULT).unwrap_err();
        assert!(matches!(error, YamlError::Limit { quantity: "nesting", .. }), "{error:?}");
    }

    #[test]
    fn tags_anchors_and_second_documents_are_errors() {
        for text in [
            "a: !important files",
            "a: &files here",
            "a: &files here\nb: &c d\ne: *c\n",
            "a: b\n...\nmore: text\n",
        ] {
            assert!(parse(text, YamlBudget::DEFAULT).is_err(), "{text}");
        }
        assert!(parse("a: !!str 1", YamlBudget::DEFAULT).is_ok());
    }

    #[test]
    fn nested_keys_are_abbreviated() {
        let text = format!("{}a", "? ".repeat(31));
        let value = parse(&text, YamlBudget::DEFAULT).unwrap().unwrap().value();
        assert_eq!(value, Value::Map(vec![("{…}".into(), Value::Null)]));
    }

    #[test]
    fn an_alias_inside_its_own_value_is_an_error() {
        assert!(parse("a: &x [*x]", YamlBudget::DEFAULT).is_err());
    }
}
