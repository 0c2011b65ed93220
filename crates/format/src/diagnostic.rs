//! Diagnostics are data: collected here, printed elsewhere.

use std::fmt;

use crate::position::{Span, position};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// The skill loads; something should be mended.
    Warning,
    /// The skill does not load.
    Error,
}

impl Severity {
    /// The word that stands in JSON and in front of a message.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Where in a file: line and column counted from 1, and the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
    /// The bytes it is about.
    pub span: Span,
}

impl Place {
    /// The place of a span in its source.
    pub fn of(source: &[u8], span: Span) -> Self {
        let (line, column) = position(source, span.start as usize);
        Self { line, column, span }
    }
}

/// A replacement that would mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What to replace.
    pub span: Span,
    /// What to write instead.
    pub text: String,
}

/// One thing worth saying about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// How bad it is under the rules in force.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where.
    pub at: Option<Place>,
    /// What to do about it.
    pub help: Option<String>,
    /// The edit that would do it, where one is certain.
    pub fix: Option<Box<Fix>>,
}

impl Diagnostic {
    /// A diagnostic of a whole file.
    ///
    /// ```
    /// use prowess_format::{Code, Diagnostic, Severity};
    ///
    /// let diagnostic = Diagnostic::new(Code::EmptyFile, Severity::Error, "the file is empty").help("write a skill");
    /// assert_eq!(diagnostic.to_string(), "error[SK006]: the file is empty");
    /// ```
    pub fn new(code: Code, severity: Severity, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), at: None, help: None, fix: None }
    }

    /// An error.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    /// With what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With its place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.at = Some(place);
        self
    }

    /// With the edit that mends it.
    #[must_use]
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Box::new(Fix { span, text: text.into() }));
        self
    }

    /// Whether it stops the skill from loading.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity.as_str(), self.code.as_str(), self.message)
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)+) => {
        /// Every kind of diagnostic, with its stable code. `docs/diagnostics.md` shows an example of each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// All codes, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// The stable code, `SK001` and on.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)+ }
            }

            /// What it is about, in a few words.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

codes! {
    /// The folder has no `SKILL.md`.
    MissingFile = "SK001";
    /// The file is named `skill.md` or the like.
    FileName = "SK002";
    /// `SKILL.md` is not a regular file.
    NotAFile = "SK003";
    /// The file cannot be read.
    Unreadable = "SK004";
    /// The file is larger than is ever read.
    TooLarge = "SK005";
    /// The file is empty.
    EmptyFile = "SK006";
    /// The file is not UTF-8.
    NotUtf8 = "SK007";
    /// The file has NUL bytes.
    NulByte = "SK008";
    /// The file begins with a byte-order mark.
    ByteOrderMark = "SK009";
    /// The file changed while it was read.
    Changing = "SK010";
    /// There is no frontmatter.
    NoFrontmatter = "SK011";
    /// Something stands before the frontmatter.
    BeforeFrontmatter = "SK012";
    /// The frontmatter stands inside a code fence.
    FencedFrontmatter = "SK013";
    /// The frontmatter is not closed.
    UnclosedFrontmatter = "SK014";
    /// The frontmatter is larger than 64 KiB.
    LongFrontmatter = "SK015";
    /// The frontmatter is not valid YAML.
    InvalidYaml = "SK021";
    /// A value had to be quoted to be read.
    Repaired = "SK022";
    /// The YAML goes beyond a limit.
    YamlLimit = "SK023";
    /// A key stands twice.
    DuplicateKey = "SK024";
    /// The frontmatter is not a mapping.
    NotAMapping = "SK025";
    /// The name is missing.
    MissingName = "SK031";
    /// The name is not text.
    NameType = "SK032";
    /// The name is too long.
    NameLong = "SK033";
    /// The name has characters it may not have.
    NameForm = "SK034";
    /// The name could be taken for a path.
    NamePath = "SK035";
    /// The name is not the folder's.
    NameFolder = "SK036";
    /// A name or description has hidden characters.
    HiddenText = "SK037";
    /// The description is missing.
    MissingDescription = "SK041";
    /// The description is not text.
    DescriptionType = "SK042";
    /// The description is too long.
    DescriptionLong = "SK043";
    /// The description does not say when to use the skill.
    DescriptionWhen = "SK044";
    /// A key is not known.
    UnknownKey = "SK051";
    /// A field has the wrong form.
    FieldForm = "SK052";
    /// A text field is longer than it may be.
    FieldLong = "SK053";
    /// A version is not of the form 1.2.3.
    VersionForm = "SK054";
    /// A trigger cannot be used.
    TriggerForm = "SK055";
    /// A toolset is not of the form path:Export.
    ToolsetForm = "SK056";
    /// The body has hidden characters.
    HiddenBody = "SK061";
    /// The body is empty.
    EmptyBody = "SK062";
    /// The body refers to a file that is not there.
    MissingReference = "SK063";
    /// A toolset cannot be loaded.
    ToolsetLoad = "SK064";
    /// The body is longer than recommended.
    LongBody = "SK065";
    /// The body refers to a file outside of the skill, or deep in it.
    ReferenceForm = "SK066";
    /// A directory of skills is missing.
    RootMissing = "SK071";
    /// A directory cannot be read.
    DirectoryUnreadable = "SK072";
    /// A bound of the scan was reached.
    ScanBound = "SK073";
    /// A link leads outside the known directories.
    LinkOutside = "SK074";
    /// A link is broken or leads back to itself.
    LinkBroken = "SK075";
    /// A `SKILL.md` lies directly in a directory of skills.
    StrayFile = "SK076";
    /// More skills than are allowed.
    TooManySkills = "SK077";
    /// A server of skills cannot be used.
    SourceProblem = "SK078";
    /// An entry of a server of skills is not valid.
    SourceEntry = "SK079";
    /// Another skill of the same name is used instead.
    Shadowed = "SK081";
    /// A skill takes the place of a built-in one.
    ShadowsBundled = "SK082";
    /// Two names look alike.
    LookAlike = "SK083";
    /// A skill of a server has the name of another skill.
    SameName = "SK084";
    /// A configuration file cannot be read.
    ConfigUnreadable = "SK091";
    /// A configuration file is not well formed.
    ConfigSyntax = "SK092";
    /// A configuration key is not known.
    ConfigKey = "SK093";
    /// A configuration value is not valid.
    ConfigValue = "SK094";
    /// A project's configuration asks for more than it may.
    ConfigWidens = "SK095";
    /// The state of trust cannot be read.
    TrustState = "SK096";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(codes, sorted);
    }
}
