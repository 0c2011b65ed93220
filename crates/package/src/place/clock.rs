//! The time, as documents write it.

use jiff::Timestamp;

/// Now, in ISO 8601.
pub(crate) fn now() -> String {
    iso_time(Timestamp::now().as_second().unsigned_abs())
}

/// Seconds since 1970 in ISO 8601.
///
/// ```
/// assert_eq!(prowess_package::iso_time(1_704_450_600), "2024-01-05T10:30:00Z");
/// ```
pub fn iso_time(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(iso_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_time(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(iso_time(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso_time(1_704_450_600), "2024-01-05T10:30:00Z");
        assert_eq!(iso_time(4_107_542_399), "2100-02-28T23:59:59Z");
        assert_eq!(iso_time(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
