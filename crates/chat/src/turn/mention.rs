//! Skills that the user mentions by name, which are loaded before the model is asked.

use prowess::activation::activate;
use prowess::activation::arguments::ARGUMENTS_MAX;
use prowess::policy::{ActivationMode, MentionSyntax, Policy};
use prowess::{Skill, Snapshot, short_path};
use prowess_routing::mention::{dollar, slash};
use prowess_tools::{BuiltinTool, CallStatus, Envelope, Session, Toolbox};
use serde_json::{Value, json};

use super::summary::safe_id;
use crate::message::{MENTION_PREFIX, is_mention};
use crate::provider::ToolInvocation;

/// The maximum number of skills that a message can mention.
const MENTIONS_MAX: usize = 8;

/// Sent to the model if the message contains only a skill name.
const EMPTY_MESSAGE: &str = "(The user invoked the skill without any other text.)";

/// The skills that a message mentions.
pub(super) struct MentionedSkills {
    /// The message as sent to the model.
    pub(super) text: String,
    /// The loaded skills, as tool calls.
    pub(super) loaded: Vec<LoadedMention>,
}

/// A skill that was loaded because of a mention.
pub(super) struct LoadedMention {
    pub(super) skill: String,
    pub(super) call: ToolInvocation,
    pub(super) envelope: Envelope,
}

/// Loads the skills that the message mentions. Unknown names are ordinary text.
pub(super) fn load_mentions(
    toolbox: &Toolbox,
    session: &mut Session,
    message: &str,
    answer_id: &str,
) -> MentionedSkills {
    let (snapshot, policy) = (toolbox.snapshot(), toolbox.registry().policy());
    let mut text = message.to_owned();
    let mut names: Vec<(String, Option<String>)> = Vec::new();
    if !policy.enabled {
        return MentionedSkills { text, loaded: Vec::new() };
    }
    let is_skill = |name: &str| find_invocable(&snapshot, name).is_some();
    if policy.mention.slash == MentionSyntax::Enabled
        && let Some(mentioned) = slash(message, is_skill)
    {
        text = text_or_placeholder(mentioned.rest);
        names.push((mentioned.name.to_owned(), Some(mentioned.rest.to_owned())));
    }
    if policy.mention.dollar == MentionSyntax::Enabled {
        for name in dollar(message, |name| {
            snapshot.get(name).map(|skill| skill.key().as_str()).filter(|name| is_skill(name))
        }) {
            if !names.iter().any(|(listed, _)| listed == name) {
                names.push((name.to_owned(), None));
            }
        }
    }
    names.truncate(MENTIONS_MAX);
    let loaded = names.into_iter().enumerate().filter_map(|(number, (name, text_after))| {
        let skill = find_invocable(&snapshot, &name)?;
        let args = text_after.filter(|text_after| takes_arguments(skill, policy, text_after));
        let envelope = toolbox.invoke(session, skill, args.as_deref());
        let (tool, arguments) = equivalent_call(toolbox, skill, &name, args.as_deref());
        let id = safe_id(&format!("{MENTION_PREFIX}{answer_id}_{number}"));
        let call = ToolInvocation { id, name: tool.name().to_owned(), arguments };
        Some(LoadedMention { skill: skill.key().into(), call, envelope })
    });
    let loaded = loaded.collect();
    MentionedSkills { text, loaded }
}

impl MentionedSkills {
    /// Returns `true` if one of the loaded skills runs in a separate context.
    pub(super) fn has_forked(&self, snapshot: &Snapshot) -> bool {
        self.loaded.iter().any(|loaded| loaded.is_loaded() && is_forked(snapshot, &loaded.skill))
    }
}

/// Returns `true` if a skill runs in a separate context when the user calls it. A remote skill never does: it must stay
/// active in the conversation that contains its answer.
pub(super) fn is_forked(snapshot: &Snapshot, name: &str) -> bool {
    let skill = snapshot.get(name).filter(|skill| skill.remote().is_none());
    skill.and_then(|skill| skill.manifest()).is_some_and(|manifest| manifest.is_forked())
}

impl LoadedMention {
    /// Returns `true` if the instructions were loaded.
    pub(super) fn is_loaded(&self) -> bool {
        self.envelope.status != CallStatus::Error
    }
}

/// Returns an earlier message as sent to the model: without the skill name at its start. `first` is the first call that
/// was made for the message.
pub(super) fn without_mention(message: &str, first: Option<(&str, &Value)>) -> String {
    let mention = first.filter(|(id, _)| is_mention(id));
    let name =
        mention.and_then(|(_, arguments)| arguments["name"].as_str().or_else(|| skill_dir_name(arguments)));
    let mentioned = name.and_then(|name| slash(message, |typed| typed == name));
    mentioned.map_or_else(|| message.to_owned(), |mentioned| text_or_placeholder(mentioned.rest))
}

/// Returns the name of the directory that contains the `SKILL.md` of a path.
fn skill_dir_name(arguments: &Value) -> Option<&str> {
    let (dir, _) = arguments["path"].as_str()?.rsplit_once('/')?;
    dir.rsplit('/').next()
}

fn text_or_placeholder(text: &str) -> String {
    if text.trim().is_empty() { EMPTY_MESSAGE.to_owned() } else { text.to_owned() }
}

fn find_invocable<'s>(snapshot: &'s Snapshot, name: &str) -> Option<&'s Skill> {
    snapshot.get(name).filter(|skill| skill.is_enabled()).filter(is_user_invocable)
}

/// Returns `true` unless the skill has `user-invocable: false`.
fn is_user_invocable(skill: &&Skill) -> bool {
    skill.manifest().is_some_and(|manifest| manifest.user_invocable())
}

/// Returns `true` if the instructions have placeholders for arguments. The model receives the text in any case.
fn takes_arguments(skill: &Skill, policy: &Policy, arguments: &str) -> bool {
    if arguments.trim().is_empty() || arguments.len() > ARGUMENTS_MAX {
        return false;
    }
    let Ok(activated) = activate(skill, None, policy) else { return false };
    let body = activated.body();
    let positions = || {
        let mut dollars = body.match_indices('$').map(|(index, _)| &body[index + 1..]);
        dollars.any(|suffix| suffix.starts_with(|c: char| c.is_ascii_digit()))
    };
    let names = || {
        let names = skill.manifest().map_or(&[][..], |manifest| manifest.arguments());
        names.iter().any(|name| body.contains(&format!("${name}")))
    };
    body.contains("$ARGUMENTS") || (policy.activation == ActivationMode::Wrapped && (positions() || names()))
}

/// Returns the call that a model would have made.
fn equivalent_call(toolbox: &Toolbox, skill: &Skill, name: &str, args: Option<&str>) -> (BuiltinTool, Value) {
    let registry = toolbox.registry();
    let mut arguments = json!({"name": name});
    if let Some(args) = args {
        arguments["args"] = args.into();
    }
    match registry.policy().activation {
        ActivationMode::ReadFile => {
            let path = short_path(&skill.skill_md_path(), registry.host());
            (BuiltinTool::ReadFile, json!({"path": path.display().to_string()}))
        }
        ActivationMode::SkillTool => (BuiltinTool::Skill, arguments),
        ActivationMode::Wrapped
        | ActivationMode::FullFile
        | ActivationMode::Pushed { .. }
        | ActivationMode::FrontmatterAndBody => (BuiltinTool::Activate, arguments),
    }
}
