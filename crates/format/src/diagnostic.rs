//! Diagnostics as data; printing is up to the caller.

use std::fmt;

use crate::position::{Span, position};

crate::named_enum! {
    /// How serious a diagnostic is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Severity {
        /// Informational.
        Info = "info",
        /// The skill loads, but something should be fixed.
        Warning = "warning",
        /// The skill does not load.
        Error = "error",
    }
}

/// A location in a file: line and column, both counted from 1, and the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
    /// The bytes concerned.
    pub span: Span,
}

impl Location {
    /// Computes the location of a span in its source.
    pub fn from_span(source: &[u8], span: Span) -> Self {
        let (line, column) = position(source, span.start as usize);
        Self { line, column, span }
    }
}

/// A text edit that fixes a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The bytes to replace.
    pub span: Span,
    /// The replacement.
    pub text: String,
}

/// A problem or note about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// The severity under the rules in force.
    pub severity: Severity,
    /// The problem, in one sentence.
    pub message: String,
    /// Where the problem is; `None` if it concerns the whole file.
    pub location: Option<Location>,
    /// How to fix it.
    pub help: Option<String>,
    /// An edit that fixes it, if there is an unambiguous one.
    pub fix: Option<Box<Fix>>,
}

impl Diagnostic {
    /// Creates a diagnostic about a whole file.
    ///
    /// ```
    /// use prowess_format::{Code, Diagnostic, Severity};
    ///
    /// let diagnostic = Diagnostic::new(Code::EmptyFile, Severity::Error, "the file is empty").help("write a skill");
    /// assert_eq!(diagnostic.to_string(), "error[SK006]: the file is empty");
    /// ```
    pub fn new(code: Code, severity: Severity, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), location: None, help: None, fix: None }
    }

    /// Creates an error about a whole file.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// Creates a warning about a whole file.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    /// Adds a help text.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a location.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// Adds an edit that fixes the problem.
    #[must_use]
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Box::new(Fix { span, text: text.into() }));
        self
    }

    /// Returns `true` if the diagnostic prevents the skill from loading.
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
        /// The kinds of diagnostics, each with a stable code. `docs/diagnostics.md` shows an example of each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// All codes, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// Returns the stable code, such as `SK001`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)+ }
            }

            /// Returns a one-sentence summary.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

codes! {
    /// The directory has no `SKILL.md`.
    MissingFile = "SK001";
    /// The file name is not exactly `SKILL.md`.
    FileName = "SK002";
    /// `SKILL.md` is not a regular file.
    NotAFile = "SK003";
    /// The file cannot be read.
    Unreadable = "SK004";
    /// The file is too large.
    TooLarge = "SK005";
    /// The file is empty.
    EmptyFile = "SK006";
    /// The file is not UTF-8.
    NotUtf8 = "SK007";
    /// The file contains NUL bytes.
    NulByte = "SK008";
    /// The file starts with a byte-order mark.
    ByteOrderMark = "SK009";
    /// The file changed while it was being read.
    Changing = "SK010";
    /// The file has no frontmatter.
    NoFrontmatter = "SK011";
    /// There is content before the frontmatter.
    BeforeFrontmatter = "SK012";
    /// The frontmatter is inside a code fence.
    FencedFrontmatter = "SK013";
    /// The frontmatter is not closed.
    UnclosedFrontmatter = "SK014";
    /// The frontmatter is larger than 64 KiB.
    LongFrontmatter = "SK015";
    /// The frontmatter is not valid YAML.
    InvalidYaml = "SK021";
    /// A value must be quoted.
    Repaired = "SK022";
    /// The YAML exceeds a limit.
    YamlLimit = "SK023";
    /// A key is duplicated.
    DuplicateKey = "SK024";
    /// The frontmatter is not a mapping.
    NotAMapping = "SK025";
    /// The name is missing.
    MissingName = "SK031";
    /// The name is not text.
    NameType = "SK032";
    /// The name is too long.
    NameLong = "SK033";
    /// The name contains invalid characters.
    NameForm = "SK034";
    /// The name could be mistaken for a path.
    NamePath = "SK035";
    /// The name does not match the directory.
    NameFolder = "SK036";
    /// A name or description contains hidden characters.
    HiddenText = "SK037";
    /// The description is missing.
    MissingDescription = "SK041";
    /// The description is not text.
    DescriptionType = "SK042";
    /// The description is too long.
    DescriptionLong = "SK043";
    /// The description does not say when to use the skill.
    DescriptionWhen = "SK044";
    /// A key is unknown.
    UnknownKey = "SK051";
    /// A field has the wrong type.
    FieldForm = "SK052";
    /// A text field has an invalid length.
    FieldLong = "SK053";
    /// A version does not have the form 1.2.3.
    VersionForm = "SK054";
    /// A trigger is invalid.
    TriggerForm = "SK055";
    /// A toolset does not have the form path:Export.
    ToolsetForm = "SK056";
    /// A trigger is an everyday word.
    TriggerEveryday = "SK057";
    /// The body contains hidden characters.
    HiddenBody = "SK061";
    /// The body is empty.
    EmptyBody = "SK062";
    /// The body refers to a missing file.
    MissingReference = "SK063";
    /// A toolset cannot be loaded.
    ToolsetLoad = "SK064";
    /// The body is longer than recommended.
    LongBody = "SK065";
    /// The body refers to a file outside the skill, or deeply nested in it.
    ReferenceForm = "SK066";
    /// The body contains a command or a file that is not inserted.
    InlineReference = "SK067";
    /// A skills directory is missing.
    RootMissing = "SK071";
    /// A directory cannot be read.
    DirectoryUnreadable = "SK072";
    /// The scan reached a limit.
    ScanBound = "SK073";
    /// A symlink points outside the known directories.
    LinkOutside = "SK074";
    /// A symlink is broken or points back to itself.
    LinkBroken = "SK075";
    /// A `SKILL.md` is directly in a skills directory.
    StrayFile = "SK076";
    /// There are too many skills.
    TooManySkills = "SK077";
    /// A skill server cannot be used.
    SourceProblem = "SK078";
    /// An entry of a skill server is invalid.
    SourceEntry = "SK079";
    /// Another skill with the same name is used instead.
    Shadowed = "SK081";
    /// A skill replaces a built-in one.
    ShadowsBundled = "SK082";
    /// Two names look alike.
    LookAlike = "SK083";
    /// A skill from a server has the name of another skill.
    SameName = "SK084";
    /// A configuration file cannot be read.
    ConfigUnreadable = "SK091";
    /// A configuration file has a syntax error.
    ConfigSyntax = "SK092";
    /// A configuration key is unknown.
    ConfigKey = "SK093";
    /// A configuration value is invalid.
    ConfigValue = "SK094";
    /// A project's configuration requests more than it may.
    ConfigWidens = "SK095";
    /// The trust state cannot be read.
    TrustState = "SK096";
    /// An agent does not load the skill.
    ClientRefuses = "SK101";
    /// An agent ignores a field.
    ClientIgnores = "SK102";
    /// An agent shows only a part of a text.
    ClientCuts = "SK103";
    /// An agent offers a skill that should be hidden from the model.
    ClientOffers = "SK104";
    /// `agents/openai.yaml` has an error.
    OpenAiYaml = "SK105";
    /// A manifest of a plugin is not valid JSON.
    PluginJson = "SK111";
    /// A plugin does not name a supported version of Agent Plugins.
    PluginSchema = "SK112";
    /// A field of a plugin or marketplace is missing or invalid.
    PluginField = "SK113";
    /// A field of a plugin is unknown.
    PluginUnknownField = "SK114";
    /// The name of a plugin is invalid.
    PluginName = "SK115";
    /// A path in a plugin is invalid.
    PluginPath = "SK116";
    /// A component of a plugin is not a file or directory.
    PluginComponent = "SK117";
    /// An MCP server of a plugin is invalid.
    PluginServer = "SK118";
    /// A plugin of a marketplace has an unsupported source.
    PluginSource = "SK119";
    /// A manifest of a plugin exceeds a limit.
    PluginLimit = "SK120";
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
