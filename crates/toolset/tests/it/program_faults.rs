//! Everything that a program can do instead of answering: each ends it, is told as what it was, and the next call starts
//! it anew.

#![cfg(target_os = "linux")]

use std::time::Duration;

use crate::program_world::{Scene, World, doing, running, wait_for};
use prowess::ErrorCode;
use serde_json::json;

/// What is told of a program with this body when it is called.
fn told(body: &str) -> String {
    let scene = Scene::doing(body).timeout_ms(700);
    let told = scene.error();
    assert_eq!(scene.programs.running(), 0, "{told}");
    // It was ended, and the log says the same.
    let end = scene.log()[0].end.clone().unwrap();
    assert_eq!(end.error.map(|error| format!("toolsets/tools.py {error}")).as_ref(), Some(&told));
    told
}

#[test]
fn each_fault_of_a_call_is_told() {
    let all = [
        "sys.exit(3)",
        "sys.exit(0)",
        "os.kill(os.getpid(), 9)",
        "raise KeyError('no such thing')",
        "print('hello there', flush=True)\ntime.sleep(9)",
        "print('[1, 2]', flush=True)\ntime.sleep(9)",
        "sys.stdout.buffer.write(bytes([255, 254, 10]))\nsys.stdout.flush()\ntime.sleep(9)",
        "sys.stdout.write('{\"type\": \"result\", \"id\": 1, \"output\": \"half')\nsys.stdout.flush()\nos._exit(0)",
        "time.sleep(9)",
        "while True: pass",
        "os.close(1)\ntime.sleep(9)",
        "say(type='result', id=7, output='x')\ntime.sleep(9)",
        "say(type='result', id='1', output='x')\ntime.sleep(9)",
        "say(type='tools', tools=[])\ntime.sleep(9)",
        "say(type='result', id=call['id'])\ntime.sleep(9)",
        "say(type='result', id=call['id'], output=['x'])\ntime.sleep(9)",
        "say(type='hello', id=call['id'])\ntime.sleep(9)",
        "say(type='result', id=call['id'], output='', metadata={'a': [0] * 300000})\ntime.sleep(9)",
        "sys.stdout.write('[' * 100000 + '\\n')\nsys.stdout.flush()\ntime.sleep(9)",
    ]
    .map(told);
    insta::assert_snapshot!(all.join("\n"), @r##"
    toolsets/tools.py ended (exit code 3) instead of answering
    toolsets/tools.py ended (exit code 0) instead of answering
    toolsets/tools.py ended (signal 9) instead of answering
    toolsets/tools.py ended (exit code 1) instead of answering; its last words: KeyError: 'no such thing'
    toolsets/tools.py wrote a line that is no JSON object: hello there
    toolsets/tools.py wrote a line that is no JSON object: [1, 2]
    toolsets/tools.py wrote a line that is no JSON object: ��
    toolsets/tools.py ended (exit code 0) instead of answering
    toolsets/tools.py did not answer within 0.7 s and was stopped
    toolsets/tools.py did not answer within 0.7 s and was stopped
    toolsets/tools.py did not answer within 0.7 s and was stopped
    toolsets/tools.py answered call 7 when it was asked call 1
    toolsets/tools.py wrote a message of type result without the id of a call
    toolsets/tools.py wrote a message of type tools without being asked
    toolsets/tools.py wrote a result without an output
    toolsets/tools.py wrote a message of type result whose output is no text
    toolsets/tools.py wrote a message of type hello; there are tools, progress, result and error
    toolsets/tools.py wrote a message of more than 200000 values
    toolsets/tools.py wrote a line that is no JSON object: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…
    "##);
}

#[test]
fn each_fault_of_telling_the_tools_is_told() {
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
            Scene::of(
                &doing("pass")
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
        let scene = Scene::of(program).limits(|limits| limits.start_time = Duration::from_millis(900));
        all.push(scene.failure());
        assert!(scene.log()[0].end.as_ref().unwrap().error.is_some());
    }
    insta::assert_snapshot!(all.join("\n"), @r##"
    toolsets/tools.py wrote a message of type tools without an array of tools
    toolsets/tools.py lists the tool t twice
    toolsets/tools.py lists 65 tools; at most 64 are offered
    toolsets/tools.py lists a tool that is no object
    toolsets/tools.py lists a tool without a name
    toolsets/tools.py lists a tool whose name does not begin with a letter and have at most 64 letters, digits, "_", "-" and ".": 1x
    toolsets/tools.py lists a tool whose name does not begin with a letter and have at most 64 letters, digits, "_", "-" and ".": two words
    toolsets/tools.py lists the tool t without a description
    toolsets/tools.py describes the tool t with a schema that cannot be used: parameters: a schema is an object
    toolsets/tools.py describes the tool t with a schema that cannot be used: parameters.type: it is object
    toolsets/tools.py describes the tool t with a schema that cannot be used: parameters.properties.a.type: it is one of object, array, string, number, integer, boolean, null, or an array of them
    toolsets/tools.py describes the tool t with a schema that cannot be used: parameters.properties.a.pattern: the pattern cannot be used: look-around, including look-ahead and look-behind, is not supported
    toolsets/tools.py describes the tool t with a schema that cannot be used: parameters.unevaluatedProperties: this keyword is not checked here, so it is not accepted
    toolsets/tools.py describes the tool t with 70029 bytes; at most 65536 are read
    toolsets/tools.py ended (exit code 1) instead of answering
    toolsets/tools.py ended (exit code 1) instead of answering; its last words: ModuleNotFoundError: No module named 'nowhere'
    toolsets/tools.py did not list its tools within 0.9 s and was stopped
    toolsets/tools.py wrote a line that is no JSON object: Welcome!
    toolsets/tools.py wrote a message of type result without being asked
    toolsets/tools.py speaks version 2 of the protocol; this Prowess speaks version 1
    toolsets/tools.py did not list its tools within 0.9 s and was stopped
    toolsets/tools.py ended (exit code 1) instead of answering; its last words: SyntaxError: invalid syntax
    "##);
}

#[test]
fn what_is_too_much_is_ended() {
    let flood = "while True: sys.stdout.write('x' * 65536)";
    let scene = Scene::doing(flood);
    assert_eq!(scene.error(), "toolsets/tools.py wrote a line of more than 8388608 bytes and was stopped");
    assert_eq!(scene.log()[0].end.as_ref().unwrap().limits_hit, ["output"]);
    let lines = "while True: say(type='progress', id=call['id'], title='x' * 60000)";
    assert_eq!(
        Scene::doing(lines).error(),
        "toolsets/tools.py wrote more than 16777216 bytes for one answer and was stopped"
    );
    let empty = "while True: sys.stdout.write('\\n' * 65536)";
    assert_eq!(
        Scene::doing(empty).error(),
        "toolsets/tools.py wrote more than 16777216 bytes for one answer and was stopped"
    );
    let aside = "while True: sys.stderr.write('x' * 65536)";
    assert_eq!(
        Scene::doing(aside).error(),
        "toolsets/tools.py wrote more than 1048576 bytes to standard error and was stopped"
    );
    // In all its calls together.
    let scene = Scene::doing("answer(call, 'x' * 60000)").limits(|limits| limits.total = 100_000);
    assert_eq!(scene.output().len(), 60_000);
    assert_eq!(scene.error(), "toolsets/tools.py has written more than 100000 bytes in all and was stopped");
    assert_eq!(scene.output().len(), 60_000);
}

#[test]
fn an_answer_has_its_limits() {
    let scene = Scene::doing("answer(call, 'é' * 600000)");
    let result = scene.call(json!({})).unwrap();
    assert_eq!(
        (result.output.len(), result.truncated),
        (scene.world.policy.run.limits.output_bytes as usize, true)
    );
    let scene = Scene::doing("answer(call, '', metadata={'a': 'x' * 300000})");
    assert_eq!(
        scene.error(),
        "toolsets/tools.py: metadata of the answer have 300008 bytes; at most 262144 are taken"
    );
    let scene = Scene::doing("answer(call, '', attachments=['x' * 5000000])");
    assert_eq!(
        scene.error(),
        "toolsets/tools.py: attachments of the answer have 5000004 bytes; at most 4194304 are taken"
    );
    assert_eq!((scene.programs.running(), scene.log().len()), (1, 1));
}

/// Whatever comes after an answer belongs to no question: the next call says so, and the one after it is answered.
#[test]
fn an_answer_that_comes_twice_is_told_to_whoever_asks_next() {
    let scene = Scene::doing("answer(call, 'one')\nanswer(call, 'two')");
    for _ in 0..2 {
        assert_eq!(scene.output(), "one");
        assert_eq!(scene.error(), "toolsets/tools.py answered call 1 twice");
    }
    let late = Scene::doing("answer(call, 'one')\ntime.sleep(0.5)\nanswer(call, 'two')");
    assert_eq!(late.output(), "one");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(late.error(), "toolsets/tools.py answered call 1 twice");
    let chatty = Scene::doing("answer(call, 'one')\nsay(type='progress', id=call['id'], title='more')");
    assert_eq!(chatty.output(), "one");
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(chatty.error(), "toolsets/tools.py wrote a message of type progress without being asked");
    assert_eq!(chatty.output(), "one");
}

#[test]
fn one_that_fails_again_and_again_is_left_alone() {
    let scene = Scene::doing("sys.exit(1)").limits(|limits| {
        limits.failures = 3;
        limits.pause = Duration::from_secs(600);
    });
    for _ in 0..3 {
        assert_eq!(scene.error(), "toolsets/tools.py ended (exit code 1) instead of answering");
    }
    let error = scene.call(json!({})).unwrap_err();
    let told = "toolsets/tools.py failed 3 times in a row and is left alone for 600 s; last, it ended (exit code 1) instead of answering";
    assert_eq!((error.to_string().as_str(), error.code()), (told, ErrorCode::Unavailable));
    assert_eq!(scene.log().len(), 3);
    // A mended one is another one.
    scene.world.write("home/.prowess/skills/s/toolsets/tools.py", &doing("answer(call, 'mended')"));
    assert_eq!(scene.output(), "mended");
    // One that cannot even tell its tools is not started for every question, either.
    let scene = Scene::of("raise SystemExit(1)").limits(|limits| limits.failures = 2);
    for _ in 0..5 {
        scene.tools().unwrap();
    }
    assert_eq!(scene.log().len(), 2);
    // After the pause it is tried once more.
    let scene = Scene::of("raise SystemExit(1)")
        .limits(|limits| (limits.failures, limits.pause) = (1, Duration::ZERO));
    (0..3).for_each(|_| drop(scene.tools()));
    assert_eq!(scene.log().len(), 3);
}

#[test]
fn one_that_answers_between_failures_is_not() {
    let body = "if call['arguments'].get('a'): sys.exit(1)\nanswer(call, 'x')";
    let scene = Scene::doing(body).limits(|limits| limits.failures = 2);
    for _ in 0..4 {
        assert!(scene.call(json!({"a": "die"})).is_err());
        assert_eq!(scene.output(), "x");
    }
}

#[test]
fn one_that_ignores_the_end_of_its_input_is_killed() {
    let text = doing("answer(call, os.path.dirname(os.environ['HOME']))")
        .replace("import json", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport json");
    let scene = Scene::of(&(text + "    while True: time.sleep(1)\n"));
    let stage = scene.output();
    scene.programs.keep_only(&scene.conversation, &[]);
    assert!(wait_for(|| running(&stage) == 0));
    let end = scene.log()[0].end.clone().unwrap();
    let told = Some("did not end when its input did, and was killed");
    assert_eq!((end.signal, end.error.as_deref()), (Some(9), told));
}

#[test]
fn one_that_reads_nothing_is_ended_in_time() {
    let text = doing("pass").replace(
        "for line in sys.stdin:",
        "say(type='tools', tools=TOOLS)\n    time.sleep(9)\n    for line in sys.stdin:",
    );
    let scene = Scene::of(&text).timeout_ms(600);
    let error = scene.call(json!({"a": "x".repeat(500_000)})).unwrap_err();
    assert_eq!(error.to_string(), "toolsets/tools.py did not answer within 0.6 s and was stopped");
    assert_eq!(error.code(), ErrorCode::Timeout);
    let end = scene.log()[0].end.clone().unwrap();
    assert!(end.timed_out && end.limits_hit == ["time"]);
}

#[test]
fn what_cannot_be_recorded_does_not_run() {
    let scene = Scene::over(World::with("toolsets: [toolsets/tools.py]\n"));
    scene.world.write("home/.prowess/skills/s/toolsets/tools.py", &doing("answer(call, 'x')"));
    let log = prowess_sandbox::log::path(&scene.world.surroundings()).unwrap();
    std::fs::create_dir_all(&log).unwrap();
    assert!(scene.failure().starts_with("toolsets/tools.py does not run: the run cannot be recorded in "));
}

#[test]
fn once_more_as_an_ordinary_user() {
    crate::program_world::once_more_as_an_ordinary_user(module_path!());
}
