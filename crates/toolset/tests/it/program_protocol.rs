//! Programs that provide tools: requests, answers and lifetime.

#![cfg(target_os = "linux")]

use std::time::Duration;

use crate::program_support::{ScriptEnv, TIERS, TestPrograms, count_processes, program_with_call, wait_for};
use prowess_toolset::{Cancel, Conversation, ToolCall, ToolsetError};
use serde_json::{Value, json};

#[test]
fn tools_are_listed_and_called_in_both_tiers() {
    for tier in TIERS {
        let fixture = TestPrograms::with_call(
            "answer(call, 'hello ' + call['arguments'].get('a', ''), title='T', metadata={'n': 1})",
        )
        .on(tier);
        assert_eq!(fixture.programs.running(), 0);
        let loaded = fixture.tools().unwrap();
        assert!(loaded.failures.is_empty(), "{loaded:?}");
        assert_eq!((loaded.tools[0].id.as_str(), loaded.tools[0].description.as_str()), ("t", "T."));
        assert_eq!(loaded.tools[0].input_schema["properties"]["a"]["type"], "string");
        let result = fixture.call(json!({"a": "you"})).unwrap();
        assert_eq!((result.title.as_str(), result.output.as_str()), ("T", "hello you"));
        assert_eq!(Value::Object(result.metadata), json!({"n": 1}));
        assert_eq!(fixture.programs.running(), 1);
        let log = fixture.log();
        assert_eq!((log.len(), log[0].sandbox.as_deref(), &log[0].end), (1, Some(tier.as_str()), &None));
        assert_eq!((log[0].script.as_str(), log[0].skill.as_str()), ("toolsets/tools.py", "s"));
        assert!(log[0].digest.starts_with("sha256:") && !log[0].tree.is_empty());
    }
}

#[test]
fn a_call_contains_its_context() {
    let fixture = TestPrograms::with_call(
        "answer(call, json.dumps([call['tool'], call['context'], call['id']], sort_keys=True))",
    );
    let mut call = ToolCall::new("t", json!({}));
    call.session_id = "s-1".into();
    call.message_id = "m-1".into();
    call.agent = "a".into();
    call.call_id = "c-1".into();
    call.extra.insert("k".into(), json!([1]));
    let received: Value =
        serde_json::from_str(&fixture.call_with(call, &Cancel::default()).unwrap().output).unwrap();
    let context =
        json!({"sessionID": "s-1", "messageID": "m-1", "agent": "a", "callID": "c-1", "extra": {"k": [1]}});
    assert_eq!(received, json!(["t", context, 1]));
}

#[test]
fn progress_attachments_and_stderr_are_returned() {
    let fixture = TestPrograms::with_call(
        "say(type='progress', id=call['id'], title='before', metadata={'a': 1, 'b': 1})\n\
         say(type='progress', id=call['id'], metadata={'b': 2, 'c': 2})\n\
         print('seen', file=sys.stderr)\nsys.stderr.flush()\ntime.sleep(0.1)\n\
         answer(call, 'o\\x1b[31m', metadata={'c': 3}, attachments=[{'mime': 'image/png'}])",
    );
    let result = fixture.call(json!({})).unwrap();
    assert_eq!((result.title.as_str(), result.output.as_str()), ("before", "o"));
    assert_eq!(Value::Object(result.metadata), json!({"a": 1, "b": 2, "c": 3}));
    assert_eq!(
        (result.attachments, result.console),
        (vec![json!({"mime": "image/png"})], vec!["seen".to_owned()])
    );
}

#[test]
fn the_program_continues_after_an_error() {
    let fixture = TestPrograms::with_call("say(type='error', id=call['id'], message='no such\\nthing')");
    let error = fixture.call(json!({})).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code().as_str()),
        ("Error: no such thing", "EXECUTION_ERROR")
    );
    assert_eq!((fixture.error(), fixture.log().len()), ("Error: no such thing".to_owned(), 1));
}

#[test]
fn arguments_are_validated_before_the_call() {
    let fixture = TestPrograms::with_call("answer(call, 'called')");
    let error = fixture.call(json!({"a": 5})).unwrap_err();
    assert_eq!(error, ToolsetError::Rejected("a: must be a string, not a number".into()));
    let error = fixture.call(json!({"a": "x".repeat(2 * 1024 * 1024)})).unwrap_err();
    assert_eq!(error.to_string(), "the arguments have 2097160 bytes; the maximum is 1048576");
    // Arguments may be larger than a pipe buffer.
    let fixture = TestPrograms::with_call("answer(call, str(len(call['arguments']['a'])))");
    assert_eq!(fixture.call(json!({"a": "x".repeat(900_000)})).unwrap().output, "900000");
    let none = fixture.call_with(ToolCall::new("none", json!({})), &Cancel::default()).unwrap_err();
    assert_eq!(none.to_string(), "the skill has no tool named none");
}

#[test]
fn each_conversation_has_its_own_process() {
    let fixture = TestPrograms::with_program(
        &program_with_call("global n\nn += 1\nanswer(call, f'{n}')").replace("TOOLS =", "n = 0\nTOOLS ="),
    );
    assert_eq!([fixture.output(), fixture.output(), fixture.output()], ["1", "2", "3"]);
    let mut other = fixture;
    let first = std::mem::take(&mut other.conversation);
    assert_eq!((other.output(), other.programs.running()), ("1".to_owned(), 2));
    // The process ends with its conversation.
    drop(first);
    assert!(wait_for(|| other.programs.running() == 1));
    assert_eq!(other.output(), "2");
    // The tools are known; another conversation does not start a process to list them.
    let previous = std::mem::take(&mut other.conversation);
    assert_eq!((other.tools().unwrap().tools.len(), other.programs.running()), (1, 1));
    // The process of a skill that is no longer active ends.
    other.programs.keep_only(&previous, &[other.env.skill_dir()]);
    assert_eq!(other.programs.running(), 1);
    other.programs.keep_only(&Conversation::default(), &[]);
    assert_eq!(other.programs.running(), 1);
    other.programs.keep_only(&previous, &[]);
    assert_eq!(other.programs.running(), 0);
}

#[test]
fn dropping_the_programs_removes_everything() {
    for tier in TIERS {
        let fixture =
            TestPrograms::with_call("answer(call, os.path.dirname(os.path.abspath(sys.argv[0])))").on(tier);
        let home = fixture.output();
        assert!(std::path::Path::new(&home).exists());
        let TestPrograms { programs, conversation, env, .. } = fixture;
        drop(programs);
        assert!(!std::path::Path::new(&home).exists(), "{tier}");
        let log =
            prowess_sandbox::log::read_records(&prowess_sandbox::log::path(&env.host_env()).unwrap(), 1);
        let end = log[0].end.clone().unwrap();
        assert_eq!((end.exit_code, end.signal, end.error), (Some(0), None, None), "{tier}");
        drop(conversation);
    }
}

#[test]
fn an_idle_program_ends_and_is_started_again() {
    let fixture = TestPrograms::with_call("answer(call, str(os.getpid()))")
        .limits(|limits| limits.idle = Duration::from_millis(300));
    fixture.output();
    assert!(wait_for(|| fixture.programs.running() == 0));
    fixture.output();
    assert_eq!(fixture.log().len(), 2);
    // A program that exits successfully is also started again.
    let fixture = TestPrograms::with_call("answer(call, 'bye')\nsys.exit(0)");
    for _ in 0..4 {
        assert_eq!(fixture.output(), "bye");
        assert!(wait_for(|| fixture.programs.running() == 0));
    }
}

#[test]
fn a_changed_file_restarts_the_program() {
    let fixture = TestPrograms::with_program(&format!(
        "from beside import WORD\n{}",
        program_with_call("answer(call, WORD)")
    ));
    fixture.env.write("home/.prowess/skills/s/toolsets/beside.py", "WORD = 'one'\n");
    assert_eq!(fixture.output(), "one");
    fixture.env.write("home/.prowess/skills/s/toolsets/beside.py", "WORD = 'two'\n");
    assert_eq!((fixture.output(), fixture.programs.running()), ("two".to_owned(), 1));
}

#[test]
fn the_least_recently_used_process_is_ended() {
    let mut fixture = TestPrograms::with_call("answer(call, 'x')").limits(|limits| limits.running = 2);
    let mut conversations = Vec::new();
    for _ in 0..3 {
        fixture.output();
        conversations.push(std::mem::take(&mut fixture.conversation));
    }
    assert_eq!((fixture.programs.running(), fixture.log().len()), (2, 3));
}

#[test]
fn a_skill_can_have_several_programs_in_several_languages() {
    let env = ScriptEnv::with(
        "toolsets: [./toolsets/tools.py, toolsets/more.sh, toolsets/same.py, toolsets/none.py]\n",
    );
    env.write("home/.prowess/skills/s/toolsets/tools.py", &program_with_call("answer(call, 'python')"));
    env.write("home/.prowess/skills/s/toolsets/same.py", &program_with_call("answer(call, 'python')"));
    env.write(
        "home/.prowess/skills/s/toolsets/more.sh",
        "#!/bin/sh\nwhile read -r line; do case $line in *'\"type\":\"tools\"'*) \
         echo '{\"type\":\"tools\",\"tools\":[{\"name\":\"u\",\"description\":\"U.\"}]}';; \
         *) echo '{\"type\":\"result\",\"id\":1,\"output\":\"shell\"}';; esac; done\n",
    );
    let fixture = TestPrograms::with_project(env);
    let loaded = fixture.tools().unwrap();
    assert_eq!(loaded.tools.iter().map(|tool| tool.id.as_str()).collect::<Vec<_>>(), ["t", "u"]);
    let failures: Vec<_> = loaded.failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        failures,
        [
            "toolsets/same.py lists the tool t, which toolsets/tools.py already has",
            "cannot run toolsets/none.py: no such file: toolsets/none.py; did you mean toolsets/same.py?",
        ]
    );
    let shell = fixture.call_with(ToolCall::new("u", json!({})), &Cancel::default()).unwrap();
    assert_eq!((shell.output.as_str(), fixture.output().as_str()), ("shell", "python"));
}

#[test]
fn cancelling_notifies_the_program_and_then_ends_it() {
    for tier in TIERS {
        // A program that handles the cancellation answers and stays.
        let fixture = TestPrograms::with_call(
            "sys.stderr.write('x')\nsys.stderr.flush()\nline = json.loads(sys.stdin.readline())\n\
             say(type='error', id=call['id'], message=line['type'] + ' ' + str(line['id'] == call['id']))",
        )
        .on(tier);
        let cancel = Cancel::default();
        cancel.cancel();
        let call = || fixture.call_with(ToolCall::new("t", json!({})), &cancel).unwrap_err().to_string();
        assert_eq!(
            ([call(), call()], fixture.log().len()),
            (["Error: cancel True".into(), "Error: cancel True".into()], 1)
        );
        // Another one is killed with its children.
        let fixture = TestPrograms::with_call(
            "if os.fork() == 0:\n    os.setsid(); time.sleep(60)\n\
             open(os.environ['HOME'] + '/begun', 'w').close()\ntime.sleep(60)",
        )
        .on(tier);
        let cancel = Cancel::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| fixture.call_with(ToolCall::new("t", json!({})), &cancel));
            std::thread::sleep(Duration::from_millis(500));
            cancel.cancel();
            assert_eq!(waiting.join().unwrap(), Err(ToolsetError::Cancelled), "{tier}");
        });
        assert_eq!(fixture.programs.running(), 0);
        assert!(wait_for(|| fixture.log()[0].end.is_some()), "{tier}");
    }
}

#[test]
fn child_processes_end_with_the_program() {
    for tier in TIERS {
        let fixture = TestPrograms::with_call(
            "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(100)\n    os._exit(0)\n\
             answer(call, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))))",
        )
        .on(tier);
        let run_dir = fixture.output();
        // Processes are found by the path of the script in this directory.
        assert!(wait_for(|| count_processes(&run_dir) >= 2), "{tier}");
        let TestPrograms { programs, .. } = fixture;
        drop(programs);
        assert!(wait_for(|| count_processes(&run_dir) == 0), "{tier}");
    }
}

#[test]
fn rerun_as_unprivileged_user() {
    crate::program_support::rerun_as_unprivileged_user(module_path!());
}
