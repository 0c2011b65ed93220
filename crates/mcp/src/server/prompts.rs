//! The skills that people call by name, as prompts.

use prowess::Skill;
use prowess::disclose::escape::one_line;
use prowess::format::hidden::brief;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, Role,
};
use serde_json::{Map, Value};

use super::connection::Connection;
use super::said::{self, Said};

/// The most prompts on a page.
const PAGE: usize = 200;

/// The argument that stands for all of them.
const ARGS: &str = "args";

/// The most arguments that a hint is taken apart into.
const ARGUMENTS_MAX: usize = 16;

/// One prompt for each skill.
pub(super) async fn list(
    connection: &Connection,
    request: Option<PaginatedRequestParams>,
) -> Result<ListPromptsResult, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let listed = connection.work(move |shared| {
        let snapshot = shared.toolbox.snapshot();
        let (page, next) = shared
            .cursors
            .page("prompts", cursor.as_deref(), shared.invocable(&snapshot), |(called, _)| called, PAGE)
            .map_err(Said::from)?;
        let prompts = page.into_iter().map(|(called, skill)| prompt(&called, skill)).collect();
        let mut result = ListPromptsResult::with_all_items(prompts);
        result.next_cursor = next;
        Ok(result)
    });
    listed.await?
}

fn prompt(called: &str, skill: &Skill) -> Prompt {
    let description = one_line(skill.description(), 1024).into_owned();
    let arguments = arguments(hint(skill)).into_iter().map(|argument| {
        let made = PromptArgument::new(argument.name).with_required(argument.required);
        match argument.about {
            Some(about) => made.with_description(about),
            None => made,
        }
    });
    Prompt::new(called, Some(description), Some(arguments.collect()))
}

fn hint(skill: &Skill) -> Option<&str> {
    skill.manifest().and_then(|manifest| manifest.argument_hint())
}

/// What can be filled in.
#[derive(Debug, PartialEq, Eq)]
struct Argument {
    name: String,
    about: Option<String>,
    required: bool,
}

/// The arguments that a hint names: `[file] [mode]` and `<file> [mode]` name each of them, anything else stands for one
/// text. Some clients hand over one word for each argument, so that more would be lost.
fn arguments(hint: Option<&str>) -> Vec<Argument> {
    let whole = || {
        let about =
            hint.map_or_else(|| "Arguments for the skill, as one text.".into(), |it| one_line(it, 200));
        vec![Argument { name: ARGS.to_owned(), about: Some(about.into_owned()), required: false }]
    };
    let Some(words) = hint.map(|hint| hint.split_whitespace().map(word).collect::<Option<Vec<_>>>()) else {
        return whole();
    };
    let Some(words) = words.filter(|words| (1..=ARGUMENTS_MAX).contains(&words.len())) else {
        return whole();
    };
    let mut names: Vec<_> = words.iter().map(|word| &word.name).collect();
    names.sort();
    names.dedup();
    if names.len() < words.len() { whole() } else { words }
}

fn word(word: &str) -> Option<Argument> {
    let inner = |open, close| word.strip_prefix(open)?.strip_suffix(close);
    let (name, required) = match (inner('<', '>'), inner('[', ']')) {
        (Some(name), _) => (name, true),
        (None, Some(name)) => (name, false),
        (None, None) => return None,
    };
    let is_plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let plain = !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain);
    plain.then(|| Argument { name: name.to_owned(), about: None, required })
}

/// Loads a skill for the person who called it.
pub(super) async fn get(
    connection: &Connection,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let got = connection.change(move |shared, session| {
        let snapshot = shared.toolbox.snapshot();
        let invocable = shared.invocable(&snapshot);
        let skill = invocable.iter().find(|(called, _)| **called == request.name).map(|(_, skill)| *skill);
        let skill = skill
            .ok_or_else(|| said::invalid(format!("there is no prompt named {}", brief(&request.name))))?;
        let args = line(arguments(hint(skill)), request.arguments.unwrap_or_default())?;
        let envelope = shared.toolbox.invoke(session, skill, args.as_deref());
        match envelope.error {
            Some(error) => Err(said::invalid(error.message)),
            None => {
                let message = PromptMessage::new_text(Role::User, envelope.text);
                Ok(GetPromptResult::new(vec![message])
                    .with_description(one_line(skill.description(), 1024).into_owned()))
            }
        }
    });
    got.await?
}

/// What was filled in, as one line; each word stays one word.
fn line(known: Vec<Argument>, given: Map<String, Value>) -> Result<Option<String>, ErrorData> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Ok(String::new()),
        other => Err(said::invalid(format!("arguments have to be text, not {}", brief(&other.to_string())))),
    };
    if let Some(unknown) = given.keys().find(|key| *key != ARGS && !known.iter().any(|it| it.name == **key)) {
        let shown = brief(unknown);
        let names: Vec<_> = known.iter().map(|it| it.name.as_str()).collect();
        return Err(said::invalid(format!("there is no argument {shown}; it takes {}", names.join(", "))));
    }
    if let Some(whole) = given.get(ARGS) {
        return text(whole).map(|text| Some(text).filter(|text| !text.is_empty()));
    }
    let mut words = Vec::new();
    for argument in &known {
        let word = given.get(&argument.name).map(text).transpose()?.unwrap_or_default();
        if word.is_empty() && argument.required {
            return Err(said::invalid(format!("the argument {} is missing", argument.name)));
        }
        words.push(quoted(&word));
    }
    while words.last().is_some_and(|word| word == "''") {
        words.pop();
    }
    Ok(Some(words.join(" ")).filter(|line| !line.is_empty()))
}

/// A word as a shell would have to write it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(hint: Option<&str>) -> Vec<String> {
        arguments(hint)
            .into_iter()
            .map(|it| if it.required { format!("{}!", it.name) } else { it.name })
            .collect()
    }

    #[test]
    fn hints_become_arguments() {
        assert_eq!(names(None), ["args"]);
        assert_eq!(names(Some("[file] [mode]")), ["file", "mode"]);
        assert_eq!(names(Some("<file> [mode]")), ["file!", "mode"]);
        assert_eq!(names(Some("FILE and then MODE")), ["args"]);
        assert_eq!(names(Some("[a|b]")), ["args"]);
        assert_eq!(names(Some("[a] [a]")), ["args"]);
        assert_eq!(names(Some("")), ["args"]);
    }

    #[test]
    fn arguments_become_one_line() {
        let line = |hint: &str, given: Value| {
            line(arguments(Some(hint)), given.as_object().unwrap().clone())
                .map_err(|error| error.message.into_owned())
        };
        assert_eq!(line("[a] [b]", json!({"b": "x y", "a": "it's"})), Ok(Some(r"'it'\''s' 'x y'".into())));
        assert_eq!(line("[a] [b]", json!({"b": "x"})), Ok(Some("'' x".into())));
        assert_eq!(line("[a] [b]", json!({"a": "x"})), Ok(Some("x".into())));
        assert_eq!(line("[a] [b]", json!({})), Ok(None));
        assert_eq!(line("[a] [b]", json!({"args": "x y"})), Ok(Some("x y".into())));
        assert_eq!(line("<a>", json!({})), Err("the argument a is missing".into()));
        assert_eq!(line("<a>", json!({"c": "x"})), Err("there is no argument c; it takes a".into()));
        assert_eq!(line("<a>", json!({"a": 1})), Err("arguments have to be text, not 1".into()));
    }
}
