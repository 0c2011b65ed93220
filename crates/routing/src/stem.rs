//! Inflected forms of English words: `merges`, `merged` and `merging` are one word.
//!
//! Only endings that inflect a word are taken off, and only from plain lower-case letters. Endings that make another word
//! of it (`-ation`, `-ment`) stay: taking them off put fewer of the right skills first. Two different words that come out
//! alike do no harm that other words of a message could not mend, so the rules are few and know no exceptions.

/// Shorter words stay as they are.
const SHORT: usize = 4;

/// How many bytes of `word` are left, after changing it in place. Words with anything but small ASCII letters stay.
pub(super) fn stem(word: &mut [u8]) -> usize {
    let mut length = word.len();
    if length < SHORT || !word.iter().all(u8::is_ascii_lowercase) {
        return length;
    }
    length = plural(word, length);
    length = participle(word, length);
    if length > 4 && word[length - 1] == b'e' {
        length -= 1;
    }
    if length > 3 && word[length - 1] == b'y' {
        word[length - 1] = b'i';
    }
    length
}

fn plural(word: &mut [u8], length: usize) -> usize {
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

fn participle(word: &[u8], length: usize) -> usize {
    let word = &word[..length];
    let left = if length > 5 && word.ends_with(b"ing") {
        length - 3
    } else if length > 4 && word.ends_with(b"ed") {
        length - 2
    } else {
        return length;
    };
    if !word[..left].iter().any(|letter| b"aeiouy".contains(letter)) {
        return length;
    }
    // `planning` is `plan`, but `falling` is `fall`.
    match word[..left] {
        [_, _, .., before, last] if before == last && !b"lszaeiou".contains(&last) => left - 1,
        _ => left,
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
    fn forms_of_one_word_are_one() {
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
    fn what_is_no_form_stays() {
        for word in ["pdf", "css", "string", "status", "analysis", "aws", "k8s", "über", "bring", "thing"] {
            assert_eq!(stemmed(word), word);
        }
    }

    proptest! {
        #[test]
        fn never_longer_and_never_empty(word in "\\PC{1,12}") {
            let mut bytes = word.as_bytes().to_vec();
            let length = stem(&mut bytes);
            prop_assert!(length > 0 && length <= word.len());
        }
    }
}
