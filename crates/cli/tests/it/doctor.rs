//! `prowess doctor`.

use crate::support::{BROKEN, RunOutput, TestEnv, keys, needing};
use insta::assert_snapshot;
use serde_json::Value;

/// Returns the output without the sandbox and the tools, which depend on the machine.
fn steady(mut result: RunOutput) -> String {
    if let Ok(mut json) = serde_json::from_str::<Value>(&result.out) {
        if let Some(findings) = json["findings"].as_array_mut() {
            let machine = ["sandbox", "python3", "uv", "pip", "node", "npm", "environments"];
            findings.retain(|finding| !machine.contains(&finding["what"].as_str().unwrap()));
        }
        result.out = format!("{json}\n");
    }
    result.transcript()
}

#[test]
fn no_problems() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf");
    assert_snapshot!(steady(env.run(&["doctor"])));
}

#[test]
fn all_notes() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/waiting")
        .file("~/.agents/skills/broken/SKILL.md", BROKEN)
        .file("~/.agents/skills/needy/SKILL.md", needing("needy", "frobnicate gizmo"))
        .file(".claude/skills", "A file where a directory should be.");
    assert_snapshot!(steady(env.run(&["doctor"])));
}

#[test]
fn an_invalid_configuration() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "standart");
    let result = env.run(&["doctor"]);
    assert_eq!(result.code, 1);
    let lines: Vec<_> = result.out.lines().skip(1).take(3).collect();
    assert_snapshot!(format!("{}\n--- stderr\n{}", lines.join("\n"), result.err));
}

#[test]
fn a_missing_home_directory() {
    let env = TestEnv::bare().variable("PROWESS_HOME", "/nonexistent/home");
    let result = env.run(&["doctor"]);
    let lines: Vec<_> = result.out.lines().skip(1).take(2).collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn skills_disabled() {
    assert_snapshot!(steady(TestEnv::bare().run(&["doctor", "--preset", "chat"])));
}

#[test]
fn as_json() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/waiting");
    let result = env.run(&["doctor", "--json"]);
    assert_eq!(keys(&result.json()), ["diagnostics", "findings", "healthy", "schema", "version"]);
    assert_snapshot!(steady(result));
}

#[test]
fn diagnostics_of_the_same_code_are_summarized() {
    let env = TestEnv::bare();
    for number in 0..8 {
        env.skill(&format!("~/.agents/skills/skill-{number}"))
            .skill(&format!(".agents/skills/skill-{number}"));
    }
    assert_eq!(env.run(&["trust"]).code, 0);
    let result = env.run(&["doctor"]);
    assert_eq!(result.err.matches("warning[").count(), 3, "{}", result.transcript());
    assert!(result.err.contains("5 more SK"), "{}", result.transcript());
    let all = env.run(&["doctor", "--verbose"]);
    assert_eq!(all.err.matches("warning[").count(), 8, "{}", all.transcript());
}
