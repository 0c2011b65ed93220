//! Formulas: LaTeX becomes MathML, which browsers display without scripts and fonts.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use math_core::{LatexToMathML, MathDisplay};
use prowess::format::hidden::find_hidden;
use pulldown_cmark::{Event, Options, Parser, Tag};

/// The maximum length of a formula, in bytes.
const FORMULA_MAX: usize = 4_096;

/// The maximum nesting depth of a formula. The converter is recursive.
const DEPTH_MAX: usize = 32;

static CONVERTER: LazyLock<LatexToMathML> = LazyLock::new(LatexToMathML::default);

/// Renders a formula as MathML; `None` if it is too large or not LaTeX.
pub(super) fn render(formula: &str, is_display: bool) -> Option<String> {
    if formula.len() > FORMULA_MAX || depth(formula) > DEPTH_MAX || find_hidden(formula).is_some() {
        return None;
    }
    let display = if is_display { MathDisplay::Block } else { MathDisplay::Inline };
    CONVERTER.convert_with_local_state(formula, display).ok().map(|result| result.mathml)
}

/// Returns an upper bound of the nesting depth: everything that can open something counts, and only braces close.
fn depth(formula: &str) -> usize {
    let (mut braces, mut deepest) = (0_usize, 0);
    for c in formula.chars() {
        match c {
            '{' | '[' => braces += 1,
            '}' | ']' => braces = braces.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(braces);
    }
    let openers = [r"\left", r"\begin", r"\sqrt", r"\frac", "^", "_", r"\math", r"\over", r"\under"];
    let unbraced = openers.iter().map(|opener| adjacent_runs(formula, opener)).max().unwrap_or_default();
    deepest.max(unbraced)
}

/// Returns how often `opener` occurs in the longest chain in which nothing is closed, such as `x^x^x`.
fn adjacent_runs(formula: &str, opener: &str) -> usize {
    formula.split(['}', ' ']).map(|part| part.matches(opener).count()).max().unwrap_or_default()
}

/// Writes formulas in `\(…\)` and `\[…\]`, as many models write them, with dollar signs.
pub(super) fn with_dollar_signs(text: &str) -> Cow<'_, str> {
    if !text.contains(r"\(") && !text.contains(r"\[") {
        return text.into();
    }
    let code = code_ranges(text);
    let mut output = String::with_capacity(text.len());
    let mut end = 0;
    while let Some((start, formula, after)) = next_formula(text, end, &code) {
        output.push_str(&text[end..start]);
        let delimiter = if text[start..].starts_with(r"\[") { "$$" } else { "$" };
        output.extend([delimiter, formula, delimiter]);
        end = after;
    }
    output.push_str(&text[end..]);
    output.into()
}

/// Finds the next formula after `from`: its start, its content, and its end.
fn next_formula<'t>(text: &'t str, from: usize, code: &[Range<usize>]) -> Option<(usize, &'t str, usize)> {
    let mut at = from;
    loop {
        at += text[at..].find('\\')?;
        let closer = match text.as_bytes().get(at + 1) {
            Some(b'(') => r"\)",
            Some(b'[') => r"\]",
            // An escaped character, such as another backslash.
            Some(next) if next.is_ascii() => {
                at += 2;
                continue;
            }
            Some(_) | None => {
                at += 1;
                continue;
            }
        };
        let inner = at + 2;
        // Bounded, so that the time is not quadratic.
        let window = &text[inner..text.floor_char_boundary(inner + FORMULA_MAX)];
        // In `\\)`, the backslash before the parenthesis is escaped.
        let is_closer = |(length, _): &(usize, &str)| !window[..*length].ends_with('\\');
        let found = window.match_indices(closer).find(is_closer).map(|(length, _)| inner + length);
        if let Some(end) = found.filter(|end| is_formula(text, inner..*end, code)) {
            return Some((at, text[inner..end].trim(), end + 2));
        }
        at = inner;
    }
}

fn is_formula(text: &str, range: Range<usize>, code: &[Range<usize>]) -> bool {
    let content = &text[range.clone()];
    let next_code = code.partition_point(|code| code.end <= range.start);
    let is_in_code = code.get(next_code).is_some_and(|code| code.start < range.end);
    !is_in_code && !content.trim().is_empty() && !content.contains("\n\n") && !content.contains('$')
}

/// Returns the ranges of code.
fn code_ranges(text: &str) -> Vec<Range<usize>> {
    let is_code = |event: &Event<'_>| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_)));
    let events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    events.filter(|(event, _)| is_code(event)).map(|(_, range)| range).collect()
}
