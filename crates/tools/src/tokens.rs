//! Token counts from a real tokenizer. Its vocabulary is loaded only where a count is asked for.

/// The encoding that is counted in. Models that use another come to slightly different figures.
pub const ENCODING: &str = "o200k_base";

/// The most text that is counted, in bytes.
const COUNTED_MAX: usize = 4 * 1024 * 1024;

/// How many tokens a text has: an estimate for models that use another encoding.
///
/// ```
/// assert_eq!(prowess_tools::tokens::count("hello world"), 2);
/// ```
pub fn count(text: &str) -> usize {
    let text = text.get(..text.floor_char_boundary(COUNTED_MAX)).unwrap_or(text);
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}
