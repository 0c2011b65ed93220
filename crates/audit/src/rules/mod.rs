//! The rules, as tables. A new rule needs an entry with an example here, and a line in `docs/audit.md`.

mod code;
mod content;
mod deception;
mod dropper;
mod grant;
mod hidden;
mod lure;
mod obfuscation;
mod persistence;
mod phrases;
mod prose;
mod secret;
mod theft;
mod weakening;

use std::sync::LazyLock;

use super::rule::Rule;

/// The version of the rules: the date of the last change that may affect a verdict.
pub const RULES_VERSION: &str = "2026-11-17";

/// Returns all rules, sorted by code.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    SORTED.iter().copied()
}

/// Returns the rule with this code.
pub fn rule(id: &str) -> Option<&'static Rule> {
    let index = SORTED.binary_search_by(|rule| rule.id.cmp(id)).ok()?;
    SORTED.get(index).copied()
}

static SORTED: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let mut all: Vec<_> = LISTS.into_iter().flatten().collect();
    all.sort_unstable_by_key(|rule| rule.id);
    all
});

const LISTS: [&[Rule]; 13] = [
    dropper::RULES,
    lure::RULES,
    code::RULES,
    persistence::RULES,
    weakening::RULES,
    theft::RULES,
    obfuscation::RULES,
    secret::RULES,
    hidden::RULES,
    grant::RULES,
    content::RULES,
    prose::RULES,
    deception::RULES,
];
