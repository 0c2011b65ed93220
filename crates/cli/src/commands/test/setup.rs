//! The agent, the limits and the gateway of a test.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prowess_chat::provider::ProviderEndpoint;
use prowess_config::{ChatProvider, ChatSettings};
use prowess_evals::agent::{
    AcpAgent, AgentPreset, AgentSetupError, ChatAgent, CommandAgent, EvalAgent, ProgramSettings,
};
use prowess_evals::budget::{Budget, Caps, PriceTable, RequestUsage};
use prowess_evals::gateway::{Gateway, RequestMatching, Traffic};
use prowess_evals::grading::Judge;
use prowess_evals::plan::{Selection, TestOptions};
use prowess_evals::report::{ReportInfo, check_report_dir};
use prowess_evals::{ResultStore, TestPaths};
use serde_json::{Value, json};

use super::skills;
use crate::args::{TestAgent, TestArgs, TestPart};
use crate::commands::chat::split_words;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::clean_path;

/// Everything that is decided before a test starts.
pub(super) struct TestSetup {
    pub(super) agent: Arc<dyn EvalAgent>,
    agent_name: String,
    pub(super) judge: Option<Judge>,
    pub(super) options: TestOptions,
    pub(super) caps: Caps,
    pub(super) prices: PriceTable,
    pub(super) paths: Option<TestPaths>,
    pub(super) results: Option<ResultStore>,
    pub(super) matching: RequestMatching,
    traffic: Traffic,
    provider: Option<ProviderEndpoint>,
    output_tokens: u64,
}

/// What all skills of a test share.
pub(super) struct SharedSession {
    pub(super) gateway: Arc<Gateway>,
    pub(super) budget: Arc<Budget>,
}

impl TestSetup {
    pub(super) fn new(context: &CommandContext, args: &TestArgs) -> Result<Self, Failure> {
        let (chat, test) = (&context.configuration.chat, &context.configuration.test);
        let is_replay = args.replay.is_some();
        let chat = model_settings(chat, args, is_replay)?;
        let prices = PriceTable::parse(test.prices.iter().map(String::as_str))
            .map_err(|error| Failure::usage(format!("test.prices: {error}")))?;
        let caps = Caps {
            requests: args.max_requests.unwrap_or(test.max_requests),
            tokens: args.max_tokens.unwrap_or(test.max_tokens),
            cost: args.max_cost.or(test.max_cents.map(|cents| f64::from(cents) / 100.0)),
            time: args.max_time.map_or(test.max_time, Duration::from_secs),
        };
        let model = chat.model.clone().unwrap_or_default();
        let judge = args.judge.clone().or_else(|| test.judge_model.clone());
        if caps.cost.is_some() && !is_replay {
            for model in std::iter::once(&model).chain(&judge) {
                if prices.get(model).is_none() {
                    return Err(unknown_price(model, &test.prices));
                }
            }
        }
        let provider = match is_replay {
            true => None,
            false => ProviderEndpoint::resolve(&chat, |name| std::env::var_os(name))
                .map_err(|error| Failure::new(error.code(), error.to_string()))?,
        };
        let (agent, agent_name) = agent(context, args, &chat)?;
        let traffic = match (&args.record, &args.replay) {
            (Some(dir), _) => Traffic::Record(std::path::absolute(dir)?),
            (None, Some(dir)) if !dir.is_dir() => {
                return Err(Failure::missing_path(format!("there is no directory {}", clean_path(dir)))
                    .hint("record traffic first: prowess test --record DIR"));
            }
            (None, Some(dir)) => Traffic::Replay(std::path::absolute(dir)?),
            (None, None) => Traffic::Live,
        };
        if !args.dry_run {
            // Before anything is paid for.
            for dir in args.out.iter().chain(&args.record) {
                check_report_dir(&std::path::absolute(dir)?).map_err(|error| {
                    Failure::missing_path(format!("cannot write to {}: {error}", clean_path(dir)))
                        .hint("choose another directory, or make it writable")
                })?;
            }
        }
        let paths = context.host_env.state_dir().map(|state| TestPaths::new(&state));
        // Recorded traffic is complete only if no result is taken from elsewhere.
        let results = match traffic {
            Traffic::Live => paths.as_ref().map(|paths| ResultStore::new(paths.results())),
            Traffic::Record(_) | Traffic::Replay(_) => None,
        };
        let neighbors = if args.with_installed { skills::neighbors(context)? } else { Vec::new() };
        let options = TestOptions {
            runs: args.runs,
            jobs: usize::try_from(args.jobs.unwrap_or(test.jobs)).unwrap_or(1),
            run_time: args.timeout.map_or(test.run_timeout, Duration::from_secs),
            run_requests: u64::from(chat.limits.steps) + u64::from(chat.limits.retries),
            trigger_requests: 4,
            cases: args.cases.clone(),
            selection: match args.only {
                Some(TestPart::Cases) => Selection::Cases,
                Some(TestPart::Triggers) => Selection::Triggers,
                Some(TestPart::Routing) | None => Selection::All,
            },
            baseline: !args.no_baseline,
            allow_scripts: args.allow_scripts,
            model,
            judge: judge.clone(),
            neighbors,
        };
        Ok(Self {
            agent,
            judge: judge.map(|judge| Judge::new(chat.clone(), judge)),
            options,
            caps,
            prices,
            paths,
            results,
            // Requests of other agents contain times and random values.
            matching: if agent_name == CHAT { RequestMatching::Exact } else { RequestMatching::Order },
            agent_name,
            traffic,
            provider,
            output_tokens: u64::from(chat.limits.output_tokens),
        })
    }

    /// Starts the gateway.
    pub(super) async fn start(&self, spending: Option<PathBuf>) -> Result<SharedSession, Failure> {
        let budget = Budget::open(self.caps, self.prices.clone(), spending)
            .map_err(|error| Failure::new(ErrorCode::ExecutionError, error.to_string()))?;
        let budget = Arc::new(budget);
        let gateway = Gateway::start(
            self.provider.clone(),
            Arc::clone(&budget),
            self.traffic.clone(),
            self.output_tokens,
        )
        .await
        .map_err(|error| Failure::new(ErrorCode::ExecutionError, error.to_string()))?;
        Ok(SharedSession { gateway: Arc::new(gateway), budget })
    }

    /// Returns how a report is made.
    pub(super) fn info(&self, args: &TestArgs) -> ReportInfo {
        ReportInfo {
            agent: self.agent_name.clone(),
            model: self.options.model.clone(),
            judge: self.options.judge.clone(),
            timestamp: prowess_package::format_iso_time(
                u64::try_from(prowess_fs::unix_now()).unwrap_or_default(),
            ),
            runs: self.options.runs,
            against: args.against.clone(),
            stopped: None,
        }
    }

    /// Returns the expected cost of a number of tokens, most of them input, if the price is known.
    pub(super) fn estimated_cost(&self, tokens: u64) -> Option<f64> {
        let budget = Budget::open(self.caps, self.prices.clone(), None).ok()?;
        let usage = RequestUsage { input: tokens * 4 / 5, output: tokens / 5, ..RequestUsage::default() };
        budget.cost(&self.options.model, usage)
    }

    pub(super) fn limits_json(&self) -> Value {
        json!({
            "requests": self.caps.requests,
            "tokens": self.caps.tokens,
            "cost": self.caps.cost,
            "seconds": self.caps.time.as_secs(),
        })
    }
}

/// Returns the failure for a model without a price. The command keeps the other prices.
fn unknown_price(model: &str, prices: &[String]) -> Failure {
    let entry = format!("{model}=INPUT/OUTPUT");
    let value = match prices.is_empty() {
        true => entry,
        false => json!(prices.iter().chain([&entry]).collect::<Vec<_>>()).to_string(),
    };
    let value = prowess::shell::quote(&value);
    Failure::usage(format!("the cost is limited, but the price of {model} is unknown"))
        .hint(format!("add it in dollars per million tokens: prowess config set test.prices {value}"))
}

/// The name of the chat loop in reports.
const CHAT: &str = "prowess chat";

/// Returns the agent and its name.
fn agent(
    context: &CommandContext,
    args: &TestArgs,
    chat: &ChatSettings,
) -> Result<(Arc<dyn EvalAgent>, String), Failure> {
    let failed = |error: AgentSetupError| Failure::new(ErrorCode::ExecutionError, error.to_string());
    let mut settings = ProgramSettings::new(context.host_env.clone());
    settings.environment.clone_from(&args.agent_env);
    for path in &args.agent_read {
        if !path.exists() {
            return Err(Failure::missing_path(format!("{} does not exist", clean_path(path))));
        }
        settings.readable.push(std::path::absolute(path)?);
    }
    if let Some(command) = &args.agent_command {
        let words = split_words(command);
        let agent: Arc<dyn EvalAgent> = match args.acp {
            true => Arc::new(AcpAgent::custom(&words, settings).map_err(failed)?),
            false => Arc::new(CommandAgent::custom(&words, settings).map_err(failed)?),
        };
        return Ok((agent, words.first().cloned().unwrap_or_default()));
    }
    let preset = match args.agent.unwrap_or(TestAgent::Chat) {
        TestAgent::Chat => {
            let agent = ChatAgent::new(chat.clone(), context.policy(), args.allow_scripts);
            return Ok((Arc::new(agent), CHAT.to_owned()));
        }
        TestAgent::OpencodeAcp => {
            let agent = AcpAgent::preset_at(AgentPreset::Opencode, "opencode", settings).map_err(failed)?;
            return Ok((Arc::new(agent), "opencode (ACP)".to_owned()));
        }
        TestAgent::Claude => AgentPreset::Claude,
        TestAgent::Codex => AgentPreset::Codex,
        TestAgent::Opencode => AgentPreset::Opencode,
    };
    let agent = CommandAgent::preset(preset, settings).map_err(failed)?;
    Ok((Arc::new(agent), format!("{preset:?}").to_lowercase()))
}

/// Returns the settings of the model, or explains how to configure one.
fn model_settings(chat: &ChatSettings, args: &TestArgs, is_replay: bool) -> Result<ChatSettings, Failure> {
    let mut chat = chat.clone();
    if let Some(model) = &args.model {
        chat.model = Some(model.clone());
    }
    if chat.provider == ChatProvider::Rehearsal {
        let hint =
            "set chat.provider, chat.model and chat.key-env; `prowess test --only routing` needs no model";
        return Err(Failure::usage("no model is configured").hint(hint));
    }
    if chat.model.is_none() && !is_replay {
        return Err(Failure::usage("chat.model is not set").hint("pass --model, or set chat.model"));
    }
    Ok(chat)
}
