//! Pagination.
//!
//! A cursor identifies the last entry of a page, not a number of entries. If entries are added or removed between
//! pages, no other entry is skipped or repeated. Only cursors that this process created are accepted.

use std::hash::{BuildHasher, RandomState};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// Creates and verifies cursors.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    /// Its keys are random, so that cursors cannot be forged.
    hasher: RandomState,
}

/// The cursor was not created for this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnknownCursorError;

impl Cursors {
    pub(crate) fn cursor_after(&self, list: &str, entry: &str) -> String {
        let seal = self.hasher.hash_one((list, entry)).to_be_bytes();
        BASE64_URL_SAFE_NO_PAD.encode([&seal, entry.as_bytes()].concat())
    }

    /// Returns the entry of a cursor.
    pub(crate) fn decode_cursor(&self, list: &str, cursor: &str) -> Result<String, UnknownCursorError> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).map_err(|_| UnknownCursorError)?;
        let (seal, entry) = bytes.split_first_chunk::<8>().ok_or(UnknownCursorError)?;
        let entry = std::str::from_utf8(entry).map_err(|_| UnknownCursorError)?;
        match self.hasher.hash_one((list, entry)).to_be_bytes() == *seal {
            true => Ok(entry.to_owned()),
            false => Err(UnknownCursorError),
        }
    }

    /// Returns a page of entries that are sorted by `key`, and the cursor of the next page, if there is one.
    pub(crate) fn page<T>(
        &self,
        list: &str,
        cursor: Option<&str>,
        sorted: Vec<T>,
        key: impl Fn(&T) -> &str,
        page_size: usize,
    ) -> Result<(Vec<T>, Option<String>), UnknownCursorError> {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let last_key = self.decode_cursor(list, cursor)?;
                sorted.partition_point(|entry| key(entry) <= last_key.as_str())
            }
        };
        let has_more = sorted.len() > start + page_size;
        let page: Vec<T> = sorted.into_iter().skip(start).take(page_size).collect();
        let next = page.last().filter(|_| has_more).map(|last| self.cursor_after(list, key(last)));
        Ok((page, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all_pages(cursors: &Cursors, mut entries: Vec<String>, page_size: usize) -> Vec<String> {
        entries.sort();
        entries.dedup();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let (page, next) =
                cursors.page("l", cursor.as_deref(), entries.clone(), String::as_str, page_size).unwrap();
            assert!(page.len() <= page_size);
            seen.extend(page);
            cursor = next;
            if cursor.is_none() {
                return seen;
            }
        }
    }

    proptest! {
        #[test]
        fn every_entry_is_on_one_page(entries in prop::collection::vec("[a-d]{0,3}", 0..40), page_size in 1_usize..9) {
            let mut sorted = entries.clone();
            sorted.sort();
            sorted.dedup();
            prop_assert_eq!(all_pages(&Cursors::default(), entries, page_size), sorted);
        }

        #[test]
        fn forged_cursors_are_rejected(cursor in "[A-Za-z0-9_-]{0,24}") {
            prop_assert_eq!(Cursors::default().decode_cursor("l", &cursor), Err(UnknownCursorError));
        }
    }

    #[test]
    fn a_cursor_is_valid_for_its_list_and_process_only() {
        let (ours, other) = (Cursors::default(), Cursors::default());
        let cursor = ours.cursor_after("skills", "pdf");
        assert_eq!(ours.decode_cursor("skills", &cursor), Ok("pdf".to_owned()));
        assert_eq!(ours.decode_cursor("tools", &cursor), Err(UnknownCursorError));
        assert_eq!(other.decode_cursor("skills", &cursor), Err(UnknownCursorError));
    }

    #[test]
    fn entries_may_change_between_pages() {
        let cursors = Cursors::default();
        let list = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let (page, next) = cursors.page("l", None, list("acegi"), String::as_str, 2).unwrap();
        assert_eq!(page, ["a", "c"]);
        let (page, _) = cursors.page("l", next.as_deref(), list("abdegi"), String::as_str, 2).unwrap();
        assert_eq!(page, ["d", "e"]);
    }
}
