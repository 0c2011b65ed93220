//! Versions of the interpreter, and the versions that a script accepts.

use std::fmt;

/// The version of a Python interpreter, such as 3.11.2.
///
/// ```
/// use prowess_sandbox::environments::{PythonSpecifier, PythonVersion};
///
/// let version = PythonVersion::parse("3.11.2").unwrap();
/// assert!(PythonSpecifier::parse(">=3.9, <4").unwrap().accepts(&version));
/// assert!(!PythonSpecifier::parse("~=3.12").unwrap().accepts(&version));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PythonVersion(Vec<u32>);

impl PythonVersion {
    /// Parses numbers separated by dots; a suffix such as `rc1` is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let numbers: Option<Vec<u32>> =
            text[..end].trim_end_matches('.').split('.').map(|part| part.parse().ok()).collect();
        numbers.filter(|numbers| (1..=6).contains(&numbers.len())).map(Self)
    }

    /// Returns a version that is newer than all others.
    pub(crate) fn newest() -> Self {
        Self(vec![3, 99])
    }

    /// Returns a version that is older than all others.
    pub(crate) fn oldest() -> Self {
        Self(vec![3, 0])
    }

    /// Returns the second number, which is 0 if there is only one.
    pub fn minor(&self) -> u32 {
        self.number(1)
    }

    /// Returns the first two numbers, as in `3.11`.
    pub fn short(&self) -> String {
        format!("{}.{}", self.number(0), self.number(1))
    }

    pub(super) fn number(&self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or(0)
    }

    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let length = self.0.len().max(other.0.len());
        (0..length).map(|index| self.number(index)).cmp((0..length).map(|index| other.number(index)))
    }

    /// Returns `true` if this version starts with the numbers of `prefix`.
    fn starts_with(&self, prefix: &[u32]) -> bool {
        prefix.iter().enumerate().all(|(index, number)| self.number(index) == *number)
    }
}

impl fmt::Display for PythonVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        out.write_str(&numbers.join("."))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Compatible,
    Equal,
    NotEqual,
    AtMost,
    AtLeast,
    Less,
    Greater,
}

/// The operators, longest first.
const OPERATORS: &[(&str, Comparison)] = &[
    ("===", Comparison::Equal),
    ("~=", Comparison::Compatible),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

#[derive(Debug, Clone, PartialEq, Eq)]
struct VersionClause {
    comparison: Comparison,
    version: PythonVersion,
    /// Whether the version ends in `.*`.
    is_prefix: bool,
}

/// The accepted versions of Python, as in `requires-python`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonSpecifier {
    text: String,
    clauses: Vec<VersionClause>,
}

impl PythonSpecifier {
    /// Parses clauses separated by commas, such as `>=3.9, !=3.10.*`. Returns `None` if a clause is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > 200 {
            return None;
        }
        let clauses: Option<Vec<_>> =
            text.split(',').map(str::trim).filter(|clause| !clause.is_empty()).map(parse_clause).collect();
        let text = text.split(',').map(str::trim).filter(|clause| !clause.is_empty()).collect::<Vec<_>>();
        Some(Self { text: text.join(","), clauses: clauses? })
    }

    /// Returns `true` if every clause accepts the version.
    pub fn accepts(&self, version: &PythonVersion) -> bool {
        self.clauses.iter().all(|clause| {
            let order = version.compare(&clause.version);
            let prefix = clause.version.0.as_slice();
            match clause.comparison {
                Comparison::Equal if clause.is_prefix => version.starts_with(prefix),
                Comparison::NotEqual if clause.is_prefix => !version.starts_with(prefix),
                Comparison::Equal => order.is_eq(),
                Comparison::NotEqual => order.is_ne(),
                Comparison::AtMost => order.is_le(),
                Comparison::AtLeast => order.is_ge(),
                Comparison::Less => order.is_lt(),
                Comparison::Greater => order.is_gt(),
                Comparison::Compatible => {
                    order.is_ge() && version.starts_with(&prefix[..prefix.len().saturating_sub(1)])
                }
            }
        })
    }
}

fn parse_clause(text: &str) -> Option<VersionClause> {
    let (operator, comparison) = OPERATORS.iter().find(|(operator, _)| text.starts_with(operator))?;
    let version = text[operator.len()..].trim();
    let (version, is_prefix) = match version.strip_suffix(".*") {
        Some(version) => (version, true),
        None => (version, false),
    };
    if is_prefix && !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
        return None;
    }
    let is_plain = version.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    let version = PythonVersion::parse(version).filter(|_| is_plain)?;
    if *comparison == Comparison::Compatible && version.0.len() < 2 {
        return None;
    }
    Some(VersionClause { comparison: *comparison, version, is_prefix })
}

impl fmt::Display for PythonSpecifier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn clauses_follow_the_packaging_rules() {
        let accepts = |specifier: &str, version: &str| {
            PythonSpecifier::parse(specifier).unwrap().accepts(&PythonVersion::parse(version).unwrap())
        };
        for (specifier, version, expected) in [
            (">=3.9", "3.11.2", true),
            (">=3.11.3", "3.11.2", false),
            (">=3.9,<3.11", "3.11.0", false),
            ("==3.11.*", "3.11.2", true),
            ("==3.11", "3.11.0", true),
            ("==3.11", "3.11.2", false),
            ("!=3.11.*", "3.11.2", false),
            ("~=3.8", "3.11.2", true),
            ("~=3.11.1", "3.12.0", false),
            (">3.10", "3.11.2", true),
            ("", "3.8.0", true),
        ] {
            assert_eq!(accepts(specifier, version), expected, "{specifier} {version}");
        }
        for invalid in ["3.9", ">=", ">=x", ">=3.9.*", "~=3", "=>3.9", ">=3.9; x", "^3.9"] {
            assert_eq!(PythonSpecifier::parse(invalid), None, "{invalid}");
        }
    }

    proptest! {
        #[test]
        fn at_least_is_the_opposite_of_less(a in 0..20u32, b in 0..20u32, c in 0..20u32) {
            let version = PythonVersion(vec![3, a, b]);
            let at_least = PythonSpecifier::parse(&format!(">=3.{c}")).unwrap();
            let less = PythonSpecifier::parse(&format!("<3.{c}")).unwrap();
            prop_assert_ne!(at_least.accepts(&version), less.accepts(&version));
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "[<>=!~., *0-9a-z]{0,40}") {
            if let Some(specifier) = PythonSpecifier::parse(&text) {
                prop_assert_eq!(PythonSpecifier::parse(&specifier.to_string()), Some(specifier));
            }
        }
    }
}
