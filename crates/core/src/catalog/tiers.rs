//! The four tiers of preset `triggers` (document 003), which decide how much the model sees of the skills for a
//! message: nothing, a count, names, or whole skills.

use super::{Catalog, CatalogBudget, CatalogRequest, render_catalog};
use crate::policy::{CatalogFormat, Policy};
use crate::registry::Snapshot;

use super::entries::{Visibility, visibility};

/// How much of the skills is shown for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DisclosureTier<'a> {
    /// Nothing.
    Nothing,
    /// The number of skills.
    Count,
    /// Names and brief descriptions.
    Registry,
    /// Whole skills: the name and text of each, the best first.
    Full(&'a [(String, String)]),
}

/// Renders tier 1: `[N skills available]`; empty if there are none.
pub fn render_tier_one(snapshot: &Snapshot, policy: &Policy) -> String {
    let count = snapshot.enabled().filter(|skill| visibility(skill, policy) != Visibility::Manual).count();
    match count {
        0 => String::new(),
        1 => "[1 skill available]\n".to_owned(),
        count => format!("[{count} skills available]\n"),
    }
}

/// Renders tier 2: names and brief descriptions, within the budget.
pub fn render_tier_two(snapshot: &Snapshot, policy: &Policy, request: &CatalogRequest<'_>) -> Catalog {
    render_catalog(snapshot, policy, &CatalogRequest { format: CatalogFormat::Tiers, ..*request })
}

impl DisclosureTier<'_> {
    /// Renders this tier. Whole skills that do not fit into the budget are listed by name.
    pub fn render(&self, snapshot: &Snapshot, policy: &Policy, request: &CatalogRequest<'_>) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Count => render_tier_one(snapshot, policy),
            Self::Registry => render_tier_two(snapshot, policy, request).text,
            Self::Full(skills) => render_skills(skills, &request.budget),
        }
    }
}

fn render_skills(skills: &[(String, String)], budget: &CatalogBudget<'_>) -> String {
    let mut out = String::new();
    let mut omitted: Vec<&str> = Vec::new();
    for (name, text) in skills {
        let gap = if out.is_empty() { "" } else { "\n" };
        let extended = format!("{out}{gap}{text}{}", if text.ends_with('\n') { "" } else { "\n" });
        match budget.fits(&extended) {
            true => out = extended,
            false => omitted.push(name),
        }
    }
    if !omitted.is_empty() {
        let note = format!("{out}[omitted to fit the budget: {}]\n", omitted.join(", "));
        out = if budget.fits(&note) { note } else { out };
    }
    out
}
