//! What the server is started with, and what a client can change.

use std::path::PathBuf;
use std::sync::Arc;

use prowess::FileDiagnostic;
use prowess::check::CheckedSkill;
use prowess_format::dialects::Client;
use prowess_format::{Code, Rules};
use serde_json::Value;

/// Checks the other files of a skill, such as its toolsets.
pub type FileChecker = Arc<dyn Fn(&CheckedSkill) -> Vec<FileDiagnostic> + Send + Sync>;

/// What the server is started with.
#[derive(Clone)]
pub struct ServerOptions {
    /// The rules of the configuration.
    pub rules: Rules,
    /// Directories with skills, besides the folders of the client.
    pub roots: Vec<PathBuf>,
    /// The settings, until the client sends others.
    pub settings: Settings,
    /// Checks the other files of a skill when it is opened or saved.
    pub check_files: Option<FileChecker>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self { rules: Rules::standard(), roots: Vec::new(), settings: Settings::default(), check_files: None }
    }
}

/// The settings that a client can send, in `initializationOptions` or as the section `prowess` of its configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether the rules of the specification apply instead of those of the configuration.
    pub strict: bool,
    /// The agents whose problems with a skill are reported.
    pub agents: Vec<Client>,
    /// The codes that are not reported.
    pub ignore: Vec<Code>,
}

impl Settings {
    /// Returns the settings changed by those of a client, and a message about each that is not valid.
    ///
    /// ```
    /// use prowess_lsp::Settings;
    ///
    /// let (settings, problems) = Settings::default().updated(&serde_json::json!({"strict": true, "ignore": ["SK999"]}));
    /// assert!(settings.strict);
    /// assert_eq!(problems, ["unknown code SK999 in prowess.ignore"]);
    /// ```
    #[must_use]
    pub fn updated(&self, value: &Value) -> (Self, Vec<String>) {
        let value = value.get("prowess").unwrap_or(value);
        let (mut settings, mut problems) = (self.clone(), Vec::new());
        match value.get("strict") {
            None | Some(Value::Null) => {}
            Some(Value::Bool(strict)) => settings.strict = *strict,
            Some(_) => problems.push("prowess.strict is not true or false".to_owned()),
        }
        if let Some(names) = texts(value, "agents", &mut problems) {
            settings.agents = Vec::new();
            for name in names {
                match name.parse::<Client>() {
                    Ok(client) => settings.agents.push(client),
                    Err(error) => problems.push(format!("{error} in prowess.agents")),
                }
            }
        }
        if let Some(names) = texts(value, "ignore", &mut problems) {
            settings.ignore = Vec::new();
            for name in names {
                match Code::ALL.iter().find(|code| code.as_str() == name) {
                    Some(code) => settings.ignore.push(*code),
                    None => problems.push(format!("unknown code {name} in prowess.ignore")),
                }
            }
        }
        (settings, problems)
    }
}

/// Returns a list of texts; `None` if it is absent or invalid.
fn texts<'v>(value: &'v Value, key: &str, problems: &mut Vec<String>) -> Option<Vec<&'v str>> {
    let list = match value.get(key)? {
        Value::Null => return None,
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    };
    if list.is_none() {
        problems.push(format!("prowess.{key} is not a list of strings"));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_of_a_client_replace_those_of_the_server() {
        let before = Settings { ignore: vec![Code::DescriptionWhen], ..Settings::default() };
        let (settings, problems) = before.updated(&json!({"prowess": {"agents": ["codex"], "strict": null}}));
        assert_eq!(settings, Settings { agents: vec![Client::Codex], ..before.clone() });
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(before.updated(&json!({"ignore": []})).0, Settings::default());
        assert_eq!(before.updated(&Value::Null).0, before);
    }

    #[test]
    fn invalid_settings_are_reported() {
        let value = json!({"strict": 1, "agents": ["codx"], "ignore": "SK044"});
        let (settings, problems) = Settings::default().updated(&value);
        assert_eq!(settings, Settings::default());
        insta::assert_snapshot!(problems.join("\n"), @r"
    prowess.strict is not true or false
    unknown agent codx in prowess.agents
    prowess.ignore is not a list of strings
    ");
    }
}
