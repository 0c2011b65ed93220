//! Text from skills, cases, models and options in the outputs of `prowess test`.

use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{encode_reply, text};
use prowess_testing::model::{BlockingModelServer, RecordedRequest, Reply};
use serde_json::{Value, json};

use crate::hostile::{raw, without_styles};
use crate::support::TestEnv;

/// Escape sequences, hidden characters, markup of all formats, and line breaks.
const HOSTILE: &str =
    "x\u{1b}[31m\u{9b}2J\u{202e}\u{e0041}\u{7} </testcase>]]>\"' | `c` <b>&\\\r\n| a | b |\n# h\n";

/// The part that is allowed in names and descriptions, at most with a warning.
const MARKUP: &str = "x </testcase> | `c` <b>&\"";

const JUDGEMENT: &str = r#"{"expectations": [{"number": 1, "passed": false, "evidence": "x\u001b[31m\u009b2J\u202e </testcase>]]>\" | `c` <b>&\\\r\n| a | b |\n# h"}]}"#;

fn reply(request: &RecordedRequest) -> Reply {
    let body = request.body.to_string();
    let answer = |words| Reply::events(encode_reply(ChatProvider::OpenAiChat, &[text(words)]));
    match () {
        () if body.contains("Expectations:") => answer(JUDGEMENT),
        () if body.contains("refuse") => {
            Reply::failure(400, &json!({"error": {"message": HOSTILE}}).to_string())
        }
        () => answer(HOSTILE),
    }
}

/// Returns a text in quotes, in which only letters and digits are not escaped.
fn yaml_text(text: &str) -> String {
    let escape = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_string(),
        false => format!("\\U{:08X}", u32::from(c)),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// Creates a project with a skill whose directory, name and evaluations are hostile.
fn env(server: &BlockingModelServer, name: &str) -> TestEnv {
    let env = TestEnv::bare();
    let skill = ".agents/skills/hostile";
    let manifest = format!(
        "---\nname: {}\ndescription: {}\n---\n# Do\n\nAlways do what this long line says, and nothing else.\n",
        yaml_text(name),
        yaml_text(MARKUP)
    );
    let evals = json!({"evals": [
        {"id": HOSTILE, "name": HOSTILE, "prompt": HOSTILE, "expectations": [HOSTILE],
         "assertions": [{"type": "contains", "value": format!("{HOSTILE}missing")}, {"type": HOSTILE}],
         "files": [{"path": "a.txt", "content": HOSTILE}]},
        {"id": "𝒶".repeat(200), "prompt": format!("refuse {HOSTILE}"), "must_include": [HOSTILE]},
    ]});
    let triggers = json!([
        {"query": HOSTILE, "should_trigger": true},
        {"query": format!("refuse {HOSTILE}"), "should_trigger": false},
    ]);
    env.file(&format!("{skill}/SKILL.md"), manifest)
        .file(&format!("{skill}/evals/evals.json"), evals.to_string())
        .file(&format!("{skill}/evals/triggers.json"), triggers.to_string())
        .file(&format!("{skill}/evals/other.json"), "{}");
    let config = format!(
        "[chat]\nprovider = \"openai-chat\"\nmodel = \"m\"\nbase-url = \"{}/v1\"\nretries = 0\n",
        server.base
    );
    env.file("~/.prowess/config.toml", config);
    env.run(&["trust"]);
    env
}

/// Checks that a text is XML: balanced elements, quoted attributes, and only known entities. Returns the number of tests.
fn count_tests(xml: &str) -> usize {
    let (mut open, mut tests) = (Vec::new(), 0);
    let body = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap_or_default();
    for (index, part) in body.split('<').enumerate() {
        if index == 0 {
            assert_eq!(part, "");
            continue;
        }
        let (tag, content) = part.split_once('>').unwrap_or_else(|| panic!("{part:?} in {xml}"));
        for entity in part.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "apos;", "#13;"];
            assert!(known.iter().any(|known| entity.starts_with(known)), "{entity:?} in {xml}");
        }
        assert!(!content.contains('>'), "{content:?} in {xml}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{xml}");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        assert!(
            ["testsuites", "testsuite", "testcase", "failure", "error", "skipped"].contains(&name),
            "{tag}"
        );
        // Quotes end with the attribute: name="value", and so on.
        let attributes: Vec<&str> = tag[name.len()..].trim_end_matches('/').split('"').collect();
        assert_eq!(attributes.len() % 2, 1, "{tag}");
        assert!(attributes.iter().step_by(2).all(|key| key.is_empty() || key.ends_with('=')), "{tag}");
        tests += usize::from(name == "testcase");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} in {xml}");
    tests
}

/// Checks that tables of a Markdown text have complete rows, and that it contains no markup of others.
fn check_markdown(markdown: &str) {
    let plain =
        |text: &str| text.replace("\\\\", "").replace("\\|", "").replace("\\<", "").replace("\\`", "");
    let mut columns = None;
    for line in markdown.lines() {
        let plain = plain(line);
        assert!(!plain.contains(['<', '`']) && !plain.starts_with("# "), "{line:?} in {markdown}");
        match plain.starts_with('|') {
            true => {
                let count = plain.matches('|').count();
                assert_eq!(*columns.get_or_insert(count), count, "{line:?} in {markdown}");
            }
            false => {
                assert!(!plain.contains('|'), "{line:?} in {markdown}");
                columns = None;
            }
        }
    }
}

#[test]
fn hostile_text_is_harmless_in_every_output() {
    let path = ".agents/skills/hostile";
    let base = ["test", path, "--runs", "1", "--judge", HOSTILE, "--model", HOSTILE];
    let calls: [(&str, &[&str]); 14] = [
        ("human", &[]),
        ("human", &["-v", "--fresh"]),
        ("human", &["--dry-run"]),
        ("human", &["--only", "routing"]),
        ("human", &["--max-requests", "1", "--fresh"]),
        ("json", &["--json"]),
        ("json", &["--json", "--dry-run"]),
        ("markdown", &["--format", "markdown"]),
        ("junit", &["--format", "junit"]),
        ("error", &["--case", HOSTILE]),
        ("error", &["--against", HOSTILE]),
        ("error", &["--replay", HOSTILE]),
        ("error", &["--max-cost", "1"]),
        ("error", &["--agent-command", HOSTILE, "--fresh"]),
    ];
    for name in ["hostile", MARKUP, HOSTILE, "../../../../../escaped"] {
        let server = BlockingModelServer::with_handler(|request, _| reply(request));
        let env = env(&server, name);
        for (format, options) in calls {
            let result = env.run(&[&base[..], options].concat());
            for text in [&result.out, &result.err] {
                assert_eq!(raw(&without_styles(text)), None, "{name:?} {options:?}: {text:?}");
            }
            // A skill with an invalid name may be rejected.
            let is_rejected = result.out.is_empty() && name != "hostile";
            match format {
                "json" => drop(result.json()),
                "markdown" if !is_rejected => check_markdown(&result.out),
                "junit" if !is_rejected => {
                    assert_eq!(count_tests(&result.out), 4, "{}", result.transcript());
                }
                _ => {}
            }
        }
        let reports = env.tree("~/.prowess/state/tests/reports");
        for file in &reports {
            assert_eq!(raw(file), None, "{file:?}");
            let content = env.text(&format!("~/.prowess/state/tests/reports/{file}"));
            if file.ends_with(".json") && !file.contains("/outputs/") {
                serde_json::from_str::<Value>(&content).unwrap_or_else(|error| panic!("{file}: {error}"));
                assert!(!content.contains(|c: char| c.is_ascii_control() && c != '\n'), "{file}");
            }
            if file.ends_with("benchmark.md") {
                check_markdown(&content);
            }
        }
        assert!(!reports.is_empty() || name != "hostile");
        let outside = env.listing();
        assert!(
            !format!("{outside:?}").contains("escaped/iteration"),
            "a report is outside of its directory"
        );
    }
}
