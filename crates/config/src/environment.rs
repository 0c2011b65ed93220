//! The variables that set values, each checked like a key of a file.

use std::path::Path;

use prowess_format::suggest::nearest;
use prowess_format::{Code, Diagnostic};

use super::field::one_of;
use super::keys::key;
use super::origin::Origin;
use super::read::State;
use super::tree::{Kind, Tree, clipped};
use prowess::Located;
use prowess::policy::{Preset, Refresh};

/// What stands for a file in what is said about variables.
const PLACE: &str = "<environment>";

/// The variables that were handed in.
#[derive(Clone, Copy)]
pub(super) struct Environment<'v>(pub(super) &'v [(String, String)]);

impl<'v> Environment<'v> {
    /// A variable that says something; an empty one is as good as none.
    pub(super) fn get(self, name: &str) -> Option<&'v str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name)?;
        Some(found.1.trim()).filter(|value| !value.is_empty())
    }

    /// The preset, where `PROWESS_PRESET` names one that there is.
    pub(super) fn preset(self) -> Option<Preset> {
        self.get("PROWESS_PRESET")?.parse().ok()
    }

    /// Takes all of them over what is in force.
    pub(super) fn apply(self, state: &mut State) {
        self.set_preset(state);
        if let Some(value) = self.get("PROWESS_SKILLS_ENABLED") {
            set_key("enabled", "PROWESS_SKILLS_ENABLED", truth(value), state);
        }
        if let Some(value) = self.get("SKILLS_PROMPT_CHAR_BUDGET") {
            set_key("catalog.budget-chars", "SKILLS_PROMPT_CHAR_BUDGET", value, state);
        }
        if let Some(value) = self.get("PROWESS_ALLOW_SCRIPTS") {
            match truth(value) {
                "true" => set_key("run.scripts", "PROWESS_ALLOW_SCRIPTS", "allowed", state),
                // It allows; that it does not is nothing new.
                "false" => {}
                _ => say("PROWESS_ALLOW_SCRIPTS", value, "1 or 0", None, state),
            }
        }
        if let Some(value) = self.get("PROWESS_STORE") {
            self.set_store(value, state);
        }
        self.set_refresh(state);
    }

    /// Where chats are kept. What is wrong is not repeated: it may hold a password.
    fn set_store(self, value: &str, state: &mut State) {
        let variable = "PROWESS_STORE";
        let Some(key) = key("chat.store") else { return };
        let tree = Tree { span: Default::default(), kind: Kind::Text(value.to_owned()) };
        match key.field.read(&tree, &mut state.values) {
            Ok(()) => {
                state.origins.insert("chat.store", Origin::Environment(variable.to_owned()));
            }
            Err(wrong) => {
                let message = format!("the variable {variable} {}; it takes {}", wrong.what, key.takes());
                let diagnostic = Diagnostic::error(Code::ConfigValue, message);
                state.diagnostics.push(Located::new(Path::new(PLACE), diagnostic));
            }
        }
    }

    /// Which preset it is was decided before; this says by whom, and what is wrong.
    fn set_preset(self, state: &mut State) {
        match (self.get("PROWESS_PRESET"), self.preset()) {
            (_, Some(_)) => {
                state.origins.insert("preset", Origin::Environment("PROWESS_PRESET".to_owned()));
            }
            (Some(value), None) => {
                let names = Preset::ALL.map(Preset::as_str);
                let help = nearest(value, names).map(|near| format!("did you mean {near}?"));
                say("PROWESS_PRESET", value, &one_of(&names), help, state);
            }
            (None, None) => {}
        }
    }

    /// Document 001's switch, which only its preset has.
    fn set_refresh(self, state: &mut State) {
        let variable = "SKILLS_REFRESH_ON_CALL";
        let Some(value) = self.get(variable) else { return };
        let on_call = match truth(value) {
            "true" => true,
            "false" => false,
            _ => return say(variable, value, "true or false", None, state),
        };
        let policy = &mut state.values.policy;
        if policy.preset != Preset::SkillTool {
            return;
        }
        policy.refresh = match (on_call, policy.refresh) {
            (true, Refresh::AtStart | Refresh::OnChange) => Refresh::DirectoryTime,
            (true, at_each_call) => at_each_call,
            (false, _) => Refresh::AtStart,
        };
        state.origins.insert("refresh", Origin::Environment(variable.to_owned()));
    }
}

/// 1 and 0 are how shells say it.
fn truth(value: &str) -> &str {
    match value {
        "1" => "true",
        "0" => "false",
        other => other,
    }
}

fn set_key(name: &'static str, variable: &str, value: &str, state: &mut State) {
    let Some(key) = key(name) else { return };
    match key.field.read(&Tree::word(value), &mut state.values) {
        Ok(()) => {
            state.origins.insert(name, Origin::Environment(variable.to_owned()));
        }
        Err(wrong) => say(variable, value, &key.takes(), wrong.help, state),
    }
}

fn say(variable: &str, value: &str, takes: &str, help: Option<String>, state: &mut State) {
    let message = format!("the variable {variable} is \"{}\"; it takes {takes}", clipped(value));
    let mut diagnostic = Diagnostic::error(Code::ConfigValue, message);
    diagnostic.help = help;
    state.diagnostics.push(Located::new(Path::new(PLACE), diagnostic));
}
