//! Environment variables that set values. They are validated like keys in a file.

use std::path::Path;

use prowess_format::suggest::nearest;
use prowess_format::{Code, Diagnostic};

use super::field::one_of;
use super::keys::find_key;
use super::layer_reader::LoadState;
use super::origin::SettingOrigin;
use super::tree::{ConfigTree, TreeKind, clip_for_display};
use prowess::FileDiagnostic;
use prowess::policy::{Preset, RefreshPolicy};

/// The path of diagnostics about environment variables.
const ENVIRONMENT_PATH: &str = "<environment>";

/// The environment variables.
#[derive(Clone, Copy)]
pub(super) struct Environment<'v>(pub(super) &'v [(String, String)]);

impl<'v> Environment<'v> {
    /// Returns the value of a variable; `None` if it is empty.
    pub(super) fn get(self, name: &str) -> Option<&'v str> {
        let variable = self.0.iter().rev().find(|(variable_name, _)| variable_name == name)?;
        Some(variable.1.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the preset, if `PROWESS_PRESET` is valid.
    pub(super) fn preset(self) -> Option<Preset> {
        self.get("PROWESS_PRESET")?.parse().ok()
    }

    /// Applies the variables to the current values.
    pub(super) fn apply(self, state: &mut LoadState) {
        self.set_preset(state);
        if let Some(value) = self.get("PROWESS_SKILLS_ENABLED") {
            set_key("enabled", "PROWESS_SKILLS_ENABLED", normalize_bool(value), state);
        }
        if let Some(value) = self.get("SKILLS_PROMPT_CHAR_BUDGET") {
            set_key("catalog.budget-chars", "SKILLS_PROMPT_CHAR_BUDGET", value, state);
        }
        if let Some(value) = self.get("PROWESS_ALLOW_SCRIPTS") {
            match normalize_bool(value) {
                "true" => set_key("run.scripts", "PROWESS_ALLOW_SCRIPTS", "allowed", state),
                // The variable can only allow scripts, not forbid them.
                "false" => {}
                _ => report("PROWESS_ALLOW_SCRIPTS", value, "1 or 0", None, state),
            }
        }
        if let Some(value) = self.get("PROWESS_STORE") {
            self.set_store(value, state);
        }
        self.set_refresh(state);
    }

    /// Sets the location of chats. An invalid value is not repeated: it may contain a password.
    fn set_store(self, value: &str, state: &mut LoadState) {
        let variable = "PROWESS_STORE";
        let Some(key) = find_key("chat.store") else { return };
        let tree = ConfigTree { span: Default::default(), kind: TreeKind::Text(value.to_owned()) };
        match key.field.parse_into(&tree, &mut state.values) {
            Ok(()) => {
                state.origins.insert("chat.store", SettingOrigin::Environment(variable.to_owned()));
            }
            Err(invalid) => {
                let message = invalid.message(&format!("environment variable {variable}"), &key.expected());
                let mut diagnostic = Diagnostic::error(Code::ConfigValue, message);
                diagnostic.help = invalid.help;
                state.diagnostics.push(FileDiagnostic::new(Path::new(ENVIRONMENT_PATH), diagnostic));
            }
        }
    }

    /// Records the origin of the preset, which was determined before, or reports an invalid value.
    fn set_preset(self, state: &mut LoadState) {
        match (self.get("PROWESS_PRESET"), self.preset()) {
            (_, Some(_)) => {
                state.origins.insert("preset", SettingOrigin::Environment("PROWESS_PRESET".to_owned()));
            }
            (Some(value), None) => {
                let names = Preset::ALL.map(Preset::as_str);
                let help = nearest(value, names).map(|similar| format!("did you mean {similar}?"));
                report("PROWESS_PRESET", value, &one_of(&names), help, state);
            }
            (None, None) => {}
        }
    }

    /// The switch of document 001, which only affects preset `skill-tool`.
    fn set_refresh(self, state: &mut LoadState) {
        let variable = "SKILLS_REFRESH_ON_CALL";
        let Some(value) = self.get(variable) else { return };
        let on_call = match normalize_bool(value) {
            "true" => true,
            "false" => false,
            _ => return report(variable, value, "true or false", None, state),
        };
        let policy = &mut state.values.policy;
        if policy.preset != Preset::SkillTool {
            return;
        }
        policy.refresh = match (on_call, policy.refresh) {
            (true, RefreshPolicy::AtStart | RefreshPolicy::OnChange) => RefreshPolicy::DirectoryTime,
            (true, on_each_call) => on_each_call,
            (false, _) => RefreshPolicy::AtStart,
        };
        state.origins.insert("refresh", SettingOrigin::Environment(variable.to_owned()));
    }
}

fn normalize_bool(value: &str) -> &str {
    match value {
        "1" => "true",
        "0" => "false",
        value => value,
    }
}

fn set_key(name: &'static str, variable: &str, value: &str, state: &mut LoadState) {
    let Some(key) = find_key(name) else { return };
    match key.field.parse_into(&ConfigTree::from_plain(value), &mut state.values) {
        Ok(()) => {
            state.origins.insert(name, SettingOrigin::Environment(variable.to_owned()));
        }
        Err(invalid) => report(variable, value, &key.expected(), invalid.help, state),
    }
}

fn report(variable: &str, value: &str, expected: &str, help: Option<String>, state: &mut LoadState) {
    let message =
        format!("environment variable {variable} is \"{}\"; expected {expected}", clip_for_display(value));
    let mut diagnostic = Diagnostic::error(Code::ConfigValue, message);
    diagnostic.help = help;
    state.diagnostics.push(FileDiagnostic::new(Path::new(ENVIRONMENT_PATH), diagnostic));
}
