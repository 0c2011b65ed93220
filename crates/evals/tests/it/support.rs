//! A skill with evaluations, and sessions with a scripted model.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prowess::{HostEnv, Policy, Registry, RootSpec, ScanProgress};
use prowess_chat::provider::ProviderEndpoint;
use prowess_config::{ChatProvider, ChatSettings};
use prowess_evals::agent::{ChatAgent, EvalAgent};
use prowess_evals::budget::{Budget, Caps, PriceTable};
use prowess_evals::gateway::{Gateway, RequestMatching, Traffic};
use prowess_evals::grading::Judge;
use prowess_evals::plan::{Selection, TestOptions, plan};
use prowess_evals::{ResultStore, SessionResults, SkillUnderTest, TestSession};
use prowess_testing::model::wire_format::{ReplyPart, call, encode_reply, text};
use prowess_testing::model::{ModelServer, RecordedRequest, Reply};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const SKILL: &str = "---\nname: totals\ndescription: Sums the amounts of invoices. Use when a user asks for a total.\n---\n# Totals\n\nWrite the total of all amounts to total.txt, and nothing else.\nAlways round the total to two decimals before you write it.\n";

pub(crate) const EVALS: &str = r#"{"skill_name": "totals", "evals": [
    {"id": 1, "prompt": "Sum a.csv", "files": ["evals/files/a.csv"],
     "assertions": [{"type": "exists", "path": "total.txt"}, {"type": "contains", "path": "total.txt", "value": "3.00"}]},
    {"id": 2, "prompt": "Say hello", "assertions": [{"type": "contains", "value": "hello"}]}
]}"#;

/// A directory with the skill `totals`.
pub(crate) struct TestSkill {
    pub(crate) dir: TempDir,
    registry: Arc<Registry>,
    pub(crate) skill: SkillUnderTest,
}

impl TestSkill {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let skill_dir = dir.path().join("skills/totals");
        let defaults = [("SKILL.md", SKILL), ("evals/evals.json", EVALS), ("evals/files/a.csv", "1\n2\n")];
        for (path, content) in defaults.iter().chain(files) {
            let path = skill_dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let registry = Arc::new(open_registry(&dir.path().join("skills")));
        let skill = SkillUnderTest::load(registry.snapshot().get("totals").unwrap()).unwrap();
        Self { dir, registry, skill }
    }

    pub(crate) fn results_dir(&self) -> std::path::PathBuf {
        self.dir.path().join("results")
    }
}

fn open_registry(root: &Path) -> Registry {
    let mut policy = Policy::default();
    policy.scan.roots = vec![RootSpec::explicit(root.to_owned())];
    let host =
        HostEnv { project: root.to_owned(), home: None, path: std::env::var_os("PATH").unwrap_or_default() };
    Registry::open_in(policy, host, &ScanProgress::default())
}

/// The settings of a session.
pub(crate) struct SessionSetup<'a> {
    pub(crate) skill: &'a TestSkill,
    pub(crate) base_url: String,
    pub(crate) provider: ChatProvider,
    pub(crate) caps: Caps,
    pub(crate) prices: Vec<&'static str>,
    pub(crate) options: TestOptions,
    pub(crate) traffic: Traffic,
    pub(crate) judge: bool,
    pub(crate) store: bool,
    pub(crate) agent: Option<Arc<dyn EvalAgent>>,
}

pub(crate) fn options() -> TestOptions {
    TestOptions {
        runs: 1,
        jobs: 1,
        run_time: Duration::from_secs(60),
        run_requests: 10,
        trigger_requests: 4,
        cases: Vec::new(),
        selection: Selection::All,
        baseline: true,
        allow_scripts: false,
        model: "test-model".to_owned(),
        judge: None,
        neighbors: Vec::new(),
    }
}

pub(crate) fn caps() -> Caps {
    Caps { requests: 1_000, tokens: 100_000_000, cost: None, time: Duration::from_secs(300) }
}

impl<'a> SessionSetup<'a> {
    pub(crate) fn new(skill: &'a TestSkill, server: &ModelServer) -> Self {
        Self {
            skill,
            base_url: format!("{}/v1", server.base),
            provider: ChatProvider::OpenAiChat,
            caps: caps(),
            prices: Vec::new(),
            options: options(),
            traffic: Traffic::Live,
            judge: false,
            store: false,
            agent: None,
        }
    }

    fn chat_settings(&self) -> ChatSettings {
        let mut settings = ChatSettings {
            provider: self.provider,
            model: Some("test-model".to_owned()),
            base_url: Some(self.base_url.clone()),
            ..ChatSettings::default()
        };
        settings.limits.output_tokens = 1_000;
        settings.limits.retries = 1;
        settings
    }

    pub(crate) async fn run(self) -> (SessionResults, Arc<Budget>) {
        self.run_until(&CancellationToken::new()).await
    }

    pub(crate) async fn run_until(self, cancel: &CancellationToken) -> (SessionResults, Arc<Budget>) {
        let chat = self.chat_settings();
        let is_replay = matches!(self.traffic, Traffic::Replay(_));
        let endpoint = ProviderEndpoint::resolve(&chat, |_| None).unwrap().filter(|_| !is_replay);
        let prices = PriceTable::parse(self.prices.iter().copied()).unwrap();
        let spending = self.store.then(|| self.skill.dir.path().join("spending.json"));
        let budget = Arc::new(Budget::open(self.caps, prices, spending).unwrap());
        let gateway =
            Gateway::start(endpoint, Arc::clone(&budget), self.traffic.clone(), 1_000).await.unwrap();
        let agent = self.agent.unwrap_or_else(|| {
            Arc::new(ChatAgent::new(chat.clone(), &Policy::default(), self.options.allow_scripts))
        });
        let mut options = self.options;
        options.judge = self.judge.then(|| "judge-model".to_owned());
        let runs = plan(&self.skill.skill, &*agent, &options);
        let session = Arc::new(TestSession {
            skill: self.skill.skill.clone(),
            agent,
            judge: self.judge.then(|| Judge::new(chat, "judge-model".to_owned())),
            gateway: Arc::new(gateway),
            budget: Arc::clone(&budget),
            results: self.store.then(|| ResultStore::new(self.skill.results_dir())),
            registry: Arc::clone(&self.skill.registry),
            helper: prowess_sandbox::SandboxHelper::current_exe(),
            options,
            matching: RequestMatching::Exact,
        });
        let results = session.run(runs, cancel, Arc::new(|_| {})).await;
        (results, budget)
    }
}

/// Returns the last message of the user in a request to Chat Completions.
fn last_user_message(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    let last = messages.iter().rev().find(|message| message["role"] == "user").unwrap();
    last["content"].as_str().map_or_else(|| last["content"].to_string(), str::to_owned)
}

fn has_tool(body: &Value, name: &str) -> bool {
    body["tools"].as_array().into_iter().flatten().any(|tool| tool["function"]["name"] == name)
}

fn results(body: &Value) -> usize {
    let messages = body["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["role"] == "tool").count()
}

/// A model that uses the skill if it has it, and otherwise forgets the decimals.
pub(crate) fn helpful_model(request: &RecordedRequest) -> Vec<ReplyPart> {
    let body = &request.body;
    let prompt = last_user_message(body);
    if prompt.contains("Expectations:") {
        return vec![text(r#"{"expectations": [{"number": 1, "passed": true, "evidence": "seen"}]}"#)];
    }
    if !prompt.starts_with("Sum") {
        return vec![text("hello there")];
    }
    let write =
        |id, content: &str| call(id, "workspace_write", json!({"path": "total.txt", "content": content}));
    match (has_tool(body, "skills_activate"), results(body)) {
        (true, 0) => vec![call("c1", "skills_activate", json!({"name": "totals"}))],
        (true, 1) => vec![write("c2", "3.00")],
        (false, 0) => vec![write("c1", "3")],
        _ => vec![text("done")],
    }
}

/// Starts a server for [`helpful_model`].
pub(crate) async fn helpful_server() -> ModelServer {
    model_server(helpful_model).await
}

/// Starts a server that replies in the format of Chat Completions.
pub(crate) async fn model_server(
    model: impl Fn(&RecordedRequest) -> Vec<ReplyPart> + Send + Sync + 'static,
) -> ModelServer {
    let model = Mutex::new(model);
    ModelServer::with_handler(move |request, _| {
        let model = model.lock().unwrap();
        Reply::events(encode_reply(ChatProvider::OpenAiChat, &model(request)))
    })
    .await
}
