//! Fusing lexical ranking and semantic similarity.
//!
//! Similarities differ between models: some give 0.1 to unrelated texts, some 0.7. A similarity therefore
//! counts by how far it is above the mean of the message's similarities with the whole collection.

use super::super::lexical::{COPY_REASON, RankedSkill};
use super::super::rank::{
    MatchKind, RouteOptions, SkillMatch, USED_REASON, lexical_match, used_recently, with_habit_bonus,
};

/// The number of lexical candidates if similarities are used: they may lift a skill that words alone would
/// leave out.
pub const LEXICAL_CANDIDATES: usize = 256;

/// The maximum number of skills added by similarity.
const NEAREST_MAX: usize = 64;

/// A skill found by words, by similarity or by both.
#[derive(Debug, Clone, PartialEq)]
pub struct FusedSkill {
    /// The index of the skill.
    pub skill: usize,
    /// The fused score.
    pub score: f32,
    /// The lexical result, if words found it.
    pub lexical: Option<RankedSkill>,
    /// The similarity, if it is high enough to report.
    pub similarity: Option<f32>,
}

impl FusedSkill {
    /// Creates the result of a skill found by words alone.
    pub(crate) fn from_lexical(lexical: RankedSkill) -> Self {
        Self { skill: lexical.skill, score: lexical.score, lexical: Some(lexical), similarity: None }
    }

    fn is_confident(&self) -> bool {
        self.lexical.as_ref().is_some_and(|lexical| lexical.confidence >= super::super::CONFIDENCE_MIN)
    }
}

/// Fuses a lexical ranking with the similarity of each skill. `weight` is added to a score for each standard
/// deviation of the similarity above the mean. The best come first, equal ones in the order of the skills.
///
/// ```
/// use prowess_routing::semantic::fuse;
/// use prowess_routing::{LexicalIndex, SkillTexts};
///
/// let text = |name: &str| SkillTexts { name: name.into(), ..SkillTexts::default() };
/// let skills = [text("pdf"), text("invoices"), text("weather")];
/// let ranked = LexicalIndex::new(&skills, SkillTexts::clone).rank("pdf of a bill", 9);
/// let fused = fuse(ranked, &[0.1, 0.7, 0.0], 2.0);
/// assert_eq!(fused.iter().map(|found| found.skill).collect::<Vec<_>>(), [0, 1]);
/// assert!(fused[1].lexical.is_none());
/// ```
pub fn fuse(ranked: Vec<RankedSkill>, similarities: &[f32], weight: f32) -> Vec<FusedSkill> {
    let stats = SimilarityStats::new(similarities);
    let mut fused: Vec<FusedSkill> = Vec::with_capacity(ranked.len() + NEAREST_MAX);
    for lexical in ranked {
        let similarity = similarities.get(lexical.skill).copied().unwrap_or_default();
        let deviations = stats.deviations_above(similarity);
        // A copy stays behind different skills, regardless of its similarity.
        let bonus = if lexical.reasons.iter().any(|reason| reason == COPY_REASON) {
            0.0
        } else {
            weight * deviations
        };
        fused.push(FusedSkill {
            score: lexical.score + bonus,
            similarity: stats.if_notable(similarity),
            ..FusedSkill::from_lexical(lexical)
        });
    }
    let lexical_skills: std::collections::HashSet<usize> =
        fused.iter().map(|fused_skill| fused_skill.skill).collect();
    // A skill found only by similarity never ranks before a confident one, because the first match decides.
    let confident = fused
        .iter()
        .filter(|fused_skill| fused_skill.is_confident())
        .map(|fused_skill| fused_skill.score)
        .reduce(f32::max);
    let max = confident.map_or(f32::INFINITY, |best| best * 0.99);
    for (skill, similarity) in
        nearest(similarities).into_iter().filter(|(skill, _)| !lexical_skills.contains(skill))
    {
        let Some(notable) = stats.if_notable(similarity) else { continue };
        let score = (weight * stats.deviations_above(similarity)).min(max);
        fused.push(FusedSkill { skill, score, lexical: None, similarity: Some(notable) });
    }
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.skill.cmp(&b.skill)));
    fused
}

/// Returns the skills with the highest similarities, the highest first.
fn nearest(similarities: &[f32]) -> Vec<(usize, f32)> {
    let mut all: Vec<(usize, f32)> = similarities.iter().copied().enumerate().collect();
    let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if all.len() > NEAREST_MAX {
        all.select_nth_unstable_by(NEAREST_MAX, order);
        all.truncate(NEAREST_MAX);
    }
    all.sort_unstable_by(order);
    all
}

/// The distribution of a message's similarities with the skills of a collection.
struct SimilarityStats {
    mean: f32,
    deviation: f32,
}

impl SimilarityStats {
    fn new(similarities: &[f32]) -> Self {
        let count = similarities.len().max(1) as f64;
        let mean = similarities.iter().map(|similarity| f64::from(*similarity)).sum::<f64>() / count;
        let squares =
            similarities.iter().map(|similarity| (f64::from(*similarity) - mean).powi(2)).sum::<f64>();
        Self { mean: mean as f32, deviation: (squares / count).sqrt() as f32 }
    }

    /// Returns the number of standard deviations above the mean, at least 0.
    fn deviations_above(&self, similarity: f32) -> f32 {
        if self.deviation > 1e-4 { ((similarity - self.mean) / self.deviation).max(0.0) } else { 0.0 }
    }

    /// Returns the similarity if it is notably high.
    fn if_notable(&self, similarity: f32) -> Option<f32> {
        (similarity > 0.0 && self.deviations_above(similarity) >= 1.0).then_some(similarity)
    }
}

/// Creates the match of a found skill.
pub(in super::super) fn fused_match(name: &str, fused: FusedSkill, options: &RouteOptions<'_>) -> SkillMatch {
    let FusedSkill { score, lexical: ranked, similarity, .. } = fused;
    let mut matched = match ranked {
        Some(ranked) => lexical_match(name, ranked, options),
        None => SkillMatch {
            name: name.to_owned(),
            score: 0.0,
            reasons: Vec::new(),
            kind: MatchKind::Semantic,
            // There is no word as evidence, so nothing is activated because of it.
            confidence: 0.0,
        },
    };
    if let Some(similarity) = similarity {
        // Insert after the lexical reasons and before the usage.
        let position = matched.reasons.len()
            - usize::from(matched.reasons.last().is_some_and(|last| last == USED_REASON));
        matched.reasons.insert(position, similarity_reason(similarity));
    }
    if matched.kind == MatchKind::Semantic && used_recently(name, options) {
        matched.reasons.push(USED_REASON.to_owned());
    }
    matched.score = with_habit_bonus(name, score, options);
    matched
}

pub(in super::super) fn similarity_reason(similarity: f32) -> String {
    format!("close in meaning: {similarity:.2}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranked(skill: usize, score: f32, confidence: f32) -> RankedSkill {
        RankedSkill { skill, score, confidence, reasons: Vec::new() }
    }

    fn order(fused: &[FusedSkill]) -> Vec<usize> {
        fused.iter().map(|found| found.skill).collect()
    }

    #[test]
    fn similarity_lifts_lexical_results() {
        let found = vec![ranked(0, 10.0, 0.9), ranked(1, 9.0, 0.8)];
        assert_eq!(order(&fuse(found.clone(), &[0.1, 0.9, 0.1, 0.1], 2.0)), [1, 0]);
        assert_eq!(order(&fuse(found.clone(), &[0.1, 0.9, 0.1, 0.1], 0.0)), [0, 1]);
        assert_eq!(order(&fuse(found, &[], 2.0)), [0, 1]);
    }

    #[test]
    fn similarity_alone_never_ranks_before_a_confident_match() {
        let similarities = [0.0, 0.0, 0.0, 0.9];
        assert_eq!(order(&fuse(vec![ranked(0, 1.0, 0.9)], &similarities, 100.0)), [0, 3]);
        assert_eq!(order(&fuse(vec![ranked(0, 1.0, 0.1)], &similarities, 100.0)), [3, 0]);
    }

    #[test]
    fn a_copy_stays_behind_different_skills() {
        let mut copy = ranked(1, 1.0, 0.9);
        copy.reasons.push(COPY_REASON.to_owned());
        let fused =
            fuse(vec![ranked(0, 9.0, 0.9), ranked(2, 2.0, 0.9), copy], &[0.9, 0.9, 0.0, 0.0, 0.0], 9.0);
        assert_eq!(order(&fused), [0, 2, 1]);
    }

    #[test]
    fn the_baseline_of_a_model_is_not_notable() {
        // Some models give high similarities to everything.
        let fused = fuse(Vec::new(), &[0.80, 0.81, 0.80, 0.79], 1.0);
        assert_eq!(order(&fused), [1]);
        assert!(fuse(Vec::new(), &[0.8; 9], 1.0).is_empty());
    }

    proptest! {
        #[test]
        fn results_are_sorted_unique_and_finite(
            similarities in prop::collection::vec(-1.0_f32..1.0, 0..200),
            scores in prop::collection::vec(0.0_f32..50.0, 0..50),
            weight in 0.0_f32..50.0,
        ) {
            let found: Vec<RankedSkill> =
                scores.iter().enumerate().map(|(skill, score)| ranked(skill * 2, *score, 0.5)).collect();
            let fused = fuse(found.clone(), &similarities, weight);
            prop_assert!(fused.iter().all(|found| found.score.is_finite()));
            prop_assert!(fused.is_sorted_by(|a, b| a.score >= b.score));
            let mut skills = order(&fused);
            skills.sort_unstable();
            skills.dedup();
            prop_assert_eq!(skills.len(), fused.len());
            prop_assert!(found.iter().all(|found| skills.contains(&found.skill)));
            prop_assert!(fused.len() <= found.len() + NEAREST_MAX);
        }
    }
}
