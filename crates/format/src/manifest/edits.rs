//! Edits of frontmatter that fix one problem and leave comments, order and everything else alone.

use super::DiagnosticSink;
use crate::diagnostic::Fix;
use crate::position::Span;
use crate::yaml::{Node, NodeKind, Quoting, Value, YamlBudget, parse};

/// Returns text as a double-quoted scalar.
pub(crate) fn quote_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns text as a plain scalar if YAML reads it as the same text, and in quotes otherwise.
pub(super) fn scalar(text: &str) -> String {
    let line = format!("key: {text}\n");
    let is_plain = match parse(&line, YamlBudget::DEFAULT) {
        Ok(Some(Node { kind: NodeKind::Map(entries), .. })) => match entries.as_slice() {
            [(_, Node { kind: NodeKind::Scalar(read, Quoting::Plain), .. })] => {
                read == text && matches!(Value::from_plain(read), Value::Text(_))
            }
            _ => false,
        },
        _ => false,
    };
    if is_plain { text.to_owned() } else { quote_text(text) }
}

/// Replaces a scalar on one line. Returns `None` for blocks, for aliases, whose text is elsewhere, and for scalars with
/// an anchor, whose text is used elsewhere, too.
pub(super) fn replace_scalar(node: &Node<'_>, text: &str, sink: &DiagnosticSink<'_>) -> Option<Fix> {
    let NodeKind::Scalar(current, _) = &node.kind else { return None };
    let written = sink.yaml_text(node.span);
    let is_quoted = written.len() >= 2
        && matches!(written.first(), Some(b'"' | b'\''))
        && written.first() == written.last()
        && !written.contains(&b'\n');
    let is_plain = !written.is_empty() && written == current.as_bytes();
    let before = sink.yaml_before(node.span.start).trim_ascii_end();
    let has_anchor = before.last().is_some_and(|byte| !b":-,[{?\n".contains(byte))
        && !sink.yaml_before(node.span.start).ends_with(b"\n");
    ((is_quoted || is_plain) && !has_anchor).then(|| Fix { span: node.span, text: text.to_owned() })
}

/// Encloses an unquoted number or boolean in quotes.
pub(super) fn quote_scalar(node: &Node<'_>, sink: &DiagnosticSink<'_>) -> Option<Fix> {
    let NodeKind::Scalar(text, Quoting::Plain) = &node.kind else { return None };
    replace_scalar(node, &quote_text(text), sink)
}

/// Replaces a list by text. Returns `None` if a comment in the list would be lost.
pub(super) fn replace_list(node: &Node<'_>, text: &str, sink: &DiagnosticSink<'_>) -> Option<Fix> {
    let NodeKind::List(items) = &node.kind else { return None };
    let is_flow = sink.yaml_text(node.span).starts_with(b"[");
    let (span, text) = match is_flow {
        true => (node.span, scalar(text)),
        false => {
            // A list in block style starts on the line below its key.
            let before = sink.yaml_before(node.span.start).trim_ascii_end();
            let start = before.last().filter(|byte| **byte == b':').map(|_| before.len())?;
            let end = items.last()?.span.end as usize;
            (Span::new(start, end), format!(" {}", scalar(text)))
        }
    };
    let replaced = sink.yaml_text(span);
    let is_whole = !is_flow || replaced.ends_with(b"]");
    (is_whole && !replaced.is_empty() && !replaced.contains(&b'#')).then_some(Fix { span, text })
}

/// Inserts a line before the first key of a mapping in block style.
pub(super) fn insert_line(map: &Node<'_>, line: &str, sink: &DiagnosticSink<'_>) -> Option<Fix> {
    let before = sink.yaml_before(map.span.start);
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |line_break| line_break + 1);
    let indent = std::str::from_utf8(before.get(line_start..)?).ok()?;
    let is_block = indent.bytes().all(|byte| byte == b' ') && !sink.yaml_text(map.span).starts_with(b"{");
    let span = Span { start: map.span.start, end: map.span.start };
    is_block.then(|| Fix { span, text: format!("{line}{}{indent}", sink.line_break()) })
}
