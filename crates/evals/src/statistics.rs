//! Intervals and tests for pass rates.
//!
//! The runs of one case are not independent, so comparisons treat each case as one observation: the difference between its
//! pass rates with and without the skill. Intervals of single pass rates are Wilson intervals over runs.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The 97.5 % quantile of the normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// The maximum number of cases for which every assignment of signs is examined.
const EXACT_MAX: usize = 16;

/// A share of runs with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Proportion {
    /// The number of runs that passed.
    pub passed: u64,
    /// The number of runs.
    pub total: u64,
    /// The share.
    pub rate: f64,
    /// The Wilson interval.
    pub interval: [f64; 2],
}

impl Proportion {
    /// Returns the proportion of `passed` in `total`, or `None` if there are no runs.
    ///
    /// ```
    /// use prowess_evals::statistics::Proportion;
    ///
    /// let rate = Proportion::new(9, 10).unwrap();
    /// assert!((rate.interval[0] - 0.596).abs() < 0.001);
    /// ```
    pub fn new(passed: u64, total: u64) -> Option<Self> {
        if total == 0 {
            return None;
        }
        let (p, n) = (passed as f64 / total as f64, total as f64);
        let z2 = NORMAL_QUANTILE * NORMAL_QUANTILE;
        let center = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = NORMAL_QUANTILE / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
        let low = if passed == 0 { 0.0 } else { center - half };
        let high = if passed == total { 1.0 } else { center + half };
        Some(Self { passed, total, rate: p, interval: [low, high] })
    }
}

/// The mean of paired differences, one for each case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairedDifference {
    /// The number of cases.
    pub cases: usize,
    /// The mean difference.
    pub mean: f64,
    /// The 95 % interval by Student's t distribution; `None` for fewer than two cases, or if all differences are equal and
    /// say nothing about their spread.
    pub interval: Option<[f64; 2]>,
    /// The two-sided p-value of the sign-flip test; exact for up to 16 cases, otherwise of the t test.
    pub p_value: f64,
}

impl PairedDifference {
    /// Compares the differences of cases with zero. Returns `None` if there are none.
    ///
    /// ```
    /// use prowess_evals::statistics::PairedDifference;
    ///
    /// let gain = PairedDifference::new(&[1.0, 1.0, 0.0, 1.0]).unwrap();
    /// assert_eq!((gain.mean, gain.p_value), (0.75, 0.25));
    /// assert!(gain.interval.unwrap()[0] < 0.0);
    /// ```
    pub fn new(differences: &[f64]) -> Option<Self> {
        let cases = differences.len();
        if cases == 0 {
            return None;
        }
        let n = cases as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let variance = match cases {
            1 => 0.0,
            _ => differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0),
        };
        let error = (variance / n).sqrt();
        let has_spread = error > 1e-12;
        let distribution = (cases > 1).then(|| StudentsT::new(0.0, 1.0, n - 1.0).ok()).flatten();
        let interval = distribution.filter(|_| has_spread).map(|distribution| {
            let half = distribution.inverse_cdf(0.975) * error;
            [mean - half, mean + half]
        });
        let p_value = match distribution {
            Some(distribution) if cases > EXACT_MAX && has_spread => {
                2.0 * distribution.cdf(-(mean / error).abs())
            }
            _ => sign_flip_p_value(differences),
        };
        Some(Self { cases, mean, interval, p_value })
    }
}

/// Returns the share of all assignments of signs whose sum is at least as far from zero.
fn sign_flip_p_value(differences: &[f64]) -> f64 {
    let nonzero: Vec<f64> = differences.iter().copied().filter(|d| d.abs() > 1e-12).collect();
    if nonzero.len() > EXACT_MAX {
        // All differences are equal, or there are many zeros: the extreme assignments are a negligible share.
        return 2.0_f64.powi(1 - i32::try_from(nonzero.len()).unwrap_or(i32::MAX));
    }
    let observed = nonzero.iter().sum::<f64>().abs() - 1e-9;
    let total = 1_u32 << nonzero.len();
    let extreme = (0..total).filter(|signs| {
        let sum: f64 =
            nonzero.iter().enumerate().map(|(i, d)| if signs >> i & 1 == 1 { -d } else { *d }).sum();
        sum.abs() >= observed
    });
    extreme.count() as f64 / f64::from(total)
}

/// The mean, standard deviation, minimum and maximum of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Distribution {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation; 0 for fewer than two values.
    pub stddev: f64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
}

impl Distribution {
    /// Describes values; all fields are 0 if there are none.
    pub fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            mean,
            stddev: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 },
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Values computed with SciPy and statsmodels, which `made_with` names.
    fn reference() -> Value {
        serde_json::from_str(include_str!("../tests/data/statistics.json")).unwrap()
    }

    fn close(actual: f64, expected: &Value) {
        let expected = expected.as_f64().unwrap();
        assert!((actual - expected).abs() < 1e-9, "{actual} is not {expected}");
    }

    #[test]
    fn wilson_intervals_are_those_of_the_reference() {
        for case in reference()["proportion_intervals"].as_array().unwrap() {
            let rate = Proportion::new(case["count"].as_u64().unwrap(), case["n"].as_u64().unwrap()).unwrap();
            close(rate.interval[0], &case["wilson_0.95"][0]);
            close(rate.interval[1], &case["wilson_0.95"][1]);
        }
    }

    #[test]
    fn paired_intervals_and_p_values_are_those_of_the_reference() {
        let reference = reference();
        let cases = reference["paired"].as_array().unwrap();
        assert!(cases.len() >= 6);
        for case in cases {
            let differences: Vec<f64> =
                case["case_diff"].as_array().unwrap().iter().map(|d| d.as_f64().unwrap()).collect();
            let paired = PairedDifference::new(&differences).unwrap();
            close(paired.mean, &case["mean_diff"]);
            match case["sd_diff"].as_f64() {
                Some(sd) if sd > 1e-12 => {
                    let interval = paired.interval.unwrap();
                    close(interval[0], &case["t_interval"]["0.95"][0]);
                    close(interval[1], &case["t_interval"]["0.95"][1]);
                }
                _ => assert_eq!(paired.interval, None),
            }
            // The reference has no test for a single case.
            match &case["sign_flip_exact"]["pvalue_two_sided"] {
                Value::Null if differences.len() == 1 => assert!((paired.p_value - 1.0).abs() < 1e-9),
                Value::Null => close(paired.p_value, &case["t_pvalue_two_sided"]),
                exact => close(paired.p_value, exact),
            }
        }
    }

    #[test]
    fn quantiles_are_those_of_the_reference() {
        for row in reference()["t_quantiles"].as_array().unwrap() {
            let distribution = StudentsT::new(0.0, 1.0, row["df"].as_f64().unwrap()).unwrap();
            let expected = row["p0.975"].as_f64().unwrap();
            let actual = distribution.inverse_cdf(0.975);
            assert!((actual / expected - 1.0).abs() < 1e-9, "{row}: {actual}");
        }
    }

    #[test]
    fn distributions_describe_values() {
        assert_eq!(Distribution::of(&[]), Distribution::default());
        let one = Distribution::of(&[2.0]);
        assert_eq!((one.mean, one.stddev, one.min, one.max), (2.0, 0.0, 2.0, 2.0));
        assert_eq!(Distribution::of(&[1.0, 3.0]).stddev, 2.0_f64.sqrt());
    }
}
