//! Checks that a program decides.

use std::collections::BTreeMap;

use prowess::format::hidden::escape_for_display;
use prowess::{Registry, Skill};
use prowess_sandbox::{
    Cancel, Consent, InlineCommand, InputFile, RunOptions, SandboxHelper, ScriptInput, ScriptResult,
    Workspace,
};
use serde_json::Value;
use serde_json_path::JsonPath;

use crate::agent::{AgentOutcome, TranscriptEntry};
use crate::grading::render_transcript;
use crate::suite::{CheckKind, TextSource};

/// The maximum number of characters of quoted output.
const QUOTED_MAX: usize = 300;

/// What checks examine.
pub struct CheckContext<'a> {
    /// What the agent did.
    pub outcome: &'a AgentOutcome,
    /// The files of the workspace after the run, including unchanged ones.
    pub files: &'a BTreeMap<String, Vec<u8>>,
    /// Runs scripts; `None` if scripts are not allowed.
    pub scripts: Option<ScriptChecks<'a>>,
}

/// How checks run scripts of the skill, in the sandbox.
#[derive(Clone, Copy)]
pub struct ScriptChecks<'a> {
    /// A registry with the skill.
    pub registry: &'a Registry,
    /// The skill, with its evaluations.
    pub skill: &'a Skill,
    /// The sandbox helper.
    pub helper: &'a SandboxHelper,
    /// Ends scripts early.
    pub cancel: &'a Cancel,
}

/// Decides a check: whether it holds and what shows it, or why it cannot be decided.
pub fn run_check(kind: &CheckKind, context: &CheckContext<'_>) -> Result<(bool, String), String> {
    match kind {
        CheckKind::Exists { path, expected } => {
            let found = find_files(path, context.files);
            let evidence = match &found[..] {
                [] => {
                    let all: Vec<&str> = context.files.keys().map(String::as_str).take(10).collect();
                    let all = if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
                    format!("no such file; the workspace contains {all}")
                }
                found => found.join(", "),
            };
            Ok((found.is_empty() != *expected, evidence))
        }
        CheckKind::Contains { source, text, expected } => on_text(source, context, |searched| {
            let found = searched.to_lowercase().find(&text.to_lowercase());
            let evidence = match found {
                Some(_) => format!("contains {text:?}"),
                None => format!("does not contain it: {}", quote(searched)),
            };
            (found.is_some() == *expected, evidence)
        }),
        CheckKind::Matches { source, pattern, expected } => {
            let regex = crate::suite::compile_pattern(pattern)?;
            on_text(source, context, |searched| {
                let found = regex.find(searched);
                let evidence = match &found {
                    Some(found) => format!("matches: {}", quote(found.as_str())),
                    None => format!("no match in: {}", quote(searched)),
                };
                (found.is_some() == *expected, evidence)
            })
        }
        CheckKind::Json { source, query, equals } => {
            let path = JsonPath::parse(query).map_err(|error| error.to_string())?;
            on_text(source, context, |text| {
                let value: Value = match serde_json::from_str(json_part(text)) {
                    Ok(value) => value,
                    Err(error) => return (false, format!("not JSON: {error}")),
                };
                let selected = path.query(&value).all();
                let shown: Vec<String> =
                    selected.iter().take(3).map(|value| quote(&value.to_string())).collect();
                let evidence = if shown.is_empty() {
                    "selects nothing".to_owned()
                } else {
                    format!("selects {}", shown.join(", "))
                };
                let passed = match equals {
                    Some(expected) => selected.iter().any(|value| equal_json(value, expected)),
                    None => !selected.is_empty(),
                };
                (passed, evidence)
            })
        }
        CheckKind::ToolCalls { tool, min, max } => {
            let is_call = |entry: &&TranscriptEntry| matches!(entry, TranscriptEntry::ToolCall { name, .. } if same_tool(name, tool));
            let count = context.outcome.transcript.iter().filter(is_call).count() as u64;
            Ok((count >= *min && max.is_none_or(|max| count <= max), format!("called {count} times")))
        }
        CheckKind::Script { path, args } => {
            let scripts = scripts(context)?;
            let options = script_options(&scripts, context)?;
            let result = prowess_sandbox::run(scripts.skill, path, args, options);
            script_evidence(result.map_err(|error| error.to_string())?, 0, None)
        }
        CheckKind::Command { command, exit_code, output } => {
            let scripts = scripts(context)?;
            let options = script_options(&scripts, context)?;
            let files =
                prowess::resources::read_skill_files(scripts.skill).map_err(|error| error.to_string())?;
            let (_, skill_md) = files.file("SKILL.md").map_err(|error| error.to_string())?;
            let command =
                InlineCommand { text: command.clone(), skill_md: skill_md.digest(), variables: Vec::new() };
            let result = prowess_sandbox::run_command(scripts.skill, &command, &[], options);
            script_evidence(result.map_err(|error| error.to_string())?, *exit_code, output.as_deref())
        }
    }
}

fn scripts<'a>(context: &CheckContext<'a>) -> Result<ScriptChecks<'a>, String> {
    context.scripts.ok_or_else(|| "scripts are not allowed; pass --allow-scripts".to_owned())
}

fn script_options<'a>(
    scripts: &ScriptChecks<'a>,
    context: &CheckContext<'_>,
) -> Result<RunOptions<'a>, String> {
    let mut options = RunOptions::from_registry(scripts.registry);
    options.consent = Consent::Given;
    options.helper = scripts.helper.clone();
    options.cancel = scripts.cancel.clone();
    options.input = ScriptInput::Bytes(context.outcome.reply.clone().into_bytes());
    let inputs = context.files.iter().map(|(path, bytes)| InputFile::new(path, bytes.clone()));
    let inputs = inputs.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    options.workspace = Some(Workspace::Temporary(inputs));
    Ok(options)
}

fn script_evidence(
    result: ScriptResult,
    exit_code: i64,
    output: Option<&str>,
) -> Result<(bool, String), String> {
    let stdout = result.stdout_text();
    let has_output = output.is_none_or(|expected| stdout.contains(expected));
    let passed = result.exit_code.map(i64::from) == Some(exit_code) && has_output;
    let text = [stdout.trim().to_owned(), result.stderr_text().trim().to_owned()];
    let text = text.into_iter().find(|text| !text.is_empty());
    let end = result.describe_end();
    Ok((passed, text.map_or(end.clone(), |text| format!("{end}: {}", quote(&text)))))
}

/// Applies a check to a text. A missing file fails the check.
fn on_text(
    source: &TextSource,
    context: &CheckContext<'_>,
    check: impl Fn(&str) -> (bool, String),
) -> Result<(bool, String), String> {
    match source {
        TextSource::Reply => Ok(check(&context.outcome.reply)),
        TextSource::Transcript => {
            let transcript = render_transcript(&context.outcome.transcript);
            Ok(check(&format!("{transcript}{}", context.outcome.reply)))
        }
        TextSource::File(path) => {
            let found = find_files(path, context.files);
            let Some(bytes) = found.first().and_then(|path| context.files.get(path)) else {
                return Ok((false, format!("no such file: {}", escape_for_display(path))));
            };
            Ok(check(&String::from_utf8_lossy(bytes)))
        }
    }
}

/// Returns the files with this path: exactly, as a pattern, or, if there is none, at the end of a longer path.
fn find_files(path: &str, files: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let path = path.trim_start_matches("./");
    if path.contains(['*', '?']) {
        let matches = |file: &&String| prowess::glob_matches(path, file);
        return files.keys().filter(matches).cloned().collect();
    }
    let exact: Vec<String> = files.keys().filter(|file| *file == path).cloned().collect();
    if !exact.is_empty() {
        return exact;
    }
    // Agents choose directories for results, such as outputs.
    let suffix = format!("/{path}");
    files.keys().filter(|file| file.ends_with(&suffix)).cloned().collect()
}

/// Returns the JSON in a text: all of it, or the first code block.
fn json_part(text: &str) -> &str {
    let Some((_, block)) = text.split_once("```") else { return text.trim() };
    let block = block.split_once('\n').map_or("", |(_, block)| block);
    block.split("```").next().unwrap_or_default().trim()
}

/// Compares JSON values; numbers by value.
fn equal_json(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= f64::EPSILON * a.abs().max(b.abs()),
        _ => a == b,
    }
}

/// Compares names of tools: providers forbid dots.
fn same_tool(a: &str, b: &str) -> bool {
    a == b || a.replace('.', "_") == b.replace('.', "_")
}

fn quote(text: &str) -> String {
    let start: String = text.chars().take(QUOTED_MAX).collect();
    let more = if start.len() < text.len() { " […]" } else { "" };
    format!("{}{more}", escape_for_display(start.trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: CheckKind) -> Result<(bool, String), String> {
        let outcome = AgentOutcome {
            reply: "The total is **42**.\n```json\n{\"sum\": 42}\n```".to_owned(),
            transcript: vec![TranscriptEntry::ToolCall {
                name: "skills_activate".to_owned(),
                arguments: "{}".to_owned(),
                result: "ok".to_owned(),
                failed: false,
            }],
            ..AgentOutcome::default()
        };
        let files = BTreeMap::from([
            ("outputs/total.json".to_owned(), br#"{"rows": [{"v": 1}, {"v": 2.0}]}"#.to_vec()),
            ("a/b/c.txt".to_owned(), b"Hello\nworld".to_vec()),
        ]);
        run_check(&kind, &CheckContext { outcome: &outcome, files: &files, scripts: None })
    }

    #[test]
    fn checks_have_evidence() {
        let file = |path: &str| TextSource::File(path.to_owned());
        let exists = |path: &str, expected| CheckKind::Exists { path: path.to_owned(), expected };
        let contains =
            |source, text: &str| CheckKind::Contains { source, text: text.to_owned(), expected: true };
        let matches = |source, pattern: &str| CheckKind::Matches {
            source,
            pattern: pattern.to_owned(),
            expected: true,
        };
        let json = |source, query: &str, equals| CheckKind::Json { source, query: query.to_owned(), equals };
        let tool = |tool: &str, min, max| CheckKind::ToolCalls { tool: tool.to_owned(), min, max };
        let all = [
            exists("total.json", true),
            exists("a/**/*.txt", true),
            exists("missing.txt", true),
            exists("a/b/c.txt", false),
            contains(TextSource::Reply, "THE TOTAL"),
            contains(file("c.txt"), "goodbye"),
            contains(file("missing.txt"), "x"),
            matches(file("c.txt"), "^world$"),
            matches(TextSource::Transcript, "skills_activate"),
            json(file("total.json"), "$.rows[*].v", Some(json!(2))),
            json(file("total.json"), "$.none", None),
            json(TextSource::Reply, "$.sum", Some(json!(42))),
            json(file("c.txt"), "$", None),
            tool("skills.activate", 1, Some(1)),
            tool("Bash", 0, Some(0)),
            CheckKind::Script { path: "evals/check.py".to_owned(), args: Vec::new() },
        ];
        let lines = all.into_iter().map(|kind| {
            let name = format!("{kind:?}");
            match check(kind) {
                Ok((passed, evidence)) => {
                    format!("{}: {evidence}\n    {name}", if passed { "pass" } else { "FAIL" })
                }
                Err(reason) => format!("not decided: {reason}\n    {name}"),
            }
        });
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    }
}
