//! The rules, as lists. To add one: a line here, an example in it, and a line in `docs/audit.md`.

mod code;
mod content;
mod dropper;
mod grant;
mod hidden;
mod obfuscation;
mod prose;
mod secret;

use super::rule::Rule;

/// The version of the rules: the day of the last change that may change a verdict.
pub const RULES: &str = "2026-11-15";

/// All rules, by their codes.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.into_iter().flatten()
}

/// The rule of this code.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

const FAMILIES: [&[Rule]; 8] = [
    dropper::RULES,
    code::RULES,
    obfuscation::RULES,
    secret::RULES,
    hidden::RULES,
    grant::RULES,
    content::RULES,
    prose::RULES,
];
