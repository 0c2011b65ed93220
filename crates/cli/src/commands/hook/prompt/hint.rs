//! The hint: which skills fit a message, why, and how the model loads them.
//!
//! A hint contains no texts of skills except their names, and only names and paths without spaces and special characters.
//! The words in a reason are words of the message. So a skill cannot use its hint to give instructions.

use std::path::Path;

use prowess::known_files::KnownFiles;
use prowess::policy::{MentionPolicy, MentionSyntax};
use prowess::usage::{self, SkillUsage};
use prowess::{HostEnv, Skill};
use prowess_package::connect::hooks::{HookClient, SkillTool};
use prowess_routing::{MatchKind, QUERY_MAX, RouteOptions, Router, SkillMatch, mention};

use super::event::HookEvent;

/// The maximum number of skills in a hint.
const SKILLS_MAX: usize = 3;

/// The maximum number of words in a reason.
const WORDS_MAX: usize = 4;

/// The maximum length of a name and of a word, in characters.
const NAME_MAX: usize = 64;

/// The maximum length of a path, in characters.
const PATH_MAX: usize = 300;

/// Returns the hint for a message, or `None` if no skill is likely to fit, or if the user already chose one.
pub(super) fn find(event: &HookEvent, router: &Router, host_env: &HostEnv) -> Option<String> {
    let (message, snapshot) = (bounded(&event.prompt), router.snapshot());
    let is_enabled =
        |name: &str| snapshot.get(name).filter(|skill| skill.is_enabled()).map(|skill| skill.key().as_str());
    let is_mentioned = !mention::dollar(message, is_enabled).is_empty()
        || !mention::skill_phrase(message, is_enabled).is_empty()
        || snapshot.enabled().any(|skill| is_named(message, &skill.name()));
    if is_mentioned {
        return None;
    }
    let usage = SkillUsage::load(host_env);
    let mention = MentionPolicy { slash: MentionSyntax::Disabled, dollar: MentionSyntax::Disabled };
    let options =
        RouteOptions { max_skills: SKILLS_MAX, k: SKILLS_MAX, usage: &usage, now: usage::now(), mention };
    let mut files = KnownFiles::in_message(message, &host_env.project);
    event.files.iter().for_each(|path| files.add_path(path, &host_env.project));
    let routing = router.route_for_files(message, &files, &options);
    let lines: Vec<String> = routing
        .matches
        .iter()
        .take_while(|found| found.is_confident())
        .filter(|found| found.kind != MatchKind::Semantic)
        .filter_map(|found| line(found, message, snapshot.get(&found.name)?, event.client, host_env))
        .take(SKILLS_MAX)
        .collect();
    match lines.as_slice() {
        [] => None,
        [only] => Some(format!(
            "A skill is available that fits this message:\n{only}\nIf it helps with the request, {ADVICE}"
        )),
        lines => Some(format!(
            "Skills are available that fit this message, the best first:\n{}\nIf one of them helps with the request, {ADVICE}",
            lines.join("\n")
        )),
    }
}

const ADVICE: &str = "load it before you start. (Suggested by Prowess.)";

/// Returns the line about a skill, or `None` if its name or path could be mistaken for something else.
fn line(
    found: &SkillMatch,
    message: &str,
    skill: &Skill,
    client: Option<&HookClient>,
    host_env: &HostEnv,
) -> Option<String> {
    let name = skill.name();
    if !skill.is_enabled()
        || !is_plain(&name)
        || !skill.relative_dir().iter().all(|part| part.to_str().is_some_and(is_plain))
    {
        return None;
    }
    let words = shared_words(&found.reasons, message);
    let reason = if words.is_empty() { String::new() } else { format!(" (matches: {})", words.join(", ")) };
    Some(format!("- {name}{reason}: {}", how_to_load(skill, &name, client, host_env)?))
}

/// Returns how the model loads a skill: with the client's tool if the client knows the skill, otherwise from its file.
fn how_to_load(skill: &Skill, name: &str, client: Option<&HookClient>, host_env: &HostEnv) -> Option<String> {
    if skill.root().is_embedded() {
        return Some(format!("run `prowess activate {name}` and follow its output"));
    }
    if let Some(tool) =
        client.and_then(|client| client.skill_tool).filter(|tool| knows(tool, skill, host_env))
    {
        let id = if tool.by_directory { skill.id() } else { name.into() };
        return is_plain(&id)
            .then(|| format!("call the tool {} with {} \"{id}\"", tool.name, tool.parameter));
    }
    let path = skill.skill_md_path();
    let path = path.to_str()?;
    let is_safe = path.chars().count() <= PATH_MAX
        && !path.contains(['"', '\n', '`'])
        && prowess_format::hidden::find_hidden(path).is_none();
    is_safe.then(|| format!("read the file \"{path}\" and follow it"))
}

/// Returns `true` if a client finds a skill by itself.
fn knows(tool: &SkillTool, skill: &Skill, host_env: &HostEnv) -> bool {
    let root = skill.root().path();
    let is_in = |base: &Path, dirs: &[&str]| dirs.iter().any(|dir| root == base.join(dir));
    let in_project = || {
        let top = host_env.git_root().unwrap_or(&host_env.project);
        let mut dirs = host_env.project.ancestors().take_while(|dir| dir.starts_with(top));
        dirs.any(|dir| is_in(dir, tool.project))
    };
    let in_home = || host_env.home.as_deref().is_some_and(|home| is_in(home, tool.home));
    (!tool.is_flat || skill.relative_dir().iter().count() == 1) && (in_project() || in_home())
}

/// Returns the part of a message that routing compares.
fn bounded(message: &str) -> &str {
    message.get(..message.floor_char_boundary(QUERY_MAX)).unwrap_or(message)
}

/// Returns `true` if a message contains a name of several words, such as `code-review`, as it is written. Names of one
/// word occur in messages by chance.
fn is_named(message: &str, name: &str) -> bool {
    let is_compound = name.contains(['-', '_', ':', '.']);
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    is_compound
        && message.match_indices(name).any(|(start, _)| {
            let (before, after) = (&message[..start], &message[start + name.len()..]);
            !before.ends_with(is_inside) && !after.starts_with(is_inside)
        })
}

/// Returns `true` if a text is a single word without special characters.
fn is_plain(text: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    !text.is_empty() && text.chars().count() <= NAME_MAX && text.chars().all(is_allowed)
}

/// Returns the words of the message that the reasons of a match name.
fn shared_words(reasons: &[String], message: &str) -> Vec<String> {
    let split = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let message: std::collections::HashSet<String> = split(message).into_iter().collect();
    let mut shared: Vec<String> = Vec::new();
    for reason in reasons {
        let Some((kind, texts)) = reason.split_once(": ") else { continue };
        if kind == "lexical" {
            continue;
        }
        for word in split(texts) {
            let is_new =
                message.contains(&word) && !shared.contains(&word) && word.chars().any(char::is_alphabetic);
            if is_new && is_plain(&word) && shared.len() < WORDS_MAX {
                shared.push(word);
            }
        }
    }
    shared
}
