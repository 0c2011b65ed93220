//! Which skills may fit a message besides the labelled ones.

use std::collections::{HashMap, HashSet};

use prowess_bench::catalog::data::Data;
use prowess_routing::SkillTexts;
use prowess_routing::eval::LabelledMessage;

/// A part of a name is rare if at most one of this many names contains it.
const RARE_PART: usize = 200;

pub(crate) struct Families<'d> {
    /// The subset whose messages are labelled with each skill.
    subsets: HashMap<&'d str, &'d str>,
    /// The number of names with each part.
    parts: HashMap<&'d str, usize>,
    skills: usize,
}

impl<'d> Families<'d> {
    pub(crate) fn new(data: &'d Data) -> Self {
        let labels = data.messages.iter().flat_map(|message| {
            let subset = message.subset.as_deref().unwrap_or_default();
            message.skills.iter().map(move |skill| (skill.as_str(), subset))
        });
        let mut parts = HashMap::new();
        for skill in &data.skills {
            name_parts(&skill.name).for_each(|part| *parts.entry(part).or_default() += 1);
        }
        Self { subsets: labels.collect(), parts, skills: data.skills.len() }
    }

    /// Returns `true` if a skill has the same publisher as the right one, or shares a rare part of its name.
    pub(crate) fn has_relative(&self, skills: &[SkillTexts], message: &LabelledMessage) -> bool {
        // The skills of the other subsets have one publisher each.
        let publisher = message.subset.as_deref().filter(|subset| !subset.starts_with("community"));
        let is_rare = |part: &&str| self.parts.get(part).is_none_or(|count| count * RARE_PART <= self.skills);
        let parts: HashSet<&str> =
            message.skills.iter().flat_map(|name| name_parts(name)).filter(is_rare).collect();
        skills.iter().any(|skill| {
            publisher.is_some_and(|publisher| self.subsets.get(&*skill.name) == Some(&publisher))
                || name_parts(&skill.name).any(|part| parts.contains(part))
        })
    }
}

fn name_parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['-', '_', ' ']).filter(|part| part.len() >= 3)
}
