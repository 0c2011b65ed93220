use super::*;
use proptest::prelude::*;

fn between(typed: &str, word: &str, most: u8) -> Option<u8> {
    let letters = |text: &str| text.chars().collect::<Vec<_>>();
    edits(&letters(typed), &letters(word), most, Compared::Whole)
}

fn to_beginning(typed: &str, word: &str, most: u8) -> Option<u8> {
    edits(typed.as_bytes(), word.as_bytes(), most, Compared::Beginning)
}

#[test]
fn what_people_mistype() {
    assert_eq!(between("kubernets", "kubernetes", 2), Some(1));
    assert_eq!(between("reveiw", "review", 1), Some(1));
    assert_eq!(between("übersetzugn", "übersetzung", 2), Some(1));
    assert_eq!(between("deploy", "destroy", 1), None);
    assert_eq!(between("", "", 0), Some(0));
    assert_eq!(to_beginning("kubre", "kubernetes", 1), Some(1));
    assert_eq!(to_beginning("kubernetess", "kubernetes", 1), Some(1));
    assert_eq!(to_beginning("zzz", "kubernetes", 2), None);
    assert_eq!([3, 4, 7, 8].map(allowed), [0, 1, 1, 2]);
}

#[test]
fn long_words_are_not_compared() {
    let long = "a".repeat(LONGEST + 1);
    assert_eq!(between(&long, &long, 2), None);
}

proptest! {
    #[test]
    fn as_everybody_counts(typed in "[abcé]{0,9}", word in "[abcé]{0,9}", most in 0u8..4) {
        let counted = strsim::osa_distance(&typed, &word);
        prop_assert_eq!(between(&typed, &word, most), (counted <= usize::from(most)).then_some(counted as u8));
    }

    #[test]
    fn a_beginning_is_the_nearest_of_all(typed in "[abc]{0,7}", word in "[abc]{0,9}", most in 0u8..4) {
        let counted = (0..=word.len()).map(|end| strsim::osa_distance(&typed, &word[..end])).min().unwrap_or(0);
        prop_assert_eq!(to_beginning(&typed, &word, most), (counted <= usize::from(most)).then_some(counted as u8));
    }

    #[test]
    fn letters_reject_nothing_that_is_near(typed in "[a-c0-1éß]{0,9}", word in "[a-c0-1éß]{0,9}", most in 0u8..4) {
        let (one, other) = (Letters::of(&typed), Letters::of(&word));
        if between(&typed, &word, most).is_some() {
            prop_assert!(one.are_near(other, most) && other.are_near(one, most));
        }
        if word.is_ascii() && typed.is_ascii() && to_beginning(&typed, &word, most).is_some() {
            prop_assert!(one.are_in(other, most));
        }
    }
}
