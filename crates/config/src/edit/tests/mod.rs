//! What is changed, and that nothing else is.

mod entries;
mod files;
mod generated;
mod plugins;
mod toml;
mod yaml;

use super::list::{self, Form};

const DISABLED: [&str; 2] = ["skills", "disabled"];

/// Adds `x`, then removes it; both texts.
fn both(text: &str, form: Form) -> (String, String) {
    let after = list::add(text, form, DISABLED, "x").unwrap_or_else(|error| panic!("{error}: {text:?}"));
    let found = list::find(&after, form, DISABLED).unwrap();
    assert_eq!(found.last().map(|found| found.text.as_str()), Some("x"), "{after:?}");
    let back = list::remove(&after, form, DISABLED, "x").unwrap();
    (after, back)
}

/// What becomes of a text when `x` is added; removing it again leads back.
fn and_back(text: &str, form: Form, expected: &str) {
    let (after, back) = both(text, form);
    assert_eq!(after, expected, "from {text:?}");
    assert_eq!(back, text, "back from {after:?}");
}

/// The same where an empty list stays.
fn one_way(text: &str, form: Form, expected: &str, back: &str) {
    assert_eq!(both(text, form), (expected.to_owned(), back.to_owned()), "from {text:?}");
}
