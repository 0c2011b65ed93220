//! Servers that skills are taken from.

/// A server of the Model Context Protocol that skills are taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSource {
    /// What the user calls it. Its skills are called `LABEL/NAME`.
    pub label: String,
    /// How it is reached.
    pub reach: Reach,
    /// How long one answer may take, in milliseconds.
    pub timeout_ms: u32,
    /// Whether it is asked at all.
    pub enabled: bool,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// It is started, and spoken to over its standard input and output.
    Command {
        /// The program: a name on `PATH`, or an absolute path.
        program: String,
        /// What it is started with.
        args: Vec<String>,
        /// The names of variables that it is given besides `PATH`, `HOME`, `LANG` and `TMPDIR`.
        env: Vec<String>,
    },
    /// It is somewhere on the network.
    Url {
        /// Where.
        url: String,
        /// The name of the variable that holds its token.
        token_env: Option<String>,
    },
}

impl McpSource {
    /// The longest label, in characters.
    pub const LABEL_MAX: usize = 32;

    /// How long one answer may take where nobody says otherwise.
    pub const TIMEOUT_MS: u32 = 10_000;

    /// Whether a text can be a label: lower-case letters, digits and hyphens, beginning with a letter.
    ///
    /// ```
    /// use prowess_config::McpSource;
    ///
    /// assert!(McpSource::is_label("docs-2"));
    /// assert!(!McpSource::is_label("Docs") && !McpSource::is_label("a/b") && !McpSource::is_label(""));
    /// ```
    pub fn is_label(text: &str) -> bool {
        text.len() <= Self::LABEL_MAX
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    }
}
