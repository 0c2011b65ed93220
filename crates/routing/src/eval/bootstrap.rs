//! Bootstrap confidence intervals of a mean.

const RESAMPLES: usize = 1_000;

/// Returns the 95 % confidence interval of the mean. The resampling is deterministic.
pub(super) fn interval(values: &[f64]) -> [f64; 2] {
    if values.is_empty() {
        return [0.0, 0.0];
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[(state % values.len() as u64) as usize]
    };
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| (0..values.len()).map(|_| draw()).sum::<f64>() / values.len() as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    [means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_interval_contains_the_mean(values in prop::collection::vec(0.0f64..1.0, 1..40)) {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let [low, high] = interval(&values);
            prop_assert!(low <= mean + 1e-9 && mean <= high + 1e-9, "{} {} {}", low, mean, high);
        }
    }

    #[test]
    fn more_measurements_narrow_the_interval() {
        let width = |count: usize| {
            let values: Vec<f64> = (0..count).map(|n| f64::from(n % 2 == 0)).collect();
            let [low, high] = interval(&values);
            high - low
        };
        assert!(width(1000) < width(100) && width(100) < width(20));
        assert_eq!(interval(&[]), [0.0, 0.0]);
    }
}
