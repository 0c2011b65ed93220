//! What is shown of a change: the lines that change, and no others.

use proptest::prelude::*;

use super::super::{Difference, Line};

/// The text before, worked out from the text after.
fn undone(after: &str, difference: &Difference) -> Vec<String> {
    let mut lines: Vec<String> = after.lines().map(str::to_owned).collect();
    let come = difference.lines.iter().filter(|line| matches!(line, Line::New(_))).count();
    let gone = difference.lines.iter().filter_map(|line| match line {
        Line::Gone(text) => Some(text.clone()),
        Line::New(_) => None,
    });
    let from = difference.line - 1;
    lines.splice(from..from + come, gone.collect::<Vec<_>>());
    lines
}

#[test]
fn of_a_long_line_only_what_changes_is_shown() {
    let long = |inner: &str| {
        format!("{{\"secret\": \"{}\", {inner}, \"b\": \"{}\"}}", "x".repeat(300), "y".repeat(300))
    };
    let difference = Difference::of(&long("\"servers\": {}"), &long("\"servers\": {\"a\": 1}"));
    let [Line::Gone(gone), Line::New(new)] = &difference.lines[..] else { panic!("{difference:?}") };
    assert!(gone.starts_with('…') && new.ends_with('…') && new.contains("{\"a\": 1}"), "{difference:?}");
    assert!(gone.len() < 100 && new.len() < 100, "{difference:?}");
}

proptest! {
    #[test]
    fn nothing_is_left_out(before in "[a-c,\n]{0,30}", after in "[a-c,\n]{0,30}") {
        let difference = Difference::of(&before, &after);
        let mut old: Vec<String> = before.lines().map(str::to_owned).collect();
        let mut back = undone(&after, &difference);
        if difference.comma {
            let at = difference.line - 2;
            prop_assert_eq!(old[at].replace(',', ""), back[at].replace(',', ""));
            (old[at], back[at]) = (String::new(), String::new());
        }
        prop_assert_eq!(back, old, "{:?}", difference);
    }
}
