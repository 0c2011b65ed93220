//! How good rankings are, as lines of a table.

use prowess_routing::Texts;
use prowess_routing::eval::{Answered, Labelled, Report, Score, assess};

use super::data::Data;

/// The sizes that are measured: a large collection, and all there is.
pub fn sizes(data: &Data) -> [Vec<Texts>; 2] {
    [data.sample(1_000), data.sample(usize::MAX)]
}

/// What rankings come to; `answer` gives the names, the best first, and whether the first fits.
pub fn measure(messages: &[Labelled], answer: impl FnMut(&Labelled) -> (Vec<String>, bool)) -> Report {
    let answers: Vec<(Vec<String>, bool)> = messages.iter().map(answer).collect();
    let answered = messages.iter().zip(&answers);
    assess(answered.map(|(message, (ranking, fits))| Answered { message, ranking, fits: *fits }), 5)
}

/// A line of a table: hit@1 and recall@5 with their intervals, MRR.
pub fn row(name: &str, score: &Score) -> String {
    let span = |[low, high]: [f64; 2]| format!("[{low:.3} {high:.3}]");
    let (hits, recalls) = (span(score.intervals.hit_at_1), span(score.intervals.recall_at_k));
    let Score { hit_at_1, recall_at_k, mrr, .. } = score;
    format!("{name:40} {hit_at_1:.3} {hits}  {recall_at_k:.3} {recalls}  {mrr:.3}")
}
