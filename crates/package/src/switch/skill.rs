//! Enables and disables a skill.

use std::path::PathBuf;

use prowess::registry::DisabledReason;
use prowess::{Scope, Skill, SkillStatus, Snapshot};
use prowess_config::{ConfigLayer, Configuration};
use prowess_format::suggest;

use super::files::{self, ConfigFile, SkillList, file_for_list};
use super::{
    ConfigLocation, ConfigScope, DesiredState, SwitchEnv, SwitchError, SwitchObstacle, SwitchOutcome, source,
};

/// The names of a skill in lists.
struct SkillNames {
    /// The name that is written.
    key: String,
    /// All names that match.
    names: Vec<String>,
    is_bundled: bool,
}

impl SkillNames {
    fn matches(&self, name: &str) -> bool {
        self.names.iter().any(|listed| listed == name)
    }
}

/// An entry that disables a skill.
enum DisablingEntry<'f> {
    List(&'f ConfigFile, SkillList, String, ConfigLocation),
    Plugin(&'f ConfigFile, String, ConfigLocation),
}

impl DisablingEntry<'_> {
    fn location(&self) -> &ConfigLocation {
        match self {
            Self::List(.., location) | Self::Plugin(.., location) => location,
        }
    }
}

pub(super) fn switch_skill(
    env: &SwitchEnv<'_>,
    name: &str,
    to: DesiredState,
    scope: ConfigScope,
) -> Result<SwitchOutcome, SwitchError> {
    let (configuration, snapshot) = env.load();
    let editable = files::editable_files(&configuration, env.inputs, scope)?;
    let names = match find_skill(&snapshot, name) {
        Some(skill) => skill_names(skill),
        // The entry of a removed skill can still be deleted.
        None => SkillNames { key: name.to_owned(), names: vec![name.to_owned()], is_bundled: true },
    };
    if find_skill(&snapshot, name).is_none()
        && (to == DesiredState::Disabled || disabling_entries(&editable, &names).is_empty())
    {
        let all_names: Vec<_> = snapshot.all().iter().map(|skill| skill.name()).collect();
        let suggestion = suggest::nearest(name, all_names.iter().map(AsRef::as_ref)).map(ToOwned::to_owned);
        return Err(SwitchError::SkillNotFound { name: name.to_owned(), suggestion });
    }
    let mut changed: Vec<PathBuf> = match to {
        DesiredState::Disabled => disable(env, &editable, &names)?.into_iter().collect(),
        DesiredState::Enabled => enable(env, &names, name, scope)?,
    };
    changed.dedup();
    let (configuration, snapshot) = env.load();
    let skill = find_skill(&snapshot, name);
    Ok(SwitchOutcome {
        name: names.key.clone(),
        changed_files: changed,
        status: skill.map(|skill| skill.status().as_str()),
        reason: skill.and_then(Skill::reason),
        obstacle: skill.and_then(|skill| find_obstacle(env, &configuration, skill, &names, to)),
    })
}

/// Returns the entry that disables a skill.
pub(super) fn find_disabling_entry(env: &SwitchEnv<'_>, name: &str) -> Option<SwitchObstacle> {
    let (configuration, snapshot) = env.load();
    let skill = find_skill(&snapshot, name)?;
    find_obstacle(env, &configuration, skill, &skill_names(skill), DesiredState::Enabled)
}

/// Adds the skill to the list of disabled skills, unless one of these files already disables it.
fn disable(
    env: &SwitchEnv<'_>,
    editable: &[ConfigFile],
    names: &SkillNames,
) -> Result<Option<PathBuf>, SwitchError> {
    if !disabling_entries(editable, names).is_empty() {
        return Ok(None);
    }
    let project = &env.inputs.host.project;
    let harness = editable.iter().rev().find(|file| file.is_harness());
    let plugin = harness.and_then(|file| {
        let (plugin, ..) = file.plugins().into_iter().find(|(plugin, ..)| names.matches(plugin))?;
        Some((file, plugin))
    });
    let (file, changed) = match (plugin, harness) {
        (Some((file, plugin)), _) => (file, file.set_plugin(project, &plugin, false)?),
        (None, Some(file)) if names.is_bundled => {
            (file, file.add(project, SkillList::DisabledBundled, &names.key)?)
        }
        _ => match file_for_list(editable, SkillList::Disabled) {
            Some(file) => (file, file.add(project, SkillList::Disabled, &names.key)?),
            None => return Ok(None),
        },
    };
    Ok(changed.then(|| file.path.clone()))
}

/// Removes everything that disables the skill, one after the other, because one entry may hide another.
fn enable(
    env: &SwitchEnv<'_>,
    names: &SkillNames,
    name: &str,
    scope: ConfigScope,
) -> Result<Vec<PathBuf>, SwitchError> {
    let project = &env.inputs.host.project;
    let mut changed = Vec::new();
    for _ in 0..4 {
        let (configuration, snapshot) = env.load();
        let editable = files::editable_files(&configuration, env.inputs, scope)?;
        let all = files::config_files(&configuration, env.inputs);
        let disabled = match find_skill(&snapshot, name).map(Skill::status) {
            Some(SkillStatus::Disabled(disabled)) => *disabled,
            Some(_) => break,
            None => DisabledReason::Configuration,
        };
        if scope == ConfigScope::Project {
            check_project_may_enable(&all, names, disabled)?;
        }
        let before = changed.len();
        match disabled {
            DisabledReason::Configuration => {
                for entry in disabling_entries(&editable, names) {
                    let (file, is_changed) = match &entry {
                        DisablingEntry::List(file, list, text, _) => {
                            (file, file.remove(project, *list, text)?)
                        }
                        DisablingEntry::Plugin(file, plugin, _) => {
                            (file, file.set_plugin(project, plugin, true)?)
                        }
                    };
                    changed.extend(is_changed.then(|| file.path.clone()));
                }
            }
            DisabledReason::Default => {
                if let Some(file) = file_for_list(&editable, SkillList::Enabled)
                    && file.add(project, SkillList::Enabled, &names.key)?
                {
                    changed.push(file.path.clone());
                }
            }
            DisabledReason::NotListed => {
                let listing =
                    editable.iter().rev().find(|file| !file.entries(SkillList::EnabledBundled).is_empty());
                if let Some(file) = listing
                    && file.add(project, SkillList::EnabledBundled, &names.key)?
                {
                    changed.push(file.path.clone());
                }
            }
            DisabledReason::Source | DisabledReason::TooMany(_) => {}
        }
        if changed.len() == before {
            break;
        }
    }
    Ok(changed)
}

/// Rejects enabling a skill in a project that the user disabled.
fn check_project_may_enable(
    all: &[ConfigFile],
    names: &SkillNames,
    disabled: DisabledReason,
) -> Result<(), SwitchError> {
    let user_files: Vec<_> = all.iter().filter(|file| file.layer != ConfigLayer::Project).cloned().collect();
    let location = match disabled {
        DisabledReason::Configuration => {
            disabling_entries(&user_files, names).first().map(|entry| entry.location().clone())
        }
        DisabledReason::NotListed => {
            find_entry(&user_files, SkillList::EnabledBundled, |_| true).map(|(_, location)| location)
        }
        DisabledReason::Source | DisabledReason::Default | DisabledReason::TooMany(_) => None,
    };
    location.map_or(Ok(()), |location| Err(SwitchError::ProjectCannotEnable { location }))
}

/// Returns what prevents the desired state, with the file and the line.
fn find_obstacle(
    env: &SwitchEnv<'_>,
    configuration: &Configuration,
    skill: &Skill,
    names: &SkillNames,
    to: DesiredState,
) -> Option<SwitchObstacle> {
    let all = files::config_files(configuration, env.inputs);
    let host = &env.inputs.host;
    let disabled = match (to, skill.status()) {
        (DesiredState::Disabled, SkillStatus::Enabled) => {
            let origin = &configuration.setting("skills.disabled")?.origin;
            return Some(SwitchObstacle::new(format!("skills.disabled in the {origin} takes precedence")));
        }
        (DesiredState::Enabled, SkillStatus::Disabled(disabled)) => disabled,
        _ => return None,
    };
    let reason = skill.reason().unwrap_or_default();
    let entry = match disabled {
        DisabledReason::Configuration => {
            disabling_entries(&all, names).first().map(|entry| (entry.location().clone(), None))
        }
        DisabledReason::NotListed => {
            find_entry(&all, SkillList::EnabledBundled, |_| true).map(|(_, location)| (location, None))
        }
        DisabledReason::Source => {
            find_entry(&all, SkillList::Disabled, |text| source::disables_root(skill.root(), text, host))
                .map(|(text, location)| (location, text.strip_prefix("source:").map(ToOwned::to_owned)))
        }
        DisabledReason::Default | DisabledReason::TooMany(_) => None,
    };
    Some(match entry {
        Some((location, source)) => {
            SwitchObstacle { source, ..SwitchObstacle::at_location(&reason, location) }
        }
        None => SwitchObstacle::new(reason),
    })
}

/// Returns all entries in these files that disable the skill.
fn disabling_entries<'f>(files: &'f [ConfigFile], names: &SkillNames) -> Vec<DisablingEntry<'f>> {
    let mut entries = Vec::new();
    for file in files {
        let lists: &[SkillList] = if names.is_bundled {
            &[SkillList::Disabled, SkillList::DisabledBundled]
        } else {
            &[SkillList::Disabled]
        };
        for list in lists {
            let texts = file.entries(*list).into_iter().filter(|(text, _)| names.matches(text));
            entries.extend(texts.map(|(text, location)| DisablingEntry::List(file, *list, text, location)));
        }
        let plugins =
            file.plugins().into_iter().filter(|(plugin, enabled, _)| !enabled && names.matches(plugin));
        entries.extend(plugins.map(|(plugin, _, location)| DisablingEntry::Plugin(file, plugin, location)));
    }
    entries
}

/// Returns the matching entry of a list with the highest precedence.
fn find_entry(
    files: &[ConfigFile],
    list: SkillList,
    matches: impl Fn(&str) -> bool,
) -> Option<(String, ConfigLocation)> {
    files.iter().rev().flat_map(|file| file.entries(list)).find(|(text, _)| matches(text))
}

fn skill_names(skill: &Skill) -> SkillNames {
    let (name, id) = (skill.name().into_owned(), skill.id().into_owned());
    SkillNames {
        key: skill.key().into(),
        names: vec![name, id],
        is_bundled: skill.root().scope() == Scope::Bundled,
    }
}

/// Returns the skill with this name or directory; the effective one first.
fn find_skill<'s>(snapshot: &'s Snapshot, name: &str) -> Option<&'s Skill> {
    let all = snapshot.all();
    snapshot
        .get(name)
        .or_else(|| all.iter().find(|skill| skill.name() == name))
        .or_else(|| all.iter().find(|skill| skill.id() == name))
}
