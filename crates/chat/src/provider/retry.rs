//! When a request is sent again. Pure but for the dice.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, UNIX_EPOCH};

/// How long is waited before a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Before the first time.
    pub first: Duration,
    /// At most, unless the provider says otherwise.
    pub most: Duration,
    /// At most, if the provider says so; above that it is given up.
    pub asked_most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { first: Duration::from_millis(500), most: seconds(30), asked_most: seconds(120) }
    }
}

impl Backoff {
    /// How long to wait before the attempt after `attempt` (counted from nought), of which `dice` takes something off:
    /// 0 nothing, `u64::MAX` half. `None` where the provider wants to be left alone for too long.
    pub(super) fn delay(&self, attempt: u32, asked: Option<Duration>, dice: u64) -> Option<Duration> {
        if let Some(asked) = asked {
            return (asked <= self.asked_most).then_some(asked);
        }
        let doubled = 1_u32.checked_shl(attempt.min(20)).and_then(|factor| self.first.checked_mul(factor));
        let whole = doubled.unwrap_or(self.most).min(self.most);
        let off = (dice as f64 / u64::MAX as f64) / 2.0;
        Some(whole.mul_f64(1.0 - off))
    }
}

/// A number that nobody knows beforehand, so that many clients do not come back at the same moment.
pub(super) fn dice() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// What `Retry-After` says: seconds, or a date. `now` is in seconds since 1970.
pub(super) fn retry_after(value: &str, now: u64) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (0.0..=1e9).contains(&seconds).then(|| Duration::from_secs_f64(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(UNIX_EPOCH + Duration::from_secs(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_retry_after_says() {
        let seconds = |value: &str| retry_after(value, 784_111_700).map(|wait| wait.as_secs_f64());
        assert_eq!(seconds("0"), Some(0.0));
        assert_eq!(seconds(" 7 "), Some(7.0));
        assert_eq!(seconds("0.25"), Some(0.25));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(77.0));
        assert_eq!(seconds("Tue, 06 Nov 1990 08:49:37 GMT"), Some(0.0));
        assert_eq!(retry_after("Thu, 29 Feb 2024 23:59:59 GMT", 0), Some(Duration::from_secs(1_709_251_199)));
        assert_eq!(retry_after("Thu, 01 Jan 1970 00:00:00 GMT", 0), Some(Duration::ZERO));
        for wrong in ["", "-1", "soon", "NaN", "inf", "1e99", "Sun, 99 Nov 1994 08:49:37 GMT", "06 Nov 1994"]
        {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_provider_is_heard_but_not_for_ever() {
        let backoff = Backoff::default();
        assert_eq!(backoff.delay(0, Some(Duration::from_secs(60)), 9), Some(Duration::from_secs(60)));
        assert_eq!(backoff.delay(0, Some(Duration::from_secs(3_600)), 9), None);
    }

    proptest! {
        #[test]
        fn it_grows_within_bounds(attempt in 0_u32..100, dice: u64) {
            let backoff = Backoff::default();
            let delay = backoff.delay(attempt, None, dice).unwrap();
            let whole = backoff.first.saturating_mul(2_u32.saturating_pow(attempt)).min(backoff.most);
            prop_assert!(delay <= whole && delay >= whole.mul_f64(0.499));
        }
    }
}
