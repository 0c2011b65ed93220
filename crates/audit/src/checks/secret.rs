//! Whether something that has the form of a secret is one.

use crate::rule::Weight;

/// Words that stand in examples.
const PLACEHOLDERS: &str = "\
    example xxxx 0000 1111 your placeholder dummy fake redacted changeme replace insert sample test demo \
    abcdef 123456 secret password token mykey todo none qwerty";

/// Weighs a secret: examples and placeholders are not random, and say so.
pub(crate) fn is_real(secret: &[u8], weight: Weight) -> bool {
    let lower = secret.to_ascii_lowercase();
    // What every key of a kind begins with says nothing about this one.
    let own = lower.get(lower.len() / 4..).unwrap_or_default();
    let placeholder =
        PLACEHOLDERS.split(' ').any(|word| memchr::memmem::find(own, word.as_bytes()).is_some());
    let entropy = entropy(secret);
    match weight {
        Weight::Form => !placeholder && entropy >= 3.0,
        Weight::Random => !placeholder && entropy >= 3.8 && is_mixed(secret),
    }
}

/// Upper case, lower case and digits: words and paths seldom have all three.
fn is_mixed(secret: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| secret.iter().filter(|byte| kind(byte)).count() >= 2;
    has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Bits for each character, by how often each occurs.
fn entropy(secret: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in secret {
        counts[usize::from(*byte)] += 1;
    }
    let all = secret.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / all)
        .map(|p| -p * p.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_not_secrets() {
        let real = |text: &str| is_real(text.replace('·', "").as_bytes(), Weight::Form);
        assert!(real("AKIA·Q7RZ3MWX2KVN5TBD"));
        assert!(!real("AKIA·IOSFODNN7EXAMPLE"));
        assert!(!real("ghp_·xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
        assert!(!real("ghp_·abcdefghijklmnopqrstuvwxyz0123456789"));
        assert!(!real("sk-ant-api03-·your-key-here-your-key-here-your-key-here-your-key-here-your"));
        assert!(!is_real(b"a-perfectly-normal-identifier-name", Weight::Random));
    }
}
