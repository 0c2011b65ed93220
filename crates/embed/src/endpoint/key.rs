//! The key to a server.

use std::fmt;

/// The longest key, in bytes.
const KEY_MAX: usize = 16 * 1024;

/// A key. It cannot be printed.
///
/// ```
/// use prowess_embed::endpoint::Key;
///
/// assert_eq!(format!("{:?}", Key::new("sk-123456").unwrap()), "Key(…)");
/// assert!(Key::new("two words").is_none());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, if it can be one: one line of visible ASCII.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = (1..=KEY_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// What stands in the header `Authorization`.
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
