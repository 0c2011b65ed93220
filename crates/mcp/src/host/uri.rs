//! URIs of skills and of their files. Nothing is ever resolved: they are names that a server gave.

use prowess::format::hidden;

/// The longest URI that is taken.
const URI_MAX: usize = 2_048;

/// Where a skill is: everything before `/SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillUri<'u> {
    /// The folder's URI, without a slash at its end.
    root: &'u str,
    scheme: &'u str,
    /// The path of the folder, decoded, segment by segment. Never empty.
    path: Vec<String>,
}

impl<'u> SkillUri<'u> {
    /// Reads the URI of a `SKILL.md`. The reason is to follow "its uri".
    pub(super) fn parse(uri: &'u str) -> Result<Self, &'static str> {
        if uri.len() > URI_MAX {
            return Err("is longer than 2048 bytes");
        }
        if uri
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || hidden::is_hidden(c) || "<>\"`\\{}|^".contains(c))
        {
            return Err("has characters that no URI has");
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
        let path: Option<Vec<_>> = inner.trim_start_matches('/').split('/').map(segment).collect();
        let path = path.ok_or("has empty, dotted or encoded parts in its path that no folder has")?;
        Ok(Self { root, scheme, path })
    }

    /// The last part of the folder's path: the name of the skill.
    pub(super) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// What the skill is called by within its server: its path, with the scheme where that is not `skill`.
    pub(super) fn called(&self) -> String {
        let path = self.path.join("/");
        if self.scheme.eq_ignore_ascii_case("skill") { path } else { format!("{}:{path}", self.scheme) }
    }

    /// The path of a file below the folder; `None` where it does not lie there.
    pub(super) fn inner(&self, file: &str) -> Option<String> {
        if file.len() > URI_MAX || file.contains(['?', '#']) {
            return None;
        }
        let inner = file.strip_prefix(self.root)?.strip_prefix('/')?;
        let path: Option<Vec<_>> = inner.split('/').map(segment).collect();
        Some(path?.join("/"))
    }
}

/// One part of a path, decoded; `None` where it is none.
fn segment(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (code, more) = rest.split_at_checked(2)?;
        let code = std::str::from_utf8(code)
            .ok()
            .filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        rest = more;
    }
    let text = String::from_utf8(bytes).ok()?;
    let bad = |c: char| c == '/' || c == '\\' || c.is_control() || hidden::is_hidden(c);
    (!text.is_empty() && text != "." && text != ".." && !text.contains(bad)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_name_is_the_last_part() {
        for (uri, name, called) in [
            ("skill://git-workflow/SKILL.md", "git-workflow", "git-workflow"),
            ("skill://acme/billing/refunds/SKILL.md", "refunds", "acme/billing/refunds"),
            ("github://owner/repo/skills/refunds/SKILL.md", "refunds", "github:owner/repo/skills/refunds"),
            ("file:///srv/a/SKILL.md", "a", "file:srv/a"),
            ("urn:skills/a/SKILL.md", "a", "urn:skills/a"),
            ("skill://%E7%BF%BB%E8%AF%91/SKILL.md", "翻译", "翻译"),
        ] {
            let parsed = SkillUri::parse(uri).unwrap();
            assert_eq!((parsed.name(), parsed.called().as_str()), (name, called));
        }
    }

    #[test]
    fn what_is_no_place_of_a_skill() {
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
    fn files_lie_in_the_folder() {
        let skill = SkillUri::parse("skill://x/a/SKILL.md").unwrap();
        assert_eq!(skill.inner("skill://x/a/references/b%20c.md").as_deref(), Some("references/b c.md"));
        assert_eq!(skill.inner("skill://x/a/SKILL.md").as_deref(), Some("SKILL.md"));
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
            assert_eq!(skill.inner(file), None, "{file}");
        }
    }

    proptest! {
        #[test]
        fn no_path_leads_out(file in any::<String>(), tail in "[a-z./%0-9A-F]{0,30}") {
            let skill = SkillUri::parse("skill://x/a/SKILL.md").unwrap();
            for file in [file, format!("skill://x/a/{tail}")] {
                if let Some(path) = skill.inner(&file) {
                    prop_assert!(path.split('/').all(|part| !part.is_empty() && part != "." && part != ".."));
                    prop_assert!(!path.contains('\0'));
                }
            }
        }
    }
}
