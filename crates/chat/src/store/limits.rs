//! Limits and checks of stored values, applied before anything reaches a database.

use prowess::format::name::NAME_MAX;

use super::StoreError;
use super::files::parse_path;

/// The maximum size of a stored message in bytes. A reply may have twice as many.
pub const STORED_MESSAGE_MAX: u64 = 16 * 1024 * 1024;

/// The maximum number of characters of a title.
pub const TITLE_MAX: usize = 200;

/// The maximum number of active skills of a chat.
pub const NAMES_MAX: usize = 1_000;

/// The maximum number of files that are attached to a message.
pub const ATTACHMENTS_MAX: usize = 100;

/// The maximum number of replaced and new versions of messages in a chat.
pub const VERSIONS_MAX: u64 = 1_000;

/// The maximum number of chats of a page.
pub const CHATS_MAX: usize = 200;

/// The maximum number of messages of a page.
pub const MESSAGES_MAX: usize = 1_000;

/// The maximum size of the messages of a page, unless the last one alone is larger.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) const PAGE_BYTES: u64 = 2 * STORED_MESSAGE_MAX;

/// The last millisecond of the year 9999. Later times are invalid.
pub(crate) const TIME_MAX: u64 = 253_402_300_799_999;

/// The maximum of a stored count of tokens. Like times, counts stay exact as JSON numbers and fit into signed columns.
pub(crate) const TOKENS_MAX: u64 = TIME_MAX;

/// The maximum number of characters of an id.
const ID_MAX: usize = 64;

/// Returns a new unique id. Later ids sort after earlier ones.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now_millis() -> u64 {
    prowess_fs::unix_millis().min(TIME_MAX)
}

/// Returns `true` if the text is a valid id. Other texts are never looked up.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=ID_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Checks a message of the user. PostgreSQL cannot store NUL, so no store accepts it.
pub(crate) fn check_text(text: &str) -> Result<(), StoreError> {
    let bytes = text.len() as u64;
    if bytes > STORED_MESSAGE_MAX {
        return Err(StoreError::TooLarge { subject: "the message", bytes, max: STORED_MESSAGE_MAX });
    }
    check_no_nul("a message", text)
}

/// Checks the attached files of a message and removes duplicates.
pub(crate) fn check_attachments(paths: &[String]) -> Result<Vec<String>, StoreError> {
    if paths.len() > ATTACHMENTS_MAX {
        return Err(StoreError::Invalid(format!(
            "a message must not have more than {ATTACHMENTS_MAX} files"
        )));
    }
    let mut unique: Vec<String> = Vec::with_capacity(paths.len());
    for path in paths {
        let path = parse_path(path)?;
        if !unique.iter().any(|other| other == path.as_str()) {
            unique.push(path.as_str().to_owned());
        }
    }
    Ok(unique)
}

/// Checks a title: one line, may be empty.
pub(crate) fn check_title(title: &str) -> Result<(), StoreError> {
    if title.chars().nth(TITLE_MAX).is_some() {
        return Err(StoreError::Invalid(format!("a title must not exceed {TITLE_MAX} characters")));
    }
    match title.chars().any(char::is_control) {
        true => Err(StoreError::Invalid(
            "a title must not contain line breaks or other control characters".into(),
        )),
        false => Ok(()),
    }
}

/// Checks the name of a preset or a skill.
pub(crate) fn check_name(kind: &str, name: &str) -> Result<(), StoreError> {
    if name.chars().nth(NAME_MAX).is_some() {
        return Err(StoreError::Invalid(format!("{kind} must not exceed {NAME_MAX} characters")));
    }
    check_no_nul(kind, name)
}

/// Checks the names of active skills and removes duplicates.
pub(crate) fn check_names(names: &[String]) -> Result<Vec<String>, StoreError> {
    if names.len() > NAMES_MAX {
        return Err(StoreError::Invalid(format!("at most {NAMES_MAX} skills can be active in a chat")));
    }
    let mut unique: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        check_name("the name of a skill", name)?;
        if !unique.contains(name) {
            unique.push(name.clone());
        }
    }
    Ok(unique)
}

fn check_no_nul(kind: &str, text: &str) -> Result<(), StoreError> {
    match text.contains('\0') {
        true => Err(StoreError::Invalid(format!("{kind} must not contain the character U+0000"))),
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
    fn invalid_ids() {
        for text in ["", "a b", "../x", "'; DROP TABLE prowess_chats; --", "a\0", "é", &"a".repeat(65)] {
            assert!(!is_id(text), "{text:?}");
        }
    }

    #[test]
    fn invalid_values_are_refused() {
        let errors = [
            check_text("a\0b").unwrap_err(),
            check_text(&"x".repeat(STORED_MESSAGE_MAX as usize + 1)).unwrap_err(),
            check_title(&"é".repeat(TITLE_MAX + 1)).unwrap_err(),
            check_title("two\nlines").unwrap_err(),
            check_name("the preset", "a\0").unwrap_err(),
            check_name("the preset", &"x".repeat(NAME_MAX + 1)).unwrap_err(),
            check_names(&vec!["a".to_owned(); NAMES_MAX + 1]).unwrap_err(),
        ];
        insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"));
        check_text(&"x".repeat(STORED_MESSAGE_MAX as usize)).unwrap();
        check_title(&"é".repeat(TITLE_MAX)).unwrap();
        assert_eq!(check_names(&["b".into(), "a".into(), "b".into()]).unwrap(), ["b", "a"]);
    }
}
