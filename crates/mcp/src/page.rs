//! Pages of long lists, and where the next one begins.
//!
//! A cursor says after which entry to go on, not how many to pass over: entries that come or go while somebody pages
//! through are seen or not, but nothing else is left out or told twice. Only cursors that this process gave out are
//! taken.

use std::hash::{BuildHasher, RandomState};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// The cursors of one process.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    /// Its keys are drawn at random: nobody else can make the seal of a cursor.
    seal: RandomState,
}

/// A cursor that was never given out for this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unknown;

impl Cursors {
    /// The cursor that goes on after an entry of a list.
    pub(crate) fn after(&self, list: &str, entry: &str) -> String {
        let seal = self.seal.hash_one((list, entry)).to_be_bytes();
        BASE64_URL_SAFE_NO_PAD.encode([&seal, entry.as_bytes()].concat())
    }

    /// The entry after which a cursor goes on.
    pub(crate) fn entry(&self, list: &str, cursor: &str) -> Result<String, Unknown> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).map_err(|_| Unknown)?;
        let (seal, entry) = bytes.split_first_chunk::<8>().ok_or(Unknown)?;
        let entry = std::str::from_utf8(entry).map_err(|_| Unknown)?;
        match self.seal.hash_one((list, entry)).to_be_bytes() == *seal {
            true => Ok(entry.to_owned()),
            false => Err(Unknown),
        }
    }

    /// A page of entries that are sorted by what they are called, and the cursor of the next, if there is one.
    pub(crate) fn page<T>(
        &self,
        list: &str,
        cursor: Option<&str>,
        sorted: Vec<T>,
        called: impl Fn(&T) -> &str,
        most: usize,
    ) -> Result<(Vec<T>, Option<String>), Unknown> {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let after = self.entry(list, cursor)?;
                sorted.partition_point(|entry| called(entry) <= after.as_str())
            }
        };
        let more = sorted.len() > start + most;
        let page: Vec<T> = sorted.into_iter().skip(start).take(most).collect();
        let next = page.last().filter(|_| more).map(|last| self.after(list, called(last)));
        Ok((page, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(cursors: &Cursors, mut entries: Vec<String>, most: usize) -> Vec<String> {
        entries.sort();
        entries.dedup();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let (page, next) =
                cursors.page("l", cursor.as_deref(), entries.clone(), String::as_str, most).unwrap();
            assert!(page.len() <= most);
            seen.extend(page);
            cursor = next;
            if cursor.is_none() {
                return seen;
            }
        }
    }

    proptest! {
        #[test]
        fn every_entry_is_on_one_page(entries in prop::collection::vec("[a-d]{0,3}", 0..40), most in 1_usize..9) {
            let mut sorted = entries.clone();
            sorted.sort();
            sorted.dedup();
            prop_assert_eq!(all(&Cursors::default(), entries, most), sorted);
        }

        #[test]
        fn no_other_cursor_is_taken(cursor in "[A-Za-z0-9_-]{0,24}") {
            prop_assert_eq!(Cursors::default().entry("l", &cursor), Err(Unknown));
        }
    }

    #[test]
    fn a_cursor_belongs_to_its_list_and_its_process() {
        let (here, there) = (Cursors::default(), Cursors::default());
        let cursor = here.after("skills", "pdf");
        assert_eq!(here.entry("skills", &cursor), Ok("pdf".to_owned()));
        assert_eq!(here.entry("tools", &cursor), Err(Unknown));
        assert_eq!(there.entry("skills", &cursor), Err(Unknown));
    }

    #[test]
    fn entries_may_come_and_go_between_pages() {
        let cursors = Cursors::default();
        let list = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let (page, next) = cursors.page("l", None, list("acegi"), String::as_str, 2).unwrap();
        assert_eq!(page, ["a", "c"]);
        let (page, _) = cursors.page("l", next.as_deref(), list("abdegi"), String::as_str, 2).unwrap();
        assert_eq!(page, ["d", "e"]);
    }
}
