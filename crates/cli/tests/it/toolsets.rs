//! `prowess tools --skill` and `prowess call --skill` with toolsets of skills.

#![cfg(feature = "toolsets")]

use crate::support::TestEnv;
use insta::assert_snapshot;

/// The unmodified example of document 003.
fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.file(
        "~/.agents/skills/my-skill/SKILL.md",
        include_str!("../../../toolset/tests/fixtures/my-skill/SKILL.md"),
    )
    .file(
        "~/.agents/skills/my-skill/toolsets/index.ts",
        include_str!("../../../toolset/tests/fixtures/my-skill/toolsets/index.ts"),
    );
    env
}

/// The duration differs from run to run.
fn timeless(text: &str) -> String {
    let timeless = |line: &str| match line.trim_start().starts_with("\"time_ms\": ") {
        true => "    \"time_ms\": [TIME]".to_owned(),
        false => line.to_owned(),
    };
    text.lines().map(timeless).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn s003_08_the_tools_of_a_skill_are_listed_and_called() {
    let env = env();
    assert_snapshot!(timeless(&env.runs(&[
        &["tools", "--skill", "my-skill"],
        &["call", "my-tool", r#"{"input": "hello"}"#, "--skill", "my-skill"],
        &["call", "my_skill_my_tool", "{}", "--skill", "my-skill"],
        &["call", "my-skill_my-tool", "{}", "--skill", "my-skill"],
        &["call", "my-tool", r#"{"input": "hello"}"#],
    ])));
}

#[test]
fn toolset_errors_are_shown_with_their_line() {
    let env = env();
    env.file(
        "~/.agents/skills/my-skill/toolsets/index.ts",
        "import { Tool } from '@agent/tools';\n\nexport const MyToolset: Tool[] = [\n  nowhere,\n];\n",
    );
    assert_snapshot!(timeless(
        &env.runs(&[&["tools", "--skill", "my-skill"], &["call", "my-tool", "{}", "--skill", "my-skill"],])
    ));
}

/// The example program of `docs/toolsets.md`.
fn figures() -> TestEnv {
    let page = include_str!("../../../../docs/toolsets.md").split_once("\n## Programs\n").unwrap().1;
    let block = |language: &str| {
        page.split_once(&format!("```{language}\n")).unwrap().1.split("```").next().unwrap().to_owned()
    };
    let env = TestEnv::bare().variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    env.file("~/.agents/skills/figures/SKILL.md", block("yaml"))
        .file("~/.agents/skills/figures/toolsets/tools.py", block("python"));
    env
}

#[test]
fn program_tools_work_if_scripts_are_allowed() {
    let env = figures().variable("PROWESS_ALLOW_SCRIPTS", "1");
    assert_snapshot!(timeless(&env.runs(&[
        &["tools", "--skill", "figures"],
        &["call", "summarize", r#"{"numbers": [1, 2, 4]}"#, "--skill", "figures"],
        &["call", "figures_summarize", r#"{"numbers": [1]}"#, "--skill", "figures"],
        &["call", "summarize", r#"{"numbers": "x"}"#, "--skill", "figures"],
    ])));
    // The log contains each run with its end.
    let log = env.run(&["run", "--log", "--json"]).json();
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    for run in runs {
        assert_eq!(
            (&run["script"], &run["end"]["exit_code"]),
            (&"toolsets/tools.py".into(), &0.into()),
            "{run}"
        );
    }
}

#[test]
fn program_tools_are_missing_if_scripts_are_not_allowed() {
    let env = figures();
    assert_snapshot!(timeless(&env.runs(&[
        &["tools", "--skill", "figures"],
        &["call", "summarize", r#"{"numbers": [1, 2, 4]}"#, "--skill", "figures"],
    ])));
    assert_eq!(env.run(&["run", "--log", "--json"]).json()["runs"], serde_json::json!([]));
}

/// After an installed skill was modified, neither kind of toolset runs.
#[test]
fn modified_toolsets_provide_no_tools() {
    let env = figures().variable("PROWESS_ALLOW_SCRIPTS", "1");
    env.file("~/shelf/my-skill/SKILL.md", include_str!("../../../toolset/tests/fixtures/my-skill/SKILL.md"))
        .file(
            "~/shelf/my-skill/toolsets/index.ts",
            include_str!("../../../toolset/tests/fixtures/my-skill/toolsets/index.ts"),
        );
    std::fs::rename(env.path("~/.agents/skills/figures"), env.path("~/shelf/figures")).unwrap();
    for skill in ["my-skill", "figures"] {
        let output = env.run(&["install", &format!("~/shelf/{skill}"), "--yes"]);
        assert_eq!(output.code, 0, "{}", output.transcript());
    }
    let calls = [
        ("my-skill", "my-tool", r#"{"input": "hello"}"#, "toolsets/index.ts"),
        ("figures", "summarize", r#"{"numbers": [1, 2]}"#, "toolsets/tools.py"),
    ];
    for (skill, tool, params, file) in calls {
        let call = || env.run(&["call", tool, params, "--skill", skill]);
        assert_eq!(call().code, 0, "{}", call().transcript());
        let path = format!("~/.agents/skills/{skill}/{file}");
        let text = env.text(&path);
        env.file(&path, format!("{text}\n"));
        let refused = call();
        assert_eq!(refused.code, 1);
        assert_eq!(refused.json()["status"], "error");
        assert!(refused.err.contains(file), "{}", refused.transcript());
        let listed = env.run(&["tools", "--skill", skill]);
        assert!(!listed.out.contains(tool), "{}", listed.transcript());
        assert_eq!(listed.code, 1, "{}", listed.transcript());
        assert!(listed.err.contains(file), "{}", listed.transcript());
        // It works again after the modification is reverted.
        env.file(&path, text);
        assert_eq!(call().code, 0);
    }
}

/// Problems that are found without running code: files, syntax, imports, exports.
#[test]
fn check_reports_toolset_errors_without_running_them() {
    let env = TestEnv::bare().variable("PROWESS_ALLOW_SCRIPTS", "1");
    let toolsets = "['toolsets/index:Set', 'toolsets/index:Other', 'toolsets/bad:Set', 'toolsets/js:Set', toolsets/none:Set, \
                    toolsets/tools.py, toolsets/none.py, toolsets/notes.txt]";
    env
        .file(
            "skills/s/SKILL.md",
            format!("---\nname: s\ndescription: A skill.\ntoolsets: {toolsets}\n---\nB\n"),
        )
        .file(
            "skills/s/toolsets/index.ts",
            "import { Tool } from '@agent/tools';\nimport type { T } from './nowhere';\nimport { x } from './missing';\n\
             import fs from 'node:fs';\nimport { ok } from './ok';\nthrow new Error('RAN');\nexport const Set: T[] = [x, fs, ok];\n",
        )
        .file("skills/s/toolsets/ok.ts", "export const ok = 1;\nexport const more: = 2;\n")
        .file("skills/s/toolsets/bad.ts", "export const Set = [\n  { a: 1, b },\n  const,\n];\n")
        .file("skills/s/toolsets/js.js", "export const Set = [];\n")
        .file("skills/s/toolsets/tools.py", "open('ran', 'w')\n")
        .file("skills/s/toolsets/notes.txt", "Notes.\n");
    let output = env.run(&["check", "skills"]);
    assert_eq!(output.code, 0, "the skill itself loads");
    assert_snapshot!(output.transcript());
    let json = env.run(&["check", "skills", "--json"]).json();
    assert_eq!(json["summary"]["valid"], 1);
    let locations: Vec<_> = json["skills"][0]["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|diagnostic| {
            let path = diagnostic["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            (path, diagnostic["line"].as_u64(), diagnostic["column"].as_u64())
        })
        .collect();
    assert!(locations.contains(&("index.ts".to_owned(), Some(3), Some(19))), "{locations:?}");
    let sarif = env.run(&["check", "skills", "--format", "sarif"]).json();
    let uris = sarif["runs"][0]["results"].as_array().unwrap().iter();
    let uri = |result: &serde_json::Value| {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap().to_owned()
    };
    assert!(uris.map(uri).any(|uri| uri.ends_with("skills/s/toolsets/bad.ts")));
    let github = env.run(&["check", "skills", "--format", "github"]).out;
    assert!(github.contains("file=skills/s/toolsets/index.ts,line=3,col=19,title=SK064::"), "{github}");
}
