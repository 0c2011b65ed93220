//! The quality of rankings, as rows of a table.

use prowess_routing::SkillTexts;
use prowess_routing::eval::{EvalReport, EvalScore, LabelledMessage, RoutedMessage, evaluate_routed};

use super::data::Data;

/// Returns the measured collections: 1,000 skills, and the whole catalog.
pub fn sizes(data: &Data) -> [Vec<SkillTexts>; 2] {
    [data.sample(1_000), data.sample(usize::MAX)]
}

/// Evaluates rankings. `rank` returns the names, best first, and whether the first is confident.
pub fn measure(
    messages: &[LabelledMessage],
    rank: impl FnMut(&LabelledMessage) -> (Vec<String>, bool),
) -> EvalReport {
    let rankings: Vec<(Vec<String>, bool)> = messages.iter().map(rank).collect();
    let routed = messages.iter().zip(&rankings);
    evaluate_routed(
        routed.map(|(message, (ranking, confident))| RoutedMessage {
            message,
            ranking,
            is_confident: *confident,
        }),
        5,
    )
}

/// Returns a row of a table: hit@1 and recall@5 with their intervals, and MRR.
pub fn row(name: &str, score: &EvalScore) -> String {
    let span = |[low, high]: [f64; 2]| format!("[{low:.3} {high:.3}]");
    let (hits, recalls) = (span(score.intervals.hit_at_1), span(score.intervals.recall_at_k));
    let EvalScore { hit_at_1, recall_at_k, mrr, .. } = score;
    format!("{name:40} {hit_at_1:.3} {hits}  {recall_at_k:.3} {recalls}  {mrr:.3}")
}
