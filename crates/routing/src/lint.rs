//! Checks how well the skills of a collection can be distinguished: which are confusable, which are not found
//! by their own description, and which words would help.

use std::collections::{HashMap, HashSet};

use super::lexical::{Comparison, LexicalIndex};
use super::stop_words::is_stop_word;
use super::text::truncate;
use super::text::{BODY_MAX, SkillTexts};
use super::words::{Term, WordToken, for_each_term, for_each_word};
use prowess_fs::parallel_map;

/// A skill is a rival if it reaches this share of another skill's score for that skill's own description.
pub const CONFUSABLE_SHARE: f32 = 0.9;

/// The number of ranked skills that are considered.
const RANKED_MAX: usize = 10;

/// The maximum number of rivals per skill.
const RIVALS_MAX: usize = 3;

/// Advice about a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutingAdvice {
    /// The position among the skills.
    pub skill: usize,
    /// Its position when searching for its own description, or `None` if it is not among the first ten.
    pub rank: Option<usize>,
    /// The skills that match its description about as well or better, each with its share of the score.
    pub rivals: Vec<(usize, f32)>,
    /// Words of its instructions that are neither in a rival nor in its description; adding them there would
    /// distinguish it.
    pub words: Vec<String>,
    /// Keywords and verbs that do not activate the skill, because they are everyday words or too many skills
    /// share them.
    pub general_triggers: Vec<String>,
}

impl RoutingAdvice {
    /// Returns `true` if the skill is hard to tell from others.
    pub fn is_confusable(&self) -> bool {
        self.rank != Some(0) || !self.rivals.is_empty()
    }

    /// Creates advice about a skill that is easy to tell from others.
    pub(super) fn distinct(skill: usize) -> Self {
        Self { skill, rank: Some(0), rivals: Vec::new(), words: Vec::new(), general_triggers: Vec::new() }
    }
}

/// Checks each skill by searching for its own description.
///
/// ```
/// use prowess_routing::{SkillTexts, lint};
///
/// let text = |name: &str, about: &str, body: &str| SkillTexts { name: name.into(), about: about.into(), body:
/// body.into() };
/// let skills = [
///     text("merge-docs", "Handles documents.", "Concatenate chapters."),
///     text("sign-docs", "Handles documents.", "Certificates and signatures."),
///     text("weather", "Tells the forecast.", "Ask a station."),
/// ];
/// let advice = lint(&skills);
/// assert_eq!(advice.len(), 2);
/// assert_eq!(advice[1].rivals[0].0, 0);
/// assert!(advice[1].words.contains(&"signatures".to_owned()));
/// ```
pub fn lint(skills: &[SkillTexts]) -> Vec<RoutingAdvice> {
    let (index, terms) = LexicalIndex::with_terms(skills, SkillTexts::clone, |terms| terms.collect());
    let collection = LintedCollection { comparison: Comparison::new(&index), skills, terms };
    let indexes: Vec<usize> = (0..skills.len()).collect();
    parallel_map(&indexes, 32, |index| collection.advise(*index)).into_iter().flatten().collect()
}

struct LintedCollection<'s> {
    comparison: Comparison<'s>,
    skills: &'s [SkillTexts],
    /// The words of each skill, sorted.
    terms: Vec<Box<[Term]>>,
}

impl LintedCollection<'_> {
    fn advise(&self, index: usize) -> Option<RoutingAdvice> {
        let skill = self.skills.get(index)?;
        self.advise_from(index, &self.comparison.scores(&skill.about, index, CONFUSABLE_SHARE, RANKED_MAX))
    }

    /// Derives advice from the best skills for a description.
    fn advise_from(&self, index: usize, ranked: &[(usize, f32)]) -> Option<RoutingAdvice> {
        let texts = self.skills.get(index)?;
        let rank = ranked.iter().position(|(skill, _)| *skill == index);
        let own_score = rank.and_then(|rank| ranked.get(rank)).map_or(0.0, |(_, score)| *score);
        let rivals: Vec<(usize, f32)> = ranked
            .iter()
            .filter(|(skill, score)| *skill != index && *score >= own_score * CONFUSABLE_SHARE)
            .map(|(skill, score)| (*skill, if own_score > 0.0 { score / own_score } else { 0.0 }))
            .take(RIVALS_MAX)
            .collect();
        if rank == Some(0) && rivals.is_empty() {
            return None;
        }
        let rival_terms: Vec<&[Term]> =
            rivals.iter().filter_map(|(rival, _)| self.terms_of(*rival)).collect();
        let words = distinguishing_words(texts, self.terms_of(index)?, &rival_terms);
        Some(RoutingAdvice { skill: index, rank, words, rivals, general_triggers: Vec::new() })
    }

    fn terms_of(&self, index: usize) -> Option<&[Term]> {
        self.terms.get(index).map(|terms| &**terms)
    }
}

/// Returns the most frequent words of the instructions that are neither in the description nor in a rival.
fn distinguishing_words(skill: &SkillTexts, all: &[Term], rivals: &[&[Term]]) -> Vec<String> {
    let mut described = HashSet::new();
    for text in [&skill.name, &skill.about] {
        for_each_term(text, |term| {
            described.insert(term);
        });
    }
    let in_rival = |term: &Term| rivals.iter().any(|terms| terms.binary_search(term).is_ok());
    let is_new = |term: &&Term| !described.contains(*term) && !is_stop_word(**term) && !in_rival(term);
    let mut counts: HashMap<Term, (usize, &str)> =
        all.iter().filter(is_new).map(|term| (*term, (0, ""))).collect();
    if counts.is_empty() {
        return Vec::new();
    }
    for_each_word(truncate(&skill.body, BODY_MAX), |token, text| {
        if let WordToken::Word(term) = token
            && let Some((count, first)) = counts.get_mut(&term)
            && text.chars().count() >= 4
            && !text.contains(|c: char| c.is_ascii_digit())
        {
            if *count == 0 {
                *first = text;
            }
            *count += 1;
        }
    });
    let mut counted: Vec<(usize, &str)> = counts.into_values().filter(|(count, _)| *count > 0).collect();
    counted.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    counted.into_iter().take(RIVALS_MAX * 2).map(|(_, word)| word.to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(name: &str, about: &str, body: &str) -> SkillTexts {
        SkillTexts { name: name.into(), about: about.into(), body: body.into() }
    }

    #[test]
    fn copies_are_confusable_and_others_are_not() {
        let skills = [
            texts("pdf", "Merges and splits PDF files.", "Use qpdf."),
            texts("pdf-copy", "Merges and splits PDF files.", "Use qpdf, and watermarks."),
            texts("weather", "Tells the forecast of any city.", "Ask a station."),
        ];
        let advice = lint(&skills);
        let pairs: Vec<_> = advice.iter().map(|advice| (advice.skill, advice.rivals[0].0)).collect();
        assert_eq!(pairs, [(0, 1), (1, 0)]);
        assert_eq!(advice[1].words, ["watermarks"]);
        assert!(advice[0].words.is_empty());
        let copies = [skills[0].clone(), SkillTexts { name: "other".into(), ..skills[0].clone() }];
        // The skill whose name is in the description wins, and is the rival of the other.
        let pairs: Vec<_> = lint(&copies).iter().map(|advice| (advice.skill, advice.rivals[0].0)).collect();
        assert_eq!(pairs, [(1, 0)]);
        assert_eq!(lint(&[]), []);
    }

    prop_compose! {
        /// Words of a small vocabulary, so that many descriptions are similar, including copies and near copies.
        fn skills()(
            seeds in prop::collection::vec((0u32..6, prop::collection::vec(0u32..24, 0..14), 0u32..5), 1..90), copies in 1usize..6,
        ) -> Vec<SkillTexts> {
            let skill = |(name, words, extra): &(u32, Vec<u32>, u32)| {
                let about: Vec<String> = words.iter().map(|word| format!("word{word}")).collect();
                let about = match extra {
                    0 => format!("Handles \"{}\". Use when the user asks for word{name}", about.join(" ")),
                    _ => format!("Does {} for repos", about.join(" and ")),
                };
                texts(&format!("word{name}-s{extra}"), &about, &format!("{about} then rare{name} step{extra}"))
            };
            let skills: Vec<SkillTexts> = seeds.iter().map(skill).collect();
            skills.iter().cycle().take(skills.len() * copies).cloned().collect()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn advice_matches_ranking_every_skill(skills in skills()) {
            let (index, terms) = LexicalIndex::with_terms(&skills, SkillTexts::clone, |terms| terms.collect());
            let collection = LintedCollection { comparison: Comparison::new(&index), skills: &skills, terms };
            for (at, skill) in skills.iter().enumerate() {
                let expected = collection.advise_from(at, &index.similar(&skill.about, RANKED_MAX));
                prop_assert_eq!(collection.advise(at), expected);
            }
        }
    }
}
