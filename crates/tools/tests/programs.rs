//! Scripts and tool programs, through the library's `Toolbox`.
//!
//! The sandbox starts this program again as its helper, as it does with every program that embeds the library.

#![allow(clippy::unwrap_used)]

#[path = "it/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use prowess::Preset;
use prowess::policy::ScriptPolicy;
use prowess_tools::{Envelope, Session, system_prompt};
use prowess_toolset::ProgramLimits;
use serde_json::{Value, json};
use support::{CallTools, TestEnv, error, requesting, skill_tools};

fn main() {
    prowess_testing::test_main::run_tests(&[
        ("scripts_run_through_the_library", scripts_run_through_the_library),
        ("scripts_that_are_not_allowed_are_rejected", scripts_that_are_not_allowed_are_rejected),
        ("tools_are_available_while_their_skill_is_active", tools_are_available_while_their_skill_is_active),
        ("results_are_envelopes", results_are_envelopes),
        ("names_are_qualified_across_modules_and_programs", names_are_qualified_across_modules_and_programs),
        (
            "a_program_cannot_reuse_the_name_of_a_module_tool",
            a_program_cannot_reuse_the_name_of_a_module_tool,
        ),
        ("without_allowed_scripts_there_are_no_tools", without_allowed_scripts_there_are_no_tools),
        ("unused_skills_start_no_programs", unused_skills_start_no_programs),
        ("pushed_skills_are_active", pushed_skills_are_active),
        ("a_failing_program_is_reported", a_failing_program_is_reported),
    ]);
}

const ROOT: &str = "~/.agents/skills";

const PROGRAM: &str = r#"
import json, os, sys
def say(**message): print(json.dumps(message), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "tools": say(type="tools", tools=[{"name": n, "description": f"Does {n}."} for n in NAMES])
    elif message["type"] == "call": CALL
"#;

/// Creates a skill with a program that provides these tools and executes `call`.
fn program(project: &TestEnv, dir: &str, names: &[&str], call: &str) {
    let name = dir.rsplit('/').next().unwrap();
    let head =
        format!("---\nname: {name}\ndescription: Does {name}.\ntoolsets: [toolsets/tools.py]\n---\nB\n");
    project.file(&format!("{dir}/SKILL.md"), head);
    let names = serde_json::to_string(names).unwrap();
    let text = PROGRAM.replace("NAMES", &names).replace("CALL", call);
    project.file(&format!("{dir}/toolsets/tools.py"), text);
}

const SAY_NAME: &str =
    r#"say(type="result", id=message["id"], title="T", metadata={"n": 1}, output=message["tool"])"#;

fn allowed() -> TestEnv {
    let mut project = TestEnv::new(Preset::Standard);
    project.policy.run.scripts = ScriptPolicy::Allowed;
    project
}

fn shown(envelope: &Envelope) -> Value {
    let mut value = serde_json::to_value(envelope).unwrap();
    value.as_object_mut().unwrap().remove("stats");
    value.as_object_mut().unwrap().remove("context");
    value
}

fn scripts_run_through_the_library() {
    let project = allowed();
    project.fixture();
    let toolbox = project.toolbox_with_commands();
    let run = |params: Value| toolbox.call(&mut Session::default(), "skills.run", params);
    let envelope = support::checked(run(json!({
        "name": "skills-system-validation", "script": "scripts/echo.sh", "args": ["hello", "two words"]
    })));
    assert!(
        envelope.text.contains("PROWESS_SCRIPT_MARKER_") && envelope.text.contains("two words"),
        "{}",
        envelope.text
    );
    assert_eq!(envelope.data["exit_code"], 0);
    assert!(envelope.data["sandbox"].as_str().unwrap().starts_with("tier"));
    let missing = run(json!({"name": "skills-system-validation", "script": "scripts/ehco.sh"}));
    assert_eq!(error(&missing).0, "NOT_FOUND");
    assert!(error(&missing).1.contains("did you mean scripts/echo.sh?"), "{}", missing.text);
    let wrong = run(json!({"name": "skills-system-validation", "script": "scripts/echo.sh", "args": "x"}));
    assert_eq!(error(&wrong).0, "INVALID_PARAM");
    project.file(&format!("{ROOT}/s/SKILL.md"), "---\nname: s\ndescription: S.\n---\nB\n");
    project.file(&format!("{ROOT}/s/fail.sh"), "#!/bin/sh\necho out; echo no >&2; exit 3\n");
    let failed = run(json!({"name": "s", "script": "fail.sh"}));
    assert_eq!(error(&failed), ("EXECUTION_ERROR", "the script failed: exit code 3"));
    assert_eq!(failed.text, "out\n[standard error]\nno\n[exit code 3]\n");
}

fn scripts_that_are_not_allowed_are_rejected() {
    let mut user = TestEnv::new(Preset::Standard);
    user.fixture();
    let params = json!({"name": "skills-system-validation", "script": "scripts/echo.sh"});
    let refused = user.toolbox_with_commands().call(&mut Session::default(), "skills.run", params.clone());
    assert_eq!(error(&refused).0, "ACCESS_DENIED");
    // The tool is available because some skills are allowed, but not this one. The path of a project's skill is
    // not shown to models.
    user.policy.run.allowed_skills = vec!["other".to_owned()];
    let mut project = TestEnv::new(Preset::Triggers);
    project.policy.run.allowed_skills = vec!["other".to_owned()];
    project.policy.activation = user.policy.activation;
    project.file(".agent/skills/p/SKILL.md", "---\nname: p\ndescription: P.\n---\nB\n");
    project.file(".agent/skills/p/x.sh", "#!/bin/sh\n");
    for (env, params) in [(&user, params), (&project, json!({"name": "p", "script": "x.sh"}))] {
        let refused = env.toolbox_with_commands().call(&mut Session::default(), "skills.run", params);
        assert_eq!(error(&refused).0, "ACCESS_DENIED", "{}", refused.text);
        assert!(refused.text.contains("run.allowed-skills = [\""), "{}", refused.text);
        assert!(!env.is_named_in(&refused.text), "{}", refused.text);
    }
}

fn tools_are_available_while_their_skill_is_active() {
    let project = allowed();
    program(&project, &format!("{ROOT}/a"), &["t", "u"], SAY_NAME);
    program(&project, &format!("{ROOT}/b"), &["v"], SAY_NAME);
    let (toolbox, mut session) = (project.toolbox_with_commands(), Session::default());
    assert_eq!((skill_tools(&toolbox, &session), toolbox.running_programs()), (Vec::new(), 0));
    toolbox.call(&mut session, "skills.activate", json!({"name": "a"}));
    assert_eq!(
        (skill_tools(&toolbox, &session), toolbox.running_programs()),
        (vec!["t".into(), "u".into()], 1)
    );
    assert_eq!(toolbox.call(&mut session, "u", json!({})).text, "u");
    session.ledger.remove("a");
    assert_eq!((skill_tools(&toolbox, &session), toolbox.running_programs()), (Vec::new(), 0));
    // Programs end with their session.
    let mut session = requesting(&["a", "b"]);
    assert_eq!(toolbox.call(&mut session, "v", json!({})).text, "v");
    assert_eq!(toolbox.call(&mut session, "t", json!({})).text, "t");
    assert_eq!(toolbox.running_programs(), 2);
    drop(session);
    let begun = Instant::now();
    while toolbox.running_programs() > 0 && begun.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(toolbox.running_programs(), 0);
}

fn results_are_envelopes() {
    let project = allowed();
    let call = |body: &str| {
        program(&project, &format!("{ROOT}/a"), &["t"], body);
        project.toolbox_with_commands().call(&mut requesting(&["a"]), "t", json!({}))
    };
    assert_eq!(
        shown(&call(SAY_NAME)),
        json!({"status": "success", "text": "t",
               "data": {"skill": "a", "tool": "t", "title": "T", "metadata": {"n": 1}, "output": "t"}})
    );
    let failed = call(r#"say(type="error", id=message["id"], message="no such thing")"#);
    assert_eq!(
        (error(&failed), failed.data["metadata"]["error"].as_str()),
        (("EXECUTION_ERROR", "Error: no such thing"), Some("EXECUTION_ERROR"))
    );
    let failed =
        call(r#"say(type="result", id=message["id"], metadata={"error": "NOT_FOUND"}, output="no file")"#);
    assert_eq!(error(&failed), ("NOT_FOUND", "no file"));
    let more = call(
        r#"say(type="result", id=message["id"], output="o", attachments=[{"mime": "image/png", "url": "data:,"}])"#,
    );
    assert_eq!(more.data["attachments"], json!([{"mime": "image/png", "url": "data:,"}]));
    let long = call(r#"say(type="result", id=message["id"], output="x" * 2000000)"#);
    assert!(long.text.ends_with("x\n\n[truncated: 1048576 bytes shown]"));
    let refused = project.toolbox_with_commands().call(&mut requesting(&["a"]), "t", json!([]));
    assert_eq!(error(&refused), ("INVALID_PARAM", "the parameters must be an object"));
}

fn module(project: &TestEnv, name: &str, tool: &str, more: &str) {
    let head =
        format!("---\nname: {name}\ndescription: D.\ntoolsets: [\"toolsets/index:Set\"{more}]\n---\nB\n");
    project.file(&format!("{ROOT}/{name}/SKILL.md"), head);
    project.file(
        &format!("{ROOT}/{name}/toolsets/index.js"),
        format!(
            "import {{ Tool }} from '@agent/tools';\nexport const Set = [Tool.define('{tool}', {{ description: 'D.', \
             execute: async () => 'module' }})];\n"
        ),
    );
}

fn names_are_qualified_across_modules_and_programs() {
    let project = allowed();
    program(&project, &format!("{ROOT}/a"), &["t", "only", "Skill"], SAY_NAME);
    module(&project, "b", "t", "");
    let (toolbox, mut session) = (project.toolbox_with_commands(), requesting(&["a", "b"]));
    assert_eq!(skill_tools(&toolbox, &session), ["a.t", "only", "a.Skill", "b.t"]);
    for (name, text) in [("a.t", "t"), ("b_t", "module"), ("a_only", "only"), ("only", "only")] {
        assert_eq!(toolbox.call(&mut session, name, json!({})).text, text, "{name}");
    }
}

fn a_program_cannot_reuse_the_name_of_a_module_tool() {
    let project = allowed();
    program(&project, &format!("{ROOT}/a"), &["t", "u"], SAY_NAME);
    module(&project, "a", "t", ", toolsets/tools.py");
    let (toolbox, mut session) = (project.toolbox_with_commands(), requesting(&["a"]));
    assert_eq!(skill_tools(&toolbox, &session), ["t", "u"]);
    assert_eq!(toolbox.call(&mut session, "t", json!({})).text, "module");
    let diagnostics = toolbox.take_diagnostics();
    assert_eq!(
        diagnostics[0].diagnostic.message,
        "two toolsets of the skill have a tool named t; the one of the module is used"
    );
}

fn without_allowed_scripts_there_are_no_tools() {
    let project = TestEnv::new(Preset::Standard);
    program(&project, &format!("{ROOT}/a"), &["t"], SAY_NAME);
    let (toolbox, mut session) = (project.toolbox_with_commands(), requesting(&["a"]));
    assert!(skill_tools(&toolbox, &session).is_empty());
    let diagnostics = toolbox.take_diagnostics();
    assert_eq!((diagnostics.len(), diagnostics[0].diagnostic.code.as_str()), (1, "SK064"));
    assert!(diagnostics[0].path.ends_with("a/toolsets/tools.py"));
    assert!(diagnostics[0].diagnostic.help.as_deref().unwrap().contains("run.allowed-skills = [\"a\"]"));
    let refused = toolbox.call(&mut session, "t", json!({}));
    assert_eq!(error(&refused).0, "ACCESS_DENIED");
    assert_eq!(toolbox.running_programs(), 0);
}

fn unused_skills_start_no_programs() {
    let project = allowed();
    for n in 0..100 {
        program(&project, &format!("{ROOT}/s{n}"), &["t"], SAY_NAME);
    }
    let toolbox = project.toolbox_with_commands();
    assert_eq!(toolbox.definitions().iter().filter(|tool| tool.name == "t").count(), 0);
    assert_eq!(toolbox.running_programs(), 0);
    assert_eq!(toolbox.call(&mut requesting(&["s7"]), "t", json!({})).text, "t");
}

fn pushed_skills_are_active() {
    let mut project = TestEnv::new(Preset::Triggers);
    project.policy.run.scripts = ScriptPolicy::Allowed;
    program(&project, ".agent/skills/a", &["t"], SAY_NAME);
    let head = "---\nname: a\ndescription: Does a.\ntoolsets: [toolsets/tools.py]\ntriggers:\n  keywords: [merge]\n---\nB\n";
    project.file(".agent/skills/a/SKILL.md", head);
    let (toolbox, mut session) = (project.toolbox_with_commands(), Session::default());
    assert!(!skill_tools(&toolbox, &session).contains(&"t".to_owned()));
    let prompt = system_prompt(&toolbox, &session, Some("please merge these"));
    assert!(prompt.contains('B'), "{prompt}");
    assert!(skill_tools(&toolbox, &session).contains(&"t".to_owned()));
    assert_eq!(toolbox.call(&mut session, "t", json!({})).text, "t");
    // The next message is about something else.
    system_prompt(&toolbox, &session, Some("hello"));
    assert!(!skill_tools(&toolbox, &session).contains(&"t".to_owned()));
    assert_eq!(toolbox.running_programs(), 0);
}

fn a_failing_program_is_reported() {
    let project = allowed();
    program(&project, &format!("{ROOT}/a"), &["t"], "sys.exit('no more')");
    let toolbox = project
        .toolbox_with_commands()
        .with_program_limits(ProgramLimits { failures: 1, ..ProgramLimits::default() });
    let mut session = requesting(&["a"]);
    let failed = toolbox.call(&mut session, "t", json!({}));
    let expected = "toolsets/tools.py exited (exit code 1) without answering; last error output: no more";
    assert_eq!(error(&failed), ("EXECUTION_ERROR", expected));
    assert_eq!((failed.data["tool"].as_str(), failed.data["output"].as_str()), (Some("t"), Some(expected)));
    assert_eq!(error(&toolbox.call(&mut session, "t", json!({}))).0, "UNAVAILABLE");
}
