//! Checks that `docs/toolsets.md` is correct: its example and its limits.

use crate::toolset_support::TestSkills;
use prowess_toolset::ToolsetLimits;
use serde_json::json;

const PAGE: &str = include_str!("../../../../docs/toolsets.md");

fn block(language: &str) -> &'static str {
    PAGE.split_once(&format!("```{language}\n")).unwrap().1.split("```").next().unwrap()
}

#[test]
fn the_example_runs() {
    let env = TestSkills::new();
    env.file("temperature/SKILL.md", block("yaml"))
        .file("temperature/toolsets/index.ts", block("typescript"));
    let call = |arguments| env.call("temperature", "convert", arguments);
    let result = call(json!({"value": 451, "from": "fahrenheit"})).unwrap();
    assert_eq!((result.title.as_str(), result.output.as_str()), ("451 fahrenheit", "232.78 celsius"));
    let thrown = call(json!({"value": -300, "from": "celsius"})).unwrap_err();
    assert_eq!(thrown.to_string(), "Error: there is nothing colder than 0 kelvin");
    let rejected = call(json!({"value": "hot", "from": "rankine"})).unwrap_err();
    assert_eq!(
        rejected.to_string(),
        "value: Invalid input: expected number, received string; \
         from: Invalid option: expected one of \"celsius\"|\"fahrenheit\"|\"kelvin\""
    );
}

#[test]
fn the_documented_limits_are_correct() {
    let ToolsetLimits {
        load_time,
        call_time,
        memory,
        stack,
        output,
        metadata,
        attachments,
        engines,
        idle,
        ..
    } = ToolsetLimits::default();
    let ToolsetLimits { modules, module_bytes, typescript_bytes, grace, console, .. } =
        ToolsetLimits::default();
    let (kib, mib) = (1024, 1024 * 1024);
    for line in [
        format!(
            "| loading | {} s, {modules} modules, {} MiB each ({} KiB in TypeScript) |",
            load_time.as_secs(),
            module_bytes / mib,
            typescript_bytes / kib
        ),
        format!("| a call | {} s |", call_time.as_secs()),
        format!("| memory | {} MiB per engine |", memory / mib),
        format!("| stack | {} KiB |", stack / kib),
        format!("| output | {} MiB, then truncated |", output / mib),
        format!(
            "| metadata, attachments | {} KiB, {} MiB, as JSON; more is an error |",
            metadata / kib,
            attachments / mib
        ),
        format!(
            "| engines | {engines}, the most recently used; an engine that was idle for ten minutes is removed at the next \
             use of a toolset |"
        ),
        format!("`console` (kept with the result, {} KiB)", console / kib),
    ] {
        assert!(PAGE.contains(&line), "{line}");
    }
    assert_eq!((grace.as_millis(), idle.as_secs()), (500, 600));
}

/// The npm package zod gives the same schema and the same results.
#[test]
#[ignore = "needs the npm package zod: PROWESS_ZOD=…/node_modules/zod"]
fn the_npm_zod_gives_the_same_results() {
    let shipped = std::path::PathBuf::from(std::env::var_os("PROWESS_ZOD").unwrap());
    let (built_in, npm) = (TestSkills::new(), TestSkills::new());
    for env in [&built_in, &npm] {
        env.file("temperature/SKILL.md", block("yaml"))
            .file("temperature/toolsets/index.ts", block("typescript"));
    }
    copy(&shipped, &npm.path("temperature/node_modules/zod"));
    assert_eq!(built_in.tools("temperature").unwrap().tools, npm.tools("temperature").unwrap().tools);
    for arguments in [
        json!({"value": 1, "from": "kelvin"}),
        json!({"value": "1", "from": "kelvin"}),
        json!({"from": 5, "to": null}),
        json!({}),
        json!({"value": 1.5, "from": "kelvin", "to": "kelvin", "more": 1}),
    ] {
        let call = |env: &TestSkills| env.call("temperature", "convert", arguments.clone());
        assert_eq!(call(&built_in), call(&npm), "{arguments}");
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}
