//! What must hold after a task: checks that a program decides, and texts that a judge decides.

use prowess::format::hidden::escape_for_display;
use regex::RegexBuilder;
use serde_json::Value;
use serde_json_path::JsonPath;

/// What must hold after a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Expectation {
    /// A judge decides.
    Judged(String),
    /// A program decides.
    Check(Check),
}

impl Expectation {
    /// Returns the text for reports.
    pub fn text(&self) -> &str {
        match self {
            Self::Judged(text) | Self::Check(Check { text, .. }) => text,
        }
    }
}

/// A check that a program decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What it checks, for reports.
    pub text: String,
    /// The check.
    pub kind: CheckKind,
}

/// Which text a check examines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextSource {
    /// The last message of the agent.
    Reply,
    /// All messages and tool calls.
    Transcript,
    /// A file of the workspace.
    File(String),
}

/// A check.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckKind {
    /// A file exists, or does not.
    Exists {
        /// The path in the workspace; `*` and `**` match several files.
        path: String,
        /// Whether it should exist.
        expected: bool,
    },
    /// A text contains another, regardless of case.
    Contains {
        /// The text that is searched.
        source: TextSource,
        /// The text that is searched for.
        text: String,
        /// Whether it should be contained.
        expected: bool,
    },
    /// A text matches a regular expression.
    Matches {
        /// The text that is searched.
        source: TextSource,
        /// The regular expression.
        pattern: String,
        /// Whether it should match.
        expected: bool,
    },
    /// A JSONPath selects a value.
    Json {
        /// The JSON text.
        source: TextSource,
        /// The JSONPath.
        query: String,
        /// The value that one of the selected values must equal; without it, something must be selected.
        equals: Option<Value>,
    },
    /// A tool was called so often.
    ToolCalls {
        /// The name of the tool.
        tool: String,
        /// The minimum number of calls.
        min: u64,
        /// The maximum number of calls.
        max: Option<u64>,
    },
    /// A script of the skill succeeds in the sandbox, with the workspace as its current directory and the reply as its input.
    Script {
        /// The path in the skill.
        path: String,
        /// The arguments.
        args: Vec<String>,
    },
    /// A shell command succeeds in the sandbox, with the workspace as its current directory and the reply as its input.
    Command {
        /// The command.
        command: String,
        /// The expected exit code.
        exit_code: i64,
        /// What standard output must contain.
        output: Option<String>,
    },
}

/// Parses an entry of a list of expectations. Fails with a note if the kind is unknown.
pub(super) fn parse_expectation(entry: &Value) -> Result<Expectation, String> {
    if let Some(text) = entry.as_str() {
        return Ok(Expectation::Judged(text.to_owned()));
    }
    let field = |key: &str| entry.get(key).and_then(Value::as_str);
    let title = |keys: &[&str]| keys.iter().find_map(|key| field(key)).map(str::to_owned);
    let Some(kind) = field("type") else {
        let text = ["description", "check", "text", "assertion", "name"].iter().find_map(|key| field(key));
        return text
            .map(|text| Expectation::Judged(text.to_owned()))
            .ok_or_else(|| "an expectation is neither a text nor has a description".to_owned());
    };
    let required = |key: &str| {
        field(key)
            .map(str::to_owned)
            .ok_or_else(|| format!("an expectation of type {} has no {key}", escape_for_display(kind)))
    };
    let source = || match field("path") {
        Some(path) => TextSource::File(path.to_owned()),
        None if field("source") == Some("transcript") => TextSource::Transcript,
        None => TextSource::Reply,
    };
    let pattern = |prefix: &str| {
        let pattern = format!("{prefix}{}", required("pattern")?);
        compile(&pattern).map(|_| pattern)
    };
    let value = || required("value").or_else(|_| required("text"));
    let tool = || required("tool").or_else(|_| required("name"));
    let kind = match kind {
        "exists" | "file_exists" => CheckKind::Exists { path: required("path")?, expected: true },
        "absent" | "file_absent" => CheckKind::Exists { path: required("path")?, expected: false },
        "contains" => CheckKind::Contains { source: source(), text: value()?, expected: true },
        "not_contains" => CheckKind::Contains { source: source(), text: value()?, expected: false },
        "matches" | "regex" => CheckKind::Matches { source: source(), pattern: pattern("")?, expected: true },
        "not_matches" | "not_regex" => {
            CheckKind::Matches { source: source(), pattern: pattern("")?, expected: false }
        }
        "transcript_check" => {
            CheckKind::Matches { source: TextSource::Transcript, pattern: pattern("")?, expected: true }
        }
        "json" => {
            let query = required("query")?;
            JsonPath::parse(&query).map_err(|error| format!("{query:?} is not a JSONPath: {error}"))?;
            CheckKind::Json { source: source(), query, equals: entry.get("equals").cloned() }
        }
        "tool_call" | "tool-called" | "tool-call-count" => {
            let count = |key: &str| entry.get(key).and_then(Value::as_u64);
            CheckKind::ToolCalls { tool: tool()?, min: count("min").unwrap_or(1), max: count("max") }
        }
        "tool-not-called" => CheckKind::ToolCalls { tool: tool()?, min: 0, max: Some(0) },
        "script" => {
            let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
            CheckKind::Script {
                path: required("path").or_else(|_| required("run"))?,
                args: args.filter_map(Value::as_str).map(str::to_owned).collect(),
            }
        }
        "command" | "command_check" => CheckKind::Command {
            command: required("run").or_else(|_| required("command"))?,
            exit_code: ["expect_exit", "expect_exit_code"]
                .iter()
                .find_map(|key| entry.get(*key)?.as_i64())
                .unwrap_or_default(),
            output: field("expect_stdout").map(str::to_owned),
        },
        "llm" | "llm_judge" => {
            let text = title(&["text", "rubric", "description", "name"]);
            return text
                .map(Expectation::Judged)
                .ok_or_else(|| "an expectation for a judge has no text".to_owned());
        }
        other => return Err(format!("expectations of type {} are not supported", escape_for_display(other))),
    };
    let text = title(&["description"]).unwrap_or_else(|| describe(&kind));
    Ok(Expectation::Check(Check { text, kind }))
}

/// Compiles a regular expression with limits.
pub(crate) fn compile(pattern: &str) -> Result<regex::Regex, String> {
    RegexBuilder::new(pattern)
        .multi_line(true)
        .size_limit(1024 * 1024)
        .build()
        .map_err(|error| format!("{pattern:?} is not a regular expression: {error}"))
}

/// Describes a check that has no description.
fn describe(kind: &CheckKind) -> String {
    let subject = |source: &TextSource| match source {
        TextSource::Reply => "the reply".to_owned(),
        TextSource::Transcript => "the transcript".to_owned(),
        TextSource::File(path) => path.clone(),
    };
    match kind {
        CheckKind::Exists { path, expected: true } => format!("{path} exists"),
        CheckKind::Exists { path, expected: false } => format!("{path} does not exist"),
        CheckKind::Contains { source, text, expected: true } => {
            format!("{} contains {text:?}", subject(source))
        }
        CheckKind::Contains { source, text, .. } => format!("{} does not contain {text:?}", subject(source)),
        CheckKind::Matches { source, pattern, expected: true } => {
            format!("{} matches /{pattern}/", subject(source))
        }
        CheckKind::Matches { source, pattern, .. } => {
            format!("{} does not match /{pattern}/", subject(source))
        }
        CheckKind::Json { source, query, equals: Some(value) } => {
            format!("{query} in {} is {value}", subject(source))
        }
        CheckKind::Json { source, query, equals: None } => format!("{} has {query}", subject(source)),
        CheckKind::ToolCalls { tool, min, max } => match (min, max) {
            (0, Some(0)) => format!("{tool} is not called"),
            (min, Some(max)) => format!("{tool} is called {min} to {max} times"),
            (min, None) => format!("{tool} is called at least {min} times"),
        },
        CheckKind::Script { path, .. } => format!("{path} succeeds"),
        CheckKind::Command { command, .. } => format!("`{command}` succeeds"),
    }
}
