//! Plans how a hook is added to or removed from a client's file.

use std::path::{Path, PathBuf};

use prowess_config::edit::entry::EditEntryError;
use prowess_config::edit::item::{self, ListItem, Step};
use prowess_format::Value;

use super::super::change::{self, ConnectAction, FileChange};
use super::super::client_env::ClientEnv;
use super::clients::{HookClient, ItemFormat, Registration};
use super::command::{HookCommand, is_ours};
use super::error::HookError;
use crate::install_target::InstallScope;

/// The time that a client waits for the hook, in seconds. The hook has a shorter limit of its own.
const CLIENT_TIMEOUT: u32 = 5;

/// A planned change of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookPlan {
    /// The client.
    pub client: &'static HookClient,
    /// The line of the current hook, if there is one.
    pub line: Option<u32>,
    /// The change of the file.
    pub change: FileChange,
}

/// Plans how to add the hook to a client's configuration.
pub fn plan_hook_install(
    env: &ClientEnv,
    client: &'static HookClient,
    scope: InstallScope,
    command: &HookCommand,
) -> Result<HookPlan, HookError> {
    match client.registration {
        Registration::File { format, .. } => {
            let (file, before) = own_file(env, client, scope)?;
            let after = format.render(command);
            let action = match &before {
                None => ConnectAction::Add,
                Some(text) if *text == after => ConnectAction::Keep,
                Some(text) if format.is_unchanged(text) => ConnectAction::Replace,
                Some(_) => return Err(HookError::ChangedFile(file)),
            };
            let line = before.is_some().then_some(1);
            Ok(HookPlan { client, line, change: FileChange { scope, file, action, before, after } })
        }
        Registration::Item { format, .. } => {
            let config = find_config(env, client, scope)?;
            let failed = |source| HookError::Entry { path: config.file.clone(), source };
            let text = config.text.clone().unwrap_or_default();
            let shell = format.shell(command);
            let (action, after) = match config.hooks.first() {
                None if config.text.is_none() => (ConnectAction::Add, format.new_file(config.list, &shell)),
                None => (ConnectAction::Add, item::append(&text, config.list, &format.item(&shell))),
                Some(hook) if hook.command == shell => (ConnectAction::Keep, Ok(text)),
                Some(hook) => {
                    (ConnectAction::Replace, item::set_text(&text, &hook.command_path(config.list), &shell))
                }
            };
            let after = after.map_err(failed)?;
            let line = config.hooks.first().map(|hook| hook.line);
            let change = FileChange { scope, file: config.file, action, before: config.text, after };
            Ok(HookPlan { client, line, change })
        }
    }
}

/// Plans how to remove the hook from a client's configuration.
pub fn plan_hook_uninstall(
    env: &ClientEnv,
    client: &'static HookClient,
    scope: InstallScope,
) -> Result<HookPlan, HookError> {
    match client.registration {
        Registration::File { format, .. } => {
            let (file, before) = own_file(env, client, scope)?;
            let action = match &before {
                None => ConnectAction::Absent,
                Some(text) if format.is_unchanged(text) => ConnectAction::Remove,
                Some(_) => return Err(HookError::ChangedFile(file)),
            };
            let line = before.is_some().then_some(1);
            let change = FileChange { scope, file, action, before, after: String::new() };
            Ok(HookPlan { client, line, change })
        }
        Registration::Item { format, .. } => {
            let config = find_config(env, client, scope)?;
            let failed = |source| HookError::Entry { path: config.file.clone(), source };
            let mut after = config.text.clone().unwrap_or_default();
            let is_new_file = |text: &str, hook: &RegisteredHook| {
                format.new_file(config.list, &hook.command).is_ok_and(|new_file| new_file == text)
            };
            // From the last to the first, so that the indexes of the others stay valid.
            for hook in config.hooks.iter().rev() {
                after = match is_new_file(&after, hook) {
                    true => String::new(),
                    false => hook.remove_from(&after, config.list).map_err(failed)?,
                };
            }
            // A file behind a symlink is kept, and an empty file is not valid JSON.
            if after.is_empty() && config.file.is_symlink() {
                after = "{}\n".to_owned();
            }
            let action = if config.hooks.is_empty() { ConnectAction::Absent } else { ConnectAction::Remove };
            let line = config.hooks.first().map(|hook| hook.line);
            let change = FileChange { scope, file: config.file, action, before: config.text, after };
            Ok(HookPlan { client, line, change })
        }
    }
}

impl ItemFormat {
    fn shell(self, command: &HookCommand) -> String {
        match self {
            Self::Group | Self::Versioned => command.shell(),
            Self::NamedGroup => command.fail_safe_shell(),
        }
    }

    /// Returns the item for a command line.
    fn item(self, shell: &str) -> Value {
        let text = |text: &str| Value::Text(text.into());
        let seconds = || Value::Number(CLIENT_TIMEOUT.to_string().into());
        let milliseconds = || Value::Number((CLIENT_TIMEOUT * 1_000).to_string().into());
        let group = |hook| Value::Map(vec![("hooks".into(), Value::List(vec![Value::Map(hook)]))]);
        match self {
            Self::Group => group(vec![
                ("type".into(), text("command")),
                ("command".into(), text(shell)),
                ("timeout".into(), seconds()),
            ]),
            Self::NamedGroup => group(vec![
                ("type".into(), text("command")),
                ("name".into(), text("prowess")),
                ("command".into(), text(shell)),
                ("timeout".into(), milliseconds()),
            ]),
            Self::Versioned => {
                Value::Map(vec![("command".into(), text(shell)), ("timeout".into(), seconds())])
            }
        }
    }

    /// Returns a new file that contains only the hook.
    fn new_file(self, list: &[&str], shell: &str) -> Result<String, EditEntryError> {
        let text = item::append("", list, &self.item(shell))?;
        Ok(match (self, text.strip_suffix("\n}\n")) {
            // The version is last, to distinguish a new file from one that had only a version.
            (Self::Versioned, Some(text)) => format!("{text},\n  \"version\": 1\n}}\n"),
            _ => text,
        })
    }
}

/// Our hook in a list.
struct RegisteredHook {
    command: String,
    line: u32,
    /// The index of the item.
    item: usize,
    /// The index in the group, if the item is a group.
    inner: Option<usize>,
    /// Whether the group contains other hooks.
    is_shared: bool,
}

impl RegisteredHook {
    fn command_path<'a>(&self, list: &[&'a str]) -> Vec<Step<'a>> {
        let mut path = list_path(list);
        path.push(Step::Index(self.item));
        path.extend(self.inner.into_iter().flat_map(|inner| [Step::Key("hooks"), Step::Index(inner)]));
        path.push(Step::Key("command"));
        path
    }

    fn remove_from(&self, text: &str, list: &[&str]) -> Result<String, EditEntryError> {
        let mut path = list_path(list);
        match self.inner.filter(|_| self.is_shared) {
            None => item::remove(text, &path, self.item),
            Some(inner) => {
                path.extend([Step::Index(self.item), Step::Key("hooks")]);
                item::remove(text, &path, inner)
            }
        }
    }
}

fn list_path<'a>(list: &[&'a str]) -> Vec<Step<'a>> {
    list.iter().map(|name| Step::Key(name)).collect()
}

/// A file with a list of hooks.
struct HookConfig {
    file: PathBuf,
    list: &'static [&'static str],
    /// Its text; `None` if it does not exist.
    text: Option<String>,
    /// Our hooks in it.
    hooks: Vec<RegisteredHook>,
}

/// Returns the file to change: the one with our hook, else the first one that the client uses, else the first one.
fn find_config(env: &ClientEnv, client: &HookClient, scope: InstallScope) -> Result<HookConfig, HookError> {
    let Registration::Item { user, project, .. } = client.registration else { return Err(HookError::NoHome) };
    let files: Vec<(PathBuf, &'static [&'static str])> = match scope {
        InstallScope::User => {
            user.iter().filter_map(|file| Some((env.resolve(&file.path)?, file.list))).collect()
        }
        InstallScope::Project => {
            project.iter().map(|file| (env.host.project.join(file.path), file.list)).collect()
        }
    };
    let mut used: Option<HookConfig> = None;
    for (index, (file, list)) in files.iter().enumerate() {
        let Some(text) = change::read_config(file)? else { continue };
        let failed = |source| HookError::Entry { path: file.clone(), source };
        let hooks = our_hooks(&item::find(&text, list).map_err(failed)?);
        let has_section = || {
            let section = list.first().map(|section| item::contains(&text, section));
            section.transpose().map_err(failed).map(|found| found.unwrap_or_default())
        };
        // Other files than the first one are used only if they already have hooks.
        let is_used = index == 0 || has_section()?;
        let config = HookConfig { file: file.clone(), list, text: Some(text), hooks };
        if !config.hooks.is_empty() {
            return Ok(config);
        }
        if is_used && used.is_none() {
            used = Some(config);
        }
    }
    let first = files.into_iter().next();
    used.or_else(|| first.map(|(file, list)| HookConfig { file, list, text: None, hooks: Vec::new() }))
        .ok_or(HookError::NoHome)
}

fn our_hooks(items: &[ListItem]) -> Vec<RegisteredHook> {
    let command = |hook: &Value| match field(hook, "command") {
        Some(Value::Text(command)) if is_ours(command) => Some(command.to_string()),
        _ => None,
    };
    let mut hooks = Vec::new();
    for (item, ListItem { value, line }) in items.iter().enumerate() {
        if let Some(command) = command(value) {
            hooks.push(RegisteredHook { command, line: *line, item, inner: None, is_shared: false });
        }
        let Some(Value::List(group)) = field(value, "hooks") else { continue };
        let is_shared = group.iter().any(|hook| command(hook).is_none());
        for (inner, hook) in group.iter().enumerate() {
            if let Some(command) = command(hook) {
                hooks.push(RegisteredHook { command, line: *line, item, inner: Some(inner), is_shared });
            }
        }
    }
    // Several hooks in a group that has no others are removed with it, as one.
    hooks.dedup_by(|a, b| a.item == b.item && !a.is_shared && !b.is_shared);
    hooks
}

fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let Value::Map(entries) = value else { return None };
    entries.iter().find(|(key, _)| key.as_ref() == name).map(|(_, value)| value)
}

/// Returns the path and the text of a client's own file for the hook.
fn own_file(
    env: &ClientEnv,
    client: &HookClient,
    scope: InstallScope,
) -> Result<(PathBuf, Option<String>), HookError> {
    let Registration::File { user, project, .. } = client.registration else { return Err(HookError::NoHome) };
    let file = match scope {
        InstallScope::User => env.resolve(&user).ok_or(HookError::NoHome)?,
        InstallScope::Project => env.host.project.join(Path::new(project)),
    };
    let text = change::read_config(&file)?;
    Ok((file, text))
}
