//! Checks the media types of files of chats.

/// The maximum length of a media type.
const MEDIA_TYPE_MAX: usize = 100;

/// Returns `true` for `type/subtype` without parameters, as it may be stored and sent.
pub(crate) fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        !part.is_empty() && part.bytes().all(allowed)
    };
    text.len() <= MEDIA_TYPE_MAX
        && text.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_media_types() {
        for text in ["", "text", "text/", "/x", "a/b/c", "text/plain; charset=utf-8", "a/b\r\nX: y", "a/é"] {
            assert!(!is_media_type(text), "{text}");
        }
        assert!(!is_media_type(&format!("a/{}", "b".repeat(100))));
    }
}
