//! Timestamps in ISO 8601.

use jiff::Timestamp;

/// Returns the current time in ISO 8601.
pub(crate) fn iso_now() -> String {
    format_iso_time(Timestamp::now().as_second().unsigned_abs())
}

/// Formats seconds since 1970 in ISO 8601.
///
/// ```
/// assert_eq!(prowess_package::format_iso_time(1_704_450_600), "2024-01-05T10:30:00Z");
/// ```
pub fn format_iso_time(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_timestamps() {
        assert_eq!(format_iso_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(format_iso_time(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(format_iso_time(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(format_iso_time(1_704_450_600), "2024-01-05T10:30:00Z");
        assert_eq!(format_iso_time(4_107_542_399), "2100-02-28T23:59:59Z");
        assert_eq!(format_iso_time(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
