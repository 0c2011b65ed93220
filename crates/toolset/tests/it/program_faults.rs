//! Faults of programs: each ends the program and is reported, and the next call starts it again.

#![cfg(target_os = "linux")]

use std::time::Duration;

use crate::program_support::{ScriptEnv, TestPrograms, count_processes, program_with_call, wait_for};
use prowess::ErrorCode;
use serde_json::json;

/// Bodies that time out. Others must not, even if the machine is busy.
const NEVER_ANSWERS: [&str; 3] = ["time.sleep(9)", "while True: pass", "os.close(1)\ntime.sleep(9)"];

/// Returns the error of calling a program with this body.
fn call_error(body: &str) -> String {
    let timeout = if NEVER_ANSWERS.contains(&body) { 700 } else { 60_000 };
    let fixture = TestPrograms::with_call(body).timeout_ms(timeout);
    let error = fixture.error();
    assert_eq!(fixture.programs.running(), 0, "{error}");
    // The program was ended, and the log has the same error.
    let end = fixture.log()[0].end.clone().unwrap();
    assert_eq!(end.error.map(|logged| format!("toolsets/tools.py {logged}")).as_ref(), Some(&error));
    error
}

#[test]
fn faults_of_calls_are_reported() {
    let all = [
        "sys.exit(3)",
        "sys.exit(0)",
        "os.kill(os.getpid(), 9)",
        "raise KeyError('no such thing')",
        "print('hello there', flush=True)\ntime.sleep(9)",
        "print('[1, 2]', flush=True)\ntime.sleep(9)",
        "sys.stdout.buffer.write(bytes([255, 254, 10]))\nsys.stdout.flush()\ntime.sleep(9)",
        "sys.stdout.write('{\"type\": \"result\", \"id\": 1, \"output\": \"half')\nsys.stdout.flush()\nos._exit(0)",
        NEVER_ANSWERS[0],
        NEVER_ANSWERS[1],
        NEVER_ANSWERS[2],
        "say(type='result', id=7, output='x')\ntime.sleep(9)",
        "say(type='result', id='1', output='x')\ntime.sleep(9)",
        "say(type='tools', tools=[])\ntime.sleep(9)",
        "say(type='result', id=call['id'])\ntime.sleep(9)",
        "say(type='result', id=call['id'], output=['x'])\ntime.sleep(9)",
        "say(type='hello', id=call['id'])\ntime.sleep(9)",
        "say(type='result', id=call['id'], output='', metadata={'a': [0] * 300000})\ntime.sleep(9)",
        "sys.stdout.write('[' * 100000 + '\\n')\nsys.stdout.flush()\ntime.sleep(9)",
    ]
    .map(call_error);
    insta::assert_snapshot!(all.join("\n"), @r##"
    toolsets/tools.py exited (exit code 3) without answering
    toolsets/tools.py exited (exit code 0) without answering
    toolsets/tools.py exited (signal 9) without answering
    toolsets/tools.py exited (exit code 1) without answering; last error output: KeyError: 'no such thing'
    toolsets/tools.py wrote a line that is not a JSON object: hello there
    toolsets/tools.py wrote a line that is not a JSON object: [1, 2]
    toolsets/tools.py wrote a line that is not a JSON object: ��
    toolsets/tools.py exited (exit code 0) without answering
    toolsets/tools.py did not answer within 0.7 s and was stopped
    toolsets/tools.py did not answer within 0.7 s and was stopped
    toolsets/tools.py did not answer within 0.7 s and was stopped
    toolsets/tools.py answered call 7 instead of call 1
    toolsets/tools.py wrote a message of type result without a call id
    toolsets/tools.py wrote a message of type tools without being asked
    toolsets/tools.py wrote a result without an output
    toolsets/tools.py wrote a message of type result whose output is not a string
    toolsets/tools.py wrote a message of unknown type hello; expected tools, progress, result or error
    toolsets/tools.py wrote a message with more than 200000 values
    toolsets/tools.py wrote a line that is not a JSON object: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…
    "##);
}

#[test]
fn faults_of_listing_tools_are_reported() {
    let tool = r#"{"name": "t", "description": "T.", "parameters": {}}"#;
    let lists = [
        "5".to_owned(),
        format!("[{tool}, {tool}]"),
        format!("[{}]", vec![tool; 65].join(", ")),
        "[5]".to_owned(),
        r#"[{"description": "x"}]"#.to_owned(),
        r#"[{"name": "1x", "description": "x"}]"#.to_owned(),
        r#"[{"name": "two words", "description": "x"}]"#.to_owned(),
        r#"[{"name": "t"}]"#.to_owned(),
        r#"[{"name": "t", "description": "T.", "parameters": []}]"#.to_owned(),
        r#"[{"name": "t", "description": "T.", "parameters": {"type": "string"}}]"#.to_owned(),
        r#"[{"name": "t", "description": "T.", "parameters": {"properties": {"a": {"type": "text"}}}}]"#
            .to_owned(),
        r#"[{"name": "t", "description": "T.", "parameters": {"properties": {"a": {"pattern": "(?=x)"}}}}]"#
            .to_owned(),
        r#"[{"name": "t", "description": "T.", "parameters": {"unevaluatedProperties": false}}]"#.to_owned(),
        format!(r#"[{{"name": "t", "description": "{}"}}]"#, "x".repeat(70_000)),
    ];
    let mut all: Vec<_> = lists
        .iter()
        .map(|list| {
            TestPrograms::with_program(
                &program_with_call("pass")
                    .replace("if __name__", &format!("TOOLS = json.loads(r'''{list}''')\nif __name__")),
            )
            .failure()
        })
        .collect();
    let programs = [
        "raise SystemExit(1)",
        "import nowhere",
        "import time; time.sleep(9)",
        "print('Welcome!', flush=True); import time; time.sleep(9)",
        "print('{\"type\": \"result\", \"id\": 1, \"output\": \"x\"}', flush=True); import time; time.sleep(9)",
        "print('{\"type\": \"tools\", \"protocol\": 2, \"tools\": []}', flush=True); import time; time.sleep(9)",
        "import os, time; os.close(1); time.sleep(9)",
        "this is no Python",
    ];
    for program in programs {
        let never_answers = program.starts_with("import") && program.ends_with("time.sleep(9)");
        let start_time = if never_answers { 900 } else { 60_000 };
        let fixture = TestPrograms::with_program(program)
            .limits(|limits| limits.start_time = Duration::from_millis(start_time));
        all.push(fixture.failure());
        assert!(fixture.log()[0].end.as_ref().unwrap().error.is_some());
    }
    insta::assert_snapshot!(all.join("\n"), @r##"
    toolsets/tools.py wrote a message of type tools without an array of tools
    toolsets/tools.py lists the tool t twice
    toolsets/tools.py lists 65 tools; the maximum is 64
    toolsets/tools.py lists a tool that is not an object
    toolsets/tools.py lists a tool without a name
    toolsets/tools.py lists a tool with an invalid name: it must start with a letter and have at most 64 letters, digits, "_", "-" and ".": 1x
    toolsets/tools.py lists a tool with an invalid name: it must start with a letter and have at most 64 letters, digits, "_", "-" and ".": two words
    toolsets/tools.py lists the tool t without a description
    toolsets/tools.py lists the tool t with an unsupported schema: parameters: must be an object
    toolsets/tools.py lists the tool t with an unsupported schema: parameters.type: must be "object"
    toolsets/tools.py lists the tool t with an unsupported schema: parameters.properties.a.type: must be one of object, array, string, number, integer, boolean, null, or an array of them
    toolsets/tools.py lists the tool t with an unsupported schema: parameters.properties.a.pattern: invalid pattern: look-around, including look-ahead and look-behind, is not supported
    toolsets/tools.py lists the tool t with an unsupported schema: parameters.unevaluatedProperties: this keyword is not supported
    toolsets/tools.py lists the tool t with 70029 bytes; the maximum is 65536
    toolsets/tools.py exited (exit code 1) without answering
    toolsets/tools.py exited (exit code 1) without answering; last error output: ModuleNotFoundError: No module named 'nowhere'
    toolsets/tools.py did not list its tools within 0.9 s and was stopped
    toolsets/tools.py wrote a line that is not a JSON object: Welcome!
    toolsets/tools.py wrote a message of type result without being asked
    toolsets/tools.py uses protocol version 2; this version of Prowess supports version 1
    toolsets/tools.py did not list its tools within 0.9 s and was stopped
    toolsets/tools.py exited (exit code 1) without answering; last error output: SyntaxError: invalid syntax
    "##);
}

#[test]
fn excessive_output_ends_the_program() {
    let flood = "while True: sys.stdout.write('x' * 65536)";
    let fixture = TestPrograms::with_call(flood);
    assert_eq!(fixture.error(), "toolsets/tools.py wrote a line of more than 8388608 bytes and was stopped");
    assert_eq!(fixture.log()[0].end.as_ref().unwrap().limits_hit, ["output"]);
    let lines = "while True: say(type='progress', id=call['id'], title='x' * 60000)";
    assert_eq!(
        TestPrograms::with_call(lines).error(),
        "toolsets/tools.py wrote more than 16777216 bytes for one answer and was stopped"
    );
    let empty = "while True: sys.stdout.write('\\n' * 65536)";
    assert_eq!(
        TestPrograms::with_call(empty).error(),
        "toolsets/tools.py wrote more than 16777216 bytes for one answer and was stopped"
    );
    let aside = "while True: sys.stderr.write('x' * 65536)";
    assert_eq!(
        TestPrograms::with_call(aside).error(),
        "toolsets/tools.py wrote more than 1048576 bytes to standard error and was stopped"
    );
    // In all calls together.
    let fixture =
        TestPrograms::with_call("answer(call, 'x' * 60000)").limits(|limits| limits.total = 100_000);
    assert_eq!(fixture.output().len(), 60_000);
    assert_eq!(fixture.error(), "toolsets/tools.py wrote more than 100000 bytes in total and was stopped");
    assert_eq!(fixture.output().len(), 60_000);
}

#[test]
fn answers_are_limited() {
    let fixture = TestPrograms::with_call("answer(call, 'é' * 600000)");
    let result = fixture.call(json!({})).unwrap();
    assert_eq!(
        (result.output.len(), result.truncated),
        (fixture.env.policy.run.limits.output_bytes as usize, true)
    );
    let fixture = TestPrograms::with_call("answer(call, '', metadata={'a': 'x' * 300000})");
    assert_eq!(
        fixture.error(),
        "toolsets/tools.py: the metadata of the result have 300008 bytes; the maximum is 262144"
    );
    let fixture = TestPrograms::with_call("answer(call, '', attachments=['x' * 5000000])");
    assert_eq!(
        fixture.error(),
        "toolsets/tools.py: the attachments of the result have 5000004 bytes; the maximum is 4194304"
    );
    assert_eq!((fixture.programs.running(), fixture.log().len()), (1, 1));
}

/// Output after an answer belongs to no call: the next call reports it, and the one after it succeeds.
#[test]
fn a_duplicate_answer_is_reported_by_the_next_call() {
    let fixture = TestPrograms::with_call("answer(call, 'one')\nanswer(call, 'two')");
    for _ in 0..2 {
        assert_eq!(fixture.output(), "one");
        assert_eq!(fixture.error(), "toolsets/tools.py answered call 1 twice");
    }
    let late = TestPrograms::with_call("answer(call, 'one')\ntime.sleep(0.5)\nanswer(call, 'two')");
    assert_eq!(late.output(), "one");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(late.error(), "toolsets/tools.py answered call 1 twice");
    let chatty =
        TestPrograms::with_call("answer(call, 'one')\nsay(type='progress', id=call['id'], title='more')");
    assert_eq!(chatty.output(), "one");
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(chatty.error(), "toolsets/tools.py wrote a message of type progress without being asked");
    assert_eq!(chatty.output(), "one");
}

#[test]
fn a_program_that_fails_repeatedly_is_suspended() {
    let fixture = TestPrograms::with_call("sys.exit(1)").limits(|limits| {
        limits.failures = 3;
        limits.pause = Duration::from_secs(600);
    });
    for _ in 0..3 {
        assert_eq!(fixture.error(), "toolsets/tools.py exited (exit code 1) without answering");
    }
    let error = fixture.call(json!({})).unwrap_err();
    let message = "toolsets/tools.py failed 3 times in a row and is suspended for 600 s; last failure: it exited (exit code 1) without answering";
    assert_eq!((error.to_string().as_str(), error.code()), (message, ErrorCode::Unavailable));
    assert_eq!(fixture.log().len(), 3);
    // A fixed program is another program.
    fixture
        .env
        .write("home/.prowess/skills/s/toolsets/tools.py", &program_with_call("answer(call, 'fixed')"));
    assert_eq!(fixture.output(), "fixed");
    // A program that cannot list its tools is not started for every request, either.
    let fixture = TestPrograms::with_program("raise SystemExit(1)").limits(|limits| limits.failures = 2);
    for _ in 0..5 {
        fixture.tools().unwrap();
    }
    assert_eq!(fixture.log().len(), 2);
    // After the pause it is tried again.
    let fixture = TestPrograms::with_program("raise SystemExit(1)")
        .limits(|limits| (limits.failures, limits.pause) = (1, Duration::ZERO));
    (0..3).for_each(|_| drop(fixture.tools()));
    assert_eq!(fixture.log().len(), 3);
}

#[test]
fn a_program_that_answers_between_failures_is_not_suspended() {
    let body = "if call['arguments'].get('a'): sys.exit(1)\nanswer(call, 'x')";
    let fixture = TestPrograms::with_call(body).limits(|limits| limits.failures = 2);
    for _ in 0..4 {
        assert!(fixture.call(json!({"a": "die"})).is_err());
        assert_eq!(fixture.output(), "x");
    }
}

#[test]
fn a_program_that_ignores_the_end_of_its_input_is_killed() {
    let text = program_with_call(
        "answer(call, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))))",
    )
    .replace("import json", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport json");
    let fixture = TestPrograms::with_program(&(text + "    while True: time.sleep(1)\n"));
    let run_dir = fixture.output();
    fixture.programs.keep_only(&fixture.conversation, &[]);
    assert!(wait_for(|| count_processes(&run_dir) == 0));
    let end = fixture.log()[0].end.clone().unwrap();
    let expected = Some("did not exit after its input was closed, and was killed");
    assert_eq!((end.signal, end.error.as_deref()), (Some(9), expected));
}

#[test]
fn a_program_that_reads_nothing_is_ended_in_time() {
    let text = program_with_call("pass").replace(
        "for line in sys.stdin:",
        "say(type='tools', tools=TOOLS)\n    time.sleep(9)\n    for line in sys.stdin:",
    );
    let fixture = TestPrograms::with_program(&text).timeout_ms(600);
    let error = fixture.call(json!({"a": "x".repeat(500_000)})).unwrap_err();
    assert_eq!(error.to_string(), "toolsets/tools.py did not answer within 0.6 s and was stopped");
    assert_eq!(error.code(), ErrorCode::Timeout);
    let end = fixture.log()[0].end.clone().unwrap();
    assert!(end.timed_out && end.limits_hit == ["time"]);
}

#[test]
fn a_program_that_cannot_be_recorded_does_not_run() {
    let fixture = TestPrograms::with_project(ScriptEnv::with("toolsets: [toolsets/tools.py]\n"));
    fixture.env.write("home/.prowess/skills/s/toolsets/tools.py", &program_with_call("answer(call, 'x')"));
    let log = prowess_sandbox::log::path(&fixture.env.host_env()).unwrap();
    std::fs::create_dir_all(&log).unwrap();
    assert!(fixture.failure().starts_with("cannot run toolsets/tools.py: cannot record the run in "));
}

#[test]
fn rerun_as_unprivileged_user() {
    crate::program_support::rerun_as_unprivileged_user(module_path!());
}
