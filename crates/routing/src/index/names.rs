//! The words of names in a segment, each stored as the difference from the previous one, with the number of
//! names.

use super::bytes::{ByteReader, DamagedIndex, put_varint};
use crate::vocabulary::Vocabulary;
use crate::words::WORD_MAX;

/// Writes sorted words without duplicates, none longer than [`WORD_MAX`].
pub(crate) fn write_names<'w>(words: impl IntoIterator<Item = (&'w str, u32)>, bytes: &mut Vec<u8>) {
    let mut previous = "";
    for (word, count) in words {
        let shared = previous.bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count();
        let rest = &word.as_bytes()[shared..];
        bytes.extend([shared as u8, rest.len() as u8]);
        bytes.extend(rest);
        put_varint(count, bytes);
        previous = word;
    }
}

/// Reads words. They must be sorted and valid UTF-8.
pub(crate) fn read_names(bytes: &[u8]) -> Result<Vocabulary, DamagedIndex> {
    let mut reader = ByteReader(bytes);
    let (mut word, mut words, mut ends): (Vec<u8>, Vec<u8>, Vec<(usize, u32)>) = Default::default();
    while !reader.0.is_empty() {
        let (shared, rest) = (usize::from(reader.byte()?), usize::from(reader.byte()?));
        if shared > word.len() || shared + rest > WORD_MAX {
            return Err(DamagedIndex);
        }
        let rest = reader.take(rest)?;
        if rest <= &word[shared..] && !words.is_empty() {
            return Err(DamagedIndex);
        }
        word.truncate(shared);
        word.extend(rest);
        if word.is_empty() {
            return Err(DamagedIndex);
        }
        words.extend(&word);
        ends.push((words.len(), reader.varint()?));
    }
    let text = std::str::from_utf8(&words).map_err(|_| DamagedIndex)?;
    let mut start = 0;
    let mut entries = Vec::with_capacity(ends.len());
    for (end, count) in ends {
        // An end in the middle of a character is invalid.
        entries.push((text.get(start..end).ok_or(DamagedIndex)?, count));
        start = end;
    }
    Ok(Vocabulary::new(entries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_round_trip(words in prop::collection::btree_map("[abé]{1,12}", any::<u32>(), 0..60)) {
            let mut bytes = Vec::new();
            write_names(words.iter().map(|(word, count)| (&**word, *count)), &mut bytes);
            let vocabulary = read_names(&bytes).unwrap();
            let entries: Vec<_> =
                vocabulary.entries(0..vocabulary.len()).map(|near| (near.word.to_owned(), near.count)).collect();
            prop_assert_eq!(entries, words.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_read_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(vocabulary) = read_names(&bytes) {
                prop_assert!(vocabulary.entries(0..vocabulary.len()).is_sorted_by(|one, other| one.word < other.word));
            }
        }
    }

    #[test]
    fn invalid_bytes_are_rejected() {
        let word = |shared: u8, rest: &[u8]| [&[shared, rest.len() as u8], rest, &[1]].concat();
        let count = |words: &[Vec<u8>]| read_names(&words.concat()).map(|vocabulary| vocabulary.len());
        assert_eq!(count(&[word(0, b"ab"), word(1, b"c")]), Ok(2));
        for invalid in [
            vec![word(0, b"")],
            vec![word(1, b"a")],
            vec![word(0, b"ab"), word(0, b"ab")],
            vec![word(0, b"b"), word(0, b"a")],
            vec![word(0, b"ab"), word(1, b"")],
            vec![word(0, &[0xff])],
            vec![word(0, "é".as_bytes()), word(1, &[0xff])],
            vec![word(0, &[b'a'; WORD_MAX + 1])],
            vec![vec![0, 9, b'a']],
        ] {
            assert_eq!(count(&invalid), Err(DamagedIndex), "{invalid:?}");
        }
    }
}
