//! MCP servers that provide skills.

/// An MCP server that provides skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSource {
    /// The user's label. Names of its skills are `LABEL/NAME`.
    pub label: String,
    /// How to connect to it.
    pub transport: McpTransport,
    /// The timeout of a request, in milliseconds.
    pub timeout_ms: u32,
    /// Whether it is used.
    pub enabled: bool,
}

/// How to connect to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// Start a program and use its standard input and output.
    Command {
        /// The program: a name in `PATH`, or an absolute path.
        program: String,
        /// The arguments.
        args: Vec<String>,
        /// The names of environment variables that are passed in addition to `PATH`, `HOME`, `LANG` and
        /// `TMPDIR`.
        env: Vec<String>,
    },
    /// Connect over HTTP.
    Url {
        /// The URL.
        url: String,
        /// The environment variable that holds the token.
        token_env: Option<String>,
    },
}

impl McpSource {
    /// The maximum length of a label, in characters.
    pub const LABEL_MAX: usize = 32;

    /// The default timeout of a request, in milliseconds.
    pub const DEFAULT_TIMEOUT_MS: u32 = 10_000;

    /// Returns `true` for a valid label: lower-case letters, digits and hyphens, beginning with a letter.
    ///
    /// ```
    /// use prowess_config::McpSource;
    ///
    /// assert!(McpSource::is_valid_label("docs-2"));
    /// assert!(!McpSource::is_valid_label("Docs") && !McpSource::is_valid_label("a/b") && !McpSource::is_valid_label(""));
    /// ```
    pub fn is_valid_label(text: &str) -> bool {
        text.len() <= Self::LABEL_MAX
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    }
}
