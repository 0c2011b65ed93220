//! The words of names in a segment: each as what differs from the one before it, and how many names have it.

use super::bytes::{Damaged, Reader, put_varint};
use crate::vocabulary::Vocabulary;
use crate::words::WORD_MAX;

/// Writes words that come in order, each once and none longer than [`WORD_MAX`].
pub(crate) fn write<'w>(words: impl IntoIterator<Item = (&'w str, u32)>, bytes: &mut Vec<u8>) {
    let mut before = "";
    for (word, count) in words {
        let shared = before.bytes().zip(word.bytes()).take_while(|(one, other)| one == other).count();
        let rest = &word.as_bytes()[shared..];
        bytes.extend([shared as u8, rest.len() as u8]);
        bytes.extend(rest);
        put_varint(count, bytes);
        before = word;
    }
}

/// Reads them. They must be in order and be text.
pub(crate) fn read(bytes: &[u8]) -> Result<Vocabulary, Damaged> {
    let mut reader = Reader(bytes);
    let (mut before, mut words, mut ends): (Vec<u8>, Vec<u8>, Vec<(usize, u32)>) = Default::default();
    while !reader.0.is_empty() {
        let (shared, rest) = (usize::from(reader.byte()?), usize::from(reader.byte()?));
        if shared > before.len() || shared + rest > WORD_MAX {
            return Err(Damaged);
        }
        let rest = reader.take(rest)?;
        if rest <= &before[shared..] && !words.is_empty() {
            return Err(Damaged);
        }
        before.truncate(shared);
        before.extend(rest);
        if before.is_empty() {
            return Err(Damaged);
        }
        words.extend(&before);
        ends.push((words.len(), reader.varint()?));
    }
    let text = std::str::from_utf8(&words).map_err(|_| Damaged)?;
    let mut start = 0;
    let mut told = Vec::with_capacity(ends.len());
    for (end, count) in ends {
        // An end in the middle of a character makes no word.
        told.push((text.get(start..end).ok_or(Damaged)?, count));
        start = end;
    }
    Ok(Vocabulary::new(told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_come_back(words in prop::collection::btree_map("[abé]{1,12}", any::<u32>(), 0..60)) {
            let mut bytes = Vec::new();
            write(words.iter().map(|(word, count)| (&**word, *count)), &mut bytes);
            let read = read(&bytes).unwrap();
            let told: Vec<_> = read.words(0..read.len()).map(|near| (near.word.to_owned(), near.count)).collect();
            prop_assert_eq!(told, words.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(read) = read(&bytes) {
                prop_assert!(read.words(0..read.len()).is_sorted_by(|one, other| one.word < other.word));
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let word = |shared: u8, rest: &[u8]| [&[shared, rest.len() as u8], rest, &[1]].concat();
        let read = |words: &[Vec<u8>]| read(&words.concat()).map(|read| read.len());
        assert_eq!(read(&[word(0, b"ab"), word(1, b"c")]), Ok(2));
        for wrong in [
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
            assert_eq!(read(&wrong), Err(Damaged), "{wrong:?}");
        }
    }
}
