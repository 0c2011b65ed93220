//! How well the skills of a collection can be told apart: which are confusable, which are never found by their own words,
//! and which words would make them found.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::lexical::{Lexical, Texts};
use super::stop::is_stop;
use super::words::{Found, Term, terms, words};
use crate::scan::parallel;

/// Two skills are confusable where one scores this share of the other's own score on the other's own description.
const CONFUSABLE: f32 = 0.9;

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
/// use prowess::route::{Texts, lint};
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
    let collection = Collection {
        index: Lexical::new(skills, Texts::clone),
        skills,
        terms: vec![OnceLock::new(); skills.len()],
    };
    let places: Vec<usize> = (0..skills.len()).collect();
    parallel(&places, |at| collection.advise(*at)).into_iter().flatten().collect()
}

struct Collection<'s> {
    index: Lexical,
    skills: &'s [Texts],
    /// The words of each skill, sorted: those of a rival are asked for by many others.
    terms: Vec<OnceLock<Vec<Term>>>,
}

impl Collection<'_> {
    fn advise(&self, at: usize) -> Option<Advice> {
        let skill = self.skills.get(at)?;
        let ranked = self.index.scores(&skill.about, 10);
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
        Some(Advice { skill: at, place, words: telling(skill, &of_rivals), rivals })
    }

    fn terms_of(&self, at: usize) -> Option<&[Term]> {
        let Texts { name, about, body } = self.skills.get(at)?;
        Some(self.terms.get(at)?.get_or_init(|| sorted_terms([name, about, body])))
    }
}

fn sorted_terms<'t>(texts: impl IntoIterator<Item = &'t String>) -> Vec<Term> {
    let mut found = Vec::new();
    for text in texts {
        terms(text, |term| found.push(term));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The words that are most often in the instructions, and neither in the description nor in a rival.
fn telling(skill: &Texts, rivals: &[&[Term]]) -> Vec<String> {
    let own = sorted_terms([&skill.name, &skill.about]);
    let is_known = |term: Term| {
        own.binary_search(&term).is_ok() || rivals.iter().any(|terms| terms.binary_search(&term).is_ok())
    };
    // What is not worth naming is kept as `None`, so that it is looked at once.
    let mut counts: HashMap<Term, Option<(usize, &str)>> = HashMap::new();
    words(&skill.body, |found, text| {
        if let Found::Word(term) = found
            && text.chars().count() >= 4
            && !text.contains(|c: char| c.is_ascii_digit())
        {
            let count = counts.entry(term).or_insert_with(|| match is_stop(term) || is_known(term) {
                true => None,
                false => Some((0, text)),
            });
            if let Some((count, _)) = count {
                *count += 1;
            }
        }
    });
    let mut counted: Vec<(usize, &str)> = counts.into_values().flatten().collect();
    counted.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    counted.into_iter().take(NAMED * 2).map(|(_, word)| word.to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
