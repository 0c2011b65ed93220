//! Delays between retries.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, UNIX_EPOCH};

/// The delays between retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The delay before the first retry.
    pub initial: Duration,
    /// The maximum delay, unless the provider specifies one.
    pub max: Duration,
    /// The maximum delay that the provider may request; the request fails if it requests more.
    pub retry_after_max: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { initial: Duration::from_millis(500), max: seconds(30), retry_after_max: seconds(120) }
    }
}

impl Backoff {
    /// Returns the delay after attempt number `attempt` (starting at 0). `jitter` shortens it: 0 by nothing, `u64::MAX`
    /// by half. Returns `None` if the provider requests too long a delay.
    pub(super) fn delay(&self, attempt: u32, retry_after: Option<Duration>, jitter: u64) -> Option<Duration> {
        if let Some(retry_after) = retry_after {
            return (retry_after <= self.retry_after_max).then_some(retry_after);
        }
        let doubled = 1_u32.checked_shl(attempt.min(20)).and_then(|factor| self.initial.checked_mul(factor));
        let delay = doubled.unwrap_or(self.max).min(self.max);
        let reduction = (jitter as f64 / u64::MAX as f64) / 2.0;
        Some(delay.mul_f64(1.0 - reduction))
    }
}

/// Returns a random number, so that many clients do not retry at the same moment.
pub(super) fn random_jitter() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Parses a `Retry-After` header: seconds or a date. `now` is in seconds since 1970.
pub(super) fn parse_retry_after(value: &str, now: u64) -> Option<Duration> {
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
    fn retry_after_is_seconds_or_a_date() {
        let seconds = |value: &str| parse_retry_after(value, 784_111_700).map(|wait| wait.as_secs_f64());
        assert_eq!(seconds("0"), Some(0.0));
        assert_eq!(seconds(" 7 "), Some(7.0));
        assert_eq!(seconds("0.25"), Some(0.25));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(77.0));
        assert_eq!(seconds("Tue, 06 Nov 1990 08:49:37 GMT"), Some(0.0));
        assert_eq!(
            parse_retry_after("Thu, 29 Feb 2024 23:59:59 GMT", 0),
            Some(Duration::from_secs(1_709_251_199))
        );
        assert_eq!(parse_retry_after("Thu, 01 Jan 1970 00:00:00 GMT", 0), Some(Duration::ZERO));
        for wrong in ["", "-1", "soon", "NaN", "inf", "1e99", "Sun, 99 Nov 1994 08:49:37 GMT", "06 Nov 1994"]
        {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_provider_may_request_a_delay_within_limits() {
        let backoff = Backoff::default();
        assert_eq!(backoff.delay(0, Some(Duration::from_secs(60)), 9), Some(Duration::from_secs(60)));
        assert_eq!(backoff.delay(0, Some(Duration::from_secs(3_600)), 9), None);
    }

    proptest! {
        #[test]
        fn delays_grow_within_limits(attempt in 0_u32..100, jitter: u64) {
            let backoff = Backoff::default();
            let delay = backoff.delay(attempt, None, jitter).unwrap();
            let full = backoff.initial.saturating_mul(2_u32.saturating_pow(attempt)).min(backoff.max);
            prop_assert!(delay <= full && delay >= full.mul_f64(0.499));
        }
    }
}
