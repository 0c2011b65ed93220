//! Routing results and their order.

use super::confidence::CONFIDENCE_MIN;
use super::lexical::RankedSkill;
use super::triggers::{TriggerHit, TriggerKind};
use prowess::policy::{MentionPolicy, MentionSyntax};
use prowess::usage::SkillUsage;

/// How much of the skills the model is shown for a message: four levels, from nothing to complete skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Nothing: there are no skills.
    Nothing,
    /// Only that there are skills: some have triggers, but none matches.
    Breadcrumb,
    /// Names and brief descriptions: the message asks for them, or no skill has triggers.
    Registry,
    /// Complete skills: they are mentioned by name, or their triggers match.
    Full,
}

impl Tier {
    /// Returns the number, 0 to 3.
    pub fn number(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Breadcrumb => 1,
            Self::Registry => 2,
            Self::Full => 3,
        }
    }

    /// Describes what it discloses.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Breadcrumb => "the number of skills",
            Self::Registry => "names and brief descriptions",
            Self::Full => "complete skills",
        }
    }
}

prowess_format::named_enum! {
    /// Why a skill matches, the strongest first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum MatchKind {
        /// It is mentioned by name.
        Explicit = "explicit",
        /// A trigger matches.
        Trigger = "trigger",
        /// Message and skill share words.
        Lexical = "lexical",
        /// They share no words, but are similar in meaning.
        Semantic = "semantic",
    }
}

/// A skill that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillMatch {
    /// The name under which [`Snapshot::get`](prowess::Snapshot::get) finds it.
    pub name: String,
    /// 3000 for a skill mentioned by name, 2000 for a phrase, 1000 for any other trigger, plus up to 1 for each
    /// matching trigger, depending on its rarity, and up to 1 for recent use. Below 1000, the score of its words and up to 4 % for usage.
    pub score: f64,
    /// The reasons, as text.
    pub reasons: Vec<String>,
    /// The kind of match.
    pub kind: MatchKind,
    /// The probability that the match is right: 1 if the skill is mentioned by name or a trigger matches.
    pub confidence: f32,
}

impl SkillMatch {
    /// Returns `true` if the confidence is high enough to act on the match.
    pub fn is_confident(&self) -> bool {
        self.confidence >= CONFIDENCE_MIN
    }
}

/// The result of routing one message.
#[derive(Debug, Clone, PartialEq)]
pub struct Routing {
    /// How much of the skills the message needs.
    pub tier: Tier,
    /// The matching skills, the best first.
    pub matches: Vec<SkillMatch>,
    /// The number of leading matches that are given in full.
    pub full_count: usize,
}

impl Routing {
    /// Returns `true` if the first match is confident: mentioned by name, a trigger matches, or its words are
    /// likely right.
    pub fn is_confident(&self) -> bool {
        self.matches.first().is_some_and(SkillMatch::is_confident)
    }

    /// Returns the skills given in full: at most [`RouteOptions::max_skills`], all mentioned by name or matched
    /// by a trigger.
    pub fn full_matches(&self) -> &[SkillMatch] {
        self.matches.get(..self.full_count).unwrap_or_default()
    }
}

/// Options of routing.
#[derive(Debug, Clone, Copy)]
pub struct RouteOptions<'u> {
    /// The maximum number of skills given in full.
    pub max_skills: usize,
    /// The number of matches wanted. If names and triggers give fewer, skills that share words with the message
    /// are added; with 0, no words are compared and no bodies are read.
    pub k: usize,
    /// Recent usage of skills.
    pub usage: &'u SkillUsage,
    /// The current time, in seconds since 1970.
    pub now: u64,
    /// Which forms of mention are recognized. "use the NAME skill" always is.
    pub mention: MentionPolicy,
}

impl<'u> RouteOptions<'u> {
    /// Creates options with at most three skills in full, ten matches, and every form of mention.
    pub fn new(usage: &'u SkillUsage, now: u64) -> Self {
        let mention = MentionPolicy { slash: MentionSyntax::Enabled, dollar: MentionSyntax::Enabled };
        Self { max_skills: 3, k: 10, usage, now, mention }
    }
}

const EXPLICIT_SCORE: f64 = 3000.0;
const PHRASE_SCORE: f64 = 2000.0;
pub(super) const TRIGGER_SCORE: f64 = 1000.0;

/// The maximum bonus for recent and frequent use, as a share of the score: it decides between similar matches.
const HABIT_BONUS_MAX: f64 = 0.04;

/// The recency of a skill used within the last week.
const RECENT: f64 = 0.5;

/// The reason for a skill used recently.
pub(super) const USED_REASON: &str = "used recently";

pub(super) fn used_recently(name: &str, options: &RouteOptions<'_>) -> bool {
    options.usage.recency(name, options.now) >= RECENT
}

/// Returns a match for a skill that is mentioned or whose triggers match, or `None` if only its name or triggers
/// that are too general occur, which decides nothing.
pub(super) fn explicit_match(
    name: &str,
    mentioned: bool,
    hits: &[TriggerHit<'_>],
    options: &RouteOptions<'_>,
) -> Option<SkillMatch> {
    let triggers = hits.iter().filter(|hit| hit.kind != TriggerKind::Name && hit.is_specific());
    let weight: f64 = triggers.clone().map(|hit| f64::from(hit.weight) / 100.0).sum();
    let has_trigger = triggers.clone().next().is_some();
    let named = mentioned || (has_trigger && hits.iter().any(|hit| hit.kind == TriggerKind::Name));
    let base = if named {
        EXPLICIT_SCORE
    } else if triggers.clone().any(|hit| hit.kind == TriggerKind::Phrase) {
        PHRASE_SCORE
    } else if has_trigger {
        TRIGGER_SCORE
    } else {
        return None;
    };
    let mut reasons = Vec::new();
    if named {
        reasons.push("mentioned by name".to_owned());
    }
    reasons.extend(triggers.map(|hit| format!("{}: {}", hit.kind.as_str(), hit.text)));
    let recency = options.usage.recency(name, options.now);
    if recency >= RECENT {
        reasons.push(USED_REASON.to_owned());
    }
    let kind = if named { MatchKind::Explicit } else { MatchKind::Trigger };
    Some(SkillMatch {
        name: name.to_owned(),
        score: base + weight.min(900.0) + recency,
        reasons,
        kind,
        confidence: 1.0,
    })
}

/// Returns a match for a skill that shares words with the message.
pub(super) fn lexical_match(name: &str, ranked: RankedSkill, options: &RouteOptions<'_>) -> SkillMatch {
    let RankedSkill { score, reasons: word_reasons, confidence, .. } = ranked;
    let mut reasons = vec![lexical_reason(score)];
    reasons.extend(word_reasons);
    if used_recently(name, options) {
        reasons.push(USED_REASON.to_owned());
    }
    SkillMatch {
        name: name.to_owned(),
        score: with_habit_bonus(name, score, options),
        reasons,
        kind: MatchKind::Lexical,
        confidence,
    }
}

/// Returns the score of words and meaning with the bonus for usage, always below any trigger.
pub(super) fn with_habit_bonus(name: &str, score: f32, options: &RouteOptions<'_>) -> f64 {
    let habit = options.usage.frecency(name, options.now);
    (f64::from(score) * (1.0 + HABIT_BONUS_MAX * habit)).min(TRIGGER_SCORE - 1.0)
}

pub(super) fn lexical_reason(score: f32) -> String {
    format!("lexical: {score:.1}")
}

/// Sorts by score, then by recent use, then by name.
pub(super) fn sort_matches(matches: &mut [SkillMatch], options: &RouteOptions<'_>) {
    let recency = |skill_match: &SkillMatch| options.usage.recency(&skill_match.name, options.now);
    matches.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| recency(b).total_cmp(&recency(a)))
            .then_with(|| a.name.cmp(&b.name))
    });
}
