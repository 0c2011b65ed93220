//! Measuring the quality of a ranking on labelled messages.

mod bootstrap;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A message and the skills that are right or wrong for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LabelledMessage {
    /// The message.
    pub query: String,
    /// The right skills; empty if only wrong ones are known.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Skills that must not come first.
    #[serde(default)]
    pub not_skills: Vec<String>,
    /// The subset of the data.
    #[serde(default)]
    pub subset: Option<String>,
}

impl LabelledMessage {
    /// Parses one message per line, each a JSON object with `query` and at least one of `skills` and
    /// `not_skills`; blank lines are skipped. Errors contain the line. A text without messages is an error.
    ///
    /// ```
    /// use prowess_routing::eval::LabelledMessage;
    ///
    /// let parsed = LabelledMessage::parse_lines("{\"query\":\"merge\",\"skills\":[\"pdf\"]}\n\n{\"query\":3}");
    /// assert!(parsed.unwrap_err().starts_with("line 3: "));
    /// ```
    pub fn parse_lines(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let messages: Vec<Self> = lines
            .map(|(index, line)| {
                let labelled: Self = serde_json::from_str(line).map_err(|error| {
                    // Each line is parsed separately, so the error always names line 1.
                    let message = error.to_string();
                    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
                    format!("line {}: {message}, at column {}", index + 1, error.column())
                })?;
                match labelled.skills.is_empty() && labelled.not_skills.is_empty() {
                    true => {
                        Err(format!("line {}: skills and not_skills are both missing or empty", index + 1))
                    }
                    false => Ok(labelled),
                }
            })
            .collect::<Result<_, String>>()?;
        match messages.is_empty() {
            true => Err("the file contains no queries".to_owned()),
            false => Ok(messages),
        }
    }
}

/// A message of a trigger evaluation: whether it should make a model load the skill.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct TriggerCase {
    query: String,
    should_trigger: bool,
    /// The skill, unless the whole file is about one.
    #[serde(default)]
    skill: Option<String>,
}

impl LabelledMessage {
    /// Parses a JSON list of messages, each with `query` and `should_trigger`, about `skill` unless they name
    /// one.
    ///
    /// ```
    /// use prowess_routing::eval::LabelledMessage;
    ///
    /// let text = r#"[{"query": "merge these", "should_trigger": true}, {"query": "hi", "should_trigger": false}]"#;
    /// let parsed = LabelledMessage::parse_triggers(text, Some("pdf")).unwrap();
    /// assert_eq!((&parsed[0].skills[0][..], &parsed[1].not_skills[0][..]), ("pdf", "pdf"));
    /// assert!(LabelledMessage::parse_triggers(text, None).is_err());
    /// ```
    pub fn parse_triggers(text: &str, skill: Option<&str>) -> Result<Vec<Self>, String> {
        let cases: Vec<TriggerCase> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if cases.is_empty() {
            return Err("the file contains no queries".to_owned());
        }
        let labelled = |(index, case): (usize, TriggerCase)| {
            let TriggerCase { query, should_trigger, skill: case_skill } = case;
            let name = case_skill.or_else(|| skill.map(str::to_owned));
            let name = name
                .ok_or_else(|| format!("query {} does not name a skill; name it with --skill", index + 1))?;
            let (skills, not_skills) =
                if should_trigger { (vec![name], vec![]) } else { (vec![], vec![name]) };
            Ok(Self { query, skills, not_skills, subset: None })
        };
        cases.into_iter().enumerate().map(labelled).collect()
    }
}

/// The 95 % confidence intervals of each metric.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ConfidenceIntervals {
    /// Of [`EvalScore::hit_at_1`].
    pub hit_at_1: [f64; 2],
    /// Of [`EvalScore::recall_at_k`].
    pub recall_at_k: [f64; 2],
    /// Of [`EvalScore::mrr`].
    pub mrr: [f64; 2],
}

/// The metrics of one set of messages.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct EvalScore {
    /// The number of messages with right skills.
    pub count: usize,
    /// The share of them whose first skill is right.
    pub hit_at_1: f64,
    /// The mean share of right skills among the first `k`.
    pub recall_at_k: f64,
    /// The mean reciprocal rank of the first right skill.
    pub mrr: f64,
    /// The number of messages with wrong skills.
    pub negatives: usize,
    /// The share of them whose first skill is wrong.
    pub wrong_at_1: f64,
    /// The share of them whose first skill is wrong and [confident](super::CONFIDENCE_MIN): it would be
    /// activated.
    pub false_activations: f64,
    /// The confidence intervals.
    pub intervals: ConfidenceIntervals,
}

/// The metrics of all messages and of each subset.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct EvalReport {
    /// The number of results that `recall_at_k` considers.
    pub k: usize,
    /// All messages.
    pub all: EvalScore,
    /// Each subset, by name.
    pub subsets: BTreeMap<String, EvalScore>,
}

/// The routing result of a message.
#[derive(Debug, Clone, Copy)]
pub struct RoutedMessage<'c> {
    /// The message.
    pub message: &'c LabelledMessage,
    /// The names, the best first.
    pub ranking: &'c [String],
    /// Whether the first one is confident.
    pub is_confident: bool,
}

/// Evaluates rankings, each a list of names with the best first, as if the first were always confident.
///
/// ```
/// use prowess_routing::eval::{LabelledMessage, evaluate};
///
/// let message = LabelledMessage { query: "merge".into(), skills: vec!["pdf".into()],
/// ..LabelledMessage::default() };
/// let report = evaluate([(&message, &["notes".to_owned(), "pdf".to_owned()][..])], 5);
/// assert_eq!((report.all.hit_at_1, report.all.recall_at_k, report.all.mrr), (0.0, 1.0, 0.5));
/// ```
pub fn evaluate<'c>(
    messages: impl IntoIterator<Item = (&'c LabelledMessage, &'c [String])>,
    k: usize,
) -> EvalReport {
    evaluate_routed(
        messages.into_iter().map(|(message, ranking)| RoutedMessage { message, ranking, is_confident: true }),
        k,
    )
}

/// Evaluates routing results.
pub fn evaluate_routed<'c>(messages: impl IntoIterator<Item = RoutedMessage<'c>>, k: usize) -> EvalReport {
    let mut all = Measurements::default();
    let mut subsets: BTreeMap<String, Measurements> = BTreeMap::new();
    for message in messages {
        all.add(&message, k);
        if let Some(subset) = &message.message.subset {
            subsets.entry(subset.clone()).or_default().add(&message, k);
        }
    }
    let subsets = subsets.into_iter().map(|(name, measured)| (name, measured.score())).collect();
    EvalReport { k, all: all.score(), subsets }
}

/// Compares two rankings of the same messages: returns the mean gain of the first over the second in hit@1,
/// recall and MRR, with its confidence interval. A gain is significant if its interval does not include 0.
pub fn compare(
    messages: &[LabelledMessage],
    first: &[Vec<String>],
    second: &[Vec<String>],
    k: usize,
) -> [(f64, [f64; 2]); 3] {
    let measured = |rankings: &[Vec<String>]| {
        let mut measured = Measurements::default();
        for (message, ranking) in messages.iter().zip(rankings) {
            measured.add(&RoutedMessage { message, ranking, is_confident: true }, k);
        }
        measured.right
    };
    let (first, second) = (measured(first), measured(second));
    [0, 1, 2].map(|metric| {
        let gains: Vec<f64> =
            first.iter().zip(&second).map(|(first, second)| first[metric] - second[metric]).collect();
        (mean(&gains), bootstrap::interval(&gains))
    })
}

/// The measurements of each message.
#[derive(Debug, Default)]
struct Measurements {
    /// Hit, recall and reciprocal rank of each message with right skills.
    right: Vec<[f64; 3]>,
    /// Whether the first was wrong, and whether it was also confident, for each message with wrong skills.
    wrong: Vec<[f64; 2]>,
}

impl Measurements {
    fn add(&mut self, message: &RoutedMessage<'_>, k: usize) {
        let RoutedMessage { message: LabelledMessage { skills, not_skills, .. }, ranking, is_confident } =
            message;
        if !skills.is_empty() {
            let first = ranking.iter().position(|name| skills.contains(name));
            let top = &ranking[..ranking.len().min(k)];
            let recalled =
                skills.iter().filter(|name| top.contains(name)).count() as f64 / skills.len() as f64;
            let reciprocal_rank = first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
            self.right.push([f64::from(first == Some(0)), recalled, reciprocal_rank]);
        }
        if !not_skills.is_empty() {
            let wrong = ranking.first().is_some_and(|name| not_skills.contains(name));
            self.wrong.push([f64::from(wrong), f64::from(wrong && *is_confident)]);
        }
    }

    fn score(&self) -> EvalScore {
        let right = |metric: usize| self.right.iter().map(|right| right[metric]).collect::<Vec<_>>();
        let wrong = |metric: usize| self.wrong.iter().map(|wrong| wrong[metric]).collect::<Vec<_>>();
        let [hits, recalls, reciprocal_ranks] = [right(0), right(1), right(2)];
        EvalScore {
            count: self.right.len(),
            hit_at_1: mean(&hits),
            recall_at_k: mean(&recalls),
            mrr: mean(&reciprocal_ranks),
            negatives: self.wrong.len(),
            wrong_at_1: mean(&wrong(0)),
            false_activations: mean(&wrong(1)),
            intervals: ConfidenceIntervals {
                hit_at_1: bootstrap::interval(&hits),
                recall_at_k: bootstrap::interval(&recalls),
                mrr: bootstrap::interval(&reciprocal_ranks),
            },
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    // `sum` of an empty iterator is -0.0.
    values.iter().fold(0.0, |sum, value| sum + value) / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &str) -> Vec<String> {
        names.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn metrics_are_computed() {
        let case = |skills: &str, wrong: &str, subset: &str| LabelledMessage {
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
        let figures = |score: &EvalScore| {
            let EvalScore { count, hit_at_1, recall_at_k, mrr, negatives, wrong_at_1, .. } = *score;
            (count, hit_at_1, recall_at_k, mrr, negatives, wrong_at_1)
        };
        assert_eq!(figures(&report.subsets["x"]), (2, 0.5, 0.75, 0.75, 0, 0.0));
        assert_eq!(figures(&report.subsets["y"]), (1, 0.0, 0.0, 0.0, 2, 0.5));
        assert_eq!(report.subsets["x"].intervals.hit_at_1, [0.0, 1.0]);
        assert_eq!(report.subsets["y"].false_activations, 0.5);
        assert_eq!((report.all.count, report.all.negatives, report.all.mrr), (3, 2, 0.5));
        assert_eq!(evaluate([], 5).all, EvalScore::default());
    }

    #[test]
    fn an_unconfident_match_is_not_activated() {
        let message = LabelledMessage { not_skills: names("a"), ..LabelledMessage::default() };
        let ranking = names("a");
        let answered = RoutedMessage { message: &message, ranking: &ranking, is_confident: false };
        let all = evaluate_routed([answered], 5).all;
        assert_eq!((all.wrong_at_1, all.false_activations), (1.0, 0.0));
    }

    #[test]
    fn rankings_are_compared() {
        let messages: Vec<LabelledMessage> =
            (0..40).map(|_| LabelledMessage { skills: names("a"), ..LabelledMessage::default() }).collect();
        let (right, wrong) = (vec![names("a b"); 40], vec![names("b a"); 40]);
        assert_eq!(
            compare(&messages, &right, &wrong, 1),
            [(1.0, [1.0; 2]), (1.0, [1.0; 2]), (0.5, [0.5; 2])]
        );
        assert_eq!(compare(&messages, &right, &right, 1)[0], (0.0, [0.0; 2]));
    }
}
