//! The settings of `prowess check`.

use std::fmt;
use std::str::FromStr;

use prowess_format::Code;
use prowess_format::suggest::nearest;

/// The settings of `prowess check`. No other command uses them: a project must not silence an audit of its own skills.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckSettings {
    /// The diagnostics that are not reported.
    pub ignore: Vec<IgnoredCode>,
}

/// A code that is not reported, in all files or in those that match a glob.
///
/// ```
/// let ignored: prowess_config::IgnoredCode = "vendor/**:SK063".parse().unwrap();
/// assert_eq!((ignored.code.as_str(), ignored.glob.as_deref()), ("SK063", Some("vendor/**")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredCode {
    /// The code.
    pub code: Code,
    /// The files, relative to the project; `None` for all.
    pub glob: Option<String>,
}

/// Why a text is not an [`IgnoredCode`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseIgnoredCodeError {
    /// There is no such code.
    #[error("unknown code {code}{}", .nearest.map(|code| format!("; did you mean {code}?")).unwrap_or_default())]
    Unknown {
        /// The text.
        code: String,
        /// A code that looks like it.
        nearest: Option<&'static str>,
    },
    /// There is nothing before the colon.
    #[error("the glob before the colon is empty")]
    EmptyGlob,
}

impl FromStr for IgnoredCode {
    type Err = ParseIgnoredCodeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A glob may contain colons.
        let (glob, code) = match text.rsplit_once(':') {
            Some(("", _)) => return Err(ParseIgnoredCodeError::EmptyGlob),
            Some((glob, code)) => (Some(glob.to_owned()), code),
            None => (None, text),
        };
        let code =
            Code::ALL.iter().copied().find(|known| known.as_str().eq_ignore_ascii_case(code)).ok_or_else(
                || ParseIgnoredCodeError::Unknown {
                    code: prowess_format::hidden::escape_for_display(code).into_owned(),
                    nearest: nearest(code, Code::ALL.iter().map(|known| known.as_str())),
                },
            )?;
        Ok(Self { code, glob })
    }
}

impl fmt::Display for IgnoredCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.glob {
            Some(glob) => write!(f, "{glob}:{}", self.code.as_str()),
            None => f.write_str(self.code.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> String {
        text.parse::<IgnoredCode>().map_or_else(|error| error.to_string(), |code| code.to_string())
    }

    #[test]
    fn codes_and_globs() {
        for (text, expected) in [
            ("SK044", "SK044"),
            ("sk044", "SK044"),
            ("vendor/**:SK063", "vendor/**:SK063"),
            ("a:b/*:SK063", "a:b/*:SK063"),
            ("SK04", "unknown code SK04; did you mean SK004?"),
            ("colour", "unknown code colour"),
            (":SK044", "the glob before the colon is empty"),
            ("vendor/**:", "unknown code "),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
