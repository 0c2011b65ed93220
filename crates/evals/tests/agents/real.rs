//! Real agents with a scripted model. They run only if `PROWESS_EVAL_AGENTS` is the directory in which they are installed;
//! the step `eval-agents` of `scripts/test` sets it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use prowess_evals::agent::{
    AcpAgent, AgentEnd, AgentOutcome, AgentPreset, AgentTask, CommandAgent, EvalAgent, GatewayAddress,
    ProgramSettings, StagedSkill, TranscriptEntry,
};
use prowess_sandbox::{Protection, SandboxTier};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::support::{Programs, outputs, wait};

const VARIABLE: &str = "PROWESS_EVAL_AGENTS";
const BODY: &str = "PROWESS_EVAL_MARKER_51C0";
const SKILL_MD: &str = "---
name: invoice-totals
description: Adds up the totals of invoices in a folder and reports the sum of each customer. Use for invoices.
---

# Invoice totals

PROWESS_EVAL_MARKER_51C0
";

/// Returns the tests, if real agents are installed.
pub(crate) fn tests() -> Vec<(&'static str, fn())> {
    if std::env::var_os(VARIABLE).is_none() {
        return Vec::new();
    }
    vec![
        ("real::claude", || wait(check_command(AgentPreset::Claude))),
        ("real::codex", || wait(check_command(AgentPreset::Codex))),
        ("real::opencode", || wait(check_command(AgentPreset::Opencode))),
        ("real::opencode_over_acp", || wait(check_acp(AgentPreset::Opencode))),
    ]
}

async fn check_command(preset: AgentPreset) {
    let programs = Programs::new();
    for tier in [SandboxTier::Tier1, SandboxTier::Tier2] {
        let agent = CommandAgent::preset_at(preset, &program(preset), settings(&programs, tier)).unwrap();
        check(&agent).await;
    }
}

/// Only in tier 1, because opencode listens on a port for its own messages.
async fn check_acp(preset: AgentPreset) {
    let programs = Programs::new();
    let settings = settings(&programs, SandboxTier::Tier1);
    let agent = AcpAgent::preset_at(preset, &program(preset), settings).unwrap();
    check(&agent).await;
}

fn program(preset: AgentPreset) -> String {
    let dir = PathBuf::from(std::env::var_os(VARIABLE).unwrap());
    dir.join("node_modules/.bin").join(preset.as_str()).display().to_string()
}

fn settings(programs: &Programs, tier: SandboxTier) -> ProgramSettings {
    // A skill without other files needs no real ripgrep.
    programs.add("rg", "#!/bin/sh\n");
    let mut settings = programs.settings();
    settings.protection = Protection::Only(tier);
    settings.host.path =
        [settings.host.path, std::env::var_os("PATH").unwrap_or_default()].join(":".as_ref());
    settings
}

/// The agent finds the skill, loads it when the model asks for it, and writes a file.
async fn check(agent: &dyn EvalAgent) {
    let model = ScriptedModel::start();
    let gateway =
        GatewayAddress { port: model.port, token: "t0ken".into(), model: "claude-sonnet-4-5".into() };
    let files = vec![("SKILL.md".to_owned(), SKILL_MD.as_bytes().to_vec(), false)];
    let skills = [StagedSkill { name: "invoice-totals".into(), files }];
    let task = AgentTask {
        prompt: "- Please add up the invoices in this folder.",
        files: Vec::new(),
        skills: &skills,
        gateway: &gateway,
        time: Duration::from_secs(120),
        cancel: CancellationToken::new(),
    };
    let outcome = agent.run(task).await;
    let recorded = model.stop();
    let shown = format!("{outcome:#?}\n{:?}", recorded.unknown);
    assert_eq!(
        (&outcome.end, outcome.reply.as_str()),
        (&AgentEnd::Finished, "Everything is done."),
        "{shown}"
    );
    assert_eq!(outputs(&outcome), ["out.txt: written by the agent"], "{shown}");
    check_requests(&recorded, &shown);
    check_transcript(&outcome, &shown);
}

fn check_requests(recorded: &Recorded, shown: &str) {
    assert_eq!(recorded.unknown, Vec::<String>::new(), "{shown}");
    assert!(recorded.requests.iter().all(|request| request.path.starts_with("/t0ken/v1/")), "{shown}");
    let turns: Vec<_> = recorded.requests.iter().filter(|request| request.tools > 0).collect();
    assert!(turns[0].text.contains("add up the invoices in this folder"), "{shown}");
    assert!(turns[0].text.contains("invoice-totals"), "the skill is not offered: {shown}");
    assert!(!turns[0].text.contains(BODY), "the body was sent before it was requested");
    assert!(turns[1].text.contains(BODY), "the skill was not loaded: {shown}");
}

fn check_transcript(outcome: &AgentOutcome, shown: &str) {
    let is_call = |entry: &&TranscriptEntry| matches!(entry, TranscriptEntry::ToolCall { failed: false, .. });
    assert_eq!(outcome.transcript.iter().filter(is_call).count(), 2, "{shown}");
}

#[derive(Deserialize)]
struct Recorded {
    requests: Vec<RecordedRequest>,
    unknown: Vec<String>,
}

#[derive(Deserialize)]
struct RecordedRequest {
    path: String,
    text: String,
    tools: usize,
}

struct ScriptedModel {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    port: u16,
}

impl ScriptedModel {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp/agents/eval-model.mjs");
        let mut process =
            Command::new("node").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut port = String::new();
        output.read_line(&mut port).unwrap();
        Self { process, output, port: port.trim().parse().unwrap() }
    }

    fn stop(mut self) -> Recorded {
        drop(self.process.stdin.take());
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        self.process.wait().unwrap();
        serde_json::from_str(&text).unwrap()
    }
}
