//! The `skill://NAME/PATH` URIs of files.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use prowess::{Skill, Snapshot};

const SCHEME: &str = "skill://";

/// The maximum length of a URI in bytes.
pub(crate) const URI_MAX: usize = 8 * 1024;

/// The reason why a URI is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseSkillUriError {
    /// The scheme is not `skill`.
    #[error("only skill:// URIs are supported")]
    Scheme,
    /// The URI is too long.
    #[error("the URI has {0} bytes; the limit is {URI_MAX}")]
    TooLong(usize),
    /// A percent escape is invalid, or not UTF-8.
    #[error("the URI has an invalid percent escape")]
    Escape,
    /// A segment is ambiguous.
    #[error(
        "the URI has a segment that is empty, . or .., or that contains a slash, a NUL, a query or a fragment"
    )]
    Segment,
}

/// The decoded segments of a `skill://` URI: at least one, and none that is ambiguous.
///
/// ```
/// use prowess_mcp::uri::SkillUriSegments;
///
/// let segments = |uri| SkillUriSegments::parse(uri);
/// assert_eq!(segments("skill://pdf/references/a%20b.md").unwrap().as_slice(), ["pdf", "references", "a b.md"]);
/// assert!(segments("skill://pdf/../other/SKILL.md").is_err());
/// assert!(segments("skill://pdf/a%2Fb").is_err());
/// assert!(segments("file:///etc/passwd").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillUriSegments(Vec<String>);

impl SkillUriSegments {
    /// Parses a URI. Directories have no trailing slash.
    pub fn parse(uri: &str) -> Result<Self, ParseSkillUriError> {
        parse_segments(uri, SCHEME).map(Self)
    }

    /// Returns the segments.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Returns the skill and the path in its directory, which is empty for the directory itself.
    pub(crate) fn resolve<'s>(&self, snapshot: &'s Snapshot) -> Option<(&'s Skill, String)> {
        // The key of a remote skill contains slashes.
        (1..=self.0.len()).find_map(|key_length| {
            let (key_segments, path_segments) = self.0.split_at(key_length);
            let skill = snapshot.get(&key_segments.join("/"))?;
            let path_segments = match name_after_key(skill) {
                None => path_segments,
                Some(name) => path_segments.strip_prefix(&[name.into_owned()])?,
            };
            Some((skill, path_segments.join("/")))
        })
    }
}

/// Formats the URI.
impl std::fmt::Display for SkillUriSegments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&join_segments(SCHEME, self.0.iter().map(String::as_str)))
    }
}

/// Returns the name that follows the key of a skill in its URI; `None` if the key ends in the name. The last segment
/// before the path is always the name.
fn name_after_key(skill: &Skill) -> Option<std::borrow::Cow<'_, str>> {
    let (key, name) = (skill.key(), skill.name());
    let ends_in_name = *key == *name || key.strip_suffix(&*name).is_some_and(|prefix| prefix.ends_with('/'));
    (!ends_in_name).then_some(name)
}

/// Returns the URI of a file of a skill, or of the skill's directory if the path is empty.
pub(crate) fn file_uri(skill: &Skill, path: &str) -> String {
    let (key, name) = (skill.key(), name_after_key(skill));
    join_segments(
        SCHEME,
        key.split('/').chain(name.as_deref()).chain(path.split('/').filter(|part| !part.is_empty())),
    )
}

/// Parses a URI with this scheme into its decoded segments: at least one, and none that is ambiguous.
pub(crate) fn parse_segments(uri: &str, scheme: &str) -> Result<Vec<String>, ParseSkillUriError> {
    if uri.len() > URI_MAX {
        return Err(ParseSkillUriError::TooLong(uri.len()));
    }
    let path = strip_scheme(uri, scheme).ok_or(ParseSkillUriError::Scheme)?;
    let segments: Vec<_> = path.split('/').map(decode_segment).collect::<Result<_, _>>()?;
    let is_plain = |segment: &String| {
        !segment.is_empty() && segment != "." && segment != ".." && !segment.contains(['/', '\\', '\0'])
    };
    if path.contains(['?', '#']) || !segments.iter().all(is_plain) {
        return Err(ParseSkillUriError::Segment);
    }
    Ok(segments)
}

/// Returns the URI without its scheme, or `None` if it has another one. Schemes are case-insensitive.
pub(crate) fn strip_scheme<'u>(uri: &'u str, scheme: &str) -> Option<&'u str> {
    let (start, rest) = uri.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// Returns the URI with this scheme and these segments.
pub(crate) fn join_segments<'p>(scheme: &str, segments: impl Iterator<Item = &'p str>) -> String {
    scheme.to_owned()
        + &segments.map(|part| utf8_percent_encode(part, ENCODED).to_string()).collect::<Vec<_>>().join("/")
}

/// The characters to encode in a segment.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

fn decode_segment(part: &str) -> Result<String, ParseSkillUriError> {
    let is_escape = |suffix: &str| {
        suffix.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !part.split('%').skip(1).all(is_escape) {
        return Err(ParseSkillUriError::Escape);
    }
    percent_decode_str(part).decode_utf8().map(Cow::into_owned).map_err(|_| ParseSkillUriError::Escape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn encoding_round_trips(part in "[^/\\\\\0]{1,40}") {
            let uri = utf8_percent_encode(&part, ENCODED).to_string();
            prop_assert_eq!(decode_segment(&uri).unwrap(), part);
            prop_assert!(uri.is_ascii());
        }

        #[test]
        fn arbitrary_input_does_not_panic(uri in "\\PC{0,60}") {
            let _ = SkillUriSegments::parse(&uri);
            let _ = SkillUriSegments::parse(&format!("skill://{uri}"));
        }

        #[test]
        fn no_segment_is_ambiguous(uri in "[a%./2eEfF5c0?#\\\\]{1,16}") {
            if let Ok(segments) = SkillUriSegments::parse(&format!("skill://{uri}")) {
                prop_assert_eq!(&SkillUriSegments::parse(&segments.to_string()).unwrap(), &segments);
                for segment in segments.as_slice() {
                    prop_assert!(!segment.is_empty() && segment != "." && segment != ".." && !segment.contains(['/', '\\', '\0']));
                }
            }
        }
    }

    #[test]
    fn invalid_uris_are_rejected() {
        let error = |uri: &str| SkillUriSegments::parse(uri).unwrap_err();
        for uri in
            ["skill://", "skill://a/", "skill:///a", "skill://a//b", "skill://a/..", "skill://a/%2e%2e/b"]
        {
            assert_eq!(error(uri), ParseSkillUriError::Segment, "{uri}");
        }
        for uri in ["skill://a/b%2fc", "skill://a/b%5cc", "skill://a/b%00", "skill://a?b", "skill://a/b#c"] {
            assert_eq!(error(uri), ParseSkillUriError::Segment, "{uri}");
        }
        for uri in ["skill://a/%", "skill://a/%2", "skill://a/%zz", "skill://a/%ff"] {
            assert_eq!(error(uri), ParseSkillUriError::Escape, "{uri}");
        }
        for uri in ["", "file:///etc/passwd", "http://a/b", "skill:/a", "skills://a"] {
            assert_eq!(error(uri), ParseSkillUriError::Scheme, "{uri}");
        }
        assert_eq!(error(&format!("skill://{}", "a".repeat(9000))), ParseSkillUriError::TooLong(9008));
        assert_eq!(SkillUriSegments::parse("SKILL://a").unwrap().as_slice(), ["a"]);
    }
}
