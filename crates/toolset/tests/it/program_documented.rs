//! Checks that the description of programs in `docs/toolsets.md` is correct: its example and its limits.

#![cfg(target_os = "linux")]

use crate::program_support::{ScriptEnv, TestPrograms};
use prowess_toolset::{Cancel, ProgramLimits, ToolCall};
use serde_json::json;

const PAGE: &str = include_str!("../../../../docs/toolsets.md");

fn block(language: &str) -> &'static str {
    let programs = PAGE.split_once("\n## Programs\n").unwrap().1;
    programs.split_once(&format!("```{language}\n")).unwrap().1.split("```").next().unwrap()
}

#[test]
fn the_example_runs() {
    let env = ScriptEnv::new();
    let manifest = block("yaml").replace("name: figures", "name: s");
    env.write("home/.prowess/skills/s/SKILL.md", &manifest);
    env.write("home/.prowess/skills/s/toolsets/tools.py", block("python"));
    let fixture = TestPrograms::with_project(env);
    let loaded = fixture.tools().unwrap();
    assert_eq!((loaded.tools.len(), loaded.failures.len()), (1, 0), "{loaded:?}");
    let call = |arguments| fixture.call_with(ToolCall::new("summarize", arguments), &Cancel::default());
    let result = call(json!({"numbers": [1, 2, 4]})).unwrap();
    assert_eq!(
        (result.title.as_str(), result.output.as_str()),
        ("3 numbers", "mean 2.33, median 2, spread 1.53")
    );
    let thrown = call(json!({"numbers": [1]})).unwrap_err();
    assert_eq!(thrown.to_string(), "Error: one number does not spread; give at least two");
    let rejected = call(json!({"numbers": ["1"], "digits": 16, "more": 1})).unwrap_err();
    assert_eq!(
        rejected.to_string(),
        "digits: must be at most 15; more is not allowed; numbers.0: must be a number, not a string"
    );
    assert_eq!(fixture.log().len(), 1);
}

#[test]
fn the_documented_limits_are_correct() {
    let limits = ProgramLimits::default();
    let (kib, mib) = (1024, 1024 * 1024);
    for line in [
        format!("| listing the tools | {} s |", limits.start_time.as_secs()),
        format!(
            "| tools | {} per program, {} KiB each as JSON; {} programs per skill |",
            limits.tools,
            limits.definition / kib,
            limits.programs
        ),
        format!(
            "| one line, one response, all responses of a process | {} MiB, {} MiB, {} MiB; 200,000 values per message |",
            limits.line / mib,
            limits.answer / mib,
            limits.total / mib as u64
        ),
        format!("| arguments | {} MiB as JSON |", limits.arguments / mib),
        format!(
            "| metadata, attachments of a response | {} KiB, {} MiB, as JSON; more is an error |",
            limits.metadata / kib,
            limits.attachments / mib
        ),
        format!("| console | {} KiB are kept;", limits.console / kib),
        format!("| after the end of input | {} ms, then it is killed |", limits.end_time.as_millis()),
        format!(
            "| processes that are kept | {}, the most recently used; {} s without a call, one hour at most |",
            limits.running,
            limits.idle.as_secs()
        ),
        format!("This is version {}.", prowess_toolset::PROTOCOL_VERSION),
    ] {
        assert!(PAGE.contains(&line), "{line}");
    }
    assert_eq!((limits.values, limits.failures, limits.grace.as_millis()), (200_000, 3, 500));
    assert_eq!((limits.pause.as_secs(), limits.life.as_secs()), (60, 3600));
}
