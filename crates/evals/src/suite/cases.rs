//! Tasks with expectations.

use std::collections::BTreeMap;

use prowess::format::hidden::escape_for_display;
use prowess_archive::InnerPath;
use serde_json::Value;

use super::expectation::{Check, CheckKind, Expectation, TextSource, parse_expectation};
use super::{EVALS_DIR, EvalCase, LoadSuiteError, invalid};

/// The keys of lists that a judge grades.
const JUDGED_KEYS: &[&str] = &[
    "expectations",
    "expected_behavior",
    "expected_behaviors",
    "expected_chat_output",
    "expected_repo_state",
];

/// Parses a case.
pub(super) fn parse(
    path: &str,
    index: usize,
    case: &Value,
    files: &BTreeMap<String, Vec<u8>>,
    notes: &mut Vec<String>,
) -> Result<EvalCase, LoadSuiteError> {
    let name = case.get("name").or_else(|| case.get("eval_name")).and_then(Value::as_str).map(str::to_owned);
    let id = match case.get("id") {
        Some(Value::String(id)) => file_name(id),
        Some(Value::Number(id)) => file_name(&id.to_string()),
        _ => name.as_deref().map(file_name).filter(|name| !name.is_empty()).unwrap_or_default(),
    };
    let id = if id.is_empty() { (index + 1).to_string() } else { id };
    let label = format!("case {id}");
    let failed = |reason: String| invalid(path, &*label, reason);
    let prompt = ["prompt", "question", "query"].iter().find_map(|key| case.get(*key)?.as_str());
    let prompt = prompt.filter(|prompt| !prompt.trim().is_empty());
    let prompt = prompt.ok_or_else(|| failed("prompt must be a text".to_owned()))?.to_owned();
    let mut expectations = Vec::new();
    for (key, value) in case.as_object().into_iter().flatten() {
        add_expectations(key, value, &mut expectations, &mut |note| {
            notes.push(format!("{}: case {id}: {note}", escape_for_display(path)));
        });
    }
    if expectations.is_empty()
        && let Some(expected) = case.get("expected_output").and_then(Value::as_str)
        && !expected.trim().is_empty()
    {
        expectations.push(Expectation::Judged(format!("The result is as described: {expected}")));
    }
    let answer = case.get("should_trigger").or_else(|| case.get("skill_should_trigger"));
    Ok(EvalCase {
        files: case_files(path, case, files).map_err(failed)?,
        should_trigger: answer.and_then(Value::as_bool),
        expectations,
        prompt,
        name,
        id,
    })
}

/// Adds the expectations of one key of a case.
fn add_expectations(key: &str, value: &Value, out: &mut Vec<Expectation>, note: &mut dyn FnMut(String)) {
    let texts = || value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let contains = |text: String, source: TextSource, expected: bool| {
        let verb = if expected { "contains" } else { "does not contain" };
        let subject = if source == TextSource::Reply { "reply" } else { "transcript" };
        let kind = CheckKind::Contains { source, text: text.clone(), expected };
        Expectation::Check(Check { text: format!("The {subject} {verb} {text:?}"), kind })
    };
    match key {
        "assertions" | "checks" | "tool_assertions" => match value {
            Value::Array(list) => list.iter().for_each(|entry| match parse_expectation(entry) {
                Ok(expectation) => out.push(expectation),
                Err(reason) => note(reason),
            }),
            Value::Object(fields) => {
                for (key, value) in fields {
                    let before = out.len();
                    add_expectations(key, value, out, note);
                    if out.len() == before {
                        note(format!("the assertion {} is not supported", escape_for_display(key)));
                    }
                }
            }
            _ => note(format!("{key} is neither a list nor an object")),
        },
        key if JUDGED_KEYS.contains(&key) => {
            for entry in value.as_array().into_iter().flatten() {
                match parse_expectation(entry) {
                    Ok(expectation) => out.push(expectation),
                    Err(reason) => note(reason),
                }
            }
        }
        "unexpected_behavior" => {
            out.extend(texts().map(|text| Expectation::Judged(format!("This did not happen: {text}"))));
        }
        "must_include" | "must_contain" => {
            out.extend(texts().map(|text| contains(text, TextSource::Reply, true)));
        }
        "must_not_include" | "must_not_contain" => {
            out.extend(texts().map(|text| contains(text, TextSource::Reply, false)));
        }
        "logs_contain" => out.extend(texts().map(|text| contains(text, TextSource::Transcript, true))),
        "files_exist" => out.extend(texts().map(|path| {
            let text = format!("The file {path} exists");
            Expectation::Check(Check { text, kind: CheckKind::Exists { path, expected: true } })
        })),
        _ => {}
    }
}

/// Returns the files of a case. Paths are relative to the skill or, as some tools write them, to its evaluations.
fn case_files(
    path: &str,
    case: &Value,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut found: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for entry in case.get("files").and_then(Value::as_array).into_iter().flatten() {
        let named =
            entry.as_str().or_else(|| entry.get("path")?.as_str()).ok_or("files must be a list of paths")?;
        if let Some(content) = entry.get("content").and_then(Value::as_str) {
            found.insert(workspace_path(named)?, content.as_bytes().to_vec());
            continue;
        }
        let (source, bytes) = find_file(path, named, files)?;
        found.insert(workspace_path(&source)?, bytes.clone());
    }
    if let Some(dir) = case.get("workspace").and_then(Value::as_str) {
        let dir = normalize(dir)?;
        let prefix = format!("{dir}/");
        let inside = files.iter().filter_map(|(path, bytes)| Some((path.strip_prefix(&prefix)?, bytes)));
        let before = found.len();
        found.extend(inside.map(|(path, bytes)| (path.to_owned(), bytes.clone())));
        if found.len() == before {
            return Err(format!("the skill has no files in {}", escape_for_display(&dir)));
        }
    }
    Ok(found.into_iter().collect())
}

fn find_file<'f>(
    path: &str,
    named: &str,
    files: &'f BTreeMap<String, Vec<u8>>,
) -> Result<(String, &'f Vec<u8>), String> {
    let named = normalize(named)?;
    let base = path.rsplit_once('/').map_or(EVALS_DIR, |(dir, _)| dir);
    [named.clone(), format!("{base}/{named}"), format!("{base}/files/{named}")]
        .into_iter()
        .find_map(|candidate| files.get(&candidate).map(|bytes| (candidate, bytes)))
        .ok_or_else(|| format!("the skill has no file {}", escape_for_display(&named)))
}

/// Returns the path in the workspace: relative to the directory of files, if it is in one, otherwise the file name.
fn workspace_path(source: &str) -> Result<String, String> {
    let source = normalize(source)?;
    let inner = ["evals/files/", "evaluations/files/", "evals/", "evaluations/"]
        .iter()
        .find_map(|prefix| source.strip_prefix(prefix).map(str::to_owned));
    Ok(inner.unwrap_or(source))
}

fn normalize(path: &str) -> Result<String, String> {
    let relative = path.strip_prefix("./").unwrap_or(path);
    match InnerPath::parse(relative.as_bytes()) {
        Ok(inner) => Ok(inner.as_str().to_owned()),
        Err(reason) => Err(format!("cannot use the path {}: {reason}", escape_for_display(path))),
    }
}

/// The maximum length of an id, in bytes. Names of files contain it together with the name of the skill.
const ID_MAX: usize = 80;

/// Returns the text as a file name: lower case letters, digits and hyphens.
fn file_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if name.len() + c.len_utf8() > ID_MAX {
            break;
        }
        match c {
            c if c.is_alphanumeric() => name.extend(c.to_lowercase()),
            '_' | '.' if !name.is_empty() => name.push(c),
            _ if !name.ends_with('-') && !name.is_empty() => name.push('-'),
            _ => {}
        }
    }
    name.trim_end_matches(['-', '.']).to_owned()
}
