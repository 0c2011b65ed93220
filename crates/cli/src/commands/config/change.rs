//! `prowess config set` and `prowess config unset`: change settings in the user's or the project's configuration file.

use prowess_config::edit::setting::parse_value;
use prowess_config::{ConfigLayer, KEYS, find_key};
use prowess_format::Value;
use prowess_package::settings::{ChangeSettingsError, SettingsChange, write_settings};
use serde_json::json;

use super::super::{CommandResult, SUCCESS, did_you_mean};
use crate::args::{ConfigSetArgs, ConfigUnsetArgs};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean, clean_path};
use crate::scope::{ScopeArgs, ScopeChoice};

/// Returns the layer of the file that is changed: the user's, unless the project is chosen.
pub(super) fn layer(scope: &ScopeArgs) -> ConfigLayer {
    match scope.or_user() {
        ScopeChoice::User => ConfigLayer::User,
        ScopeChoice::Project => ConfigLayer::Project,
    }
}

pub(super) fn set(context: &CommandContext, args: &ConfigSetArgs, output: &mut Output) -> CommandResult {
    require_known(&args.key)?;
    let current = context.configuration.setting(&args.key).map(|setting| &setting.value);
    let is_list = current.is_some_and(serde_json::Value::is_array);
    let mut first_error = None;
    for value in candidates(&args.values, is_list) {
        let change = [(args.key.clone(), Some(value))];
        match write_settings(&context.inputs, layer(&args.scope), &change) {
            Ok(change) => return report(context, &change, &[args.key.as_str()], output),
            // The same text may be valid as another type.
            Err(error @ ChangeSettingsError::InvalidValue { .. }) => {
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(failure(&error)),
        }
    }
    Err(first_error.map_or_else(|| Failure::usage("no value given"), |error| failure(&error)))
}

pub(super) fn unset(context: &CommandContext, args: &ConfigUnsetArgs, output: &mut Output) -> CommandResult {
    for key in &args.keys {
        require_known(key)?;
    }
    let changes: Vec<(String, Option<Value>)> = args.keys.iter().map(|key| (key.clone(), None)).collect();
    let change =
        write_settings(&context.inputs, layer(&args.scope), &changes).map_err(|error| failure(&error))?;
    let keys: Vec<&str> = args.keys.iter().map(String::as_str).collect();
    report(context, &change, &keys, output)
}

/// Returns the values that the typed texts may mean, the most likely one first.
fn candidates(texts: &[String], is_list: bool) -> Vec<Value> {
    let text = |text: &String| Value::Text(text.as_str().into());
    let parsed = match texts {
        [single] => parse_value(single),
        _ => None,
    };
    match (texts, is_list) {
        ([single], false) => parsed.into_iter().chain([text(single)]).collect(),
        (texts, _) => {
            let list = Value::List(texts.iter().map(text).collect());
            parsed.filter(|value| matches!(value, Value::List(_))).into_iter().chain([list]).collect()
        }
    }
}

fn require_known(key: &str) -> Result<(), Failure> {
    match find_key(key) {
        Some(_) => Ok(()),
        None => Err(Failure::usage(format!("unknown setting {}", clean(key))).hint(did_you_mean(
            key,
            KEYS.iter().map(|key| key.name),
            "run `prowess config` for a list of settings",
        ))),
    }
}

fn report(
    context: &CommandContext,
    change: &SettingsChange,
    keys: &[&str],
    output: &mut Output,
) -> CommandResult {
    let settings = keys.iter().filter_map(|key| change.configuration.setting(key));
    if output.json() {
        let settings: Vec<_> = settings
            .map(|setting| json!({"key": setting.key, "value": setting.value, "origin": setting.origin.to_string()}))
            .collect();
        let value =
            json!({"schema": 1, "file": change.path(), "changed": change.is_change(), "settings": settings});
        output.write_json(&value)?;
        return Ok(SUCCESS);
    }
    let file = clean_path(&prowess::short_path(change.path(), &context.host_env));
    for setting in settings {
        let value = clean(&setting.value.to_string()).into_owned();
        let origin = output.styled_text(TextStyle::Faint, &format!("# {}", setting.origin));
        output.line(format!("{} = {value}  {origin}", setting.key))?;
    }
    output.note(match change.is_change() {
        true => format!("Updated {file}"),
        false => format!("{file} is unchanged"),
    });
    Ok(SUCCESS)
}

pub(super) fn failure(error: &ChangeSettingsError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error {
        ChangeSettingsError::InvalidValue { key, .. } => match find_key(key) {
            Some(known) => failure.hint(format!("{key} controls {}", known.about)),
            None => failure,
        },
        ChangeSettingsError::Overridden { .. } => {
            failure.hint("run `prowess config` to see the effective settings")
        }
        _ => failure,
    }
}
