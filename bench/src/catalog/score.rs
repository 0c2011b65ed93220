//! How good rankings are, as lines of a table.

use prowess_routing::SkillTexts;
use prowess_routing::eval::{EvalReport, EvalScore, LabelledMessage, RoutedMessage, evaluate_routed};

use super::data::Data;

/// The sizes that are measured: a large collection, and all there is.
pub fn sizes(data: &Data) -> [Vec<SkillTexts>; 2] {
    [data.sample(1_000), data.sample(usize::MAX)]
}

/// What rankings come to; `answer` gives the names, the best first, and whether the first fits.
pub fn measure(
    messages: &[LabelledMessage],
    answer: impl FnMut(&LabelledMessage) -> (Vec<String>, bool),
) -> EvalReport {
    let answers: Vec<(Vec<String>, bool)> = messages.iter().map(answer).collect();
    let answered = messages.iter().zip(&answers);
    evaluate_routed(
        answered.map(|(message, (ranking, fits))| RoutedMessage { message, ranking, is_confident: *fits }),
        5,
    )
}

/// A line of a table: hit@1 and recall@5 with their intervals, MRR.
pub fn row(name: &str, score: &EvalScore) -> String {
    let span = |[low, high]: [f64; 2]| format!("[{low:.3} {high:.3}]");
    let (hits, recalls) = (span(score.intervals.hit_at_1), span(score.intervals.recall_at_k));
    let EvalScore { hit_at_1, recall_at_k, mrr, .. } = score;
    format!("{name:40} {hit_at_1:.3} {hits}  {recall_at_k:.3} {recalls}  {mrr:.3}")
}
