//! The four tiers of document 003: nothing, a count, names, or whole skills.

use super::{Budget, Catalog, Request, catalog};
use crate::policy::{CatalogFormat, Policy};
use crate::registry::Snapshot;

use super::entries::{Visibility, visibility};

/// How much the query asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tiers<'a> {
    /// Nothing.
    Nothing,
    /// How many skills there are.
    Count,
    /// Names and brief descriptions.
    Registry,
    /// Whole skills: name and text of each, the best first.
    Full(&'a [(String, String)]),
}

/// What tier 1 says: `[N skills available]`; nothing where there are none.
pub fn tier_one(snapshot: &Snapshot, policy: &Policy) -> String {
    let count = snapshot.enabled().filter(|skill| visibility(skill, policy) != Visibility::Manual).count();
    match count {
        0 => String::new(),
        1 => "[1 skill available]\n".to_owned(),
        count => format!("[{count} skills available]\n"),
    }
}

/// What tier 2 says: names and brief descriptions, under the budget.
pub fn tier_two(snapshot: &Snapshot, policy: &Policy, request: &Request<'_>) -> Catalog {
    catalog(snapshot, policy, &Request { format: CatalogFormat::Tiers, ..*request })
}

impl Tiers<'_> {
    /// The text of this tier. Whole skills that do not fit the budget any more are named instead.
    pub fn render(&self, snapshot: &Snapshot, policy: &Policy, request: &Request<'_>) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Count => tier_one(snapshot, policy),
            Self::Registry => tier_two(snapshot, policy, request).text,
            Self::Full(skills) => full(skills, &request.budget),
        }
    }
}

fn full(skills: &[(String, String)], budget: &Budget<'_>) -> String {
    let mut out = String::new();
    let mut left_out: Vec<&str> = Vec::new();
    for (name, text) in skills {
        let gap = if out.is_empty() { "" } else { "\n" };
        let with = format!("{out}{gap}{text}{}", if text.ends_with('\n') { "" } else { "\n" });
        match budget.holds(&with) {
            true => out = with,
            false => left_out.push(name),
        }
    }
    if !left_out.is_empty() {
        let note = format!("{out}[left out for want of room: {}]\n", left_out.join(", "));
        out = if budget.holds(&note) { note } else { out };
    }
    out
}
