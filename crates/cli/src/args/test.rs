//! The arguments of `prowess test`.

use std::path::PathBuf;

use clap::ValueEnum;

// The arguments of `prowess test`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Evaluations are in evals/evals.json of a skill; lists of messages that should or should not load it are in other JSON files there.
Without --agent, the chat loop of Prowess does the tasks with the configured model.

Exit codes: 0 all cases and messages passed, 1 some did not, or a limit was reached, 2 usage or environment error")]
pub(crate) struct TestArgs {
    /// Skill names or directories [default: all skills of the project with evaluations]
    #[arg(value_name = "SKILL")]
    pub(crate) skills: Vec<String>,
    /// How often each case and message is run
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) runs: u32,
    /// Run only this case; may be repeated
    #[arg(long = "case", value_name = "ID")]
    pub(crate) cases: Vec<String>,
    /// Run only cases, only messages, or only routing without a model
    #[arg(long, value_enum, value_name = "PART")]
    pub(crate) only: Option<TestPart>,
    /// Also compare with another version: a skill directory, or a commit of the repository
    #[arg(long, value_name = "REF")]
    pub(crate) against: Option<String>,
    /// Do not run cases without the skill
    #[arg(long)]
    pub(crate) no_baseline: bool,
    /// Also offer the other skills that are available here
    #[arg(long)]
    pub(crate) with_installed: bool,
    /// Agent that does the tasks, in the sandbox [default: the chat loop of Prowess]
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) agent: Option<TestAgent>,
    /// Command of another agent; {prompt}, {model} and {base_url} are replaced
    #[arg(long, value_name = "COMMAND", conflicts_with = "agent")]
    pub(crate) agent_command: Option<String>,
    /// The command speaks the Agent Client Protocol
    #[arg(long, requires = "agent_command")]
    pub(crate) acp: bool,
    /// Variable for the agent, as NAME=VALUE; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub(crate) agent_env: Vec<(String, String)>,
    /// File or directory that the agent may read; may be repeated
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub(crate) agent_read: Vec<PathBuf>,
    /// Model of the agent [default: chat.model]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Model that grades expectations in words [default: test.judge-model]
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge: Option<String>,
    /// Allow scripts of the skill and of its checks to run in the sandbox
    #[arg(long)]
    pub(crate) allow_scripts: bool,
    /// Show what would be run and what it may cost, without asking a model
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Repeat runs whose results are stored
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Maximum number of requests [default: test.max-requests]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_requests: Option<u64>,
    /// Maximum number of tokens [default: test.max-tokens]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_tokens: Option<u64>,
    /// Maximum cost in dollars; needs test.prices [default: test.max-cents]
    #[arg(long, value_name = "DOLLARS", help_heading = "Limits", value_parser = parse_dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Maximum time in seconds [default: test.max-time-ms]
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    pub(crate) max_time: Option<u64>,
    /// Maximum time of one run in seconds [default: test.run-timeout-ms]
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    pub(crate) timeout: Option<u64>,
    /// Number of runs at the same time [default: test.jobs]
    #[arg(long, short, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) jobs: Option<u64>,
    /// Store the traffic with the provider in DIR
    #[arg(long, value_name = "DIR", conflicts_with = "replay", value_hint = clap::ValueHint::DirPath)]
    pub(crate) record: Option<PathBuf>,
    /// Answer requests from the traffic in DIR; nothing is sent
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) replay: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<TestFormat>,
    /// Directory for reports [default: in the user's state]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}

/// A known agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestAgent {
    /// The chat loop of Prowess.
    Chat,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// opencode.
    Opencode,
    /// opencode, with the Agent Client Protocol.
    OpencodeAcp,
}

/// A part of the evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestPart {
    /// Cases.
    Cases,
    /// Messages that should or should not load the skill.
    Triggers,
    /// Messages, ranked by Prowess without a model.
    Routing,
}

/// The output format of `prowess test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// Tables.
    Human,
    /// JSON.
    Json,
    /// Markdown.
    Markdown,
    /// JUnit XML.
    Junit,
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("not of the form NAME=VALUE".to_owned()),
    }
}

fn parse_dollars(text: &str) -> Result<f64, String> {
    let amount: f64 = text.trim_start_matches('$').parse().map_err(|_| "not an amount".to_owned())?;
    match amount.is_finite() && amount >= 0.0 {
        true => Ok(amount),
        false => Err("not an amount".to_owned()),
    }
}
