//! Agents that are commands.

use std::time::Duration;

use prowess_evals::agent::{
    AgentEnd, AgentOutcome, AgentPreset, AgentSetupError, CommandAgent, EvalAgent, TranscriptEntry,
};
use prowess_sandbox::{Protection, SandboxHelper, SandboxTier};
use prowess_testing::processes::count_processes;
use prowess_testing::wait::wait_until;

use crate::support::{Programs, TestGateway, TestTask, outputs, wait, words};

pub(crate) const TESTS: [(&str, fn()); 11] = [
    ("command::an_agent_uses_the_model_the_skill_and_the_files", || wait(uses_everything())),
    ("command::the_prompt_is_the_input_without_a_placeholder", || wait(prompt_on_stdin())),
    ("command::only_the_gateway_is_reachable_and_the_home_is_empty", || wait(confined())),
    ("command::files_are_kept_when_the_time_is_over", || wait(time_is_over())),
    ("command::a_cancelled_run_ends", || wait(cancelled())),
    ("command::dropping_a_run_ends_it", || wait(dropped())),
    ("command::a_crash_has_the_last_lines_of_stderr", || wait(crash())),
    ("command::garbage_is_tolerated", || wait(garbage())),
    ("command::parallel_runs_do_not_see_each_other", || wait(parallel())),
    ("command::without_a_sandbox_nothing_runs", || wait(no_sandbox())),
    ("command::fingerprints_follow_the_settings", fingerprints),
];

const AGENT: &str = r#"#!/usr/bin/env python3
import os, subprocess, sys, urllib.request
prompt, model, base = sys.argv[1:]
request = urllib.request.Request(base + "/v1/messages", b"{}", {"content-type": "application/json"})
answer = urllib.request.urlopen(request, timeout=5).read().decode()
skill = open(".agents/skills/csv/SKILL.md").read()
script = subprocess.run([".agents/skills/csv/scripts/go.sh"], capture_output=True, text=True).stdout.strip()
open("out.txt", "w").write(f"{prompt}|{model}|{skill}|{script}|{open('data/in.txt').read()}")
open(".agents/skills/csv/changed.txt", "w").write("x")
os.mkdir(".git"); open(".git/config", "w").write("x")
print(answer, os.environ["OPENAI_BASE_URL"].endswith("/t0ken/v1"), os.environ["ANTHROPIC_API_KEY"][:3])
"#;

async fn uses_everything() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let program = programs.add("agent", AGENT);
    let agent =
        CommandAgent::custom(&words(&[&program, "{prompt}", "{model}", "{base_url}"]), programs.settings())
            .unwrap();
    let task = TestTask { prompt: "--weird {model}".into(), ..TestTask::default() };
    let outcome = task.run(&agent, &gateway).await;
    assert_eq!(outcome.end, AgentEnd::Finished);
    assert_eq!(outcome.reply, "model replied True sk-");
    assert_eq!(
        outputs(&outcome),
        ["out.txt: --weird {model}|test-model|the instructions|from the script|input"]
    );
    assert_eq!(*gateway.paths.lock().unwrap(), ["/t0ken/v1/messages"]);
}

async fn prompt_on_stdin() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let mut settings = programs.settings();
    settings.environment = vec![("WHERE".into(), "{base_url}/x {model}".into())];
    let agent =
        CommandAgent::custom(&words(&["sh", "-c", "cat; echo; echo $WHERE | cut -d/ -f4-"]), settings);
    let task = TestTask { prompt: "-p long\nprompt".into(), ..TestTask::default() };
    let outcome = task.run(&agent.unwrap(), &gateway).await;
    assert_eq!(
        (outcome.reply.as_str(), outcome.end),
        ("-p long\nprompt\nt0ken/x test-model", AgentEnd::Finished)
    );
}

const ESCAPE: &str = r#"#!/usr/bin/env python3
import os, socket, sys
def attempt(name, f):
    try: print(name, f())
    except OSError as e: print(name, "refused")
port = int(sys.argv[1])
attempt("other port", lambda: socket.create_connection(("127.0.0.1", port), 2))
attempt("other host", lambda: socket.create_connection(("192.0.2.1", port), 2))
attempt("secret", lambda: open(sys.argv[2]).read())
attempt("home", lambda: [n for n in os.listdir(os.environ["HOME"]) if not n.startswith("prowess-")])
print("variable", os.environ.get("SECRET_OF_THE_USER"))
"#;

async fn confined() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let program = programs.add("agent", ESCAPE);
    let secret = programs.add("secret.txt", "secret");
    let port = other.local_addr().unwrap().port().to_string();
    for tier in [SandboxTier::Tier1, SandboxTier::Tier2] {
        let mut settings = programs.settings();
        settings.protection = Protection::Only(tier);
        let agent = CommandAgent::custom(&words(&[&program, &port, &secret]), settings).unwrap();
        let outcome = TestTask::default().run(&agent, &gateway).await;
        assert_eq!(
            outcome.reply,
            "other port refused\nother host refused\nsecret refused\nhome ['.config']\nvariable None",
            "{tier} {:?}",
            outcome.end
        );
    }
    let mut settings = programs.settings();
    settings.readable = vec![secret.clone().into()];
    let agent = CommandAgent::custom(&words(&[&program, &port, &secret]), settings).unwrap();
    assert!(TestTask::default().run(&agent, &gateway).await.reply.contains("secret secret"));
}

async fn time_is_over() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let script = "echo partial >a.txt; echo first; sleep 60 & sleep 60";
    let agent = CommandAgent::custom(&words(&["sh", "-c", script]), programs.settings()).unwrap();
    let task = TestTask { time: Duration::from_secs(2), ..TestTask::default() };
    let outcome = task.run(&agent, &gateway).await;
    assert_eq!(outcome.end, AgentEnd::TimedOut);
    assert_eq!((outcome.reply.as_str(), outputs(&outcome)), ("first", vec!["a.txt: partial".to_owned()]));
}

async fn cancelled() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let agent =
        CommandAgent::custom(&words(&["sh", "-c", "echo partial >a.txt; sleep 60"]), programs.settings());
    let task = TestTask::default();
    let cancel = task.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(2)).await;
        cancel.cancel();
    });
    let outcome = task.run(&agent.unwrap(), &gateway).await;
    assert_eq!(
        (outcome.end.clone(), outputs(&outcome)),
        (AgentEnd::Cancelled, vec!["a.txt: partial".into()])
    );
}

async fn dropped() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let words = words(&["sh", "-c", "sleep 60 & sleep 61", "dropped-command-agent"]);
    let agent = CommandAgent::custom(&words, programs.settings()).unwrap();
    check_dropped(&agent, &gateway, "dropped-command-agent").await;
}

/// Drops a run while a process with this text in an argument is running. The process ends.
pub(crate) async fn check_dropped(agent: &dyn EvalAgent, gateway: &TestGateway, text: &str) {
    let task = TestTask::default();
    let mut run = Box::pin(task.run(agent, gateway));
    let started = wait_until(async || count_processes(text) > 0);
    tokio::select! {
        outcome = &mut run => panic!("{outcome:?}"),
        () = started => {}
    }
    drop(run);
    wait_until(async || count_processes(text) == 0).await;
}

async fn crash() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let script = r"for n in 1 2 3 4 5 6; do printf 'line %s \033[31m\n' $n >&2; done; echo done >a; exit 7";
    let agent = CommandAgent::custom(&words(&["sh", "-c", script]), programs.settings()).unwrap();
    let outcome = TestTask::default().run(&agent, &gateway).await;
    let AgentEnd::Failed(reason) = &outcome.end else { panic!("{outcome:?}") };
    assert_eq!(
        reason,
        "the agent ended with exit code 7: line 2 \\u{1b}[31m | line 3 \\u{1b}[31m | line 4 \\u{1b}[31m | \
         line 5 \\u{1b}[31m | line 6 \\u{1b}[31m"
    );
    assert_eq!(outputs(&outcome), ["a: done"]);
    let error = CommandAgent::custom(&words(&["prowess-absent-agent"]), programs.settings()).unwrap_err();
    assert_eq!(error.to_string(), "prowess-absent-agent is not in PATH");
    assert_eq!(CommandAgent::custom(&[], programs.settings()).unwrap_err(), AgentSetupError::EmptyCommand);
    let mut settings = programs.settings();
    settings.readable = vec!["/".into()];
    let error = CommandAgent::preset_at(AgentPreset::Claude, "sh", settings).unwrap_err();
    assert_eq!(error.to_string(), "the agent cannot read /: it is the root directory");
}

async fn run_as_claude(script: &str) -> AgentOutcome {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let program = programs.add("claude", script);
    let agent = CommandAgent::preset_at(AgentPreset::Claude, &program, programs.settings()).unwrap();
    TestTask::default().run(&agent, &gateway).await
}

async fn garbage() {
    let script = r#"#!/usr/bin/env python3
import os, sys
out = sys.stdout.buffer
out.write(b"\xff\xfe warning\n{\"type\":\n" + b"[" * 5000000 + b"\n")
out.write(b'{"type":"assistant","message":{"content":[{"type":"text","text":"said"}]}}\n')
out.write(open(".claude/skills/csv/SKILL.md", "rb").read() + b"\n")
out.write(b'{"type":"assistant","message":{"content":[{"type":"te')
"#;
    let outcome = run_as_claude(script).await;
    assert_eq!((outcome.end, outcome.reply.as_str()), (AgentEnd::Finished, "said"));
    let texts: Vec<usize> = outcome
        .transcript
        .iter()
        .map(|entry| match entry {
            TranscriptEntry::Text { text } => text.len(),
            TranscriptEntry::ToolCall { .. } => panic!("{entry:?}"),
        })
        .collect();
    assert_eq!(texts.len(), 6, "{texts:?}");
    assert!(texts.iter().all(|length| *length < 70_000));
    // A flood of output ends the run.
    let outcome = run_as_claude("#!/bin/sh\nyes 'a long line of output that never ends'\n").await;
    assert_eq!(outcome.end, AgentEnd::Failed("the agent was killed at the limit of output".into()));
}

async fn parallel() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let script = "ls; ls -A $HOME | grep -v -e prowess- -e .config; cat - >mine.txt; cp mine.txt $HOME/mine; sleep 0.5";
    let agent = CommandAgent::custom(&words(&["sh", "-c", script]), programs.settings()).unwrap();
    let tasks: Vec<TestTask> =
        (0..4).map(|number| TestTask { prompt: number.to_string(), ..TestTask::default() }).collect();
    let runs = tasks.iter().map(|task| task.run(&agent, &gateway));
    for (number, outcome) in futures_util::future::join_all(runs).await.iter().enumerate() {
        assert_eq!((outcome.reply.as_str(), &outcome.end), ("data", &AgentEnd::Finished));
        assert_eq!(outputs(outcome), [format!("mine.txt: {number}")]);
    }
}

async fn no_sandbox() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let mut settings = programs.settings();
    settings.helper = SandboxHelper::from_path("/bin/false");
    let agent = CommandAgent::custom(&words(&["sh", "-c", "echo ran"]), settings).unwrap();
    let outcome = TestTask::default().run(&agent, &gateway).await;
    let AgentEnd::Failed(reason) = &outcome.end else { panic!("{outcome:?}") };
    assert!(
        reason.starts_with("no sandbox can be enforced") && reason.contains("prowess doctor"),
        "{reason}"
    );
    assert_eq!(outcome.reply, "");
}

fn fingerprints() {
    let programs = Programs::new();
    let program = programs.add("agent", "#!/bin/sh\n");
    let fingerprint = |arguments: &[&str], value: &str| {
        let mut settings = programs.settings();
        settings.environment = vec![("NAME".into(), value.into())];
        let words = words(&[&[program.as_str()], arguments].concat());
        CommandAgent::custom(&words, settings).unwrap().fingerprint()
    };
    let first = fingerprint(&["a"], "secret-value");
    assert_eq!(first, fingerprint(&["a"], "secret-value"));
    assert!(!first.contains("secret-value"));
    assert_ne!(first, fingerprint(&["b"], "secret-value"));
    assert_ne!(first, fingerprint(&["a"], "other"));
    programs.add("agent", "#!/bin/sh\necho updated\n");
    assert_ne!(first, fingerprint(&["a"], "secret-value"));
}
