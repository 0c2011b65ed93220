//! The catalog: the list of skills that a model is shown.
//!
//! First, a [`CatalogPlan`] decides within a budget how much of each skill is shown; then the plan is rendered,
//! which cannot fail. Equal skills give equal bytes, so that prompt caches work. Every cut is reported: in one
//! line to the model, in full to the user.

mod entries;
pub mod escape;
mod instructions;
mod plan;
mod render;
mod tiers;

use crate::policy::{CatalogFormat, LocationVisibility, Policy};
use crate::registry::Snapshot;

pub use entries::{CatalogEntry, ManualReason, Visibility, manual_reason, visibility};
pub use instructions::{SKILL_TOOL_RULES, STANDARD_INSTRUCTIONS, active_skills};
pub use plan::{CatalogBudget, CatalogCut, CatalogPlan, DetailLevel, Measure};
pub use tiers::{DisclosureTier, render_tier_one, render_tier_two};

/// The parameters of a catalog. [`CatalogRequest::from_policy`] takes them from the policy.
#[derive(Clone, Copy)]
pub struct CatalogRequest<'a> {
    /// The format.
    pub format: CatalogFormat,
    /// Whether entries include the path of the skill's file.
    pub location: LocationVisibility,
    /// The maximum size.
    pub budget: CatalogBudget<'a>,
    /// Names that match the query, the best first. They are cut last.
    pub relevant: &'a [String],
    /// Recently used names, the latest first.
    pub recent: &'a [String],
    /// The keys of the skills with `paths` that are listed, because the conversation is about a file that matches.
    pub with_paths: &'a [String],
    /// The name of a tool that finds skills which are left out. The note about cuts then precedes the entries and names it.
    pub search_tool: Option<&'a str>,
}

impl<'a> CatalogRequest<'a> {
    /// Returns the parameters of the policy, without a token limit, which needs a tokenizer from the caller.
    pub fn from_policy(policy: &Policy) -> Self {
        Self {
            format: policy.catalog.format,
            location: policy.catalog.location,
            budget: CatalogBudget::chars(policy.catalog.budget_chars),
            relevant: &[],
            recent: &[],
            with_paths: &[],
            search_tool: None,
        }
    }
}

/// A rendered catalog and its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    /// The text for the model; empty if there are no skills.
    pub text: String,
    /// How much of each skill is shown.
    pub plan: CatalogPlan,
}

/// Plans and renders the catalog of a snapshot.
///
/// ```
/// use prowess::catalog::{CatalogRequest, render_catalog};
/// use prowess::{Policy, Preset, Registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = Policy::from_preset(Preset::Harness);
/// let registry = Registry::open(policy.clone())?;
/// let catalog = render_catalog(&registry.snapshot(), &policy, &CatalogRequest::from_policy(&policy));
/// assert!(catalog.text.starts_with("<available_skills>\n<skill>\n<name>"));
/// # Ok(())
/// # }
/// ```
pub fn render_catalog(snapshot: &Snapshot, policy: &Policy, request: &CatalogRequest<'_>) -> Catalog {
    let entries = entries::entries(snapshot, policy, request);
    let renderer = render::CatalogRenderer {
        format: request.format,
        location: request.location,
        policy,
        search_tool: request.search_tool,
    };
    if entries.is_empty() {
        return Catalog { text: String::new(), plan: CatalogPlan::default() };
    }
    let plan = plan::plan_catalog(&entries, &renderer, &request.budget);
    let text = renderer.render(&entries, &plan);
    Catalog { text, plan }
}
