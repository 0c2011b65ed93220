//! How well the skills of a collection can be told apart: which are confusable, which are never found by their own words,
//! and which words would make them found.

use std::collections::{HashMap, HashSet};

use super::lexical::{Comparison, Lexical};
use super::stop::is_stop;
use super::text::head;
use super::text::{BODY_MAX, Texts};
use super::words::{Found, Term, terms, words};
use prowess_fs::parallel;

/// Two skills are confusable where one scores this share of the other's own score on the other's own description.
const CONFUSABLE: f32 = 0.9;

/// How many of the skills that answer a description count.
const RANKED: usize = 10;

/// How many others are named, and how many words.
const NAMED: usize = 3;

/// What is said of a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Its place among the skills.
    pub skill: usize,
    /// Where it comes when its own description is asked for; `None` where it is not among the first ten.
    pub place: Option<usize>,
    /// The skills that answer its description about as well as it does, or better, each with its share of the score.
    pub rivals: Vec<(usize, f32)>,
    /// Words of its instructions that no rival has and its description does not say: said there, they would tell it apart.
    pub words: Vec<String>,
}

/// Looks at each skill as a message that says what its description says.
///
/// ```
/// use prowess_routing::{Texts, lint};
///
/// let text = |name: &str, about: &str, body: &str| Texts { name: name.into(), about: about.into(), body: body.into() };
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
pub fn lint(skills: &[Texts]) -> Vec<Advice> {
    let (index, terms) = Lexical::with_terms(skills, Texts::clone, |terms| terms.collect());
    let collection = Collection { comparison: Comparison::new(&index), skills, terms };
    let places: Vec<usize> = (0..skills.len()).collect();
    parallel(&places, 32, |at| collection.advise(*at)).into_iter().flatten().collect()
}

struct Collection<'s> {
    comparison: Comparison<'s>,
    skills: &'s [Texts],
    /// The words of each skill, sorted.
    terms: Vec<Box<[Term]>>,
}

impl Collection<'_> {
    fn advise(&self, at: usize) -> Option<Advice> {
        let skill = self.skills.get(at)?;
        self.advise_by(at, &self.comparison.scores(&skill.about, at, CONFUSABLE, RANKED))
    }

    /// The advice that follows from the skills that answer a description best.
    fn advise_by(&self, at: usize, ranked: &[(usize, f32)]) -> Option<Advice> {
        let skill = self.skills.get(at)?;
        let place = ranked.iter().position(|(found, _)| *found == at);
        let own = place.and_then(|place| ranked.get(place)).map_or(0.0, |(_, score)| *score);
        let rivals: Vec<(usize, f32)> = ranked
            .iter()
            .filter(|(found, score)| *found != at && *score >= own * CONFUSABLE)
            .map(|(found, score)| (*found, if own > 0.0 { score / own } else { 0.0 }))
            .take(NAMED)
            .collect();
        if place == Some(0) && rivals.is_empty() {
            return None;
        }
        let of_rivals: Vec<&[Term]> = rivals.iter().filter_map(|(rival, _)| self.terms_of(*rival)).collect();
        let words = telling(skill, self.terms_of(at)?, &of_rivals);
        Some(Advice { skill: at, place, words, rivals })
    }

    fn terms_of(&self, at: usize) -> Option<&[Term]> {
        self.terms.get(at).map(|terms| &**terms)
    }
}

/// The words that are most often in the instructions, and neither in the description nor in a rival.
fn telling(skill: &Texts, all: &[Term], rivals: &[&[Term]]) -> Vec<String> {
    let mut described = HashSet::new();
    for text in [&skill.name, &skill.about] {
        terms(text, |term| {
            described.insert(term);
        });
    }
    let in_rival = |term: &Term| rivals.iter().any(|terms| terms.binary_search(term).is_ok());
    let is_new = |term: &&Term| !described.contains(*term) && !is_stop(**term) && !in_rival(term);
    let mut counts: HashMap<Term, (usize, &str)> =
        all.iter().filter(is_new).map(|term| (*term, (0, ""))).collect();
    if counts.is_empty() {
        return Vec::new();
    }
    words(head(&skill.body, BODY_MAX), |found, text| {
        if let Found::Word(term) = found
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
    counted.into_iter().take(NAMED * 2).map(|(_, word)| word.to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(name: &str, about: &str, body: &str) -> Texts {
        Texts { name: name.into(), about: about.into(), body: body.into() }
    }

    #[test]
    fn copies_are_confusable_and_the_rest_is_not() {
        let skills = [
            texts("pdf", "Merges and splits PDF files.", "Use qpdf."),
            texts("pdf-copy", "Merges and splits PDF files.", "Use qpdf, and watermarks."),
            texts("weather", "Tells the forecast of any city.", "Ask a station."),
        ];
        let advice = lint(&skills);
        let told: Vec<_> = advice.iter().map(|advice| (advice.skill, advice.rivals[0].0)).collect();
        assert_eq!(told, [(0, 1), (1, 0)]);
        assert_eq!(advice[1].words, ["watermarks"]);
        assert!(advice[0].words.is_empty());
        let copies = [skills[0].clone(), Texts { name: "other".into(), ..skills[0].clone() }];
        // The one whose name the description says wins; the other is said to be answered by it.
        let told: Vec<_> = lint(&copies).iter().map(|advice| (advice.skill, advice.rivals[0].0)).collect();
        assert_eq!(told, [(1, 0)]);
        assert_eq!(lint(&[]), []);
    }

    prop_compose! {
        /// Words of a small vocabulary, so that many descriptions are alike, with copies and near copies among them.
        fn skills()(
            seeds in prop::collection::vec((0u32..6, prop::collection::vec(0u32..24, 0..14), 0u32..5), 1..90), copies in 1usize..6,
        ) -> Vec<Texts> {
            let skill = |(name, words, extra): &(u32, Vec<u32>, u32)| {
                let about: Vec<String> = words.iter().map(|word| format!("word{word}")).collect();
                let about = match extra {
                    0 => format!("Handles \"{}\". Use when the user asks for word{name}", about.join(" ")),
                    _ => format!("Does {} for repos", about.join(" and ")),
                };
                texts(&format!("word{name}-s{extra}"), &about, &format!("{about} then rare{name} step{extra}"))
            };
            let made: Vec<Texts> = seeds.iter().map(skill).collect();
            made.iter().cycle().take(made.len() * copies).cloned().collect()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn advice_is_the_same_as_by_ranking_every_skill(skills in skills()) {
            let (index, terms) = Lexical::with_terms(&skills, Texts::clone, |terms| terms.collect());
            let collection = Collection { comparison: Comparison::new(&index), skills: &skills, terms };
            for (at, skill) in skills.iter().enumerate() {
                let expected = collection.advise_by(at, &index.scores(&skill.about, RANKED));
                prop_assert_eq!(collection.advise(at), expected);
            }
        }
    }
}
