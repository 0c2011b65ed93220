//! Checks that patterns cannot express.

pub(super) mod content;
mod encoded;
mod fetch;
pub(super) mod grant;
mod hidden;
pub(super) mod hosts;
mod pieces;
pub(super) mod secret;
mod typosquat;

use super::report::RawFinding;
use super::rules::rule;
use super::text::SourceText;

/// Runs these checks on a text.
pub(super) fn check_text(text: &SourceText<'_>, findings: &mut Vec<RawFinding>) {
    fetch::check(text, findings);
    encoded::check(text, findings);
    pieces::check(text, findings);
    typosquat::check(text, findings);
    // Binary content has no characters to check.
    if !text.is_binary() {
        hidden::check(text, findings);
    }
    grant::check(text, findings);
    content::check_nul(text, findings);
}

/// Adds a finding of a rule. A test ensures that every code used here exists.
fn push_finding(findings: &mut Vec<RawFinding>, id: &str, offset: usize, note: Option<String>) {
    findings.extend(rule(id).map(|rule| RawFinding { rule, offset, secret: None, note }));
}
