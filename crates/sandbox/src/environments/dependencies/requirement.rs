//! One requirement: a package, its accepted versions and the conditions under which it is needed.

use std::fmt;

use prowess::lock::{is_package_name, is_version, normalize_package_name};

/// A package that a script needs, in the syntax of Python packaging without URLs and paths.
///
/// ```
/// use prowess_sandbox::environments::Requirement;
///
/// let requirement = Requirement::parse("Requests[socks] >=2.8, <3 ; python_version > '3.8'").unwrap();
/// assert_eq!(requirement.name, "Requests");
/// assert_eq!(requirement.to_string(), "Requests[socks]>=2.8,<3; python_version > '3.8'");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The name of the package, as written.
    pub name: String,
    /// The extras.
    pub extras: Vec<String>,
    /// The accepted versions, such as `>=2.8,<3`; empty for any.
    pub versions: String,
    /// The condition under which the package is needed; empty for always.
    pub marker: String,
    /// The accepted digests of its files, such as `sha256:…`; empty for any.
    pub hashes: Vec<String>,
    /// The imported modules that it provides, if it was inferred.
    pub modules: Vec<String>,
}

/// Why a requirement is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// It is not a package name with versions.
    #[error("not a package name with versions")]
    Syntax,
    /// It names a file, a directory or a URL.
    #[error("only packages of the index are installed, no URLs and no paths")]
    NotInIndex,
    /// The condition is invalid.
    #[error("invalid condition after ;")]
    Marker,
}

/// The maximum number of packages that a file may list.
pub(super) const PACKAGES_MAX: usize = 1_000;

/// The maximum length of a requirement.
const LENGTH_MAX: usize = 1_000;

/// The operators of versions, longest first.
const OPERATORS: &[&str] = &["===", "~=", "==", "!=", "<=", ">=", "<", ">"];

impl Requirement {
    /// Returns a requirement for any version of a package.
    pub fn any_version(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            extras: Vec::new(),
            versions: String::new(),
            marker: String::new(),
            hashes: Vec::new(),
            modules: Vec::new(),
        }
    }

    /// Parses a requirement. Every part is checked, so that the text of a requirement has no other meaning to the program
    /// that resolves it.
    pub fn parse(text: &str) -> Result<Self, RequirementError> {
        let text = text.trim();
        if text.len() > LENGTH_MAX {
            return Err(RequirementError::Syntax);
        }
        let (package, marker) = match text.split_once(';') {
            Some((package, marker)) => (package.trim(), marker.trim()),
            None => (text, ""),
        };
        if package.contains('@') || package.contains("://") || package.starts_with(['.', '/', '~', '\\']) {
            return Err(RequirementError::NotInIndex);
        }
        if text.contains(';') && !is_marker(marker) {
            return Err(RequirementError::Marker);
        }
        let end = package.find(|c: char| !is_name_char(c)).unwrap_or(package.len());
        let (name, rest) = (&package[..end], package[end..].trim_start());
        if !is_package_name(name) {
            return Err(RequirementError::Syntax);
        }
        let (extras, rest) = match rest.strip_prefix('[') {
            Some(inner) => inner.split_once(']').ok_or(RequirementError::Syntax)?,
            None => ("", rest),
        };
        let extras: Vec<String> =
            extras.split(',').map(str::trim).filter(|extra| !extra.is_empty()).map(str::to_owned).collect();
        if !extras.iter().all(|extra| is_package_name(extra)) {
            return Err(RequirementError::Syntax);
        }
        let rest = rest.trim();
        let versions = match rest.strip_prefix('(') {
            Some(inner) => inner.strip_suffix(')').ok_or(RequirementError::Syntax)?,
            None => rest,
        };
        let marker = marker.to_owned();
        Ok(Self { extras, versions: parse_versions(versions)?, marker, ..Self::any_version(name) })
    }

    /// Returns the name as indexes compare it: in lower case, with single hyphens.
    pub fn normalized_name(&self) -> String {
        normalize_package_name(&self.name)
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn parse_versions(text: &str) -> Result<String, RequirementError> {
    let mut clauses = Vec::new();
    for clause in text.split(',').map(str::trim) {
        if clause.is_empty() {
            continue;
        }
        let operator = OPERATORS.iter().find(|operator| clause.starts_with(**operator));
        let operator = operator.ok_or(RequirementError::Syntax)?;
        let version = clause[operator.len()..].trim();
        if !is_version(version) {
            return Err(RequirementError::Syntax);
        }
        clauses.push(format!("{operator}{version}"));
    }
    Ok(clauses.join(","))
}

/// Returns `true` for conditions: names, quoted texts, comparisons and brackets.
fn is_marker(text: &str) -> bool {
    let mut rest = text.trim();
    let mut count = 0;
    while !rest.is_empty() {
        count += 1;
        let length = match rest.as_bytes() {
            [quote @ (b'"' | b'\''), inner @ ..] => {
                let Some(end) = inner.iter().position(|byte| byte == quote) else { return false };
                let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" ._-+*!,".contains(byte);
                if !inner[..end].iter().all(is_plain) {
                    return false;
                }
                end + 2
            }
            [b'(' | b')' | b'<' | b'>' | b'=' | b'!' | b'~', ..] => 1,
            [first, ..] if first.is_ascii_lowercase() => {
                rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len())
            }
            _ => return false,
        };
        rest = rest[length..].trim_start_matches([' ', '\t']);
    }
    count > 2
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        if !self.extras.is_empty() {
            write!(out, "[{}]", self.extras.join(","))?;
        }
        out.write_str(&self.versions)?;
        match self.marker.is_empty() {
            true => Ok(()),
            false => write!(out, "; {}", self.marker),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_extras_versions_and_conditions_are_read() {
        let parsed = |text: &str| Requirement::parse(text).map(|requirement| requirement.to_string());
        for (text, expected) in [
            ("openpyxl", "openpyxl"),
            ("  pandas == 2.* ", "pandas==2.*"),
            ("a[b,c]>=1,!=1.5,<2", "a[b,c]>=1,!=1.5,<2"),
            ("a (>=1.0)", "a>=1.0"),
            ("a~=1.0;python_version<\"3.9\"", "a~=1.0; python_version<\"3.9\""),
            ("a===1.0+local", "a===1.0+local"),
            ("zope.interface", "zope.interface"),
        ] {
            assert_eq!(parsed(text).as_deref(), Ok(expected), "{text}");
        }
        use RequirementError::{Marker, NotInIndex, Syntax};
        for (text, error) in [
            ("", Syntax),
            ("-r x", Syntax),
            ("a b", Syntax),
            ("a=1", Syntax),
            ("a>=", Syntax),
            ("a>=1 --hash=x", Syntax),
            ("a\nb", Syntax),
            ("a[b", Syntax),
            ("a @ https://example.com/a.whl", NotInIndex),
            ("https://example.com/a.whl", NotInIndex),
            ("./a", NotInIndex),
            ("a; ", Marker),
            ("a; x == 'y\nb'", Marker),
            ("a; import os", Marker),
        ] {
            assert_eq!(parsed(text), Err(error), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_one_plain_line(text in "[a-z0-9A-Z.@;:/\\[\\]=<>!~, '\"\n#()_-]{0,60}") {
            if let Ok(requirement) = Requirement::parse(&text) {
                let written = requirement.to_string();
                prop_assert!(!written.contains(['\n', '#', '@', '/']), "{written:?}");
                prop_assert_eq!(Requirement::parse(&written), Ok(requirement));
            }
        }
    }
}
