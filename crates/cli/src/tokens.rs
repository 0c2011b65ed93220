//! Token counts from a real tokenizer. Its vocabulary is loaded only where a count is asked for.

/// The encoding that is counted in. Models that use another come to slightly different figures.
pub(crate) const ENCODING: &str = "o200k_base";

/// The most text that is counted, in bytes.
const COUNTED_MAX: usize = 1024 * 1024;

/// How many tokens a text has.
pub(crate) fn count(text: &str) -> usize {
    let text = text.get(..text.floor_char_boundary(COUNTED_MAX)).unwrap_or(text);
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_are_those_of_the_encoding() {
        assert_eq!(super::count("hello world"), 2);
        assert_eq!(super::count(""), 0);
    }
}
