//! TOML to the tree.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{DEPTH_MAX, Entry, Kind, Malformed, Tree, clipped};
use prowess_format::Span;

/// The most braces and dots on lines with an inline table.
///
/// The parser bounds brackets to 80 and dots in a key to 80, each on its own; together they make a tree 6,400
/// deep, and dropping that overflows a small stack. Each level needs a dot or a brace on a line with a brace,
/// so this bounds it.
const INLINE_MAX: usize = 1_000;

/// Reads TOML, of which only the table at `path` is wanted. `None` where it is not there.
pub fn toml(text: &str, path: &[&str]) -> Result<Option<Tree>, Vec<Malformed>> {
    let inline: usize = text
        .lines()
        .filter(|line| line.contains('{'))
        .map(|line| line.bytes().filter(|byte| matches!(byte, b'{' | b'.')).count())
        .sum();
    if inline > INLINE_MAX {
        let message = format!("lines with inline tables have more than {INLINE_MAX} braces and dots");
        return Err(vec![Malformed { span: None, message }]);
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mut malformed: Vec<_> = errors.iter().map(|error| malformed(error, text)).collect();
        malformed.sort_by_key(|malformed| malformed.span.map(|span| span.start));
        return Err(malformed);
    }
    let Some((first, rest)) = path.split_first() else {
        let whole = Span::new(0, text.len());
        let entries = entries(table.get_ref(), 0).map_err(|error| vec![error])?;
        return Ok(Some(Tree { span: whole, kind: Kind::Table(entries) }));
    };
    let Some(mut found) = table.get_ref().get(*first) else { return Ok(None) };
    for key in rest {
        let Some(inner) = found.get_ref().get(key) else { return Ok(None) };
        found = inner;
    }
    tree(found, 0).map(Some).map_err(|error| vec![error])
}

/// The parser's words, but for two that say it better for people.
fn malformed(error: &toml::de::Error, text: &str) -> Malformed {
    let span = error.span().map(|span| Span::new(span.start, span.end));
    let found = span.and_then(|span| text.get(span.range()));
    let message = match (error.message(), found) {
        ("duplicate key", Some(key)) => format!("{} stands twice", clipped(key)),
        (message, Some("")) if message.starts_with("string values must be quoted") => {
            "a value is missing".to_owned()
        }
        (message, _) => message.to_owned(),
    };
    Malformed { span, message }
}

fn tree(value: &Spanned<DeValue<'_>>, depth: usize) -> Result<Tree, Malformed> {
    let span = value.span();
    let span = Span::new(span.start, span.end);
    if depth > DEPTH_MAX {
        return Err(Malformed::too_deep(span));
    }
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Kind::Whole(number),
            Err(_) => Kind::Fraction(number.to_string()),
        },
        DeValue::Float(number) => Kind::Fraction(number.to_string()),
        DeValue::Boolean(truth) => Kind::Truth(*truth),
        DeValue::Datetime(date) => Kind::Date(date.to_string()),
        DeValue::Array(items) => {
            Kind::List(items.iter().map(|item| tree(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Kind::Table(entries(table, depth)?),
    };
    Ok(Tree { span, kind })
}

fn entries(table: &DeTable<'_>, depth: usize) -> Result<Vec<Entry>, Malformed> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let span = key.span();
        let span = Span::new(span.start, span.end);
        entries.push(Entry { key: key.get_ref().to_string(), span, value: tree(value, depth + 1)? });
    }
    // The parser sorts by key; people read from top to bottom.
    entries.sort_by_key(|entry| entry.span.start);
    Ok(entries)
}
