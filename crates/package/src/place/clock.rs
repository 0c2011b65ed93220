//! The time, as documents write it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in ISO 8601.
pub(crate) fn now() -> String {
    iso_time(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// Seconds since 1970 in ISO 8601. The calendar repeats every 400 years, which begin in March so that leap days come
/// last.
///
/// ```
/// assert_eq!(prowess_package::iso_time(1_704_450_600), "2024-01-05T10:30:00Z");
/// ```
pub fn iso_time(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (year, month) =
        (400 * era + year + u64::from(month >= 10), if month < 10 { month + 3 } else { month - 9 });
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
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
