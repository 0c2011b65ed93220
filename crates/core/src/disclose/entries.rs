//! Which skills a model is told of, and how much at most.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Request;
use super::escape::one_line;
use crate::policy::{Activation, CatalogFormat, Location, Policy};
use crate::registry::{Skill, Snapshot};

/// The longest description that is ever shown, in characters. Where the policy allows more, the rest is for activation.
const DESCRIPTION_MAX: usize = 1024;

/// How much of a skill is shown to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Name and description.
    Full,
    /// The name alone.
    NameOnly,
    /// People can call it; the model is not told of it.
    Manual,
}

/// How much the model is told of a skill: the user's word first, then the skill's own.
pub fn visibility(skill: &Skill, policy: &Policy) -> Visibility {
    let selection = &policy.selection;
    let named = |list: &[String]| {
        !list.is_empty() && list.iter().any(|name| *name == skill.name() || *name == skill.id())
    };
    let hides = skill.manifest().is_some_and(|manifest| manifest.disable_model_invocation());
    if hides || named(&selection.manual) {
        Visibility::Manual
    } else if named(&selection.name_only) {
        Visibility::NameOnly
    } else {
        Visibility::Full
    }
}

/// A skill as the catalog sees it: clean, on one line, bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The folder's name.
    pub id: Cow<'a, str>,
    /// The name.
    pub name: Cow<'a, str>,
    /// The description; empty where only the name is told.
    pub description: Cow<'a, str>,
    /// The first sentence of it, for the form that shows no more.
    pub brief: Cow<'a, str>,
    /// The server it comes from; a model must be able to tell that from a skill of this machine.
    pub origin: Option<String>,
    /// Where the file is, if that is told.
    pub location: Option<String>,
    /// The higher, the later it is cut: pinned, then asked for, then used lately.
    pub(super) rank: u32,
}

/// The entries in the order of the catalog.
pub(super) fn entries<'a>(snapshot: &'a Snapshot, policy: &Policy, request: &Request<'_>) -> Vec<Entry<'a>> {
    let ranks = ranks(policy, request);
    snapshot
        .enabled()
        .filter_map(|skill| {
            let told = match visibility(skill, policy) {
                Visibility::Manual => return None,
                Visibility::NameOnly => false,
                Visibility::Full => true,
            };
            // Where models read files by themselves, there is no way to those of a server.
            if policy.activation == Activation::ReadFile && skill.supplied().is_some() {
                return None;
            }
            let manifest = skill.manifest()?;
            let name = skill.name();
            // Where the folder is what a skill is called by, that is what queries and uses are known by.
            let rank = |name: &str| ranks.get(name).copied().unwrap_or(0);
            let rank = if ranks.is_empty() { 0 } else { rank(&name).max(rank(&skill.id())) };
            let text = |text: &'a str| if told { one_line(text, DESCRIPTION_MAX) } else { Cow::from("") };
            Some(Entry {
                id: clean(skill.id()),
                name: clean(name),
                description: text(manifest.description()),
                brief: match request.format {
                    CatalogFormat::Tiers => text(manifest.brief_description()),
                    _ => Cow::from(""),
                },
                origin: skill.supplied().map(|supplied| one_line(&supplied.origin(), 256).into_owned()),
                location: (request.location == Location::Shown).then(|| location(skill)),
                rank,
            })
        })
        .collect()
}

fn location(skill: &Skill) -> String {
    one_line(&skill.location().to_string_lossy(), 4096).into_owned()
}

fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => one_line(text, 256),
        Cow::Owned(text) => Cow::Owned(one_line(&text, 256).into_owned()),
    }
}

/// Pinned before asked for before used lately; within each, the earlier the higher.
fn ranks<'r>(policy: &'r Policy, request: &Request<'r>) -> HashMap<&'r str, u32> {
    let mut ranks = HashMap::new();
    for (base, names) in [
        (1_000_000, request.recent),
        (2_000_000, request.relevant),
        (3_000_000, policy.selection.pinned.as_slice()),
    ] {
        for (at, name) in names.iter().enumerate() {
            ranks.insert(name.as_str(), base - u32::try_from(at).unwrap_or(u32::MAX).min(999_999));
        }
    }
    ranks
}
