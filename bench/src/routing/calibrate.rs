//! Fits the confidence, and evaluates it on messages that it was not fitted to.
//!
//! The messages of each subset are evaluated with weights that were fitted without the subset. Other
//! directories hold small collections with messages of the subsets `fit` and `held-out`; only the former are
//! used for fitting.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::print_line;
use prowess_bench::catalog::score::sizes;
use prowess_routing::eval::LabelledMessage;
use prowess_routing::{
    CONFIDENCE_MIN, EVIDENCE, EVIDENCE_BIAS, EVIDENCE_NAMES, EVIDENCE_WEIGHTS, LexicalIndex, SkillTexts,
};

/// The thresholds that are compared with [`CONFIDENCE_MIN`].
const THRESHOLDS: [f32; 3] = [0.5, 0.55, 0.6];

use crate::families::Families;
use crate::logistic::{Example, Weights, fit, probability};
use crate::small_talk::SMALL_TALK;

/// The number of small collections, of 20 and 100 skills.
const SMALL_COLLECTIONS: usize = 120;

/// Of the messages whose skill is not in a small collection, every this many are used.
const REMOVED_STEP: usize = 11;

/// The number of words of a shortened message.
const SHORT_WORDS: usize = 8;

/// The messages of other directories that are not used for fitting.
const HELD_OUT: &str = "held-out";

/// What a message is evaluated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum MessageKind {
    /// The collection contains the right skill.
    Right,
    /// The same, but only the first words of the message.
    RightShort,
    /// The message has a wrong skill; others may be right.
    Negative,
    /// Small talk.
    SmallTalk,
    /// The right skill is not in the collection, nor a related one.
    Removed,
    RemovedShort,
    /// The right skill is not in the collection, but a related one, which may fit.
    Related,
    RelatedShort,
}

impl MessageKind {
    const ALL: [(Self, &'static str, f64); 8] = [
        (Self::Right, "right first answers", 300.0),
        (Self::RightShort, "right first answers, 8 words", 150.0),
        (Self::Negative, "negatives", 60.0),
        (Self::SmallTalk, "small talk", 60.0),
        (Self::Removed, "skill removed", 250.0),
        (Self::RemovedShort, "skill removed, 8 words", 120.0),
        (Self::Related, "skill removed, related left", 100.0),
        (Self::RelatedShort, "the same, 8 words", 40.0),
    ];

    /// Returns the weight of all messages of this kind in one collection size.
    fn mass(self) -> f64 {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or(0.0, |(.., mass)| *mass)
    }

    fn has_right_skill(self) -> bool {
        matches!(self, Self::Right | Self::RightShort)
    }
}

struct Case {
    collection: String,
    kind: MessageKind,
    subset: String,
    /// The evidence for the first skill, if any skill matches.
    evidence: Option<[f64; EVIDENCE]>,
    /// Whether the first skill is right, and whether it is one of the wrong ones.
    is_right: bool,
    is_wrong: bool,
}

pub(crate) fn run(data: &Data, others: &[(String, Data)]) {
    let mut cases = Vec::new();
    for skills in sizes(data) {
        let collection = Collection::new(skills.len().to_string(), skills);
        data.messages.iter().for_each(|message| collection.add(MessageKind::Right, message, &mut cases));
        data.negatives.iter().for_each(|message| collection.add(MessageKind::Negative, message, &mut cases));
        collection.add_small_talk(&mut cases);
    }
    let families = Families::new(data);
    for number in 0..SMALL_COLLECTIONS {
        let size = if number % 2 == 0 { 20 } else { 100 };
        let collection = Collection::new(size.to_string(), data.small_sample(size, number));
        let has = |message: &&LabelledMessage| collection.has_skill_of(message);
        data.messages
            .iter()
            .filter(has)
            .for_each(|message| collection.add(MessageKind::Right, message, &mut cases));
        let removed = data.messages.iter().filter(|message| !has(message));
        for message in removed.skip(number % REMOVED_STEP).step_by(REMOVED_STEP) {
            let is_related = families.has_relative(&collection.skills, message);
            let kind = if is_related { MessageKind::Related } else { MessageKind::Removed };
            collection.add(kind, message, &mut cases);
        }
        collection.add_small_talk(&mut cases);
    }
    for (name, other) in others {
        let collection = Collection::new(name.clone(), other.skills.clone());
        other.messages.iter().for_each(|message| collection.add(MessageKind::Right, message, &mut cases));
        other.negatives.iter().for_each(|message| collection.add(MessageKind::Removed, message, &mut cases));
        for message in &other.messages {
            let rest = other.skills.iter().filter(|skill| !message.skills.contains(&skill.name));
            let without = Collection::new(name.clone(), rest.cloned().collect());
            without.add(MessageKind::Related, message, &mut cases);
        }
    }
    report(&cases, others);
}

fn report(cases: &[Case], others: &[(String, Data)]) {
    let fitted: Vec<&Case> = cases.iter().filter(|case| case.subset != HELD_OUT).collect();
    let weights = fit(&examples(&fitted));
    print_line("weights:");
    for (name, weight) in EVIDENCE_NAMES.iter().chain(&["bias"]).zip(&weights) {
        print_line(&format!("  {name:10} {weight:.3}"));
    }
    let mut current = [f64::from(EVIDENCE_BIAS); EVIDENCE + 1];
    current.iter_mut().zip(EVIDENCE_WEIGHTS).for_each(|(weight, value)| *weight = f64::from(value));
    print_table("with the weights of the program", cases.iter().map(|case| (case, current)));
    let is_other = |case: &&Case| others.iter().any(|(name, _)| *name == case.collection);
    print_table("fitted to these messages", fitted.iter().copied().map(|case| (case, weights)));
    let subsets: BTreeSet<&str> =
        fitted.iter().filter(|case| !is_other(case)).map(|case| case.subset.as_str()).collect();
    let without: HashMap<&str, Weights> = subsets
        .into_iter()
        .filter(|subset| !subset.is_empty())
        .map(|subset| {
            let rest: Vec<&Case> = fitted.iter().copied().filter(|case| case.subset != subset).collect();
            (subset, fit(&examples(&rest)))
        })
        .collect();
    let held_out = |case: &Case| without.get(case.subset.as_str()).copied();
    print_table(
        "fitted without the subset of the message",
        fitted.iter().filter_map(|case| Some((*case, held_out(case)?))),
    );
    let never_fitted = cases.iter().filter(|case| case.subset == HELD_OUT);
    print_table("never fitted to these messages", never_fitted.map(|case| (case, weights)));
}

fn examples(cases: &[&Case]) -> Vec<Example> {
    let mut counts: HashMap<(&str, MessageKind), usize> = HashMap::new();
    for case in cases {
        *counts.entry((&case.collection, case.kind)).or_default() += 1;
    }
    cases
        .iter()
        // Other skills than the wrong ones may be right for a negative.
        .filter(|case| case.kind != MessageKind::Negative || case.is_wrong)
        .filter_map(|case| {
            let count = counts.get(&(case.collection.as_str(), case.kind)).copied().unwrap_or(1);
            let weight = case.kind.mass() / count as f64;
            Some(Example { evidence: case.evidence?, is_right: case.is_right, weight })
        })
        .collect()
}

/// Prints for each threshold and collection which share of the messages of each kind is said to fit.
fn print_table<'c>(title: &str, cases: impl Iterator<Item = (&'c Case, Weights)>) {
    let cases: Vec<(&Case, f64)> = cases
        .filter(|(case, _)| case.is_right || !case.kind.has_right_skill())
        .map(|(case, weights)| {
            let is_counted = case.kind != MessageKind::Negative || case.is_wrong;
            let probability = case.evidence.map(|evidence| probability(&evidence, &weights));
            (case, probability.filter(|_| is_counted).unwrap_or_default())
        })
        .collect();
    for threshold in THRESHOLDS.into_iter().chain([CONFIDENCE_MIN]) {
        let mut counts: BTreeMap<(MessageKind, &str), [usize; 2]> = BTreeMap::new();
        for (case, probability) in &cases {
            let counts = counts.entry((case.kind, &case.collection)).or_default();
            counts[0] += usize::from(*probability >= f64::from(threshold));
            counts[1] += 1;
        }
        print_line(&format!("\n{title}: share said to fit at {threshold}"));
        for (kind, name, _) in MessageKind::ALL {
            let mut line = format!("  {name:30}");
            for ((_, collection), [confident, all]) in
                counts.iter().filter(|((counted, _), _)| *counted == kind)
            {
                let share = *confident as f64 / *all as f64;
                line.push_str(&format!(" | {collection}: {share:.3} of {all}"));
            }
            print_line(&line);
        }
    }
}

struct Collection {
    name: String,
    skills: Vec<SkillTexts>,
    index: LexicalIndex,
}

impl Collection {
    fn new(name: String, skills: Vec<SkillTexts>) -> Self {
        let index = LexicalIndex::new(&skills, SkillTexts::clone);
        Self { name, skills, index }
    }

    fn has_skill_of(&self, message: &LabelledMessage) -> bool {
        self.skills.iter().any(|skill| message.skills.contains(&skill.name))
    }

    /// Adds a message and, if it is long, its first words.
    fn add(&self, kind: MessageKind, message: &LabelledMessage, cases: &mut Vec<Case>) {
        cases.push(self.case(kind, message, &message.query));
        let short_kind = match kind {
            MessageKind::Right => MessageKind::RightShort,
            MessageKind::Removed => MessageKind::RemovedShort,
            MessageKind::Related => MessageKind::RelatedShort,
            _ => return,
        };
        let words: Vec<&str> = message.query.split_whitespace().collect();
        if words.len() > SHORT_WORDS && message.query.is_ascii() {
            cases.push(self.case(short_kind, message, &words[..SHORT_WORDS].join(" ")));
        }
    }

    fn add_small_talk(&self, cases: &mut Vec<Case>) {
        let message = LabelledMessage::default();
        cases.extend(SMALL_TALK.iter().map(|text| self.case(MessageKind::SmallTalk, &message, text)));
    }

    fn case(&self, kind: MessageKind, message: &LabelledMessage, query: &str) -> Case {
        let first = self.index.evidence(query);
        let is_first = |names: &[String]| {
            first.as_ref().is_some_and(|(skill, _)| names.contains(&self.skills[*skill].name))
        };
        Case {
            collection: self.name.clone(),
            kind,
            subset: message.subset.clone().unwrap_or_default(),
            evidence: first.as_ref().map(|(_, evidence)| evidence.values().map(f64::from)),
            is_right: is_first(&message.skills),
            is_wrong: is_first(&message.not_skills),
        }
    }
}
