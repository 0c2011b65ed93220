//! Tests that a diff shows only the lines that change.

use proptest::prelude::*;

use super::super::{ConfigDiff, DiffLine};

/// Reconstructs the text before a change from the text after it.
fn revert(after: &str, diff: &ConfigDiff) -> Vec<String> {
    let mut lines: Vec<String> = after.lines().map(str::to_owned).collect();
    let added = diff.lines.iter().filter(|line| matches!(line, DiffLine::Added(_))).count();
    let removed = diff.lines.iter().filter_map(|line| match line {
        DiffLine::Removed(text) => Some(text.clone()),
        DiffLine::Added(_) => None,
    });
    let from = diff.line - 1;
    lines.splice(from..from + added, removed.collect::<Vec<_>>());
    lines
}

#[test]
fn only_the_changed_part_of_a_long_line_is_shown() {
    let long = |inner: &str| {
        format!("{{\"secret\": \"{}\", {inner}, \"b\": \"{}\"}}", "x".repeat(300), "y".repeat(300))
    };
    let diff = ConfigDiff::between(&long("\"servers\": {}"), &long("\"servers\": {\"a\": 1}"));
    let [DiffLine::Removed(removed), DiffLine::Added(added)] = &diff.lines[..] else { panic!("{diff:?}") };
    assert!(removed.starts_with('…') && added.ends_with('…') && added.contains("{\"a\": 1}"), "{diff:?}");
    assert!(removed.len() < 100 && added.len() < 100, "{diff:?}");
}

proptest! {
    #[test]
    fn the_diff_is_complete(before in "[a-c,\n]{0,30}", after in "[a-c,\n]{0,30}") {
        let diff = ConfigDiff::between(&before, &after);
        let mut old: Vec<String> = before.lines().map(str::to_owned).collect();
        let mut reverted = revert(&after, &diff);
        if diff.changes_comma {
            // The comma after the previous entry changes too. That line is not part of the diff; lines count from 1.
            let at = diff.line - 2;
            prop_assert_eq!(old[at].replace(',', ""), reverted[at].replace(',', ""));
            (old[at], reverted[at]) = (String::new(), String::new());
        }
        prop_assert_eq!(reverted, old, "{:?}", diff);
    }
}
