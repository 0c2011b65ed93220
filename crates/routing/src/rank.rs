//! What routing gives, and the order of it.

use super::fits::FITS;
use super::lexical::Ranked;
use super::triggers::{Hit, TriggerKind};
use prowess::policy::{Mention, Recognised};
use prowess::usage::Usage;

/// How much of the skills a message calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Nothing: there are no skills.
    Nothing,
    /// That there are skills: some have triggers, and none matches.
    Breadcrumb,
    /// Their names and brief descriptions: the message asks for them, or no skill has triggers.
    Registry,
    /// Whole skills: they are called by name, or their triggers match.
    Full,
}

impl Tier {
    /// Its number, 0 to 3.
    pub fn number(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Breadcrumb => 1,
            Self::Registry => 2,
            Self::Full => 3,
        }
    }

    /// What it discloses, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Breadcrumb => "how many skills there are",
            Self::Registry => "names and brief descriptions",
            Self::Full => "whole skills",
        }
    }
}

/// What made a skill match, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// It is called by name.
    Explicit,
    /// A trigger matches.
    Trigger,
    /// Message and skill share words.
    Lexical,
    /// They share no word, and are close in meaning all the same.
    Semantic,
}

impl MatchKind {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Trigger => "trigger",
            Self::Lexical => "lexical",
            Self::Semantic => "semantic",
        }
    }
}

/// A skill that answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The name under which [`Snapshot::get`](prowess::Snapshot::get) has it.
    pub name: String,
    /// 3000 for a skill called by name, 2000 for a phrase, 1000 for any other trigger, plus 1 for each trigger that
    /// matches and up to 1 for recent use; below 1000 what its words come to, and up to 4 % more for use.
    pub score: f64,
    /// Why, in words.
    pub reasons: Vec<String>,
    /// What made it match.
    pub kind: MatchKind,
    /// How likely it is right: 1 where it is called by name or a trigger matches.
    pub confidence: f32,
}

impl Match {
    /// Whether it is likely enough that something may be done because of it.
    pub fn fits(&self) -> bool {
        self.confidence >= FITS
    }
}

/// The answer to one message.
#[derive(Debug, Clone, PartialEq)]
pub struct Routing {
    /// How much the message calls for.
    pub tier: Tier,
    /// The skills that answer, the best first.
    pub matches: Vec<Match>,
    /// How many of them, from the first, are given in full.
    pub full: usize,
}

impl Routing {
    /// Whether any skill answers: the first is called by name, a trigger matches, or its words are likely enough to be right.
    pub fn fits(&self) -> bool {
        self.matches.first().is_some_and(Match::fits)
    }

    /// The skills that are given in full: at most [`Options::max_skills`], all called by name or by a trigger.
    pub fn pushed(&self) -> &[Match] {
        self.matches.get(..self.full).unwrap_or_default()
    }
}

/// How to route.
#[derive(Debug, Clone, Copy)]
pub struct Options<'u> {
    /// How many skills are given in full at most.
    pub max_skills: usize,
    /// How many matches are wanted. Where names and triggers give fewer, skills that share words with the message fill
    /// up; at 0 no words are compared and no bodies are read.
    pub k: usize,
    /// What was used lately.
    pub usage: &'u Usage,
    /// The time, in seconds since 1970.
    pub now: u64,
    /// Which forms of mention count. "use the NAME skill" always does.
    pub mention: Mention,
}

impl<'u> Options<'u> {
    /// At most three skills in full, ten matches, every form of mention.
    pub fn new(usage: &'u Usage, now: u64) -> Self {
        let mention = Mention { slash: Recognised::Yes, dollar: Recognised::Yes };
        Self { max_skills: 3, k: 10, usage, now, mention }
    }
}

const EXPLICIT: f64 = 3000.0;
const PHRASE: f64 = 2000.0;
pub(super) const TRIGGER: f64 = 1000.0;

/// What the score of a skill gains at most that is used lately and often: it decides between answers that are about as good.
const HABIT: f64 = 0.04;

/// A skill used within the last week is said to be.
const RECENTLY: f64 = 0.5;

/// How that is said.
pub(super) const USED: &str = "used recently";

pub(super) fn used_recently(name: &str, options: &Options<'_>) -> bool {
    options.usage.recency(name, options.now) >= RECENTLY
}

/// A skill that is called by name or whose triggers match; `None` where only its name occurs, which decides nothing.
pub(super) fn decided(name: &str, mentioned: bool, hits: &[Hit<'_>], options: &Options<'_>) -> Option<Match> {
    let triggers = hits.iter().filter(|hit| hit.kind != TriggerKind::Name);
    let count = triggers.clone().count();
    let named = mentioned || (count > 0 && hits.iter().any(|hit| hit.kind == TriggerKind::Name));
    let base = if named {
        EXPLICIT
    } else if hits.iter().any(|hit| hit.kind == TriggerKind::Phrase) {
        PHRASE
    } else if count > 0 {
        TRIGGER
    } else {
        return None;
    };
    let mut reasons = Vec::new();
    if named {
        reasons.push("mentioned by name".to_owned());
    }
    reasons.extend(triggers.map(|hit| format!("{}: {}", hit.kind.as_str(), hit.text)));
    let recency = options.usage.recency(name, options.now);
    if recency >= RECENTLY {
        reasons.push(USED.to_owned());
    }
    let kind = if named { MatchKind::Explicit } else { MatchKind::Trigger };
    Some(Match {
        name: name.to_owned(),
        score: base + count.min(900) as f64 + recency,
        reasons,
        kind,
        confidence: 1.0,
    })
}

/// A skill that shares words with the message.
pub(super) fn lexical(name: &str, found: Ranked, options: &Options<'_>) -> Match {
    let Ranked { score, reasons: why, confidence, .. } = found;
    let mut reasons = vec![lexical_reason(score)];
    reasons.extend(why);
    if used_recently(name, options) {
        reasons.push(USED.to_owned());
    }
    Match {
        name: name.to_owned(),
        score: weighed(name, score, options),
        reasons,
        kind: MatchKind::Lexical,
        confidence,
    }
}

/// What words and meaning come to, with what use adds: below any trigger.
pub(super) fn weighed(name: &str, score: f32, options: &Options<'_>) -> f64 {
    let habit = options.usage.habit(name, options.now);
    (f64::from(score) * (1.0 + HABIT * habit)).min(TRIGGER - 1.0)
}

pub(super) fn lexical_reason(score: f32) -> String {
    format!("lexical: {score:.1}")
}

/// By score; equal ones by recent use, then by name.
pub(super) fn sort(matches: &mut [Match], options: &Options<'_>) {
    let recency = |found: &Match| options.usage.recency(&found.name, options.now);
    matches.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| recency(b).total_cmp(&recency(a)))
            .then_with(|| a.name.cmp(&b.name))
    });
}
