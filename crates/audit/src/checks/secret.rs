//! Whether a candidate for a secret is a real one.

use crate::rule::SecretCheck;

/// Words that occur in examples.
const PLACEHOLDERS: &str = "\
    example xxxx 0000 1111 your placeholder dummy fake redacted changeme replace insert sample test demo \
    abcdef 123456 secret password token mykey todo none qwerty";

/// Returns `true` if a secret looks real: examples and placeholders are not random, or contain such words.
pub(crate) fn is_real(secret: &[u8], check: SecretCheck) -> bool {
    let lower = secret.to_ascii_lowercase();
    // The prefix that all keys of a kind share is ignored.
    let without_prefix = lower.get(lower.len() / 4..).unwrap_or_default();
    let has_placeholder =
        PLACEHOLDERS.split(' ').any(|word| memchr::memmem::find(without_prefix, word.as_bytes()).is_some());
    let entropy = entropy(secret);
    match check {
        SecretCheck::Format => !has_placeholder && entropy >= 3.0,
        SecretCheck::Entropy => !has_placeholder && entropy >= 3.8 && is_mixed(secret),
    }
}

/// Returns `true` if there are upper-case letters, lower-case letters and digits, which words and paths seldom
/// have.
fn is_mixed(secret: &[u8]) -> bool {
    let contains = |kind: fn(&u8) -> bool| secret.iter().filter(|byte| kind(byte)).count() >= 2;
    contains(u8::is_ascii_digit) && contains(u8::is_ascii_uppercase) && contains(u8::is_ascii_lowercase)
}

/// Returns the Shannon entropy in bits per character.
fn entropy(secret: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in secret {
        counts[usize::from(*byte)] += 1;
    }
    let length = secret.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|p| -p * p.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_not_secrets() {
        let real = |text: &str| is_real(text.replace('·', "").as_bytes(), SecretCheck::Format);
        assert!(real("AKIA·Q7RZ3MWX2KVN5TBD"));
        assert!(!real("AKIA·IOSFODNN7EXAMPLE"));
        assert!(!real("ghp_·xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
        assert!(!real("ghp_·abcdefghijklmnopqrstuvwxyz0123456789"));
        assert!(!real("sk-ant-api03-·your-key-here-your-key-here-your-key-here-your-key-here-your"));
        assert!(!is_real(b"a-perfectly-normal-identifier-name", SecretCheck::Entropy));
    }
}
