//! `prowess test`, with a scripted model server, recordings, and without a model.

use std::process::Command;

use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{ReplyPart, call, encode_reply, text};
use prowess_testing::model::{BlockingModelServer, RecordedRequest, Reply};
use serde_json::{Value, json};

use crate::support::TestEnv;

const SKILL: &str = "---\nname: totals\ndescription: Sums the amounts of invoices. Use when a user asks for a total.\n---\n# Totals\n\nWrite the total of all amounts to total.txt, and nothing else.\nAlways round the total to two decimals before you write it.\n";

const EVALS: &str = r#"{"skill_name": "totals", "evals": [
    {"id": "sum", "prompt": "Sum a.csv", "files": ["evals/files/a.csv"],
     "assertions": [{"type": "exists", "path": "total.txt"}, {"type": "contains", "path": "total.txt", "value": "3.00"}]},
    {"id": "greet", "prompt": "Say hello", "expectations": ["The agent greets"]}
]}"#;

const TRIGGERS: &str = r#"[
    {"query": "What do these invoices amount to?", "should_trigger": true},
    {"query": "Reconcile the ledger", "should_trigger": true},
    {"query": "Tell me a joke", "should_trigger": false}
]"#;

pub(crate) fn env(server: &BlockingModelServer) -> TestEnv {
    let env = TestEnv::bare();
    let skill = ".agents/skills/totals";
    env.file(&format!("{skill}/SKILL.md"), SKILL)
        .file(&format!("{skill}/evals/evals.json"), EVALS)
        .file(&format!("{skill}/evals/triggers.json"), TRIGGERS)
        .file(&format!("{skill}/evals/files/a.csv"), "1\n2\n");
    env.skill_with_description(
        ".agents/skills/ledger",
        "Reconciles a ledger with bank statements. Use for bookkeeping.",
    );
    env.run(&["trust"]);
    let config = format!(
        "[chat]\nprovider = \"openai-chat\"\nmodel = \"test-model\"\nbase-url = \"{}/v1\"\n[test]\nprices = [\"test-model=3/15\"]\n",
        server.base
    );
    env.file("../home/.prowess/config.toml", config);
    env
}

fn model(request: &RecordedRequest) -> Vec<ReplyPart> {
    let body = &request.body;
    let messages = body["messages"].as_array().unwrap();
    let prompt =
        messages.iter().rev().find(|message| message["role"] == "user").unwrap()["content"].to_string();
    let results = messages.iter().filter(|message| message["role"] == "tool").count();
    let has_skill = body["tools"].to_string().contains("skills_activate");
    let activate = || vec![call("c1", "skills_activate", json!({"name": "totals"}))];
    let write = |id, content: &str| {
        vec![call(id, "workspace_write", json!({"path": "total.txt", "content": content}))]
    };
    match (has_skill, results) {
        _ if prompt.contains("Expectations:") => {
            vec![text(r#"{"expectations": [{"number": 1, "passed": true, "evidence": "hello"}]}"#)]
        }
        (true, 0) if prompt.contains("Sum") || prompt.contains("invoices") => activate(),
        (true, 1) if prompt.contains("Sum") => write("c2", "3.00"),
        (false, 0) if prompt.contains("Sum") => write("c1", "3"),
        _ => vec![text("hello")],
    }
}

pub(crate) fn server() -> BlockingModelServer {
    BlockingModelServer::with_handler(|request, _| {
        Reply::events(encode_reply(ChatProvider::OpenAiChat, &model(request)))
    })
}

/// Compares with a snapshot, without times.
macro_rules! assert_transcript {
    ($name:expr, $text:expr) => {
        insta::with_settings!({filters => vec![
            (r"(\d) +\d+\.\d( +\d+\.\d +(?:\d+/\d+|–))", "$1 [SECONDS]$2"),
            (r"\| \d+\.\d \|", "| [SECONDS] |"),
        ]}, { insta::assert_snapshot!($name, $text) })
    };
}

#[test]
fn a_test_reports_what_the_skill_changes() {
    let (server, test) = (server(), ["test", "totals", "--runs", "2", "--judge", "judge-model"]);
    let env = env(&server);
    let first = env.run(&test);
    assert_transcript!("test_human", first.transcript());
    let sent = server.requests().len();
    // Stored results are used, in every format.
    let formats: Vec<String> = ["markdown", "junit"]
        .iter()
        .map(|format| env.run(&[&test[..], &["--format", format]].concat()).transcript())
        .collect();
    assert_transcript!("test_formats", formats.join("\n"));
    let value = env.run(&[&test[..], &["--json"]].concat()).json();
    assert_eq!(value["skills"][0]["comparisons"][0]["improved"], json!(["sum"]));
    assert_eq!(value["routing"][0]["result"]["lost"][0]["winner"], "ledger");
    assert_eq!(server.requests().len(), sent);
    let benchmark: Value = serde_json::from_str(
        &env.text("../home/.prowess/state/tests/reports/totals/iteration-1/benchmark.json"),
    )
    .unwrap();
    assert_eq!(benchmark["run_summary"]["delta"]["pass_rate"], "+0.25");
    // Only a new run sends requests.
    env.run(&[&test[..], &["--fresh", "--out", "reports"]].concat());
    assert_eq!(server.requests().len(), 2 * sent);
    assert!(env.path("reports/totals/iteration-1/benchmark.json").is_file());
}

#[test]
fn a_dry_run_sends_nothing() {
    let server = server();
    let env = env(&server);
    insta::assert_snapshot!(env.runs(&[
        &["test", "--dry-run", "--judge", "judge-model"],
        &["test", "--dry-run", "--only", "triggers", "--json", "--max-cost", "1.50"],
    ]));
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn limits_end_a_test() {
    let server = server();
    let env = env(&server);
    let stopped = env.run(&["test", "totals", "--max-requests", "4", "--jobs", "1", "--only", "cases"]);
    assert_transcript!("test_stopped_by_a_limit", stopped.transcript());
    assert_eq!(server.requests().len(), 4);
    // The spent requests count, so that nothing more is sent.
    let again = env.run(&["test", "totals", "--max-requests", "4", "--jobs", "1", "--only", "cases"]);
    assert!(again.err.contains("continuing an interrupted test: 4 requests"), "{}", again.transcript());
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn traffic_is_recorded_and_replayed() {
    let server = server();
    let env = env(&server);
    let recorded = env.run(&["test", "totals", "--runs", "1", "--record", "traffic", "--json"]).json();
    let sent = server.requests().len();
    drop(server);
    let replayed = env.run(&["test", "totals", "--runs", "1", "--replay", "traffic", "--json"]).json();
    assert!(sent > 0);
    assert_eq!(recorded["skills"][0]["cases"], replayed["skills"][0]["cases"]);
    assert_eq!(recorded["skills"][0]["triggers"], replayed["skills"][0]["triggers"]);
    env.file(".agents/skills/totals/SKILL.md", SKILL.replace("two decimals", "no decimals"));
    insta::assert_snapshot!(env.runs(&[
        &[
            "test",
            "totals",
            "--runs",
            "1",
            "--replay",
            "traffic",
            "--only",
            "cases",
            "--case",
            "sum",
            "--no-baseline"
        ],
        &["test", "totals", "--replay", "missing"],
    ]));
}

#[test]
fn a_version_of_the_repository_is_compared() {
    let server = server();
    let env = env(&server);
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(env.path("."))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    std::os::unix::fs::symlink("/usr/bin/git", env.path("../bin/git")).unwrap();
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    env.file(".agents/skills/totals/SKILL.md", SKILL.replace("two decimals", "no decimals"));
    let args = ["test", ".agents/skills/totals", "--runs", "1", "--case", "sum", "--no-baseline"];
    let value = env.run(&[&args[..], &["--against", "HEAD", "--json"]].concat()).json();
    assert_eq!(value["skills"][0]["comparisons"][0]["with"], "old_skill");
    assert!(server.requests().iter().any(|request| request.body.to_string().contains("two decimals")));
    insta::assert_snapshot!(env.runs(&[
        &[&args[..], &["--against", "no-such-commit"]].concat(),
        &[&args[..], &["--against=--upload-pack=x"]].concat(),
        &[&args[..], &["--against", ".agents/skills/totals"]].concat(),
    ]));
}

#[test]
fn routing_needs_no_model() {
    let server = server();
    let env = env(&server);
    env.file("../home/.prowess/config.toml", "");
    insta::assert_snapshot!(env.runs(&[&["test", "totals", "--only", "routing"], &["lint", "--routing"]]));
}

#[test]
fn mistakes_have_remedies() {
    let server = server();
    let env = env(&server);
    let mut transcripts = env.runs(&[
        &["test", "no-such-skill"],
        &["test", "./missing"],
        &["test", "ledger"],
        &["test", "totals", "--case", "summ"],
        &["test", "totals", "--max-cost", "1", "--model", "unpriced"],
        &["test", "totals", "--record", "a", "--replay", "b"],
        &["test", "totals", "--json", "--format", "junit"],
    ]);
    env.file("../home/.prowess/config.toml", "[test]\nprices = [\"x\"]\n");
    transcripts += &env.runs(&[&["test", "totals"]]);
    env.file(".agents/skills/totals/evals/evals.json", "{\"evals\": [{\"id\": 1}]}");
    transcripts += &env.runs(&[&["test", "totals"]]);
    insta::assert_snapshot!(transcripts);
}

#[test]
fn checks_run_scripts_only_if_they_are_allowed() {
    let server = server();
    let env = env(&server);
    let evals = r#"{"evals": [{"id": 1, "prompt": "Sum a.csv", "files": ["evals/files/a.csv"], "assertions": [
        {"type": "script", "path": "evals/check.sh", "args": ["3.00"]},
        {"type": "command", "run": "grep -q 3.00 total.txt && test -s a.csv"}]}]}"#;
    env.file(".agents/skills/totals/evals/evals.json", evals).file(
        ".agents/skills/totals/evals/check.sh",
        "#!/bin/sh\nread reply\necho \"reply: $reply\"\n[ \"$(cat total.txt)\" = \"$1\" ]\n",
    );
    env.let_other_users_read();
    for shell in ["sh", "bash"] {
        std::os::unix::fs::symlink(format!("/bin/{shell}"), env.path(&format!("../bin/{shell}"))).unwrap();
    }
    let args = ["test", ".agents/skills/totals", "--runs", "1", "--only", "cases", "--no-baseline", "--json"];
    let denied = env.run(&args).json();
    assert_eq!(denied["skills"][0]["cases"][0]["passed"], Value::Null);
    let allowed = env.run(&[&args[..], &["--allow-scripts"]].concat()).json();
    assert_eq!(allowed["skills"][0]["cases"][0]["passed"], true, "{allowed:#}");
    let grading =
        "../home/.prowess/state/tests/reports/totals/iteration-2/eval-1/with_skill/run-1/grading.json";
    let grading: Value = serde_json::from_str(&env.text(grading)).unwrap();
    assert!(grading["expectations"][0]["evidence"].as_str().unwrap().contains("reply: hello"), "{grading:#}");
}

#[test]
fn the_price_of_a_model_is_added_as_the_hint_says() {
    let server = server();
    let env = env(&server);
    let test = ["test", "totals", "--dry-run", "--max-cost", "1", "--model", "unpriced"];
    let hint = env.run(&test).err;
    let (_, value) = hint.trim().split_once("prowess config set test.prices ").unwrap();
    let value = value.trim_matches('\'').replace("INPUT/OUTPUT", "1/2");
    assert_eq!(env.run(&["config", "set", "test.prices", &value]).code, 0, "{hint}");
    for model in ["unpriced", "test-model"] {
        let result = env.run(&[&test[..6], &[model]].concat());
        assert_eq!(result.code, 0, "{}", result.transcript());
    }
}
