//! Events to nodes, counting as it goes.

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError};

use super::{Kind, Node, Style};
use crate::position::Span;

/// How much YAML may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The deepest nesting.
    pub depth: usize,
    /// The most nodes, those that aliases repeat included.
    pub nodes: usize,
    /// The most aliases.
    pub aliases: usize,
}

impl Budget {
    /// Ample for any frontmatter or configuration that a person writes.
    pub const DEFAULT: Self = Self { depth: 32, nodes: 65_536, aliases: 64 };
}

/// Why YAML could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// It is not YAML.
    #[error("{message}")]
    Syntax {
        /// The byte it was noticed at.
        offset: usize,
        /// The parser's words.
        message: String,
    },
    /// It goes beyond the budget.
    #[error("{what} goes beyond the limit of {limit}")]
    Limit {
        /// The byte it was noticed at.
        offset: usize,
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl YamlError {
    /// The byte it was noticed at.
    pub fn offset(&self) -> usize {
        match self {
            Self::Syntax { offset, .. } | Self::Limit { offset, .. } => *offset,
        }
    }
}

/// Reads one YAML document; `None` where there is none.
///
/// ```
/// use prowess_format::yaml::{parse, Budget};
///
/// let node = parse("a: [1, two]", Budget::DEFAULT).unwrap().unwrap();
/// assert_eq!(node.noun(), "a mapping");
/// assert!(parse(&"[".repeat(40_000), Budget::DEFAULT).is_err());
/// ```
pub fn parse(source: &str, budget: Budget) -> Result<Option<Node<'_>>, YamlError> {
    let mut builder =
        Builder { source, budget, nodes: 0, aliases: 0, unused: None, open: Vec::new(), anchors: Vec::new() };
    let mut options = Options::default();
    options.flow_nesting_limit = budget.depth + 1;
    options.block_nesting_limit = budget.depth + 1;
    let mut root = None;
    for event in Parser::new_from_str_with_options(source, options) {
        let (event, span) = event.map_err(|error| builder.syntax(&error))?;
        let span = span.byte_range().map_or_else(Span::default, |range| Span::new(range.start, range.end));
        if root.is_some() && matches!(event, Event::DocumentStart(..)) {
            let message = "a second document begins here, and only one is read".to_owned();
            return Err(YamlError::Syntax { offset: span.start as usize, message });
        }
        root = root.or(builder.take(event, span)?);
    }
    match builder.unused {
        // `&files here` is meant as text, unless somebody refers to it.
        Some(offset) if builder.aliases == 0 => {
            let message = "a value that begins with & is an anchor, not text".to_owned();
            Err(YamlError::Syntax { offset, message })
        }
        _ => Ok(root),
    }
}

struct Builder<'s> {
    source: &'s str,
    budget: Budget,
    nodes: usize,
    aliases: usize,
    /// The first scalar with an anchor.
    unused: Option<usize>,
    open: Vec<Open<'s>>,
    /// Finished nodes that an alias may repeat, by the parser's number for them.
    anchors: Vec<(usize, Node<'s>)>,
}

/// A collection whose end has not been seen.
struct Open<'s> {
    start: Span,
    anchor: usize,
    items: Items<'s>,
}

enum Items<'s> {
    List(Vec<Node<'s>>),
    Map { entries: Vec<(Node<'s>, Node<'s>)>, key: Option<Node<'s>> },
}

impl<'s> Builder<'s> {
    /// Takes one event; gives the root once it is complete.
    fn take(&mut self, event: Event<'s>, span: Span) -> Result<Option<Node<'s>>, YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if tag.as_ref().is_some_and(|tag| !tag.is_yaml_core_schema()) {
                    // `!important files` is meant as text; read as a tag, the first word would be lost.
                    let message = "a value that begins with ! is a tag, not text".to_owned();
                    return Err(YamlError::Syntax { offset: span.start as usize, message });
                }
                if anchor != 0 && self.unused.is_none() {
                    self.unused = Some(span.start as usize);
                }
                let plain = style == ScalarStyle::Plain && tag.is_none();
                let kind = Kind::Scalar(text, if plain { Style::Plain } else { Style::Text });
                self.count(1, span)?;
                Ok(self.place(Node { span, kind }, anchor))
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open(Open { start: span, anchor, items: Items::List(Vec::new()) }, span)
            }
            Event::MappingStart(_, anchor, _) => {
                let items = Items::Map { entries: Vec::new(), key: None };
                self.open(Open { start: span, anchor, items }, span)
            }
            Event::SequenceEnd | Event::MappingEnd => Ok(self.close(span)),
            Event::Alias(anchor) => self.repeat(anchor, span),
            // The stream's frame, and kinds that are not asked for.
            _ => Ok(None),
        }
    }

    fn open(&mut self, open: Open<'s>, span: Span) -> Result<Option<Node<'s>>, YamlError> {
        self.count(1, span)?;
        if self.open.len() >= self.budget.depth {
            return Err(self.limit(span, "nesting", self.budget.depth));
        }
        self.open.push(open);
        Ok(None)
    }

    fn close(&mut self, end: Span) -> Option<Node<'s>> {
        let Open { start, anchor, items } = self.open.pop()?;
        let kind = match items {
            Items::List(items) => Kind::List(items),
            Items::Map { entries, .. } => Kind::Map(entries),
        };
        let span = Span { start: start.start, end: end.end.max(start.start) };
        self.place(Node { span, kind }, anchor)
    }

    /// Puts a finished node where it belongs; gives it back if it is the root.
    fn place(&mut self, node: Node<'s>, anchor: usize) -> Option<Node<'s>> {
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

    fn repeat(&mut self, anchor: usize, span: Span) -> Result<Option<Node<'s>>, YamlError> {
        self.aliases += 1;
        if self.aliases > self.budget.aliases {
            return Err(self.limit(span, "the number of aliases", self.budget.aliases));
        }
        let Some(node) = self.anchors.iter().rev().find(|(id, _)| *id == anchor).map(|(_, node)| node) else {
            let message = "an alias refers to a value that contains it".to_owned();
            return Err(YamlError::Syntax { offset: span.start as usize, message });
        };
        let (size, depth, mut node) = (size(node), depth(node), node.clone());
        node.span = span;
        self.count(size, span)?;
        if self.open.len() + depth > self.budget.depth {
            return Err(self.limit(span, "nesting", self.budget.depth));
        }
        Ok(self.place(node, 0))
    }

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), YamlError> {
        self.nodes += nodes;
        if self.nodes > self.budget.nodes {
            return Err(self.limit(span, "the number of values", self.budget.nodes));
        }
        Ok(())
    }

    fn limit(&self, span: Span, what: &'static str, limit: usize) -> YamlError {
        YamlError::Limit { offset: span.start as usize, what, limit }
    }

    fn syntax(&self, error: &ScanError) -> YamlError {
        let offset = error.marker().byte_offset().unwrap_or_default().min(self.source.len());
        let message = error.info();
        if message.contains("nesting") || message.contains("recursion") {
            return YamlError::Limit { offset, what: "nesting", limit: self.budget.depth };
        }
        YamlError::Syntax { offset, message }
    }
}

/// How many collections lie within each other.
fn depth(node: &Node<'_>) -> usize {
    match &node.kind {
        Kind::Scalar(..) => 0,
        Kind::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Kind::Map(entries) => {
            1 + entries.iter().map(|(key, value)| depth(key).max(depth(value))).max().unwrap_or(0)
        }
    }
}

fn size(node: &Node<'_>) -> usize {
    match &node.kind {
        Kind::Scalar(..) => 1,
        Kind::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Kind::Map(entries) => 1 + entries.iter().map(|(key, value)| size(key) + size(value)).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    #[test]
    fn aliases_are_repeated_within_the_budget() {
        let node = parse("a: &x [1, 2]\nb: *x\n", Budget::DEFAULT).unwrap().unwrap();
        let Kind::Map(entries) = &node.kind else { panic!("{node:?}") };
        assert_eq!(entries[0].1.value(), entries[1].1.value());
    }

    #[test]
    fn bombs_are_refused_with_a_number() {
        let laughs = (1..9).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, n| {
            let one = format!("*a{}", n - 1);
            text + &format!("a{n}: &a{n} [{}]\n", [one.as_str(); 9].join(","))
        });
        for bomb in
            [laughs, "[".repeat(40_000), "- ".repeat(20_000), "{a: ".repeat(10_000), "? ".repeat(9_999)]
        {
            let error = parse(&bomb, Budget::DEFAULT).unwrap_err();
            assert!(matches!(error, YamlError::Limit { .. }), "{error:?} for {}", &bomb[..40]);
        }
    }

    #[test]
    fn aliases_do_not_get_around_the_depth() {
        let chain = (1..60)
            .fold("a0: &a0 [x]\n".to_owned(), |text, n| text + &format!("a{n}: &a{n} [*a{}]\n", n - 1));
        let error = parse(&chain, Budget::DEFAULT).unwrap_err();
        assert!(matches!(error, YamlError::Limit { what: "nesting", .. }), "{error:?}");
    }

    #[test]
    fn text_is_not_lost_as_a_tag_an_anchor_or_a_second_document() {
        for text in ["a: !important files", "a: &files here", "a: b\n...\nmore: text\n"] {
            assert!(parse(text, Budget::DEFAULT).is_err(), "{text}");
        }
        assert!(parse("a: !!str 1", Budget::DEFAULT).is_ok());
    }

    #[test]
    fn keys_within_keys_cost_what_they_weigh() {
        let text = format!("{}a", "? ".repeat(31));
        let value = parse(&text, Budget::DEFAULT).unwrap().unwrap().value();
        assert_eq!(value, Value::Map(vec![("{…}".into(), Value::Null)]));
    }

    #[test]
    fn an_alias_inside_its_own_value_is_an_error() {
        assert!(parse("a: &x [*x]", Budget::DEFAULT).is_err());
    }
}
