//! `skill://NAME/PATH`: where the files of skills are on the wire.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use prowess::policy::Policy;
use prowess::{Skill, Snapshot};
use prowess_tools::key;

/// The scheme.
const SCHEME: &str = "skill://";

/// The longest address that is looked at.
pub(crate) const URI_MAX: usize = 8 * 1024;

/// An address that cannot be one of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UriError {
    /// It begins with something else.
    #[error("only skill:// addresses are served")]
    Scheme,
    /// It is longer than any of ours.
    #[error("the address has {0} bytes; at most {URI_MAX} are taken")]
    Long(usize),
    /// `%` is not followed by two hexadecimal digits, or what they say is not UTF-8.
    #[error("the address has a wrong % escape")]
    Escape,
    /// A part that would be read in two ways.
    #[error(
        "the address has a part that is empty, . or .., or that holds a slash, a NUL, a query or a fragment"
    )]
    Part,
}

/// The parts of a `skill://` address, decoded: at least one, and none that could mean something else to somebody.
///
/// ```
/// use prowess_mcp::uri::Parts;
///
/// assert_eq!(Parts::parse("skill://pdf/references/a%20b.md").unwrap().as_slice(), ["pdf", "references", "a b.md"]);
/// assert!(Parts::parse("skill://pdf/../other/SKILL.md").is_err());
/// assert!(Parts::parse("skill://pdf/a%2Fb").is_err());
/// assert!(Parts::parse("file:///etc/passwd").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts(Vec<String>);

impl Parts {
    /// Reads an address. Folders are written without a slash at the end.
    pub fn parse(uri: &str) -> Result<Self, UriError> {
        if uri.len() > URI_MAX {
            return Err(UriError::Long(uri.len()));
        }
        // Schemes are the same in either case.
        let scheme = uri.get(..SCHEME.len()).filter(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
        let rest = scheme.map(|_| &uri[SCHEME.len()..]).ok_or(UriError::Scheme)?;
        let parts: Vec<_> = rest.split('/').map(decode).collect::<Result<_, _>>()?;
        let is_plain = |part: &String| {
            !part.is_empty() && part != "." && part != ".." && !part.contains(['/', '\\', '\0'])
        };
        if rest.contains(['?', '#']) || !parts.iter().all(is_plain) {
            return Err(UriError::Part);
        }
        Ok(Self(parts))
    }

    /// The parts.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// The skill and the path below its folder, which is empty for the folder itself.
    pub(crate) fn resolve<'s>(&self, snapshot: &'s Snapshot, policy: &Policy) -> Option<(&'s Skill, String)> {
        // What a skill is called by may have slashes of its own, where it comes from elsewhere.
        (1..=self.0.len()).find_map(|at| {
            let (called, rest) = self.0.split_at(at);
            let skill = snapshot.get(&called.join("/"))?;
            let rest = match own_name(skill, policy) {
                None => rest,
                Some(name) => rest.strip_prefix(&[name.into_owned()])?,
            };
            Some((skill, rest.join("/")))
        })
    }
}

/// The address, as we write it.
impl std::fmt::Display for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&joined(self.0.iter().map(String::as_str)))
    }
}

/// The name that follows what a skill is called by, where that is not its name: the last part of the skill's own
/// address is always its name.
fn own_name<'s>(skill: &'s Skill, policy: &Policy) -> Option<std::borrow::Cow<'s, str>> {
    let (called, name) = (key(skill, policy), skill.name());
    let is_last = called == name || called.strip_suffix(&*name).is_some_and(|before| before.ends_with('/'));
    (!is_last).then_some(name)
}

/// The address of a file of a skill, or of the skill's folder where the path is empty.
pub(crate) fn of(skill: &Skill, policy: &Policy, path: &str) -> String {
    let (called, own) = (key(skill, policy), own_name(skill, policy));
    joined(called.split('/').chain(own.as_deref()).chain(path.split('/').filter(|part| !part.is_empty())))
}

fn joined<'p>(parts: impl Iterator<Item = &'p str>) -> String {
    SCHEME.to_owned()
        + &parts.map(|part| utf8_percent_encode(part, PLAIN).to_string()).collect::<Vec<_>>().join("/")
}

/// What stands for itself in any part of an address.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
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

fn decode(part: &str) -> Result<String, UriError> {
    let is_escape =
        |after: &str| after.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    if !part.split('%').skip(1).all(is_escape) {
        return Err(UriError::Escape);
    }
    percent_decode_str(part).decode_utf8().map(Cow::into_owned).map_err(|_| UriError::Escape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(part in "[^/\\\\\0]{1,40}") {
            let uri = utf8_percent_encode(&part, PLAIN).to_string();
            prop_assert_eq!(decode(&uri).unwrap(), part);
            prop_assert!(uri.is_ascii());
        }

        #[test]
        fn nothing_panics(uri in "\\PC{0,60}") {
            let _ = Parts::parse(&uri);
            let _ = Parts::parse(&format!("skill://{uri}"));
        }

        #[test]
        fn no_part_means_two_things(uri in "[a%./2eEfF5c0?#\\\\]{1,16}") {
            if let Ok(parts) = Parts::parse(&format!("skill://{uri}")) {
                prop_assert_eq!(&Parts::parse(&parts.to_string()).unwrap(), &parts);
                for part in parts.as_slice() {
                    prop_assert!(!part.is_empty() && part != "." && part != ".." && !part.contains(['/', '\\', '\0']));
                }
            }
        }
    }

    #[test]
    fn wrong_addresses_are_named() {
        let error = |uri: &str| Parts::parse(uri).unwrap_err();
        for uri in
            ["skill://", "skill://a/", "skill:///a", "skill://a//b", "skill://a/..", "skill://a/%2e%2e/b"]
        {
            assert_eq!(error(uri), UriError::Part, "{uri}");
        }
        for uri in ["skill://a/b%2fc", "skill://a/b%5cc", "skill://a/b%00", "skill://a?b", "skill://a/b#c"] {
            assert_eq!(error(uri), UriError::Part, "{uri}");
        }
        for uri in ["skill://a/%", "skill://a/%2", "skill://a/%zz", "skill://a/%ff"] {
            assert_eq!(error(uri), UriError::Escape, "{uri}");
        }
        for uri in ["", "file:///etc/passwd", "http://a/b", "skill:/a", "skills://a"] {
            assert_eq!(error(uri), UriError::Scheme, "{uri}");
        }
        assert_eq!(error(&format!("skill://{}", "a".repeat(9000))), UriError::Long(9008));
        assert_eq!(Parts::parse("SKILL://a").unwrap().as_slice(), ["a"]);
    }
}
