//! The skill compared with no skill, or with its old version.

use serde::{Deserialize, Serialize};

use super::case_summary::CaseSummary;
use super::summary::{mean, tokens};
use crate::run_record::{RunRecord, RunSubject, Variant};
use crate::statistics::PairedDifference;

/// The skill compared with another variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// The other variant.
    pub with: Variant,
    /// The difference of the pass rates, by case.
    pub pass_rate: PairedDifference,
    /// The difference of tokens, by case.
    pub tokens: PairedDifference,
    /// The difference of seconds, by case.
    pub time_seconds: PairedDifference,
    /// The cases that the skill improves, leaves and worsens.
    pub improved: Vec<String>,
    /// Cases without a difference.
    pub unchanged: Vec<String>,
    /// Cases that are worse with the skill.
    pub worsened: Vec<String>,
}

impl Comparison {
    pub(super) fn new(other: Variant, cases: &[CaseSummary], records: &[RunRecord]) -> Option<Self> {
        let by_case = |value: &dyn Fn(&RunRecord) -> Option<f64>| -> Vec<(String, f64)> {
            let of = |variant: Variant, id: &str| {
                let matching = records.iter().filter(move |record| {
                    record.variant == variant
                        && record.error().is_none()
                        && matches!(&record.subject, RunSubject::Case { id: case } if case == id)
                });
                mean(matching.filter_map(value))
            };
            let difference = |case: &CaseSummary| {
                Some((case.id.clone(), of(Variant::WithSkill, &case.id)? - of(other, &case.id)?))
            };
            cases.iter().filter_map(difference).collect()
        };
        let values = |pairs: &[(String, f64)]| pairs.iter().map(|(_, value)| *value).collect::<Vec<f64>>();
        let scores = by_case(&RunRecord::score);
        let ids = |is_wanted: &dyn Fn(f64) -> bool| -> Vec<String> {
            scores.iter().filter(|(_, value)| is_wanted(*value)).map(|(id, _)| id.clone()).collect()
        };
        Some(Self {
            with: other,
            pass_rate: PairedDifference::new(&values(&scores))?,
            tokens: PairedDifference::new(&values(&by_case(&|record| Some(tokens(record)))))?,
            time_seconds: PairedDifference::new(&values(&by_case(&|record| {
                Some(record.duration_ms as f64 / 1_000.0)
            })))?,
            improved: ids(&|value| value > 1e-9),
            unchanged: ids(&|value| value.abs() <= 1e-9),
            worsened: ids(&|value| value < -1e-9),
        })
    }
}
