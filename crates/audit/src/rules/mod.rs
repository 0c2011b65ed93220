//! The rules, as lists. To add one: a line here, an example in it, and a line in `docs/audit.md`.

mod code;
mod content;
mod dropper;
mod grant;
mod hidden;
mod lure;
mod obfuscation;
mod prose;
mod secret;

use std::sync::LazyLock;

use super::rule::Rule;

/// The version of the rules: the day of the last change that may change a verdict.
pub const RULES: &str = "2026-11-16";

/// All rules, by their codes.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    SORTED.iter().copied()
}

/// The rule of this code.
pub fn rule(id: &str) -> Option<&'static Rule> {
    let at = SORTED.binary_search_by(|rule| rule.id.cmp(id)).ok()?;
    SORTED.get(at).copied()
}

static SORTED: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let mut all: Vec<_> = LISTS.into_iter().flatten().collect();
    all.sort_unstable_by_key(|rule| rule.id);
    all
});

const LISTS: [&[Rule]; 9] = [
    dropper::RULES,
    lure::RULES,
    code::RULES,
    obfuscation::RULES,
    secret::RULES,
    hidden::RULES,
    grant::RULES,
    content::RULES,
    prose::RULES,
];
