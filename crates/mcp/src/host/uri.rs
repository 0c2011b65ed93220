//! URIs of skills and their files. They are opaque names of a server and are never dereferenced.

use percent_encoding::percent_decode_str;
use prowess::format::hidden;

/// The maximum length of a URI.
const URI_MAX: usize = 2_048;

/// The URI of a skill: everything before `/SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillUri<'u> {
    /// The URI of the directory, without a trailing slash.
    root: &'u str,
    scheme: &'u str,
    /// The decoded segments of the path of the directory. Never empty.
    path: Vec<String>,
}

impl<'u> SkillUri<'u> {
    /// Parses the URI of a `SKILL.md`. The error follows "the uri".
    pub(super) fn parse(uri: &'u str) -> Result<Self, &'static str> {
        if uri.len() > URI_MAX {
            return Err("is longer than 2048 bytes");
        }
        if uri
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || hidden::is_hidden(c) || "<>\"`\\{}|^".contains(c))
        {
            return Err("contains invalid characters");
        }
        let (scheme, rest) = uri.split_once(':').ok_or("has no scheme")?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !is_scheme {
            return Err("has no scheme");
        }
        if uri.contains(['?', '#']) {
            return Err("has a query or a fragment");
        }
        let root = uri.strip_suffix("/SKILL.md").ok_or("does not end in /SKILL.md")?;
        let inner = rest.strip_suffix("/SKILL.md").unwrap_or_default();
        let path: Option<Vec<_>> = inner.trim_start_matches('/').split('/').map(decode_segment).collect();
        let path = path.ok_or("has an empty, dotted or invalid segment in its path")?;
        Ok(Self { root, scheme, path })
    }

    /// Returns the last segment of the path: the name of the skill.
    pub(super) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// Returns the name of the skill within its server: its path, prefixed with the scheme if that is not `skill`.
    pub(super) fn qualified_name(&self) -> String {
        let path = self.path.join("/");
        if self.scheme.eq_ignore_ascii_case("skill") { path } else { format!("{}:{path}", self.scheme) }
    }

    /// Returns the path of a file in the directory; `None` if it is not in the directory.
    pub(super) fn relative_path(&self, file: &str) -> Option<String> {
        if file.len() > URI_MAX || file.contains(['?', '#']) {
            return None;
        }
        let inner = file.strip_prefix(self.root)?.strip_prefix('/')?;
        let path: Option<Vec<_>> = inner.split('/').map(decode_segment).collect();
        Some(path?.join("/"))
    }
}

/// Decodes a segment of a path; `None` if it is invalid.
fn decode_segment(text: &str) -> Option<String> {
    let is_escape = |suffix: &str| {
        suffix.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    let text = percent_decode_str(text).decode_utf8().ok()?.into_owned();
    let is_invalid = |c: char| c == '/' || c == '\\' || c.is_control() || hidden::is_hidden(c);
    (!text.is_empty() && text != "." && text != ".." && !text.contains(is_invalid)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_name_is_the_last_segment() {
        for (uri, name, qualified_name) in [
            ("skill://git-workflow/SKILL.md", "git-workflow", "git-workflow"),
            ("skill://acme/billing/refunds/SKILL.md", "refunds", "acme/billing/refunds"),
            ("github://owner/repo/skills/refunds/SKILL.md", "refunds", "github:owner/repo/skills/refunds"),
            ("file:///srv/a/SKILL.md", "a", "file:srv/a"),
            ("urn:skills/a/SKILL.md", "a", "urn:skills/a"),
            ("skill://%E7%BF%BB%E8%AF%91/SKILL.md", "翻译", "翻译"),
        ] {
            let parsed = SkillUri::parse(uri).unwrap();
            assert_eq!((parsed.name(), parsed.qualified_name().as_str()), (name, qualified_name));
        }
    }

    #[test]
    fn invalid_uris_are_rejected() {
        for uri in [
            "",
            "skill",
            "skill://SKILL.md",
            "skill:///SKILL.md",
            "skill://a/skill.md",
            "skill://a/SKILL.md/",
            "skill://a/../SKILL.md",
            "skill://a//SKILL.md",
            "skill://a%2Fb/SKILL.md",
            "skill://%2e%2e/SKILL.md",
            "skill://a%00/SKILL.md",
            "skill://a b/SKILL.md",
            "skill://a/SKILL.md?x",
            "skill://a#/SKILL.md",
            "1x://a/SKILL.md",
            "skill://a\u{202e}/SKILL.md",
            "skill://%zz/SKILL.md",
            "skill://%+1/SKILL.md",
            "skill://<b>/SKILL.md",
        ] {
            assert!(SkillUri::parse(uri).is_err(), "{uri}");
        }
        assert!(SkillUri::parse(&format!("skill://{}/SKILL.md", "a".repeat(3000))).is_err());
    }

    #[test]
    fn files_must_be_in_the_directory() {
        let skill = SkillUri::parse("skill://x/a/SKILL.md").unwrap();
        assert_eq!(
            skill.relative_path("skill://x/a/references/b%20c.md").as_deref(),
            Some("references/b c.md")
        );
        assert_eq!(skill.relative_path("skill://x/a/SKILL.md").as_deref(), Some("SKILL.md"));
        for file in [
            "skill://x/a",
            "skill://x/a/",
            "skill://x/ab/c",
            "skill://x/b/SKILL.md",
            "skill://x/a/../b/c",
            "skill://x/a/%2e%2e/c",
            "skill://x/a/b%2Fc",
            "skill://x/a//c",
            "https://x/a/c",
            "skill://x/a/c?d",
            "/etc/passwd",
            "",
        ] {
            assert_eq!(skill.relative_path(file), None, "{file}");
        }
    }

    proptest! {
        #[test]
        fn paths_stay_in_the_directory(file in any::<String>(), tail in "[a-z./%0-9A-F]{0,30}") {
            let skill = SkillUri::parse("skill://x/a/SKILL.md").unwrap();
            for file in [file, format!("skill://x/a/{tail}")] {
                if let Some(path) = skill.relative_path(&file) {
                    prop_assert!(path.split('/').all(|part| !part.is_empty() && part != "." && part != ".."));
                    prop_assert!(!path.contains('\0'));
                }
            }
        }
    }
}
