//! Lexical ranking: BM25 over the descriptions and the instructions of skills, then reranking of the best
//! candidates.
//!
//! The ranking is deterministic: the same skills and message give the same scores, and equal scores keep the
//! order of the skills.

use std::fs::File;
use std::io;
use std::path::Path;

use super::confidence::Evidence;
use super::index::{
    ColumnHit, Columns, DamagedIndex, Index, LISTS_MAX, SearchCandidate, Segment, SegmentSource, Sketch,
    TermStats, WeightedTerm, build, build_with, with_checksums,
};
use super::phrase;
use super::query::Query;
use super::reasons::reasons;
use super::rerank::{FEATURES, FeatureWeights, Reranked, ScoreBound, rerank};
use super::text::SkillTexts;
use super::typos::{QueryExpansion, expand};
use super::words::Term;
use prowess_fs::write_private_nosync;

/// The minimum number of candidates that are reranked.
const RERANKED_MIN: usize = 64;

/// The maximum number of words of a message that are compared: the most valuable ones.
const COMPARED_WORDS_MAX: usize = 48;

// Each word has two lists: in the description and in the instructions.
const _: () = assert!(2 * COMPARED_WORDS_MAX <= LISTS_MAX);

/// The size below which a collection is small. There, "please" may be rare and "review" may not: the rarity of
/// stop words is limited, and that of other words has a minimum.
const SMALL_COLLECTION: usize = 100;
const STOP_RARITY_MAX: f32 = 0.5;
const CONTENT_RARITY_MIN: f32 = 1.0;

/// The number of content words from which stop words are not searched.
const CONTENT_WORDS_ENOUGH: usize = 3;

/// The reason shown for a copy.
pub(super) const COPY_REASON: &str = "nearly the same text as another";

/// A word index of many skills.
///
/// ```
/// use prowess_routing::{LexicalIndex, SkillTexts};
///
/// let text = |name: &str, about: &str| SkillTexts { name: name.into(), about: about.into(), body:
/// String::new() };
/// let skills = [text("pdf", "Merges and splits documents"), text("weather", "Tells the forecast")];
/// let index = LexicalIndex::new(&skills, SkillTexts::clone);
/// let best = &index.rank("merging two documents", 5)[0];
/// assert_eq!(best.skill, 0);
/// assert_eq!(best.reasons, ["in its description: documents, merging"]);
/// ```
#[derive(Debug)]
pub struct LexicalIndex {
    index: Index,
    weights: FeatureWeights,
    disabled: Vec<QueryExpansion>,
}

/// A skill and its score.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedSkill {
    /// The position among the skills of the index.
    pub skill: usize,
    /// The weighted sum of all features.
    pub score: f32,
    /// The probability that it is right, from 0 to 1, fitted on labelled messages.
    pub confidence: f32,
    /// The reasons, as text.
    pub reasons: Vec<String>,
}

/// A reranked candidate.
struct ScoredCandidate {
    score: f32,
    skill: u32,
    reranked: Reranked,
    /// The impacts of each word of the message.
    impacts: Vec<[u8; 2]>,
    /// The phrases of the message that the skill contains.
    phrases: Vec<String>,
}

impl LexicalIndex {
    /// Indexes skills in memory; `texts` is called for each of them on several threads.
    pub fn new<T: Sync>(skills: &[T], texts: impl Fn(&T) -> SkillTexts + Sync) -> Self {
        Self::with_terms(skills, texts, |_| ()).0
    }

    /// Indexes skills in memory, and returns what `collect` returns for the sorted words of each.
    pub(super) fn with_terms<T: Sync, K: Send>(
        skills: &[T],
        texts: impl Fn(&T) -> SkillTexts + Sync,
        collect: impl Fn(&mut dyn Iterator<Item = Term>) -> K + Sync,
    ) -> (Self, Vec<K>) {
        let numbered: Vec<(u64, &T)> = (0u64..).zip(skills).collect();
        let (bytes, collected) = build_with(
            &numbered,
            |(number, skill)| (*number, texts(skill)),
            |entry| collect(&mut entry.words.iter().map(|word| word.term)),
        );
        let index = match Segment::open(SegmentSource::Memory(bytes)) {
            Ok(segment) => Index::from_segment(segment),
            // Bytes just written can always be read; an empty index finds nothing.
            Err(DamagedIndex) => Index::from_parts([]),
        };
        (Self::from_index(index), collected)
    }

    /// Indexes skills into a file, replacing it, and returns its size in bytes.
    pub fn save<T: Sync>(
        path: &Path,
        skills: &[T],
        texts: impl Fn(&T) -> SkillTexts + Sync,
    ) -> io::Result<u64> {
        let numbered: Vec<(u64, &T)> = (0u64..).zip(skills).collect();
        let bytes = with_checksums(build(&numbered, |(number, skill)| (*number, texts(skill))));
        write_private_nosync(path, &bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Opens a saved index. Most of it is read on demand.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let segment = SegmentSource::open(file, length).and_then(Segment::open);
        segment.map(Index::from_segment).map(Self::from_index).map_err(io::Error::other)
    }

    /// Returns the bytes of an index without checksums, for fuzzing.
    #[doc(hidden)]
    pub fn bare_bytes(skills: &[SkillTexts]) -> Vec<u8> {
        let numbered: Vec<(u64, &SkillTexts)> = (0u64..).zip(skills).collect();
        build(&numbered, |(number, texts)| (*number, (*texts).clone()))
    }

    /// Opens bytes from [`LexicalIndex::bare_bytes`].
    #[doc(hidden)]
    pub fn from_bare_bytes(bytes: Vec<u8>) -> Option<Self> {
        Segment::open(SegmentSource::Memory(bytes)).ok().map(Index::from_segment).map(Self::from_index)
    }

    pub(super) fn from_index(index: Index) -> Self {
        Self { index, weights: FeatureWeights::default(), disabled: Vec::new() }
    }

    /// Disables an expansion of queries, to measure its effect.
    #[must_use]
    pub fn without(mut self, expansion: QueryExpansion) -> Self {
        self.disabled.push(expansion);
        self
    }

    /// Returns the best `k` skills that share a word with the message.
    pub fn rank(&self, query: &str, k: usize) -> Vec<RankedSkill> {
        self.try_rank(query, k).unwrap_or_default()
    }

    /// Returns the best `k` skills for a description, each with its score. Unlike in [`LexicalIndex::rank`], copies keep
    /// their positions, so that skills that are hard to tell apart are next to each other.
    pub fn similar(&self, about: &str, k: usize) -> Vec<(usize, f32)> {
        self.try_similar(about, k).unwrap_or_default()
    }

    fn try_similar(&self, about: &str, k: usize) -> Result<Vec<(usize, f32)>, DamagedIndex> {
        let mut query = Query::new(about);
        let stats = self.look_up(&mut query)?;
        let candidates = self.sorted_candidates(&query, &stats, k)?.into_iter().take(k);
        Ok(candidates.map(|candidate| (candidate.skill as usize, candidate.score)).collect())
    }

    /// Returns the features of each reranked skill.
    pub fn features(&self, query: &str) -> Vec<(usize, [f32; FEATURES])> {
        let mut query = Query::new(query);
        let stats = self.look_up(&mut query).unwrap_or_default();
        let candidates = self.candidates(&query, &stats, 0).unwrap_or_default();
        candidates
            .into_iter()
            .map(|candidate| (candidate.skill as usize, candidate.reranked.features))
            .collect()
    }

    /// Returns the best skill for a message, and the evidence for it.
    pub fn evidence(&self, query: &str) -> Option<(usize, Evidence)> {
        let mut query = Query::new(query);
        let stats = self.look_up(&mut query).ok()?;
        let (candidates, _) = split_copies(self.sorted_candidates(&query, &stats, 2).ok()?, 2);
        let first = candidates.first()?;
        let second = candidates.get(1).map_or(0.0, |second| second.score);
        let evidence = Evidence::new(&query, &stats, &first.reranked, &first.impacts, [first.score, second]);
        Some((first.skill as usize, evidence))
    }

    fn sorted_candidates(
        &self,
        query: &Query<'_>,
        stats: &[TermStats],
        k: usize,
    ) -> Result<Vec<ScoredCandidate>, DamagedIndex> {
        let mut candidates = self.candidates(query, stats, k)?;
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.skill.cmp(&b.skill)));
        Ok(candidates)
    }

    /// Like [`LexicalIndex::rank`], but reports a damaged index.
    pub(super) fn try_rank(&self, query: &str, k: usize) -> Result<Vec<RankedSkill>, DamagedIndex> {
        let mut query = Query::new(query);
        let stats = self.look_up(&mut query)?;
        // At least two, to know the lead of the first.
        let (candidates, copies) = split_copies(self.sorted_candidates(&query, &stats, k)?, k.max(2));
        let (first_copy, least) =
            (candidates.len(), candidates.last().map_or(0.0, |candidate| candidate.score));
        let score = |index: usize| candidates.get(index).map_or(0.0, |candidate| candidate.score);
        let (first, second) = (score(0), score(1));
        let candidates = candidates.into_iter().chain(copies).take(k).enumerate();
        let ranked = |(index, ScoredCandidate { score, skill, reranked, impacts, phrases }): (
            usize,
            ScoredCandidate,
        )| {
            let mut reasons = reasons(&query, &reranked, &impacts);
            reasons.extend(phrases.iter().map(|phrase| format!("phrase: \"{phrase}\"")));
            let best_other = if index == 0 { second } else { first };
            let confidence =
                Evidence::new(&query, &stats, &reranked, &impacts, [score, best_other]).confidence();
            RankedSkill { skill: skill as usize, score, confidence, reasons }
        };
        let mut ranked: Vec<RankedSkill> = candidates.map(ranked).collect();
        for copy in ranked.iter_mut().skip(first_copy) {
            copy.score = copy.score.min(least) * 0.99;
            copy.reasons.push(COPY_REASON.to_owned());
        }
        Ok(ranked)
    }

    /// Looks up the statistics of the words of a message, and expands the query.
    fn look_up(&self, query: &mut Query<'_>) -> Result<Vec<TermStats>, DamagedIndex> {
        let weighted: Vec<WeightedTerm> = query.words.iter().map(|word| word.weighted).collect();
        let mut stats = self.index.term_stats(&weighted)?;
        expand(query, &mut stats, &self.index, |expansion| !self.disabled.contains(&expansion))?;
        if self.disabled.contains(&QueryExpansion::Phrases) {
            query.phrases.clear();
        }
        if self.index.len() < SMALL_COLLECTION {
            for (word, stats) in query.words.iter().zip(&mut stats) {
                let clamp = |rarity: f32| {
                    if word.is_stop_word {
                        rarity.min(STOP_RARITY_MAX)
                    } else {
                        rarity.max(CONTENT_RARITY_MIN)
                    }
                };
                stats.rarity = stats.rarity.map(clamp);
            }
        }
        Ok(stats)
    }

    fn candidates(
        &self,
        query: &Query<'_>,
        stats: &[TermStats],
        k: usize,
    ) -> Result<Vec<ScoredCandidate>, DamagedIndex> {
        let candidates = self.index.search(&comparison_terms(query, stats), stats, k.max(RERANKED_MIN))?;
        candidates.into_iter().map(|candidate| self.score_candidate(query, stats, candidate)).collect()
    }

    fn score_candidate(
        &self,
        query: &Query<'_>,
        stats: &[TermStats],
        candidate: SearchCandidate,
    ) -> Result<ScoredCandidate, DamagedIndex> {
        let reranked = rerank(query, stats, &candidate)?;
        let impacts = || query.words.iter().zip(&candidate.impacts);
        let contains =
            |term| impacts().any(|(word, impacts)| word.weighted.term == term && *impacts != [0, 0]);
        let phrases = phrase::phrases_in(&query.phrases, &candidate.sketch, contains)?;
        let score =
            self.weights.score(&reranked.features) + phrase::bonus(phrases.len(), query.phrases.len());
        Ok(ScoredCandidate { score, skill: candidate.skill, reranked, impacts: candidate.impacts, phrases })
    }
}

/// Returns the words of a message with their weights for comparison: 0 for those that are left out.
fn comparison_terms(query: &Query<'_>, stats: &[TermStats]) -> Vec<WeightedTerm> {
    let mut terms: Vec<WeightedTerm> = query.words.iter().map(|word| word.weighted).collect();
    let mut values: Vec<(f32, usize)> =
        terms.iter().zip(stats).map(|(weighted, stats)| weighted.weight * stats.rarity[1]).zip(0..).collect();
    // Words that no skill contains have the highest value, but find nothing.
    values.retain(|(_, index)| stats[*index].is_found());
    values.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Stop words have the longest postings: they only matter if there are few other words.
    let content_words = values.iter().filter(|(_, index)| !query.words[*index].is_stop_word).count();
    if content_words >= CONTENT_WORDS_ENOUGH {
        values
            .iter()
            .filter(|(_, index)| query.words[*index].is_stop_word)
            .for_each(|(_, index)| terms[*index].weight = 0.0);
    }
    for (_, index) in values.iter().skip(COMPARED_WORDS_MAX) {
        terms[*index].weight = 0.0;
    }
    terms
}

/// Ranks the skills of an index for many descriptions in sequence.
#[derive(Debug)]
pub(super) struct Comparison<'l> {
    lexical: &'l LexicalIndex,
    columns: Columns<'l>,
}

impl<'l> Comparison<'l> {
    pub(super) fn new(lexical: &'l LexicalIndex) -> Self {
        Self { lexical, columns: Columns::new(&lexical.index) }
    }

    /// Returns the best `k` skills for a description, with their scores, among those that reach at least
    /// `share` of the score of `own_skill`. If that one is not among the reranked skills, all count.
    ///
    /// `share` is at most 1, so every skill that is left out ranks behind `own_skill`.
    pub(super) fn scores(&self, about: &str, own_skill: usize, share: f32, k: usize) -> Vec<(usize, f32)> {
        let mut scores = self.candidate_scores(about, own_skill, share, k).unwrap_or_default();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scores.truncate(k);
        scores.into_iter().map(|(skill, score)| (skill as usize, score)).collect()
    }

    fn candidate_scores(
        &self,
        about: &str,
        own_skill: usize,
        share: f32,
        k: usize,
    ) -> Result<Vec<(u32, f32)>, DamagedIndex> {
        let mut query = Query::new(about);
        let stats = self.lexical.look_up(&mut query)?;
        let terms = comparison_terms(&query, &stats);
        let columns = self.columns.columns_for(&terms, &stats)?;
        let candidates = self.columns.search(&terms, &stats, &columns, k.max(RERANKED_MIN));
        let score = |hit: &ColumnHit| {
            let candidate = self.columns.candidate(*hit, &columns)?;
            Ok(self.lexical.score_candidate(&query, &stats, candidate)?.score)
        };
        let own_hit = candidates.iter().find(|hit| hit.skill as usize == own_skill);
        let Some((own_hit, own_score)) = own_hit.map(|hit| Ok((hit, score(hit)?))).transpose()? else {
            return candidates.iter().map(|hit| Ok((hit.skill, score(hit)?))).collect();
        };
        let bound = ScoreBound::new(&query, &stats, &self.lexical.weights, own_score * share);
        let mut scores = vec![(own_hit.skill, own_score)];
        for hit in candidates.iter().filter(|hit| hit.skill != own_hit.skill) {
            let sketch = self.columns.sketch(hit.skill)?;
            if bound.can_reach(hit.score(), &Sketch::parse(&sketch)?, |word| columns[word].impacts(hit.skill))
            {
                scores.push((hit.skill, score(hit)?));
            }
        }
        Ok(scores)
    }
}

/// Splits candidates into at most `k` different ones and the copies before the last of them. Registries contain
/// many copies, most of them slightly changed: one of each comes first, so that they do not crowd out the rest.
fn split_copies(candidates: Vec<ScoredCandidate>, k: usize) -> (Vec<ScoredCandidate>, Vec<ScoredCandidate>) {
    let (mut different, mut copies): (Vec<ScoredCandidate>, Vec<ScoredCandidate>) = (Vec::new(), Vec::new());
    for candidate in candidates {
        if different.len() >= k {
            break;
        }
        if different.iter().any(|other| other.reranked.signature.is_similar(&candidate.reranked.signature)) {
            copies.push(candidate);
        } else {
            different.push(candidate);
        }
    }
    (different, copies)
}

#[cfg(test)]
mod tests;
