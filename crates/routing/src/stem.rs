//! Stemming of English words: `merges`, `merged` and `merging` are the same word.
//!
//! Only inflectional endings are removed, and only from lower-case ASCII words. Derivational endings (`-ation`,
//! `-ment`) stay: removing them ranked fewer of the right skills first. Occasional collisions are harmless,
//! because other words of a message outweigh them, so the rules are few and have no exceptions.

/// The minimum length of a word to stem.
const STEM_MIN: usize = 4;

/// Stems `word` in place and returns its new length. Only lower-case ASCII words are changed.
pub(super) fn stem(word: &mut [u8]) -> usize {
    let mut length = word.len();
    if length < STEM_MIN || !word.iter().all(u8::is_ascii_lowercase) {
        return length;
    }
    length = strip_plural(word, length);
    length = strip_participle(word, length);
    if length > 4 && word[length - 1] == b'e' {
        length -= 1;
    }
    if length > 3 && word[length - 1] == b'y' {
        word[length - 1] = b'i';
    }
    length
}

fn strip_plural(word: &mut [u8], length: usize) -> usize {
    let ends = |ending: &[u8]| word[..length].ends_with(ending);
    if ends(b"ies") && length > 4 {
        word[length - 3] = b'y';
        length - 2
    } else if ends(b"sses") || ends(b"xes") || ends(b"ches") || ends(b"shes") {
        length - 2
    } else if ends(b"s") && !ends(b"ss") && !ends(b"us") && !ends(b"is") {
        length - 1
    } else {
        length
    }
}

fn strip_participle(word: &[u8], length: usize) -> usize {
    let word = &word[..length];
    let stem_length = if length > 5 && word.ends_with(b"ing") {
        length - 3
    } else if length > 4 && word.ends_with(b"ed") {
        length - 2
    } else {
        return length;
    };
    if !word[..stem_length].iter().any(|letter| b"aeiouy".contains(letter)) {
        return length;
    }
    // `planning` is `plan`, but `falling` is `fall`.
    match word[..stem_length] {
        [_, _, .., before, last] if before == last && !b"lszaeiou".contains(&last) => stem_length - 1,
        _ => stem_length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stemmed(word: &str) -> String {
        let mut bytes = word.as_bytes().to_vec();
        let length = stem(&mut bytes);
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    #[test]
    fn inflected_forms_have_one_stem() {
        for forms in [
            "merge merges merged merging",
            "plan plans planned planning",
            "query queries",
            "class classes",
            "box boxes",
            "deploy deploys deployed deploying",
            "write writes writing",
            "fall falls falling",
        ] {
            let stems: Vec<_> = forms.split(' ').map(stemmed).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms}: {stems:?}");
        }
    }

    #[test]
    fn other_words_stay() {
        for word in ["pdf", "css", "string", "status", "analysis", "aws", "k8s", "über", "bring", "thing"] {
            assert_eq!(stemmed(word), word);
        }
    }

    proptest! {
        #[test]
        fn stems_are_never_longer_and_never_empty(word in "\\PC{1,12}") {
            let mut bytes = word.as_bytes().to_vec();
            let length = stem(&mut bytes);
            prop_assert!(length > 0 && length <= word.len());
        }
    }
}
