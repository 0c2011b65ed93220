//! Which runs a session consists of.

use std::time::Duration;

use prowess::digest;
use serde::Serialize;

use crate::agent::EvalAgent;
use crate::grading::JUDGE_PROMPT;
use crate::run_record::{RunSubject, Variant};
use crate::skill_under_test::{SkillUnderTest, SkillVersion};
use crate::suite::Expectation;

/// The version of the form and meaning of stored results.
const FORMAT: u32 = 1;

/// Which evaluations are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selection {
    /// Cases and messages.
    #[default]
    All,
    /// Only cases.
    Cases,
    /// Only messages.
    Triggers,
}

/// The options of a session.
#[derive(Debug, Clone)]
pub struct TestOptions {
    /// How often each case and message is run.
    pub runs: u32,
    /// How many runs are made at the same time.
    pub jobs: usize,
    /// The maximum time of a run.
    pub run_time: Duration,
    /// The maximum number of requests of a run.
    pub run_requests: u64,
    /// The maximum number of requests of a run about a message.
    pub trigger_requests: u64,
    /// The ids of the cases to run; all if empty.
    pub cases: Vec<String>,
    /// Which evaluations are run.
    pub selection: Selection,
    /// Whether cases are also run without the skill.
    pub baseline: bool,
    /// Whether scripts of the skill and of checks may run in the sandbox.
    pub allow_scripts: bool,
    /// The name of the model of the agent.
    pub model: String,
    /// The name of the model of the judge, if there is one.
    pub judge: Option<String>,
    /// Other skills that are offered in every run.
    pub neighbors: Vec<SkillVersion>,
}

/// A run that is planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedRun {
    /// What it is about.
    pub subject: RunSubject,
    /// Which version of the skill the agent has.
    pub variant: Variant,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The name, which is a valid file name.
    pub name: String,
    /// The key of the stored result: a digest of everything that influences it.
    pub key: String,
}

/// Plans the runs for a skill. Runs that are compared follow each other, so that an interrupted session has complete pairs.
pub fn plan(skill: &SkillUnderTest, agent: &dyn EvalAgent, options: &TestOptions) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    let mut variants = vec![Variant::WithSkill];
    variants.extend(options.baseline.then_some(Variant::WithoutSkill));
    variants.extend(skill.old_version.is_some().then_some(Variant::OldSkill));
    let settings = settings_text(agent, options);
    let mut add = |subject: RunSubject, text: &str, variant: Variant, repetition: u32| {
        let version = match variant {
            Variant::WithSkill => Some(&skill.version),
            Variant::OldSkill => skill.old_version.as_ref(),
            Variant::WithoutSkill => None,
        };
        let tree = version.map_or("none", |version| version.digest.as_str());
        // Lines of the skill are searched for in requests in every variant.
        let key =
            digest(format!("{settings}{tree}\n{}\n{text}\n{repetition}", skill.version.digest).as_bytes());
        let key = key.trim_start_matches("sha256:").to_owned();
        let label = match &subject {
            RunSubject::Case { id } => id.clone(),
            RunSubject::Trigger { index } => format!("trigger-{}", index + 1),
        };
        let name = format!("{}--{label}--{}--{repetition}", skill.name, variant.as_str());
        runs.push(PlannedRun { subject, variant, repetition, name, key });
    };
    if options.selection != Selection::Triggers {
        for case in &skill.suite.cases {
            if !options.cases.is_empty() && !options.cases.contains(&case.id) {
                continue;
            }
            let files: String =
                case.files.iter().map(|(path, bytes)| format!("{path:?} {}\n", digest(bytes))).collect();
            let text = format!("{:?}\n{files}{}", case.prompt, expectations_text(&case.expectations));
            for repetition in 1..=options.runs {
                for variant in &variants {
                    add(RunSubject::Case { id: case.id.clone() }, &text, *variant, repetition);
                }
            }
        }
    }
    if options.selection != Selection::Cases && options.cases.is_empty() {
        for (index, trigger) in skill.suite.triggers.iter().enumerate() {
            for repetition in 1..=options.runs {
                // The answer is not part of the key: it does not influence the run.
                let text = format!("{index} {:?}", trigger.query);
                for variant in variants.iter().filter(|variant| **variant != Variant::WithoutSkill) {
                    add(RunSubject::Trigger { index }, &text, *variant, repetition);
                }
            }
        }
    }
    runs
}

/// Returns the settings that influence results.
fn settings_text(agent: &dyn EvalAgent, options: &TestOptions) -> String {
    let TestOptions {
        run_time, run_requests, trigger_requests, allow_scripts, model, judge, neighbors, ..
    } = options;
    let neighbors: Vec<&str> = neighbors.iter().map(|version| version.digest.as_str()).collect();
    let judge_prompt = digest(JUDGE_PROMPT.as_bytes());
    format!(
        "{FORMAT}\n{}\n{run_time:?} {run_requests} {trigger_requests} {allow_scripts} {model:?} {judge:?} {judge_prompt} {neighbors:?}\n",
        agent.fingerprint()
    )
}

fn expectations_text(expectations: &[Expectation]) -> String {
    format!("{expectations:?}")
}

/// How much a plan can cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Estimate {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs whose results are stored already.
    pub cached: u64,
    /// The expected number of requests, with two requests for each run and one for each judgement.
    pub expected_requests: u64,
    /// The maximum number of requests.
    pub max_requests: u64,
    /// The expected number of tokens.
    pub expected_tokens: u64,
}

impl Estimate {
    /// Estimates the cost of the runs of a skill. `is_cached` returns `true` for runs with stored results.
    pub fn new(
        skill: &SkillUnderTest,
        runs: &[PlannedRun],
        options: &TestOptions,
        is_cached: impl Fn(&PlannedRun) -> bool,
    ) -> Self {
        let mut estimate = Self { runs: runs.len() as u64, ..Self::default() };
        let instructions = skill.version.body.len() as u64 / 4;
        for run in runs {
            if is_cached(run) {
                estimate.cached += 1;
                continue;
            }
            // The tools and the system prompt have about 1,500 tokens, a reply about 500.
            let base = 2_000;
            match &run.subject {
                RunSubject::Trigger { .. } => {
                    estimate.expected_requests += 1;
                    estimate.max_requests += options.trigger_requests;
                    estimate.expected_tokens += base;
                }
                RunSubject::Case { id } => {
                    let case = skill.suite.cases.iter().find(|case| case.id == *id);
                    let is_judged = options.judge.is_some()
                        && case.is_some_and(|case| {
                            case.expectations.iter().any(|e| matches!(e, Expectation::Judged(_)))
                        });
                    let loaded = if run.variant == Variant::WithoutSkill { 0 } else { instructions };
                    estimate.expected_requests += 2 + u64::from(is_judged);
                    estimate.max_requests += options.run_requests + u64::from(is_judged);
                    estimate.expected_tokens += 2 * (base + loaded) + if is_judged { 2 * base } else { 0 };
                }
            }
        }
        estimate
    }
}
