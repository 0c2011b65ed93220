use super::*;
use proptest::prelude::*;

fn distance(typed: &str, word: &str, max: u8) -> Option<u8> {
    let letters = |text: &str| text.chars().collect::<Vec<_>>();
    edit_distance(&letters(typed), &letters(word), max, CompareMode::Whole)
}

fn prefix_distance(typed: &str, word: &str, max: u8) -> Option<u8> {
    edit_distance(typed.as_bytes(), word.as_bytes(), max, CompareMode::Prefix)
}

#[test]
fn common_typos() {
    assert_eq!(distance("kubernets", "kubernetes", 2), Some(1));
    assert_eq!(distance("reveiw", "review", 1), Some(1));
    assert_eq!(distance("übersetzugn", "übersetzung", 2), Some(1));
    assert_eq!(distance("deploy", "destroy", 1), None);
    assert_eq!(distance("", "", 0), Some(0));
    assert_eq!(prefix_distance("kubre", "kubernetes", 1), Some(1));
    assert_eq!(prefix_distance("kubernetess", "kubernetes", 1), Some(1));
    assert_eq!(prefix_distance("zzz", "kubernetes", 2), None);
    assert_eq!([3, 4, 7, 8].map(max_edits), [0, 1, 1, 2]);
}

#[test]
fn long_words_are_not_compared() {
    let long = "a".repeat(COMPARED_MAX + 1);
    assert_eq!(distance(&long, &long, 2), None);
}

proptest! {
    #[test]
    fn distances_match_strsim(typed in "[abcé]{0,9}", word in "[abcé]{0,9}", max in 0u8..4) {
        let expected = strsim::osa_distance(&typed, &word);
        prop_assert_eq!(distance(&typed, &word, max), (expected <= usize::from(max)).then_some(expected as u8));
    }

    #[test]
    fn a_prefix_distance_is_the_minimum_over_all_prefixes(typed in "[abc]{0,7}", word in "[abc]{0,9}", max in 0u8..4) {
        let expected = (0..=word.len()).map(|end| strsim::osa_distance(&typed, &word[..end])).min().unwrap_or(0);
        prop_assert_eq!(prefix_distance(&typed, &word, max), (expected <= usize::from(max)).then_some(expected as u8));
    }

    #[test]
    fn letter_sets_never_exclude_near_words(typed in "[a-c0-1éß]{0,9}", word in "[a-c0-1éß]{0,9}", max in 0u8..4) {
        let (first, other) = (LetterSet::from_word(&typed), LetterSet::from_word(&word));
        if distance(&typed, &word, max).is_some() {
            prop_assert!(first.may_be_near(other, max) && other.may_be_near(first, max));
        }
        if word.is_ascii() && typed.is_ascii() && prefix_distance(&typed, &word, max).is_some() {
            prop_assert!(first.are_mostly_in(other, max));
        }
    }
}
