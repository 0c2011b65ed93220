//! Decides which skills the catalog lists, and how much of each at most.

use std::borrow::Cow;
use std::collections::HashMap;

use super::CatalogRequest;
use super::escape::one_line;
use crate::policy::{ActivationMode, CatalogFormat, LocationVisibility, Policy};
use crate::registry::{Skill, Snapshot};

/// The longest description that is shown, in characters, with `when_to_use`. Longer ones are only complete after
/// activation.
const DESCRIPTION_MAX: usize = 1024;

/// Whether and how a skill is listed for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Name and description.
    Full,
    /// The name only.
    NameOnly,
    /// Users can activate it; the model does not see it.
    Manual,
}

/// Returns the visibility of a skill. Both the user's settings and the skill's manifest can restrict it.
pub fn visibility(skill: &Skill, policy: &Policy) -> Visibility {
    if manual_reason(skill, policy).is_some() {
        Visibility::Manual
    } else if is_listed(skill, &policy.selection.name_only) {
        Visibility::NameOnly
    } else {
        Visibility::Full
    }
}

/// Why a skill is not offered to models although users can activate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManualReason {
    /// It is a bundled example.
    Example,
    /// Its files say so, for example with `disable-model-invocation`.
    Manifest,
    /// The user's settings say so.
    Configuration,
}

impl ManualReason {
    /// Returns the reason in one line.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Example => "it is an example",
            Self::Manifest => "only users can activate it",
            Self::Configuration => "it is manual in the configuration",
        }
    }
}

/// Returns why a skill is not offered to models; `None` unless its visibility is [`Visibility::Manual`].
pub fn manual_reason(skill: &Skill, policy: &Policy) -> Option<ManualReason> {
    if skill.manifest().is_some_and(|manifest| manifest.disable_model_invocation()) {
        Some(if skill.is_example() { ManualReason::Example } else { ManualReason::Manifest })
    } else {
        is_listed(skill, &policy.selection.manual).then_some(ManualReason::Configuration)
    }
}

fn is_listed(skill: &Skill, names: &[String]) -> bool {
    !names.is_empty() && names.iter().any(|name| *name == skill.name() || *name == skill.id())
}

/// A skill in the catalog: sanitized, on one line and bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry<'a> {
    /// The name of its directory.
    pub id: Cow<'a, str>,
    /// The name.
    pub name: Cow<'a, str>,
    /// The description; empty if only the name is shown.
    pub description: Cow<'a, str>,
    /// The first sentence of the description, for formats that show no more.
    pub brief: Cow<'a, str>,
    /// The server of a remote skill, so that the model can distinguish it from local skills.
    pub origin: Option<String>,
    /// The path of the skill's file, if it is shown.
    pub location: Option<String>,
    /// Entries with a lower rank are cut first. Skills that the user pinned in the configuration rank highest,
    /// then those relevant to the query, then recently used ones.
    pub(super) rank: u32,
}

/// Returns the entries in catalog order.
pub(super) fn entries<'a>(
    snapshot: &'a Snapshot,
    policy: &Policy,
    request: &CatalogRequest<'_>,
) -> Vec<CatalogEntry<'a>> {
    let ranks = ranks(policy, request);
    snapshot
        .enabled()
        .filter_map(|skill| {
            let is_described = match visibility(skill, policy) {
                Visibility::Manual => return None,
                Visibility::NameOnly => false,
                Visibility::Full => true,
            };
            // Models that read files by themselves cannot read those of a server.
            if policy.activation == ActivationMode::ReadFile && skill.remote().is_some() {
                return None;
            }
            let manifest = skill.manifest()?;
            let is_listed = || request.with_paths.iter().any(|key| **key == **skill.key());
            if !manifest.paths().is_empty() && !is_listed() {
                return None;
            }
            let name = skill.name();
            // Queries and usage may refer to the skill by name or by id.
            let rank = |name: &str| ranks.get(name).copied().unwrap_or(0);
            let rank = if ranks.is_empty() { 0 } else { rank(&name).max(rank(&skill.id())) };
            let text = |text: Cow<'a, str>| if is_described { shorten(text) } else { Cow::from("") };
            Some(CatalogEntry {
                id: clean(skill.id()),
                name: clean(name),
                description: text(manifest.full_description()),
                brief: match request.format {
                    CatalogFormat::Tiers => text(manifest.brief_description().into()),
                    _ => Cow::from(""),
                },
                origin: skill.remote().map(|remote| one_line(&remote.origin(), 256).into_owned()),
                location: (request.location == LocationVisibility::Shown).then(|| location(skill)),
                rank,
            })
        })
        .collect()
}

fn location(skill: &Skill) -> String {
    one_line(&skill.skill_md_path().to_string_lossy(), 4096).into_owned()
}

fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    single_line(text, 256)
}

fn shorten(text: Cow<'_, str>) -> Cow<'_, str> {
    single_line(text, DESCRIPTION_MAX)
}

fn single_line(text: Cow<'_, str>, max: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => one_line(text, max),
        Cow::Owned(text) => Cow::Owned(one_line(&text, max).into_owned()),
    }
}

/// Returns the ranks by name: pinned before relevant before recently used; within each list, earlier names rank
/// higher.
fn ranks<'r>(policy: &'r Policy, request: &CatalogRequest<'r>) -> HashMap<&'r str, u32> {
    let mut ranks = HashMap::new();
    for (base, names) in [
        (1_000_000, request.recent),
        (2_000_000, request.relevant),
        (3_000_000, policy.selection.pinned.as_slice()),
    ] {
        for (index, name) in names.iter().enumerate() {
            ranks.insert(name.as_str(), base - u32::try_from(index).unwrap_or(u32::MAX).min(999_999));
        }
    }
    ranks
}
