use std::fmt::Write;

use super::*;

fn load(files: &[(&str, &str)]) -> Result<EvalSuite, LoadSuiteError> {
    EvalSuite::load(
        &files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect(),
    )
}

fn describe(suite: &EvalSuite) -> String {
    let mut text = String::new();
    for case in &suite.cases {
        writeln!(text, "{} {:?} trigger={:?}", case.id, case.prompt, case.should_trigger).unwrap();
        for (path, bytes) in &case.files {
            writeln!(text, "  file {path} ({} bytes)", bytes.len()).unwrap();
        }
        for expectation in &case.expectations {
            let kind = if matches!(expectation, Expectation::Judged(_)) { "judge" } else { "check" };
            writeln!(text, "  {kind}: {}", expectation.text()).unwrap();
        }
    }
    for trigger in &suite.triggers {
        writeln!(text, "{} {:?}", if trigger.should_trigger { "+" } else { "-" }, trigger.query).unwrap();
    }
    for note in &suite.notes {
        writeln!(text, "note: {note}").unwrap();
    }
    text
}

/// One file in the form of each tool that was looked up, with contents of our own.
#[test]
fn formats_of_other_tools_are_understood() {
    let suite = load(&[
        (
            "evals/evals.json",
            r#"{"skill_name": "ledger", "evals": [
                {"id": 1, "prompt": "Balance it", "expected_output": "A balance", "files": ["evals/files/june.csv"],
                 "expectations": ["The balance is 12", "A table is shown"]},
                {"id": 0, "prompt": "Close the year", "expected_output": "A closed year", "files": []},
                {"id": "Two words!", "prompt": "p", "assertions": ["a text", {"name": "n", "description": "described"},
                    {"name": "total", "type": "contains", "value": "12"}, {"name": "c", "check": "checked by a judge"}]},
                {"name": "typed", "prompt": "p", "assertions": [
                    {"type": "file_exists", "path": "out.json"}, {"type": "regex", "path": "out.json", "pattern": "\"sum\": *\\d+"},
                    {"type": "command", "run": "test -s out.json"}, {"type": "llm", "text": "is polite"},
                    {"type": "json", "path": "out.json", "query": "$.sum", "equals": 12},
                    {"type": "script", "path": "evals/check.py", "args": ["out.json"]},
                    {"id": "t", "type": "transcript_check", "check": "tool_invocation_matches", "pattern": "Skill"},
                    {"id": "d", "type": "diff_scope", "max_files_touched": 2}],
                 "tool_assertions": [{"type": "tool-not-called", "name": "Bash"}]},
                {"id": "obj", "prompt": "p", "assertions": {"skill_triggered": true, "must_contain": ["12"], "must_not_contain": ["error"]}}
            ]}"#,
        ),
        (
            "evals/evaluations.json",
            r#"{"evaluations": [
                {"id": "slug", "skill_should_trigger": true, "prompt": "p", "expected_behavior": ["does it"],
                 "unexpected_behavior": ["deletes files"], "logs_contain": ["ok"], "files_exist": ["a/b.txt"], "workspace": "evals/files/start"},
                {"id": "negative", "skill_should_trigger": false, "prompt": "unrelated"}
            ]}"#,
        ),
        ("evals/trigger-eval.json", r#"[{"query": "balance my books", "should_trigger": true, "note": "x"}, {"query": "hi", "should_trigger": false}]"#),
        ("evals/triggers.json", r#"{"skill_name": "ledger", "triggers": [{"query": "close the year", "should_trigger": true}]}"#),
        ("evals/split.json", r#"{"should_trigger": ["yes please"], "should_not_trigger": [{"prompt": "no thanks"}]}"#),
        ("evals/skill-eval.json", r#"{"evals": [{"id": 7, "prompt": "only a trigger", "should_trigger": false}]}"#),
        ("evaluations/ledger.json", r#"{"skill": "ledger", "output_evals": [{"name": "o", "prompt": "p", "expected_behaviors": ["b"]}],
            "trigger_evals": {"should_trigger": ["t"], "should_not_trigger": []}}"#),
        ("evals/notes.json", r#"{"author": "someone"}"#),
        ("evals/files/june.csv", "a,b\n"),
        ("evals/files/start/x/y.txt", "y"),
        ("evals/files/data.json", "{ not read"),
    ])
    .unwrap();
    insta::assert_snapshot!(describe(&suite));
}

#[test]
fn mistakes_are_named() {
    let error = |path: &str, text: &str| load(&[(path, text)]).unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            error("evals/evals.json", "{"),
            error("evals/evals.json", r#"{"evals": [{"id": 3}]}"#),
            error("evals/evals.json", r#"{"evals": [{"id": 3, "prompt": "p", "files": ["missing.csv"]}]}"#),
            error("evals/evals.json", r#"{"evals": [{"id": 3, "prompt": "p", "files": ["../../secret"]}]}"#),
            error("evals/evals.json", r#"{"evals": [{"id": 3, "prompt": "p", "files": ["/etc/passwd"]}]}"#),
            error("evals/evals.json", r#"{"evals": [{"id": 3, "prompt": "p", "workspace": "evals/files"}]}"#),
            error("evals/triggers.json", r#"[{"query": "q", "should_trigger": "yes"}]"#),
            error("evals/triggers.json", r#"[{"query": " ", "should_trigger": true}]"#),
        ]
        .join("\n")
    );
}

#[test]
fn duplicate_ids_and_queries_stay_apart() {
    let suite = load(&[
        ("evals/evals.json", r#"{"evals": [{"id": 1, "prompt": "a"}, {"id": "1", "prompt": "b"}]}"#),
        (
            "evals/t.json",
            r#"[{"query": "q", "should_trigger": true}, {"query": "q", "should_trigger": true}]"#,
        ),
    ])
    .unwrap();
    assert_eq!(suite.cases.iter().map(|case| &*case.id).collect::<Vec<_>>(), ["1", "1-2"]);
    assert_eq!(suite.triggers.len(), 2);
}
