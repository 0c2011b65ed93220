//! How much is kept, and what text may be: checked in one place, before anything reaches a database.

use prowess::format::name::NAME_MAX;

use super::StoreError;

/// The most bytes of one message, and of all that a model says in a turn.
pub const MESSAGE_MAX: u64 = 16 * 1024 * 1024;

/// The most characters of a title.
pub const TITLE_MAX: usize = 200;

/// The most skills that are active in a chat.
pub const NAMES_MAX: usize = 1_000;

/// The most chats of a page.
pub const CHATS_MAX: usize = 200;

/// The most messages of a page.
pub const MESSAGES_MAX: usize = 1_000;

/// The most bytes of the messages of a page, unless the last one alone has more.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) const PAGE_BYTES: u64 = 2 * MESSAGE_MAX;

/// The last millisecond of the year 9999. What claims to be later was not written by a clock.
pub(crate) const TIME_MAX: u64 = 253_402_300_799_999;

/// The most characters of an id.
const ID_MAX: usize = 64;

/// A new id: never given out before, and later ones sort after earlier ones.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(TIME_MAX)).min(TIME_MAX)
}

/// Whether a text can be an id at all. What cannot is looked up nowhere.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=ID_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// What a person said. PostgreSQL keeps no NUL, so neither backend takes one.
pub(crate) fn check_text(text: &str) -> Result<(), StoreError> {
    let bytes = text.len() as u64;
    if bytes > MESSAGE_MAX {
        return Err(StoreError::TooLarge { what: "the message", bytes, most: MESSAGE_MAX });
    }
    no_nul("a message", text)
}

/// A title: one line. It may be empty.
pub(crate) fn check_title(title: &str) -> Result<(), StoreError> {
    if title.chars().nth(TITLE_MAX).is_some() {
        return Err(StoreError::Invalid(format!("a title has at most {TITLE_MAX} characters")));
    }
    match title.chars().any(char::is_control) {
        true => Err(StoreError::Invalid("a title has no line breaks or other control characters".into())),
        false => Ok(()),
    }
}

/// The name of a preset or a skill.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), StoreError> {
    if name.chars().nth(NAME_MAX).is_some() {
        return Err(StoreError::Invalid(format!("{what} has at most {NAME_MAX} characters")));
    }
    no_nul(what, name)
}

/// The skills that are active, each once, in the order in which they first stand.
pub(crate) fn check_names(names: &[String]) -> Result<Vec<String>, StoreError> {
    if names.len() > NAMES_MAX {
        return Err(StoreError::Invalid(format!("at most {NAMES_MAX} skills are active in a chat")));
    }
    let mut once: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        check_name("the name of a skill", name)?;
        if !once.contains(name) {
            once.push(name.clone());
        }
    }
    Ok(once)
}

fn no_nul(what: &str, text: &str) -> Result<(), StoreError> {
    match text.contains('\0') {
        true => Err(StoreError::Invalid(format!("{what} cannot hold the character U+0000"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_sort_by_time() {
        let ids: Vec<_> = (0..1_000).map(|_| new_id()).collect();
        let mut sorted = ids.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted, ids);
        assert!(ids.iter().all(|id| is_id(id)));
    }

    #[test]
    fn what_cannot_be_an_id() {
        for text in ["", "a b", "../x", "'; DROP TABLE prowess_chats; --", "a\0", "é", &"a".repeat(65)] {
            assert!(!is_id(text), "{text:?}");
        }
    }

    #[test]
    fn what_is_refused() {
        let told = [
            check_text("a\0b").unwrap_err(),
            check_text(&"x".repeat(MESSAGE_MAX as usize + 1)).unwrap_err(),
            check_title(&"é".repeat(TITLE_MAX + 1)).unwrap_err(),
            check_title("two\nlines").unwrap_err(),
            check_name("the preset", "a\0").unwrap_err(),
            check_name("the preset", &"x".repeat(NAME_MAX + 1)).unwrap_err(),
            check_names(&vec!["a".to_owned(); NAMES_MAX + 1]).unwrap_err(),
        ];
        insta::assert_snapshot!(told.map(|error| error.to_string()).join("\n"));
        check_text(&"x".repeat(MESSAGE_MAX as usize)).unwrap();
        check_title(&"é".repeat(TITLE_MAX)).unwrap();
        assert_eq!(check_names(&["b".into(), "a".into(), "b".into()]).unwrap(), ["b", "a"]);
    }
}
