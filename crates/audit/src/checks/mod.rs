//! What no pattern can say.

pub(super) mod content;
mod encoded;
mod fetch;
pub(super) mod grant;
mod hidden;
pub(super) mod hosts;
pub(super) mod secret;

use super::rule::Rule;
use super::rules::rule;
use super::text::Text;
use super::wording::Raw;

/// Whatever these checks find in a text.
pub(super) fn text(text: &Text<'_>, raw: &mut Vec<Raw>) {
    fetch::check(text, raw);
    encoded::check(text, raw);
    // Bytes that are no text are not characters either.
    if !text.is_binary() {
        hidden::check(text, raw);
    }
    grant::check(text, raw);
    content::nul(text, raw);
}

/// Adds a finding of a rule; the tests see to it that there is one of each code that is used here.
fn push(raw: &mut Vec<Raw>, id: &str, at: usize, note: Option<String>) {
    let known: Option<&'static Rule> = rule(id);
    raw.extend(known.map(|rule| Raw { rule, at, key: None, note }));
}
