//! The arguments of `prowess check` and `prowess audit`.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use prowess_config::IgnoredCode;
use prowess_format::Severity;
use prowess_format::dialects::Client;
use prowess_format::suggest::nearest;
use prowess_package::audit::{FindingSeverity, rules};

// The arguments of `prowess check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 no errors, 1 errors, 2 usage or environment error")]
pub(crate) struct CheckArgs {
    /// Skill directories, SKILL.md files, or directories to search; `-` reads a SKILL.md from standard input
    /// [default: the project]
    pub(crate) paths: Vec<PathBuf>,
    /// Enforce the Agent Skills specification
    #[arg(long)]
    pub(crate) strict: bool,
    /// Also report what this agent ignores, cuts or refuses; may be repeated
    #[arg(long = "agent", value_name = "NAME", value_parser = client_parser(), hide_possible_values = true)]
    pub(crate) agents: Vec<Client>,
    /// Apply the fixes that diagnostics suggest; with `-`, print the fixed file
    #[arg(long)]
    pub(crate) fix: bool,
    /// Show the fixes as a unified diff, and write nothing; the exit code is 1 if there are any
    #[arg(long)]
    pub(crate) diff: bool,
    /// Do not report this code, or with GLOB:CODE, not in these files; may be repeated
    #[arg(long, value_name = "CODE")]
    pub(crate) ignore: Vec<IgnoredCode>,
    /// Fail on warnings, too
    #[arg(
        long,
        value_enum,
        value_name = "warnings",
        hide_possible_values = true,
        conflicts_with = "fail_on"
    )]
    pub(crate) deny: Option<Denied>,
    /// Fail on diagnostics of this severity or worse [default: error]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<DiagnosticThreshold>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

// The arguments of `prowess audit`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The audit finds only what its rules describe. A clean result does not mean that a skill is safe.\n\n\
    Exit codes: 0 no high or critical findings, 1 high or critical findings, 2 usage or environment error"
)]
pub(crate) struct AuditArgs {
    /// Skill directories, SKILL.md files, directories to search, or skill names [default: all skills]
    #[arg(value_name = "PATH|NAME")]
    pub(crate) targets: Vec<String>,
    /// Suppress the findings of this rule; may be repeated
    #[arg(long, value_name = "CODE", value_parser = parse_rule)]
    pub(crate) ignore: Vec<&'static str>,
    /// Fail on medium findings, too
    #[arg(
        long,
        value_enum,
        value_name = "warnings",
        hide_possible_values = true,
        conflicts_with = "fail_on"
    )]
    pub(crate) deny: Option<Denied>,
    /// Fail on findings of this severity or worse [default: high]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FindingThreshold>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
    /// List the audit rules
    #[arg(long, conflicts_with_all = ["targets", "ignore", "deny", "fail_on", "baseline", "write_baseline"])]
    pub(crate) rules: bool,
}

// The options for problems that are known.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct BaselineArgs {
    /// Report only what is not in this file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,
    /// Write what is found to the file of --baseline instead of reporting it
    #[arg(long, visible_alias = "update-baseline", requires = "baseline")]
    pub(crate) write_baseline: bool,
}

/// What `--deny` treats as a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Denied {
    /// Warnings.
    Warnings,
}

/// The severity of a diagnostic from which on a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiagnosticThreshold {
    Info,
    Warning,
    Error,
}

/// The severity of a finding from which on an audit fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingThreshold {
    Low,
    Medium,
    High,
    Critical,
}

/// The output format of a check or an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Human-readable text.
    Human,
    /// JSON.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// GitHub workflow annotations.
    Github,
    /// JUnit XML.
    Junit,
}

impl ReportFormat {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Sarif => "sarif",
            Self::Github => "github",
            Self::Junit => "junit",
        }
    }
}

impl CheckArgs {
    /// Returns the least severity that makes the check fail.
    pub(crate) fn threshold(&self) -> Severity {
        match (self.deny, self.fail_on) {
            (Some(Denied::Warnings), _) | (None, Some(DiagnosticThreshold::Warning)) => Severity::Warning,
            (None, Some(DiagnosticThreshold::Info)) => Severity::Info,
            (None, Some(DiagnosticThreshold::Error) | None) => Severity::Error,
        }
    }
}

impl AuditArgs {
    /// Returns the least severity that makes the audit fail.
    pub(crate) fn threshold(&self) -> FindingSeverity {
        match (self.deny, self.fail_on) {
            (Some(Denied::Warnings), _) | (None, Some(FindingThreshold::Medium)) => FindingSeverity::Medium,
            (None, Some(FindingThreshold::Low)) => FindingSeverity::Low,
            (None, Some(FindingThreshold::High) | None) => FindingSeverity::High,
            (None, Some(FindingThreshold::Critical)) => FindingSeverity::Critical,
        }
    }
}

/// Parses the name of a client. Shells complete the names, and an unknown name gets a suggestion.
pub(super) fn client_parser() -> impl TypedValueParser<Value = Client> {
    let value = |client: Client| {
        PossibleValue::new(client.as_str()).aliases(client.aliases().iter().copied()).help(client.title())
    };
    PossibleValuesParser::new(Client::ALL.map(value)).try_map(|name| name.parse::<Client>())
}

fn parse_rule(text: &str) -> Result<&'static str, String> {
    match rules().find(|rule| rule.id.eq_ignore_ascii_case(text)) {
        Some(rule) => Ok(rule.id),
        None => {
            let suggestion = nearest(text, rules().map(|rule| rule.id));
            let suggestion = suggestion.map(|id| format!("; did you mean {id}?")).unwrap_or_default();
            Err(format!("unknown rule{suggestion}"))
        }
    }
}
