//! In-place edits: the change is made, and nothing else.

mod entries;
mod files;
mod generated;
mod items;
mod plugins;
mod toml;
mod yaml;

use super::list::{self, ListFormat};

const DISABLED: [&str; 2] = ["skills", "disabled"];

/// Adds `x`, then removes it; returns both texts.
fn both(text: &str, format: ListFormat) -> (String, String) {
    let after = list::add(text, format, DISABLED, "x").unwrap_or_else(|error| panic!("{error}: {text:?}"));
    let found = list::find(&after, format, DISABLED).unwrap();
    assert_eq!(found.last().map(|found| found.text.as_str()), Some("x"), "{after:?}");
    let back = list::remove(&after, format, DISABLED, "x").unwrap();
    (after, back)
}

/// Checks the text after adding `x`; removing it must restore the original text.
fn and_back(text: &str, format: ListFormat, expected: &str) {
    let (after, back) = both(text, format);
    assert_eq!(after, expected, "from {text:?}");
    assert_eq!(back, text, "back from {after:?}");
}

/// Checks the texts after adding and removing `x`, if an empty list stays.
fn one_way(text: &str, format: ListFormat, expected: &str, back: &str) {
    assert_eq!(both(text, format), (expected.to_owned(), back.to_owned()), "from {text:?}");
}
