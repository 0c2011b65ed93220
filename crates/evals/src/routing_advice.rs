//! Which requests a skill loses in routing, to which skill, and which words would help. No model is asked.

use prowess::policy::MentionPolicy;
use prowess::usage::SkillUsage;
use prowess::{Skill, Snapshot};
use prowess_routing::{RouteOptions, Router, missing_words};
use serde::{Deserialize, Serialize};

use crate::suite::TriggerCase;

/// The number of ranked skills that are considered.
const RANKED_MAX: usize = 10;

/// The maximum number of proposed words.
const WORDS_MAX: usize = 8;

/// How routing handles the messages of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoutingResult {
    /// The number of messages that should load the skill.
    pub wanted: usize,
    /// Those for which another skill ranks first, or none.
    pub lost: Vec<LostRequest>,
    /// Messages that should not load the skill, for which it is the confident first.
    pub stolen: Vec<String>,
    /// The words that would win the most lost requests, if the description contained them.
    pub words: Vec<String>,
}

/// A message that should load a skill, for which another one ranks first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostRequest {
    /// The message.
    pub query: String,
    /// The skill that ranks first; `None` if none matches.
    pub winner: Option<String>,
    /// The rank of the skill, from 1; `None` if it is not among the first ten.
    pub rank: Option<usize>,
    /// The words of the message that the description lacks.
    pub words: Vec<String>,
}

impl RoutingResult {
    /// Routes the messages of a skill among all skills of the router.
    pub fn new(router: &Router, skill: &Skill, triggers: &[TriggerCase], mention: MentionPolicy) -> Self {
        let (name, description) = texts(skill);
        // Recent usage must not influence the result.
        let usage = SkillUsage::default();
        let options = RouteOptions { max_skills: RANKED_MAX, k: RANKED_MAX, usage: &usage, now: 0, mention };
        let snapshot: &Snapshot = router.snapshot();
        let mut result = Self::default();
        let mut counts: Vec<(String, usize)> = Vec::new();
        for trigger in triggers {
            let routing = router.route(&trigger.query, &options);
            let first = routing.matches.first().map(|found| found.name.clone());
            let is_first = first.as_deref() == Some(&*name);
            if !trigger.should_trigger {
                if is_first && routing.is_confident() {
                    result.stolen.push(trigger.query.clone());
                }
                continue;
            }
            result.wanted += 1;
            if is_first {
                continue;
            }
            let winner_description = first
                .as_deref()
                .and_then(|winner| snapshot.get(winner))
                .map(|winner| texts(winner).1)
                .unwrap_or_default();
            // Words that the winner has, too, do not tell the skills apart.
            let mut words = missing_words(&trigger.query, &[&name, &description, &winner_description]);
            if words.is_empty() {
                words = missing_words(&trigger.query, &[&name, &description]);
            }
            for word in &words {
                match counts.iter_mut().find(|(counted, _)| counted == word) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((word.clone(), 1)),
                }
            }
            let rank = routing.matches.iter().position(|found| found.name == name).map(|rank| rank + 1);
            result.lost.push(LostRequest { query: trigger.query.clone(), winner: first, rank, words });
        }
        // Stable, so that equally frequent words stay in the order of the messages.
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        result.words = counts.into_iter().take(WORDS_MAX).map(|(word, _)| word).collect();
        result
    }
}

fn texts(skill: &Skill) -> (String, String) {
    let description = skill.manifest().map(|manifest| manifest.description().to_owned()).unwrap_or_default();
    (skill.name().into_owned(), description)
}
