//! How good a ranking is, measured on labelled messages.

mod bootstrap;

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
    /// Reads one message a line, each a JSON object with `query` and at least one of `skills` and `not_skills`; blank
    /// lines are skipped. An error names its line. A text without any message is an error, too.
    ///
    /// ```
    /// use prowess_routing::eval::Labelled;
    ///
    /// let read = Labelled::read_lines("{\"query\":\"merge\",\"skills\":[\"pdf\"]}\n\n{\"query\":3}");
    /// assert!(read.unwrap_err().starts_with("line 3: "));
    /// ```
    pub fn read_lines(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read: Vec<Self> = lines
            .map(|(at, line)| {
                let labelled: Self = serde_json::from_str(line).map_err(|error| {
                    // Each line is read for itself: the reader takes all of them for the first.
                    let why = error.to_string();
                    let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
                    format!("line {}: {why}, at column {}", at + 1, error.column())
                })?;
                match labelled.skills.is_empty() && labelled.not_skills.is_empty() {
                    true => Err(format!("line {}: skills and not_skills are both missing or empty", at + 1)),
                    false => Ok(labelled),
                }
            })
            .collect::<Result<_, String>>()?;
        match read.is_empty() {
            true => Err("there are no queries in it".to_owned()),
            false => Ok(read),
        }
    }
}

/// One message of an evaluation of triggers: whether it should make a model load the skill.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Triggering {
    query: String,
    should_trigger: bool,
    /// The skill, where the file is not all about one.
    #[serde(default)]
    skill: Option<String>,
}

impl Labelled {
    /// Reads a JSON list of messages, each with `query` and `should_trigger`, all about `skill` where they name none.
    ///
    /// ```
    /// use prowess_routing::eval::Labelled;
    ///
    /// let text = r#"[{"query": "merge these", "should_trigger": true}, {"query": "hi", "should_trigger": false}]"#;
    /// let read = Labelled::read_triggers(text, Some("pdf")).unwrap();
    /// assert_eq!((&read[0].skills[0][..], &read[1].not_skills[0][..]), ("pdf", "pdf"));
    /// assert!(Labelled::read_triggers(text, None).is_err());
    /// ```
    pub fn read_triggers(text: &str, skill: Option<&str>) -> Result<Vec<Self>, String> {
        let read: Vec<Triggering> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if read.is_empty() {
            return Err("there are no queries in it".to_owned());
        }
        let labelled = |(at, triggering): (usize, Triggering)| {
            let Triggering { query, should_trigger, skill: own } = triggering;
            let name = own.or_else(|| skill.map(str::to_owned));
            let name = name.ok_or_else(|| format!("message {} does not say of which skill it is", at + 1))?;
            let (skills, not_skills) =
                if should_trigger { (vec![name], vec![]) } else { (vec![], vec![name]) };
            Ok(Self { query, skills, not_skills, subset: None })
        };
        read.into_iter().enumerate().map(labelled).collect()
    }
}

/// Between which two numbers each figure lies, with 95 in 100 likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Intervals {
    /// Of [`Score::hit_at_1`].
    pub hit_at_1: [f64; 2],
    /// Of [`Score::recall_at_k`].
    pub recall_at_k: [f64; 2],
    /// Of [`Score::mrr`].
    pub mrr: [f64; 2],
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
    /// The share of them whose first skill is wrong and [fits](super::FITS): it would be activated.
    pub false_activations: f64,
    /// How sure the figures are.
    pub intervals: Intervals,
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

/// What routing made of a message.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'c> {
    /// The message.
    pub message: &'c Labelled,
    /// The names it gave, the best first.
    pub ranking: &'c [String],
    /// Whether the first of them fits.
    pub fits: bool,
}

/// Scores rankings, each a list of names with the best first, as if the first always fitted.
///
/// ```
/// use prowess_routing::eval::{Labelled, evaluate};
///
/// let message = Labelled { query: "merge".into(), skills: vec!["pdf".into()], ..Labelled::default() };
/// let report = evaluate([(&message, &["notes".to_owned(), "pdf".to_owned()][..])], 5);
/// assert_eq!((report.all.hit_at_1, report.all.recall_at_k, report.all.mrr), (0.0, 1.0, 0.5));
/// ```
pub fn evaluate<'c>(messages: impl IntoIterator<Item = (&'c Labelled, &'c [String])>, k: usize) -> Report {
    assess(messages.into_iter().map(|(message, ranking)| Answered { message, ranking, fits: true }), k)
}

/// Scores answers.
pub fn assess<'c>(answers: impl IntoIterator<Item = Answered<'c>>, k: usize) -> Report {
    let mut all = Measured::default();
    let mut subsets: BTreeMap<String, Measured> = BTreeMap::new();
    for answer in answers {
        all.add(&answer, k);
        if let Some(subset) = &answer.message.subset {
            subsets.entry(subset.clone()).or_default().add(&answer, k);
        }
    }
    let subsets = subsets.into_iter().map(|(name, measured)| (name, measured.score())).collect();
    Report { k, all: all.score(), subsets }
}

/// What the first of two ways to answer the same messages gains over the second in hit@1, recall and MRR: the mean of each
/// difference, and between which two numbers it lies. What does not reach across 0 is not chance.
pub fn compare(
    messages: &[Labelled],
    one: &[Vec<String>],
    other: &[Vec<String>],
    k: usize,
) -> [(f64, [f64; 2]); 3] {
    let measured = |rankings: &[Vec<String>]| {
        let mut measured = Measured::default();
        for (message, ranking) in messages.iter().zip(rankings) {
            measured.add(&Answered { message, ranking, fits: true }, k);
        }
        measured.right
    };
    let (one, other) = (measured(one), measured(other));
    [0, 1, 2].map(|figure| {
        let gains: Vec<f64> =
            one.iter().zip(&other).map(|(one, other)| one[figure] - other[figure]).collect();
        (mean(&gains), bootstrap::interval(&gains))
    })
}

/// Each message by itself.
#[derive(Debug, Default)]
struct Measured {
    /// Hit, recall and reciprocal place of each message that has right skills.
    right: Vec<[f64; 3]>,
    /// Whether the first was wrong, and whether it fitted, of each that has wrong ones.
    wrong: Vec<[f64; 2]>,
}

impl Measured {
    fn add(&mut self, answer: &Answered<'_>, k: usize) {
        let Answered { message: Labelled { skills, not_skills, .. }, ranking, fits } = answer;
        let share = |yes: bool| if yes { 1.0 } else { 0.0 };
        if !skills.is_empty() {
            let first = ranking.iter().position(|name| skills.contains(name));
            let top = &ranking[..ranking.len().min(k)];
            let recalled =
                skills.iter().filter(|name| top.contains(name)).count() as f64 / skills.len() as f64;
            let place = first.map_or(0.0, |place| 1.0 / (place + 1) as f64);
            self.right.push([share(first == Some(0)), recalled, place]);
        }
        if !not_skills.is_empty() {
            let wrong = ranking.first().is_some_and(|name| not_skills.contains(name));
            self.wrong.push([share(wrong), share(wrong && *fits)]);
        }
    }

    fn score(&self) -> Score {
        let right = |figure: usize| self.right.iter().map(|right| right[figure]).collect::<Vec<_>>();
        let wrong = |figure: usize| self.wrong.iter().map(|wrong| wrong[figure]).collect::<Vec<_>>();
        let [hits, recalls, places] = [right(0), right(1), right(2)];
        Score {
            count: self.right.len(),
            hit_at_1: mean(&hits),
            recall_at_k: mean(&recalls),
            mrr: mean(&places),
            negatives: self.wrong.len(),
            wrong_at_1: mean(&wrong(0)),
            false_activations: mean(&wrong(1)),
            intervals: Intervals {
                hit_at_1: bootstrap::interval(&hits),
                recall_at_k: bootstrap::interval(&recalls),
                mrr: bootstrap::interval(&places),
            },
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    // The sum of nothing is a zero with a sign.
    values.iter().fold(0.0, |sum, value| sum + value) / values.len().max(1) as f64
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
        let figures = |score: &Score| {
            let Score { count, hit_at_1, recall_at_k, mrr, negatives, wrong_at_1, .. } = *score;
            (count, hit_at_1, recall_at_k, mrr, negatives, wrong_at_1)
        };
        assert_eq!(figures(&report.subsets["x"]), (2, 0.5, 0.75, 0.75, 0, 0.0));
        assert_eq!(figures(&report.subsets["y"]), (1, 0.0, 0.0, 0.0, 2, 0.5));
        assert_eq!(report.subsets["x"].intervals.hit_at_1, [0.0, 1.0]);
        assert_eq!(report.subsets["y"].false_activations, 0.5);
        assert_eq!((report.all.count, report.all.negatives, report.all.mrr), (3, 2, 0.5));
        assert_eq!(evaluate([], 5).all, Score::default());
    }

    #[test]
    fn what_does_not_fit_is_not_activated() {
        let message = Labelled { not_skills: names("a"), ..Labelled::default() };
        let ranking = names("a");
        let answered = Answered { message: &message, ranking: &ranking, fits: false };
        let all = assess([answered], 5).all;
        assert_eq!((all.wrong_at_1, all.false_activations), (1.0, 0.0));
    }

    #[test]
    fn two_ways_compared() {
        let messages: Vec<Labelled> =
            (0..40).map(|_| Labelled { skills: names("a"), ..Labelled::default() }).collect();
        let (right, wrong) = (vec![names("a b"); 40], vec![names("b a"); 40]);
        assert_eq!(
            compare(&messages, &right, &wrong, 1),
            [(1.0, [1.0; 2]), (1.0, [1.0; 2]), (0.5, [0.5; 2])]
        );
        assert_eq!(compare(&messages, &right, &right, 1)[0], (0.0, [0.0; 2]));
    }
}
