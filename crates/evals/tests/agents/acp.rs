//! Agents that speak the Agent Client Protocol.

use std::time::{Duration, Instant};

use prowess_evals::agent::{AcpAgent, AgentEnd, AgentOutcome, AgentPreset, ProgramSettings, TranscriptEntry};
use prowess_sandbox::{Protection, SandboxTier};

use crate::command::check_dropped;
use crate::support::{Programs, TestGateway, TestTask, outputs, wait, words};

pub(crate) const TESTS: [(&str, fn()); 11] = [
    ("acp::an_agent_does_a_task_in_both_tiers", || wait(does_a_task())),
    ("acp::permissions_are_granted_once", || wait(permissions())),
    ("acp::files_and_terminals_are_not_offered", || wait(no_capabilities())),
    ("acp::the_session_is_cancelled_when_the_time_is_over", || wait(time_is_over())),
    ("acp::an_agent_that_never_answers_is_killed", || wait(never_answers())),
    ("acp::a_cancelled_run_ends", || wait(cancelled())),
    ("acp::dropping_a_run_ends_it", || wait(dropped())),
    ("acp::crashes_and_errors_are_described", || wait(crashes())),
    ("acp::hostile_output_is_bounded", || wait(hostile())),
    ("acp::parallel_runs_do_not_see_each_other", || wait(parallel())),
    ("acp::only_some_presets_speak_the_protocol", presets),
];

/// A small agent. `TURN` handles the prompt; `update` and `ask` send messages to the client.
const AGENT: &str = r#"#!/usr/bin/env python3
import json, os, sys, time, urllib.request
def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def receive(): return json.loads(sys.stdin.readline() or sys.exit(0))
def update(**fields): send({"method": "session/update", "params": {"sessionId": "s1", "update": fields}})
def say(text): update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})
def ask(method, **params):
    send({"id": 99, "method": method, "params": {"sessionId": "s1", **params}})
    while True:
        message = receive()
        if message.get("id") == 99: return message
def stop(reason): send({"id": request["id"], "result": {"stopReason": reason}})
while True:
    request = receive()
    method, params = request.get("method"), request.get("params", {})
    if method == "initialize":
        capabilities = params.get("clientCapabilities", {})
        send({"id": request["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    elif method == "session/new":
        cwd = params["cwd"]
        send({"id": request["id"], "result": {"sessionId": "s1"}})
    elif method == "session/prompt":
        prompt = params["prompt"][0]["text"]
        TURN
"#;

async fn run_turn(turn: &str, change: impl FnOnce(&mut ProgramSettings, &mut TestTask)) -> AgentOutcome {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let program = programs.add("agent", &AGENT.replace("TURN", &turn.trim().replace('\n', "\n        ")));
    let (mut settings, mut task) = (programs.settings(), TestTask::default());
    change(&mut settings, &mut task);
    let agent = AcpAgent::custom(&words(&[&program, "{base_url}"]), settings).unwrap();
    task.run(&agent, &gateway).await
}

async fn run_program_text(text: &str, time: Duration) -> AgentOutcome {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let program = programs.add("agent", text);
    let agent = AcpAgent::custom(&words(&[&program]), programs.settings()).unwrap();
    TestTask { time, ..TestTask::default() }.run(&agent, &gateway).await
}

async fn does_a_task() {
    let turn = r#"
say("Working on "); say(prompt)
update(sessionUpdate="tool_call", toolCallId="c1", title="Read the skill", status="pending", rawInput={"path": "x"})
skill = open(".agents/skills/csv/SKILL.md").read()
update(sessionUpdate="tool_call_update", toolCallId="c1", status="completed", content=[{"type": "content", "content": {"type": "text", "text": skill}}])
update(sessionUpdate="tool_call", toolCallId="c2", title="Fail")
update(sessionUpdate="tool_call_update", toolCallId="c2", status="failed", rawOutput={"error": "no"})
send({"method": "session/update", "params": {"sessionId": "other", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "foreign"}}}})
answer = urllib.request.urlopen(sys.argv[1] + "/v1/messages", b"{}", timeout=5).read().decode()
open("out.txt", "w").write(f"{cwd == os.getcwd()} {answer}")
print("a line that is no message", flush=True)
say("Done.")
stop("end_turn")
"#;
    for tier in [SandboxTier::Tier1, SandboxTier::Tier2] {
        let outcome = run_turn(turn, |settings, _| settings.protection = Protection::Only(tier)).await;
        assert_eq!((&outcome.end, outcome.reply.as_str()), (&AgentEnd::Finished, "Done."), "{tier}");
        assert_eq!(outputs(&outcome), ["out.txt: True model replied"]);
        let text = |text: &str| TranscriptEntry::Text { text: text.into() };
        let call = |name: &str, arguments: &str, result: &str, failed| TranscriptEntry::ToolCall {
            name: name.into(),
            arguments: arguments.into(),
            result: result.into(),
            failed,
        };
        let expected = [
            text("Working on do it"),
            call("Read the skill", r#"{"path":"x"}"#, "the instructions", false),
            call("Fail", "", r#"{"error":"no"}"#, true),
            text("Done."),
        ];
        assert_eq!(outcome.transcript, expected);
    }
}

async fn permissions() {
    let turn = r#"
options = [{"optionId": "r", "name": "Reject", "kind": "reject_once"}, {"optionId": "all", "name": "Always", "kind": "allow_always"}, {"optionId": "one", "name": "Once", "kind": "allow_once"}]
answers = [ask("session/request_permission", toolCall={"toolCallId": "c1"}, options=o)["result"]["outcome"] for o in (options, options[:2], options[:1])]
say(json.dumps(answers)); stop("end_turn")
"#;
    let outcome = run_turn(turn, |_, _| {}).await;
    assert_eq!(outcome.end, AgentEnd::Finished);
    let chosen: Vec<serde_json::Value> = serde_json::from_str(&outcome.reply).unwrap();
    let chosen: Vec<_> = chosen.iter().map(|answer| answer["optionId"].as_str()).collect();
    assert_eq!(chosen, [Some("one"), Some("all"), None]);
}

async fn no_capabilities() {
    let turn = r#"
answer = ask("fs/read_text_file", path="/etc/passwd")
say(f"{capabilities.get('terminal', False)} {capabilities.get('fs', {}).get('readTextFile', False)} {answer['error']['code']}")
stop("end_turn")
"#;
    assert_eq!(run_turn(turn, |_, _| {}).await.reply, "False False -32601");
}

async fn time_is_over() {
    let turn = r#"
open("a.txt", "w").write("partial"); say("half")
while True:
    message = receive()
    if message.get("method") == "session/cancel":
        say(" cancelled"); open("b.txt", "w").write("cancelled"); stop("cancelled"); break
"#;
    let outcome = run_turn(turn, |_, task| task.time = Duration::from_secs(5)).await;
    assert_eq!((&outcome.end, outcome.reply.as_str()), (&AgentEnd::TimedOut, "half cancelled"));
    assert_eq!(outputs(&outcome), ["a.txt: partial", "b.txt: cancelled"]);
}

async fn never_answers() {
    let started = Instant::now();
    let script = "#!/bin/sh\necho partial >a.txt\nsleep 60 &\nsleep 60\n";
    let outcome = run_program_text(script, Duration::from_secs(2)).await;
    assert_eq!((&outcome.end, outputs(&outcome)), (&AgentEnd::TimedOut, vec!["a.txt: partial".into()]));
    assert!(started.elapsed() < Duration::from_secs(20));
    // It ignores that the session was cancelled.
    let turn = "open('a.txt', 'w').write('partial'); time.sleep(60)";
    let outcome = run_turn(turn, |_, task| task.time = Duration::from_secs(5)).await;
    assert_eq!((&outcome.end, outputs(&outcome)), (&AgentEnd::TimedOut, vec!["a.txt: partial".into()]));
}

async fn cancelled() {
    let turn = "open('a.txt', 'w').write('partial'); time.sleep(60)";
    let outcome = run_turn(turn, |_, task| {
        let cancel = task.cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            cancel.cancel();
        });
    })
    .await;
    assert_eq!((&outcome.end, outputs(&outcome)), (&AgentEnd::Cancelled, vec!["a.txt: partial".into()]));
}

async fn dropped() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let words = words(&["sh", "-c", "sleep 60 & sleep 61", "dropped-acp-agent"]);
    let agent = AcpAgent::custom(&words, programs.settings()).unwrap();
    check_dropped(&agent, &gateway, "dropped-acp-agent").await;
}

fn reason(outcome: &AgentOutcome) -> &str {
    match &outcome.end {
        AgentEnd::Failed(reason) => reason,
        end => panic!("{end:?}"),
    }
}

async fn crashes() {
    let time = Duration::from_secs(20);
    let crash =
        "say('half'); open('a.txt', 'w').write('x'); print('broken \\033[31m', file=sys.stderr); sys.exit(3)";
    let outcome = run_turn(crash, |_, _| {}).await;
    assert_eq!(reason(&outcome), "the agent ended with exit code 3: broken \\u{1b}[31m");
    assert_eq!((outcome.reply.as_str(), outputs(&outcome)), ("half", vec!["a.txt: x".into()]));
    let error = r#"send({"id": request["id"], "error": {"code": -32000, "message": "Authentication required\u001b", "data": {"x": 1}}})"#;
    assert_eq!(
        reason(&run_turn(error, |_, _| {}).await),
        "the conversation with the agent failed: Authentication required\\u{1b}: {\"x\":1}"
    );
    assert_eq!(reason(&run_turn("stop('refusal')", |_, _| {}).await), "the agent refused to continue");
    assert!(reason(&run_turn("stop('other')", |_, _| {}).await).contains("unknown reason"));
    let outcome = run_program_text("#!/bin/sh\necho usage: agent\nexit 1\n", time).await;
    assert_eq!(reason(&outcome), "the agent ended with exit code 1: usage: agent");
    let closed = run_program_text("#!/bin/sh\nexec >&-\nsleep 60\n", Duration::from_secs(3)).await;
    assert!(matches!(closed.end, AgentEnd::TimedOut | AgentEnd::Failed(_)), "{closed:?}");
}

async fn hostile() {
    let time = Duration::from_secs(20);
    let flood = run_program_text("#!/bin/sh\nyes '{\"jsonrpc\":\"2.0\",\"method\":\"x\"}'\n", time).await;
    assert_eq!(reason(&flood), "the agent was killed at the limit of output");
    let line = "#!/usr/bin/env python3\nimport sys, time\nsys.stdout.write('[' * 9000000); sys.stdout.flush(); time.sleep(60)\n";
    let outcome = run_program_text(line, time).await;
    assert!(reason(&outcome).contains("the agent printed a line that is too long"), "{outcome:?}");
    // Deeply nested, invalid and unexpected messages do not matter.
    let turn = r#"
for line in (b'{"a":' * 5000, b'{"jsonrpc":"2.0","id":7,"result":{}}', b'{"jsonrpc":"2.0","id":null}', b'{}', b'\xff\xfe', b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":1}}'):
    sys.stdout.buffer.write(line + b"\n"); sys.stdout.flush()
say("still here"); stop("end_turn")
"#;
    let outcome = run_turn(turn, |_, _| {}).await;
    assert_eq!((outcome.end, outcome.reply.as_str()), (AgentEnd::Finished, "still here"));
}

async fn parallel() {
    let (programs, gateway) = (Programs::new(), TestGateway::start());
    let turn = "say(','.join(sorted(os.listdir('.')))); open('mine.txt', 'w').write(prompt); time.sleep(0.5); stop('end_turn')";
    let program = programs.add("agent", &AGENT.replace("TURN", turn));
    let agent = AcpAgent::custom(&words(&[&program]), programs.settings()).unwrap();
    let tasks: Vec<TestTask> =
        (0..4).map(|number| TestTask { prompt: number.to_string(), ..TestTask::default() }).collect();
    let runs = tasks.iter().map(|task| task.run(&agent, &gateway));
    for (number, outcome) in futures_util::future::join_all(runs).await.iter().enumerate() {
        assert_eq!((outcome.reply.as_str(), &outcome.end), (".agents,data", &AgentEnd::Finished));
        assert_eq!(outputs(outcome), [format!("mine.txt: {number}")]);
    }
}

fn presets() {
    let programs = Programs::new();
    let error = AcpAgent::preset_at(AgentPreset::Claude, "sh", programs.settings()).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @"claude does not speak the Agent Client Protocol; name the command of an adapter instead");
    let mut settings = programs.settings();
    settings.host.path = "/prowess-absent".into();
    let error = AcpAgent::preset_at(AgentPreset::Opencode, "/bin/sh", settings).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @"opencode needs rg, which cannot be used: rg is not in PATH");
    programs.add("rg", "#!/bin/sh\n");
    assert!(AcpAgent::preset_at(AgentPreset::Opencode, "sh", programs.settings()).is_ok());
}
