//! Questions about scripts during a turn.

#![cfg(target_os = "linux")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use prowess::Preset;
use prowess_chat::turn::{Agent, ConsentSource, MemoryRecorder, TurnInput};
use prowess_chat::{ConsentQuestion, EndReason, TurnEvent};
use prowess_config::ChatProvider;
use prowess_sandbox::{AccessSummary, ConsentAnswer};
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::{call, text};
use prowess_testing::script_env::helper;
use prowess_tools::{MemoryWorkspace, ScriptRunner, WorkspaceChanges, WorkspaceFiles};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{StartConversation, TestEnv};

/// Gives the same answer to every question; without one, never answers.
struct Answers {
    answer: Option<ConsentAnswer>,
    asked: Mutex<Vec<AccessSummary>>,
}

#[async_trait]
impl ConsentSource for Answers {
    async fn answer(&self, _: &ConsentQuestion, access: &AccessSummary) -> ConsentAnswer {
        self.asked.lock().unwrap().push(access.clone());
        match self.answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}

struct Outcome {
    end: Result<EndReason, String>,
    events: Vec<TurnEvent>,
    asked: Vec<AccessSummary>,
    workspace: Arc<dyn WorkspaceFiles>,
    requests: Vec<String>,
}

/// Runs a turn in which the model calls a script twice.
async fn run_turn(answer: Option<ConsentAnswer>) -> Outcome {
    run_turn_with(answer, json!([])).await
}

/// Runs a turn in which the model calls a script twice with inputs.
async fn run_turn_with(answer: Option<ConsentAnswer>, inputs: Value) -> Outcome {
    let arguments = json!({
        "name": "a", "script": "scripts/copy.sh", "args": ["in.txt", "out.txt"], "inputs": inputs
    });
    let steps = [
        vec![call("c1", "skills_run", arguments.clone())],
        vec![call("c2", "skills_run", arguments)],
        vec![text("Done.")],
    ];
    let server = ModelServer::scripted(ChatProvider::OpenAiChat, &steps).await;
    let script = "#!/bin/sh\ntr a-z A-Z < \"$1\" > \"$2\"; echo copied\n";
    let (_env, agent) = agent_with_script(&server, script);
    let workspace: Arc<dyn WorkspaceFiles> = Arc::new(MemoryWorkspace::default());
    workspace.apply(WorkspaceChanges::write("in.txt", b"text", "")).unwrap();
    let answers = Arc::new(Answers { answer, asked: Mutex::default() });
    let consent: Arc<dyn ConsentSource> = Arc::clone(&answers) as Arc<dyn ConsentSource>;
    let cancel = CancellationToken::new();
    let input = TurnInput {
        chat: "c",
        text: "Copy it.",
        workspace: Some(&workspace),
        consent: Some(&consent),
        ..TurnInput::default()
    };
    let mut record = MemoryRecorder::default();
    let mut events = Vec::new();
    let stop = cancel.clone();
    let mut on_event = |event: TurnEvent| {
        if answer.is_none() && matches!(event, TurnEvent::Consent { .. }) {
            stop.cancel();
        }
        events.push(event);
    };
    let report = agent.turn(input, &mut record, &mut on_event, &cancel).await;
    let asked = answers.asked.lock().unwrap().clone();
    let end = report.end.map_err(|error| error.to_string());
    let requests = server.requests().iter().map(|request| request.body.to_string()).collect();
    Outcome { end, events, asked, workspace, requests }
}

/// Returns an agent with a skill that has the script `scripts/copy.sh`.
fn agent_with_script(server: &ModelServer, script: &str) -> (TestEnv, Agent) {
    let env = TestEnv::new(Preset::Standard).with_provider(ChatProvider::OpenAiChat, &server.base);
    env.skill("a", "Run scripts/copy.sh.");
    env.file("~/.prowess/skills/b/SKILL.md", "---\nname: b\ndescription: B.\n---\n");
    let dir = env.toolbox().snapshot().get("a").unwrap().dir();
    std::fs::create_dir_all(dir.join("scripts")).unwrap();
    std::fs::write(dir.join("scripts/copy.sh"), script).unwrap();
    let runner = ScriptRunner { helper: helper(), ..ScriptRunner::default() };
    let toolbox = Arc::new(env.toolbox_with_commands().with_runner(runner));
    let model = env.model(&toolbox);
    let agent = Agent::new(toolbox, model, env.chat.limits);
    (env, agent)
}

fn kinds(events: &[TurnEvent]) -> Vec<String> {
    let kind = |event: &TurnEvent| match event {
        TurnEvent::Delta { .. }
        | TurnEvent::Thinking { .. }
        | TurnEvent::Summary { .. }
        | TurnEvent::Waiting { .. }
        | TurnEvent::ToolsDisabled { .. } => None,
        TurnEvent::ToolCall { .. } => Some("call".to_owned()),
        TurnEvent::Consent { .. } => Some("consent".to_owned()),
        TurnEvent::ToolResult { status, data, .. } => {
            Some(format!("{status} {} {}", data["error"]["code"], data["artifacts"][0]["path"]))
        }
        TurnEvent::Done { reason, .. } => Some(format!("done {reason}")),
        TurnEvent::Error { code, .. } => Some(format!("error {code}")),
    };
    events.iter().filter_map(kind).collect()
}

#[tokio::test]
async fn a_script_that_the_user_allows_works_on_the_files_of_the_chat() {
    let outcome = run_turn(Some(ConsentAnswer::Once)).await;
    assert_eq!(outcome.end, Ok(EndReason::Finished));
    let success = "success null \"out.txt\"";
    assert_eq!(kinds(&outcome.events), ["call", "consent", success, "call", "consent", success, "done end"]);
    assert_eq!(outcome.asked.len(), 2, "each run is asked about");
    assert_eq!(outcome.workspace.read("out.txt").unwrap(), b"TEXT");
    assert!(outcome.requests[0].contains("skills_run"), "the tool is offered, because the user can be asked");
    assert!(outcome.requests[1].contains("[wrote out.txt (4 bytes, text/plain)]"), "{}", outcome.requests[1]);
    let TurnEvent::Consent(ConsentQuestion { skill, script, access, .. }) = &outcome.events[1] else {
        panic!("{:?}", outcome.events)
    };
    let rows: Vec<_> = access.iter().map(|row| format!("{}: {}", row.title, row.text)).collect();
    insta::assert_snapshot!(format!("{skill} {script}\n{}", rows.join("\n")), @r"
    a scripts/copy.sh
    reads: the skill, system files, in.txt
    writes: the files of this conversation
    network: no access
    ");
}

#[tokio::test]
async fn a_lasting_answer_is_not_asked_for_again() {
    let outcome = run_turn(Some(ConsentAnswer::Always)).await;
    assert_eq!((outcome.asked.len(), kinds(&outcome.events).len()), (1, 6));
    let outcome = run_turn(Some(ConsentAnswer::Never)).await;
    let denied = "error \"ACCESS_DENIED\" null";
    assert_eq!(kinds(&outcome.events), ["call", "consent", denied, "call", denied, "done end"]);
    assert!(outcome.workspace.read("out.txt").is_err());
}

#[tokio::test]
async fn a_script_that_the_user_does_not_allow_does_not_run() {
    let outcome = run_turn(Some(ConsentAnswer::NotNow)).await;
    assert_eq!(outcome.end, Ok(EndReason::Finished));
    assert!(kinds(&outcome.events).iter().all(|kind| !kind.starts_with("success")), "{:?}", outcome.events);
    assert!(outcome.workspace.read("out.txt").is_err());
}

#[tokio::test]
async fn inputs_of_the_model_replace_files_only_if_the_user_allows_the_script() {
    let inputs = json!([{"name": "in.txt", "text": "replaced"}]);
    for refusal in [ConsentAnswer::NotNow, ConsentAnswer::Never] {
        let outcome = run_turn_with(Some(refusal), inputs.clone()).await;
        assert_eq!(outcome.workspace.read("in.txt").unwrap(), b"text", "{refusal}");
        assert_eq!(outcome.workspace.list().unwrap().len(), 1);
    }
    let outcome = run_turn_with(Some(ConsentAnswer::Once), inputs).await;
    assert_eq!(outcome.workspace.read("in.txt").unwrap(), b"replaced");
    assert_eq!(outcome.workspace.read("out.txt").unwrap(), b"REPLACED");
}

#[tokio::test]
async fn a_turn_can_be_cancelled_while_it_waits_for_an_answer() {
    let outcome = run_turn(None).await;
    assert_eq!(outcome.end, Ok(EndReason::Cancelled));
    assert!(outcome.workspace.read("out.txt").is_err());
}

/// The first script does not end by itself, so that the second question can only be asked while it runs.
#[tokio::test]
async fn scripts_without_shared_files_run_side_by_side_and_cancelling_ends_them_all() {
    let arguments = json!({"name": "a", "script": "scripts/copy.sh"});
    let calls = ["c1", "c2"].map(|id| call(id, "skills_run", arguments.clone())).to_vec();
    let server = ModelServer::scripted(ChatProvider::OpenAiChat, &[calls]).await;
    let (_env, agent) = agent_with_script(&server, "#!/bin/sh\nsleep 3000\n");
    let answers = Arc::new(Answers { answer: Some(ConsentAnswer::Once), asked: Mutex::default() });
    let consent: Arc<dyn ConsentSource> = Arc::clone(&answers) as Arc<dyn ConsentSource>;
    let cancel = CancellationToken::new();
    let input = TurnInput { chat: "c", text: "Run both.", consent: Some(&consent), ..TurnInput::default() };
    let (mut record, mut events, stop) = (MemoryRecorder::default(), Vec::new(), cancel.clone());
    let mut on_event = |event: TurnEvent| {
        events.push(event);
        let questions = events.iter().filter(|event| matches!(event, TurnEvent::Consent { .. }));
        if questions.count() == 2 {
            stop.cancel();
        }
    };
    let report = agent.turn(input, &mut record, &mut on_event, &cancel).await;
    assert_eq!(report.end, Ok(EndReason::Cancelled));
    let ids = |wanted: &str| -> Vec<String> {
        let json = events.iter().map(|event| serde_json::to_value(event).unwrap());
        json.filter(|event| event["type"] == wanted)
            .map(|event| event["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut asked = ids("consent");
    asked.sort();
    assert_eq!(asked, ["c1", "c2"], "each question names its call");
    assert_eq!(ids("tool_result"), ["c1", "c2"], "results are in the order of the calls");
}
