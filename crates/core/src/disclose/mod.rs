//! What a model is told of all skills, and no more.
//!
//! First a [`Plan`] decides, under a budget, what is told of each skill; then the plan is rendered, which cannot fail.
//! The same skills give the same bytes, so that prompt caches hold. What is cut is said exactly: to the model in one line,
//! to the user in full.

mod entries;
pub mod escape;
mod form;
mod instructions;
mod plan;
mod tiers;

use crate::policy::{CatalogFormat, Location, Policy};
use crate::registry::Snapshot;

pub use entries::{Entry, Visibility, visibility};
pub use instructions::{SKILL_TOOL_RULES, STANDARD, active_skills};
pub use plan::{Budget, Cut, Level, Measure, Plan};
pub use tiers::{Tiers, tier_one, tier_two};

/// What is wanted of a catalog. [`Request::of`] takes everything from the policy.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The form.
    pub format: CatalogFormat,
    /// Whether entries say where their file is.
    pub location: Location,
    /// How much it may cost.
    pub budget: Budget<'a>,
    /// Names that a query asks for, the best first: they are the last to be cut.
    pub relevant: &'a [String],
    /// Names that were used lately, the latest first.
    pub recent: &'a [String],
}

impl<'a> Request<'a> {
    /// What the policy says, without a bound on tokens: that takes a tokenizer, which is the caller's.
    pub fn of(policy: &Policy) -> Self {
        Self {
            format: policy.catalog.format,
            location: policy.catalog.location,
            budget: Budget::chars(policy.catalog.budget_chars),
            relevant: &[],
            recent: &[],
        }
    }

    /// With a bound on tokens, counted by `count`.
    #[must_use]
    pub fn tokens(mut self, tokens: Option<u32>, count: Measure<'a>) -> Self {
        self.budget = self.budget.and_tokens(tokens, count);
        self
    }
}

/// A catalog and how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    /// What the model is shown; empty where there is no skill.
    pub text: String,
    /// What was decided about each skill.
    pub plan: Plan,
}

/// The catalog of a snapshot.
///
/// ```
/// use prowess::disclose::{Request, catalog};
/// use prowess::{Policy, Preset, Registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = Policy::preset(Preset::Harness);
/// let registry = Registry::open(policy.clone())?;
/// let catalog = catalog(&registry.snapshot(), &policy, &Request::of(&policy));
/// assert!(catalog.text.starts_with("<available_skills>\n<skill>\n<name>"));
/// # Ok(())
/// # }
/// ```
pub fn catalog(snapshot: &Snapshot, policy: &Policy, request: &Request<'_>) -> Catalog {
    let entries = entries::entries(snapshot, policy, request);
    let form = form::Form { format: request.format, location: request.location, policy };
    if entries.is_empty() {
        return Catalog { text: String::new(), plan: Plan::default() };
    }
    let plan = plan::plan(&entries, &form, &request.budget);
    let text = form.render(&entries, &plan);
    Catalog { text, plan }
}
