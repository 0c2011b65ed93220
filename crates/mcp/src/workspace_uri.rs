//! The `workspace://ID/PATH` URIs of files that scripts read and write.

use crate::uri::{ParseSkillUriError, join_segments, parse_segments, strip_scheme};

const SCHEME: &str = "workspace://";

/// The URI of a file in the workspace of a connection. The id is random, so that a client that does not know it cannot
/// read the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspaceUri {
    pub(crate) id: String,
    /// The path of the file in the workspace, with `/`.
    pub(crate) path: String,
}

impl WorkspaceUri {
    /// Returns `true` if a URI has the scheme of workspaces.
    pub(crate) fn has_scheme(uri: &str) -> bool {
        strip_scheme(uri, SCHEME).is_some()
    }

    /// Parses a URI, as strictly as the URIs of skills.
    pub(crate) fn parse(uri: &str) -> Result<Self, ParseSkillUriError> {
        let segments = parse_segments(uri, SCHEME)?;
        match segments.split_first() {
            Some((id, path)) if !path.is_empty() => Ok(Self { id: id.clone(), path: path.join("/") }),
            _ => Err(ParseSkillUriError::Segment),
        }
    }
}

/// Formats the URI.
impl std::fmt::Display for WorkspaceUri {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&join_segments(SCHEME, std::iter::once(self.id.as_str()).chain(self.path.split('/'))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn uris_round_trip(parts in prop::collection::vec("[^/\\\\\0]{1,20}", 1..4)) {
            prop_assume!(parts.iter().all(|part| part != "." && part != ".."));
            let uri = WorkspaceUri { id: "0a".to_owned(), path: parts.join("/") };
            prop_assert_eq!(WorkspaceUri::parse(&uri.to_string()).unwrap(), uri);
        }
    }

    #[test]
    fn ambiguous_uris_are_rejected() {
        for uri in [
            "workspace://",
            "workspace://a",
            "workspace://a/",
            "workspace:///a",
            "workspace://a//b",
            "workspace://a/../b",
            "workspace://a/%2e%2e/b",
            "workspace://a/b%2fc",
            "workspace://a/b%5cc",
            "workspace://a/b%00",
            "workspace://a/b?c",
            "workspace://a/b#c",
        ] {
            assert_eq!(WorkspaceUri::parse(uri), Err(ParseSkillUriError::Segment), "{uri}");
        }
        assert_eq!(WorkspaceUri::parse("workspace://a/%zz"), Err(ParseSkillUriError::Escape));
        assert_eq!(WorkspaceUri::parse("skill://a/b"), Err(ParseSkillUriError::Scheme));
        assert!(WorkspaceUri::has_scheme("WORKSPACE://a/b") && !WorkspaceUri::has_scheme("workspace:/a"));
    }
}
