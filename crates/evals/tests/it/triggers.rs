//! Whether a skill was loaded is decided by the requests to the model. Each test is a published way to get it wrong.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prowess_evals::agent::{AgentEnd, AgentOutcome, AgentTask, EvalAgent};
use prowess_evals::plan::Selection;
use prowess_evals::report::{ReportInfo, SkillReport};
use prowess_testing::model::wire_format::{call, text};
use prowess_testing::model::{ModelServer, Reply, ReplyPiece};
use serde_json::{Value, json};

use crate::support::{SKILL, SessionSetup, TestSkill, model_server};

const TRIGGERS: &str = r#"[{"query": "What is the sum?", "should_trigger": true}, {"query": "Tell a joke", "should_trigger": false}]"#;

fn skill() -> TestSkill {
    TestSkill::new(&[("evals/trigger-eval.json", TRIGGERS)])
}

fn summary(
    skill: &TestSkill,
    results: &prowess_evals::SessionResults,
) -> Vec<(bool, Option<u64>, Option<bool>)> {
    let report = SkillReport::new(&skill.skill, &results.records, ReportInfo::default(), Vec::new());
    report
        .triggers
        .iter()
        .map(|trigger| (trigger.should_trigger, trigger.triggered.map(|p| p.passed), trigger.passed))
        .collect()
}

/// An agent that sends a fixed sequence of requests, as outside agents do.
struct SequenceAgent {
    bodies: Vec<Value>,
    end: AgentEnd,
}

#[async_trait]
impl EvalAgent for SequenceAgent {
    fn fingerprint(&self) -> String {
        "sequence".to_owned()
    }

    async fn run(&self, task: AgentTask<'_>) -> AgentOutcome {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        for body in &self.bodies {
            let url = format!("{}/v1/messages", task.gateway.base_url());
            let _ = client.post(url).body(body.to_string()).send().await;
        }
        AgentOutcome { end: self.end.clone(), ..AgentOutcome::default() }
    }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn tool(name: &str, input: Value, result: &str) -> [Value; 2] {
    [
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": name, "input": input}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": result}]}),
    ]
}

fn body(messages: impl IntoIterator<Item = Value>) -> Value {
    json!({"model": "m", "max_tokens": 100, "messages": messages.into_iter().collect::<Vec<_>>()})
}

/// Returns how often the first message loaded the skill in a sequence of requests.
async fn sequence(bodies: Vec<Value>, end: AgentEnd) -> Option<bool> {
    let (skill, server) = (skill(), ModelServer::with_handler(|_, _| Reply::events("")).await);
    let mut setup = SessionSetup::new(&skill, &server);
    setup.options.selection = Selection::Triggers;
    setup.agent = Some(Arc::new(SequenceAgent { bodies, end }));
    let (results, _) = setup.run().await;
    assert_eq!(results.stopped, None);
    results.records[0].triggered()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_load_the_skill_or_not() {
    let skill = skill();
    let server = model_server(|request| match request.body.to_string().contains("What is the sum?") {
        true => vec![call("c1", "skills_activate", json!({"name": "totals"}))],
        false => vec![text("a joke")],
    })
    .await;
    let mut setup = SessionSetup::new(&skill, &server);
    setup.options.selection = Selection::Triggers;
    (setup.options.runs, setup.options.jobs) = (3, 4);
    let (results, _) = setup.run().await;
    assert_eq!(summary(&skill, &results), [(true, Some(3), Some(true)), (false, Some(0), Some(true))]);
    // The request that contains the instructions is not sent: it could not change the result.
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_tool_does_not_decide() {
    let start = [user("What is the sum?")];
    let ls = tool("Bash", json!({"command": "ls"}), "a.csv");
    let other = tool("Skill", json!({"skill": "superpowers:using-superpowers"}), "Launching skill");
    let unrelated = tool("Read", json!({"file_path": "/repo/a.py"}), "print(1)");
    let loaded = tool("Skill", json!({"skill": "totals"}), SKILL);
    for first in [ls, other, unrelated] {
        let bodies = vec![
            body(start.clone()),
            body(start.iter().cloned().chain(first.clone())),
            body(start.iter().cloned().chain(first).chain(loaded.clone())),
        ];
        assert_eq!(sequence(bodies, AgentEnd::Finished).await, Some(true));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_copy_and_any_way_to_load_it_counts() {
    let numbered: String =
        SKILL.lines().enumerate().map(|(n, line)| format!("{:>6}→{line}\n", n + 1)).collect();
    for result in [
        tool("Skill", json!({"skill": "plugin:totals"}), SKILL),
        tool("Read", json!({"file_path": "/home/u/.claude/skills/totals-copy-1a2b/SKILL.md"}), &numbered),
        tool("Bash", json!({"command": "cat .agents/skills/totals/SKILL.md"}), SKILL),
    ] {
        let bodies = vec![body([user("sum")].into_iter().chain(result))];
        assert_eq!(sequence(bodies, AgentEnd::Finished).await, Some(true));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_paths_alone_do_not_count() {
    for result in [
        tool("Read", json!({"file_path": "/w/totals.pdf"}), "%PDF"),
        tool("Bash", json!({"command": "ls .claude/skills"}), "totals/SKILL.md"),
        tool("Skill", json!({"skill": "totals"}), "Unknown skill: totals"),
        tool("Bash", json!({"command": "echo I could use totals"}), "I could use totals"),
    ] {
        let bodies = vec![body([user("sum")].into_iter().chain(result))];
        assert_eq!(sequence(bodies, AgentEnd::Finished).await, Some(false));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_and_timeouts_are_not_an_answer() {
    for end in [AgentEnd::TimedOut, AgentEnd::Failed("exit code 1".to_owned())] {
        assert_eq!(sequence(vec![body([user("sum")])], end).await, None);
    }
    // An agent that bypasses the gateway, or does nothing, proves nothing.
    assert_eq!(sequence(vec![], AgentEnd::Finished).await, None);
    // A negative message does not pass because of a failing provider.
    let (skill, server) = (skill(), ModelServer::with_handler(|_, _| Reply::failure(401, "{}")).await);
    let mut setup = SessionSetup::new(&skill, &server);
    setup.options.selection = Selection::Triggers;
    let (results, _) = setup.run().await;
    assert_eq!(summary(&skill, &results), [(true, None, None), (false, None, None)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_that_was_loaded_before_a_timeout_counts() {
    let skill = skill();
    let server = ModelServer::with_handler(|_, _| Reply::events("").then(ReplyPiece::Hang)).await;
    let mut setup = SessionSetup::new(&skill, &server);
    setup.options.selection = Selection::Triggers;
    setup.options.run_time = Duration::from_millis(300);
    let (results, _) = setup.run().await;
    assert_eq!(results.records[0].triggered(), None);
    assert_eq!(results.records[0].error().as_deref(), Some("timed out"));
    let loaded = tool("Skill", json!({"skill": "totals"}), SKILL);
    let bodies = vec![body([user("sum")].into_iter().chain(loaded))];
    assert_eq!(sequence(bodies, AgentEnd::TimedOut).await, Some(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_harness_that_never_loads_anything_is_suspected() {
    let triggers = r#"{"should_trigger": ["sum a", "sum b", "sum c"]}"#;
    let skill = TestSkill::new(&[("evals/t.json", triggers)]);
    let server = model_server(|_| vec![text("no")]).await;
    let mut setup = SessionSetup::new(&skill, &server);
    setup.options.selection = Selection::Triggers;
    let (results, _) = setup.run().await;
    let report = SkillReport::new(&skill.skill, &results.records, ReportInfo::default(), Vec::new());
    assert_eq!(report.notes, ["no message loaded the skill; check that the agent can load skills at all"]);
}
