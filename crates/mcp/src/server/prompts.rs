//! The skills that users can call, as prompts.

use prowess::Skill;
use prowess::catalog::escape::one_line;
use prowess::format::hidden::escape_and_truncate;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, Role,
};
use serde_json::{Map, Value};

use super::connection::Connection;
use super::errors::{self, ProtocolError};

/// The maximum number of prompts on a page.
const PAGE_SIZE: usize = 200;

/// The name of the argument for all arguments together.
const ALL_ARGUMENTS: &str = "args";

/// The maximum number of arguments that are parsed from a hint.
const ARGUMENTS_MAX: usize = 16;

/// Lists one prompt for each skill.
pub(super) async fn list(
    connection: &Connection,
    request: Option<PaginatedRequestParams>,
) -> Result<ListPromptsResult, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let listed = connection.run_blocking(move |shared| {
        let snapshot = shared.toolbox.snapshot();
        let (page, next) = shared
            .cursors
            .page(
                "prompts",
                cursor.as_deref(),
                shared.invocable_skills(&snapshot),
                |skill| skill.key(),
                PAGE_SIZE,
            )
            .map_err(ProtocolError::from)?;
        let prompts = page.into_iter().map(to_prompt).collect();
        let mut result = ListPromptsResult::with_all_items(prompts);
        result.next_cursor = next;
        Ok(result)
    });
    listed.await?
}

fn to_prompt(skill: &Skill) -> Prompt {
    let description = one_line(skill.description(), 1024).into_owned();
    let arguments = parse_hint(argument_hint(skill)).into_iter().map(|argument| {
        let prompt_argument = PromptArgument::new(argument.name).with_required(argument.required);
        match argument.description {
            Some(about) => prompt_argument.with_description(about),
            None => prompt_argument,
        }
    });
    Prompt::new(skill.key(), Some(description), Some(arguments.collect()))
}

fn argument_hint(skill: &Skill) -> Option<&str> {
    skill.manifest().and_then(|manifest| manifest.argument_hint())
}

/// An argument of a prompt.
#[derive(Debug, PartialEq, Eq)]
struct Argument {
    name: String,
    description: Option<String>,
    required: bool,
}

/// Parses the arguments of a hint: `[file] [mode]` and `<file> [mode]` name each argument, anything else is one text.
/// Some clients pass one word per argument, so that the rest of a text would be lost.
fn parse_hint(hint: Option<&str>) -> Vec<Argument> {
    let single = || {
        let about =
            hint.map_or_else(|| "Arguments for the skill, as one text.".into(), |hint| one_line(hint, 200));
        vec![Argument {
            name: ALL_ARGUMENTS.to_owned(),
            description: Some(about.into_owned()),
            required: false,
        }]
    };
    let Some(words) = hint.map(|hint| hint.split_whitespace().map(parse_word).collect::<Option<Vec<_>>>())
    else {
        return single();
    };
    let Some(words) = words.filter(|words| (1..=ARGUMENTS_MAX).contains(&words.len())) else {
        return single();
    };
    let mut names: Vec<_> = words.iter().map(|word| &word.name).collect();
    names.sort();
    names.dedup();
    if names.len() < words.len() { single() } else { words }
}

fn parse_word(word: &str) -> Option<Argument> {
    let inner = |open, close| word.strip_prefix(open)?.strip_suffix(close);
    let (name, required) = match (inner('<', '>'), inner('[', ']')) {
        (Some(name), _) => (name, true),
        (None, Some(name)) => (name, false),
        (None, None) => return None,
    };
    let is_plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let is_valid = !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain);
    is_valid.then(|| Argument { name: name.to_owned(), description: None, required })
}

/// Loads a skill that the user called.
pub(super) async fn get(
    connection: &Connection,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let result = connection.update_session(move |shared, session| {
        let snapshot = shared.toolbox.snapshot();
        let invocable = shared.invocable_skills(&snapshot);
        let skill = invocable.into_iter().find(|skill| *skill.key() == *request.name);
        let skill = skill.ok_or_else(|| {
            errors::invalid_params(format!("no prompt named {}", escape_and_truncate(&request.name)))
        })?;
        let args = join_arguments(parse_hint(argument_hint(skill)), request.arguments.unwrap_or_default())?;
        let envelope = shared.toolbox.invoke(session, skill, args.as_deref());
        match envelope.error {
            Some(error) => Err(errors::invalid_params(error.message)),
            None => {
                let message = PromptMessage::new_text(Role::User, envelope.text);
                Ok(GetPromptResult::new(vec![message])
                    .with_description(one_line(skill.description(), 1024).into_owned()))
            }
        }
    });
    result.await?
}

/// Joins the arguments into one line and quotes each one.
fn join_arguments(
    declared: Vec<Argument>,
    arguments: Map<String, Value>,
) -> Result<Option<String>, ErrorData> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Ok(String::new()),
        other => Err(errors::invalid_params(format!(
            "arguments must be strings, not {}",
            escape_and_truncate(&other.to_string())
        ))),
    };
    if let Some(unknown) = arguments
        .keys()
        .find(|key| *key != ALL_ARGUMENTS && !declared.iter().any(|argument| argument.name == **key))
    {
        let name = escape_and_truncate(unknown);
        let names: Vec<_> = declared.iter().map(|argument| argument.name.as_str()).collect();
        return Err(errors::invalid_params(format!(
            "unknown argument {name}; the arguments are {}",
            names.join(", ")
        )));
    }
    if let Some(combined) = arguments.get(ALL_ARGUMENTS) {
        return text(combined).map(|text| Some(text).filter(|text| !text.is_empty()));
    }
    let mut words = Vec::new();
    for argument in &declared {
        let word = arguments.get(&argument.name).map(text).transpose()?.unwrap_or_default();
        if word.is_empty() && argument.required {
            return Err(errors::invalid_params(format!("the argument {} is missing", argument.name)));
        }
        words.push(prowess::shell::quote(&word).into_owned());
    }
    while words.last().is_some_and(|word| word == "''") {
        words.pop();
    }
    Ok(Some(words.join(" ")).filter(|line| !line.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn argument_names(hint: Option<&str>) -> Vec<String> {
        parse_hint(hint)
            .into_iter()
            .map(|argument| if argument.required { format!("{}!", argument.name) } else { argument.name })
            .collect()
    }

    #[test]
    fn hints_become_arguments() {
        assert_eq!(argument_names(None), ["args"]);
        assert_eq!(argument_names(Some("[file] [mode]")), ["file", "mode"]);
        assert_eq!(argument_names(Some("<file> [mode]")), ["file!", "mode"]);
        assert_eq!(argument_names(Some("FILE and then MODE")), ["args"]);
        assert_eq!(argument_names(Some("[a|b]")), ["args"]);
        assert_eq!(argument_names(Some("[a] [a]")), ["args"]);
        assert_eq!(argument_names(Some("")), ["args"]);
    }

    #[test]
    fn arguments_become_one_line() {
        let join = |hint: &str, arguments: Value| {
            join_arguments(parse_hint(Some(hint)), arguments.as_object().unwrap().clone())
                .map_err(|error| error.message.into_owned())
        };
        assert_eq!(join("[a] [b]", json!({"b": "x y", "a": "it's"})), Ok(Some(r"'it'\''s' 'x y'".into())));
        assert_eq!(join("[a] [b]", json!({"b": "x"})), Ok(Some("'' x".into())));
        assert_eq!(join("[a] [b]", json!({"a": "x"})), Ok(Some("x".into())));
        assert_eq!(join("[a] [b]", json!({})), Ok(None));
        assert_eq!(join("[a] [b]", json!({"args": "x y"})), Ok(Some("x y".into())));
        assert_eq!(join("<a>", json!({})), Err("the argument a is missing".into()));
        assert_eq!(join("<a>", json!({"c": "x"})), Err("unknown argument c; the arguments are a".into()));
        assert_eq!(join("<a>", json!({"a": 1})), Err("arguments must be strings, not 1".into()));
    }
}
