//! How good a ranking is, measured on labelled messages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A message and the skills that are right for it, or wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Labelled {
    /// The message.
    pub query: String,
    /// Any of these is right; none where only wrong ones are known.
    #[serde(default)]
    pub skills: Vec<String>,
    /// None of these may come first.
    #[serde(default)]
    pub not_skills: Vec<String>,
    /// Which part of the data it belongs to.
    #[serde(default)]
    pub subset: Option<String>,
}

impl Labelled {
    /// Reads one message a line, each a JSON object; blank lines are skipped. An error names its line.
    ///
    /// ```
    /// use prowess::route::eval::Labelled;
    ///
    /// let read = Labelled::read_lines("{\"query\":\"merge\",\"skills\":[\"pdf\"]}\n\n{\"query\":3}");
    /// assert!(read.unwrap_err().starts_with("line 3: "));
    /// ```
    pub fn read_lines(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(at, line)| {
                serde_json::from_str(line).map_err(|error| {
                    // Each line is read for itself: the reader takes all of them for the first.
                    let why = error.to_string();
                    let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
                    format!("line {}: {why}, at column {}", at + 1, error.column())
                })
            })
            .collect()
    }
}

/// The figures of one set of messages.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Score {
    /// How many messages have right skills.
    pub count: usize,
    /// The share of them whose first skill is right.
    pub hit_at_1: f64,
    /// The share of right skills among the first `k`, on average.
    pub recall_at_k: f64,
    /// One over the place of the first right skill, on average.
    pub mrr: f64,
    /// How many messages have wrong skills.
    pub negatives: usize,
    /// The share of them whose first skill is wrong.
    pub wrong_at_1: f64,
}

/// The figures of all messages and of each subset.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Report {
    /// How many of each ranking `recall_at_k` looks at.
    pub k: usize,
    /// All messages.
    pub all: Score,
    /// Each subset, by name.
    pub subsets: BTreeMap<String, Score>,
}

/// Scores rankings, each a list of names with the best first.
///
/// ```
/// use prowess::route::eval::{Labelled, evaluate};
///
/// let message = Labelled { query: "merge".into(), skills: vec!["pdf".into()], ..Labelled::default() };
/// let report = evaluate([(&message, &["notes".to_owned(), "pdf".to_owned()][..])], 5);
/// assert_eq!((report.all.hit_at_1, report.all.recall_at_k, report.all.mrr), (0.0, 1.0, 0.5));
/// ```
pub fn evaluate<'c>(messages: impl IntoIterator<Item = (&'c Labelled, &'c [String])>, k: usize) -> Report {
    let mut report = Report { k, ..Report::default() };
    for (labelled, ranking) in messages {
        report.all.add(labelled, ranking, k);
        if let Some(subset) = &labelled.subset {
            report.subsets.entry(subset.clone()).or_default().add(labelled, ranking, k);
        }
    }
    report.all.finish();
    report.subsets.values_mut().for_each(Score::finish);
    report
}

impl Score {
    /// Sums up; [`Score::finish`] makes shares of it.
    fn add(&mut self, labelled: &Labelled, ranking: &[String], k: usize) {
        let Labelled { skills, not_skills, .. } = labelled;
        if !skills.is_empty() {
            self.count += 1;
            let first = ranking.iter().position(|name| skills.contains(name));
            self.hit_at_1 += if first == Some(0) { 1.0 } else { 0.0 };
            self.mrr += first.map_or(0.0, |place| 1.0 / (place + 1) as f64);
            let top = &ranking[..ranking.len().min(k)];
            self.recall_at_k +=
                skills.iter().filter(|name| top.contains(name)).count() as f64 / skills.len() as f64;
        }
        if !not_skills.is_empty() {
            self.negatives += 1;
            self.wrong_at_1 +=
                if ranking.first().is_some_and(|name| not_skills.contains(name)) { 1.0 } else { 0.0 };
        }
    }

    fn finish(&mut self) {
        let (count, negatives) = (self.count.max(1) as f64, self.negatives.max(1) as f64);
        self.hit_at_1 /= count;
        self.recall_at_k /= count;
        self.mrr /= count;
        self.wrong_at_1 /= negatives;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &str) -> Vec<String> {
        names.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_figures() {
        let case = |skills: &str, wrong: &str, subset: &str| Labelled {
            query: "q".to_owned(),
            skills: names(skills),
            not_skills: names(wrong),
            subset: Some(subset.to_owned()),
        };
        let cases = [
            (case("a", "", "x"), names("a b")),
            (case("a c", "", "x"), names("b a d c")),
            (case("z", "", "y"), names("")),
            (case("", "a", "y"), names("a")),
            (case("", "a", "y"), names("b a")),
        ];
        let report = evaluate(cases.iter().map(|(case, ranking)| (case, &ranking[..])), 2);
        let x =
            Score { count: 2, hit_at_1: 0.5, recall_at_k: 0.75, mrr: 0.75, negatives: 0, wrong_at_1: 0.0 };
        let y = Score { count: 1, negatives: 2, wrong_at_1: 0.5, ..Score::default() };
        assert_eq!(report.subsets, BTreeMap::from([("x".to_owned(), x), ("y".to_owned(), y)]));
        assert_eq!((report.all.count, report.all.negatives, report.all.mrr), (3, 2, 0.5));
        assert_eq!(evaluate([], 5).all, Score::default());
    }
}
