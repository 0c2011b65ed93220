//! Skills that the person calls by name: loaded before the model is asked.

use prowess::activate::activate;
use prowess::activate::arguments::ARGUMENTS_MAX;
use prowess::policy::{Activation, Policy, Recognised};
use prowess::{Skill, Snapshot, short_path};
use prowess_routing::mention::{dollar, slash};
use prowess_tools::{Envelope, Outcome, Session, Tool, Toolbox, key};
use serde_json::{Value, json};

use super::kept::plain_id;
use crate::message::{OURS, is_mention};
use crate::provider::Call;

/// The most skills that one message can call.
const CALLED_MAX: usize = 8;

/// What the model is told where the person said nothing but a name.
const NOTHING_ELSE: &str = "(The person called the skill and said nothing else.)";

/// What a message calls.
pub(super) struct Called {
    /// The message as the model is shown it.
    pub(super) text: String,
    /// The skills that were loaded, as if a tool had been called.
    pub(super) loaded: Vec<Loaded>,
}

/// A skill that was loaded for the person.
pub(super) struct Loaded {
    /// What it is called by.
    pub(super) skill: String,
    pub(super) call: Call,
    pub(super) envelope: Envelope,
}

/// Loads what the message calls. A name that nobody has is text like any other.
pub(super) fn called(toolbox: &Toolbox, session: &mut Session, message: &str, answer_id: &str) -> Called {
    let (snapshot, policy) = (toolbox.snapshot(), toolbox.registry().policy());
    let mut text = message.to_owned();
    let mut names: Vec<(String, Option<String>)> = Vec::new();
    if !policy.enabled {
        return Called { text, loaded: Vec::new() };
    }
    let is_skill = |name: &str| find(&snapshot, name).is_some();
    if policy.mention.slash == Recognised::Yes
        && let Some(called) = slash(message, is_skill)
    {
        text = said(called.rest);
        names.push((called.name.to_owned(), Some(called.rest.to_owned())));
    }
    if policy.mention.dollar == Recognised::Yes {
        for name in dollar(message, |name| snapshot.known_name(name).filter(|name| is_skill(name))) {
            if !names.iter().any(|(known, _)| known == name) {
                names.push((name.to_owned(), None));
            }
        }
    }
    names.truncate(CALLED_MAX);
    let loaded = names.into_iter().enumerate().filter_map(|(number, (name, rest))| {
        let skill = find(&snapshot, &name)?;
        let args = rest.filter(|rest| takes_arguments(skill, policy, rest));
        let envelope = toolbox.invoke(session, skill, args.as_deref());
        let (tool, arguments) = as_call(toolbox, skill, &name, args.as_deref());
        let id = plain_id(&format!("{OURS}{answer_id}_{number}"));
        let call = Call { id, name: tool.name().to_owned(), arguments };
        Some(Loaded { skill: key(skill, policy).into_owned(), call, envelope })
    });
    let loaded = loaded.collect();
    Called { text, loaded }
}

impl Loaded {
    /// Whether there are instructions.
    pub(super) fn is_there(&self) -> bool {
        self.envelope.status != Outcome::Error
    }
}

/// A message that was said before, as the model was shown it: without the name that it began with. `first` is the call
/// that was made first for it.
pub(super) fn as_shown(message: &str, first: Option<(&str, &Value)>) -> String {
    let ours = first.filter(|(id, _)| is_mention(id));
    let name = ours.and_then(|(_, arguments)| arguments["name"].as_str().or_else(|| folder(arguments)));
    let called = name.and_then(|name| slash(message, |written| written == name));
    called.map_or_else(|| message.to_owned(), |called| said(called.rest))
}

/// The folder's name in a path to a `SKILL.md`.
fn folder(arguments: &Value) -> Option<&str> {
    let (folder, _) = arguments["path"].as_str()?.rsplit_once('/')?;
    folder.rsplit('/').next()
}

fn said(rest: &str) -> String {
    if rest.trim().is_empty() { NOTHING_ELSE.to_owned() } else { rest.to_owned() }
}

fn find<'s>(snapshot: &'s Snapshot, name: &str) -> Option<&'s Skill> {
    snapshot.get(name).filter(|skill| skill.is_enabled()).filter(is_for_people)
}

/// Whether people call it by name; `user-invocable: false` leaves it to the model.
fn is_for_people(skill: &&Skill) -> bool {
    skill.manifest().is_some_and(|manifest| manifest.user_invocable())
}

/// Whether what stands after the name goes into the instructions, too. The model is shown it in any case.
fn takes_arguments(skill: &Skill, policy: &Policy, rest: &str) -> bool {
    if rest.trim().is_empty() || rest.len() > ARGUMENTS_MAX {
        return false;
    }
    let Ok(activated) = activate(skill, None, policy) else { return false };
    let body = activated.body();
    let positions = || {
        let mut signs = body.match_indices('$').map(|(at, _)| &body[at + 1..]);
        signs.any(|after| after.starts_with(|c: char| c.is_ascii_digit()))
    };
    body.contains("$ARGUMENTS") || (policy.activation == Activation::Wrapped && positions())
}

/// The call that a model would have made.
fn as_call(toolbox: &Toolbox, skill: &Skill, name: &str, args: Option<&str>) -> (Tool, Value) {
    let registry = toolbox.registry();
    let mut arguments = json!({"name": name});
    if let Some(args) = args {
        arguments["args"] = args.into();
    }
    match registry.policy().activation {
        Activation::ReadFile => {
            let path = short_path(&skill.location(), registry.surroundings());
            (Tool::ReadFile, json!({"path": path.display().to_string()}))
        }
        Activation::SkillTool => (Tool::Skill, arguments),
        Activation::Wrapped
        | Activation::FullFile
        | Activation::Pushed { .. }
        | Activation::FrontmatterAndBody => (Tool::Activate, arguments),
    }
}
