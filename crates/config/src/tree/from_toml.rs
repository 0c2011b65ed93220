//! Converts TOML to the tree.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{ConfigSyntaxError, ConfigTree, DEPTH_MAX, TreeEntry, TreeKind, clip_for_display};
use prowess_format::Span;

/// The maximum number of braces and dots on lines with an inline table.
///
/// The parser limits brackets to 80 and dots in a key to 80, each on its own. Together they allow a tree of
/// depth 6,400, which overflows a small stack when it is dropped. Each level needs a dot or a brace on a line
/// with a brace, so this limits the depth.
const INLINE_MAX: usize = 1_000;

/// Parses TOML and returns the table at `path`; `None` if it does not exist.
pub fn parse_toml(text: &str, path: &[&str]) -> Result<Option<ConfigTree>, Vec<ConfigSyntaxError>> {
    let inline: usize = text
        .lines()
        .filter(|line| line.contains('{'))
        .map(|line| line.bytes().filter(|byte| matches!(byte, b'{' | b'.')).count())
        .sum();
    if inline > INLINE_MAX {
        let message = format!("lines with inline tables have more than {INLINE_MAX} braces and dots");
        return Err(vec![ConfigSyntaxError { span: None, message }]);
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mut syntax_errors: Vec<_> = errors.iter().map(|error| syntax_error(error, text)).collect();
        syntax_errors.sort_by_key(|error| error.span.map(|span| span.start));
        return Err(syntax_errors);
    }
    let Some((first, rest)) = path.split_first() else {
        let span = Span::new(0, text.len());
        let entries = entries(table.get_ref(), 0).map_err(|error| vec![error])?;
        return Ok(Some(ConfigTree { span, kind: TreeKind::Table(entries) }));
    };
    let Some(mut value) = table.get_ref().get(*first) else { return Ok(None) };
    for key in rest {
        let Some(inner) = value.get_ref().get(key) else { return Ok(None) };
        value = inner;
    }
    tree(value, 0).map(Some).map_err(|error| vec![error])
}

/// Converts an error of the parser; two messages are rewritten to be clearer.
fn syntax_error(error: &toml::de::Error, text: &str) -> ConfigSyntaxError {
    let span = error.span().map(|span| Span::new(span.start, span.end));
    let source = span.and_then(|span| text.get(span.range()));
    let message = match (error.message(), source) {
        ("duplicate key", Some(key)) => format!("duplicate key {}", clip_for_display(key)),
        (message, Some("")) if message.starts_with("string values must be quoted") => {
            "a value is missing".to_owned()
        }
        (message, _) => message.to_owned(),
    };
    ConfigSyntaxError { span, message }
}

fn tree(value: &Spanned<DeValue<'_>>, depth: usize) -> Result<ConfigTree, ConfigSyntaxError> {
    let span = value.span();
    let span = Span::new(span.start, span.end);
    if depth > DEPTH_MAX {
        return Err(ConfigSyntaxError::too_deep(span));
    }
    let kind = match value.get_ref() {
        DeValue::String(text) => TreeKind::Text(text.to_string()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => TreeKind::Integer(number),
            Err(_) => TreeKind::Fraction(number.to_string()),
        },
        DeValue::Float(number) => TreeKind::Fraction(number.to_string()),
        DeValue::Boolean(boolean) => TreeKind::Bool(*boolean),
        DeValue::Datetime(date) => TreeKind::Date(date.to_string()),
        DeValue::Array(items) => {
            TreeKind::List(items.iter().map(|item| tree(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => TreeKind::Table(entries(table, depth)?),
    };
    Ok(ConfigTree { span, kind })
}

fn entries(table: &DeTable<'_>, depth: usize) -> Result<Vec<TreeEntry>, ConfigSyntaxError> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let span = key.span();
        let span = Span::new(span.start, span.end);
        entries.push(TreeEntry { key: key.get_ref().to_string(), span, value: tree(value, depth + 1)? });
    }
    // The parser sorts by key; restore the order of the file.
    entries.sort_by_key(|entry| entry.span.start);
    Ok(entries)
}
