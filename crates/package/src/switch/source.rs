//! Enables and disables a source.

use std::path::{Path, PathBuf};

use prowess::{HostEnv, Root, short_path};
use prowess_config::ConfigLayer;

use super::files::{self, SkillList, file_for_list};
use super::{ConfigScope, DesiredState, SwitchEnv, SwitchError, SwitchObstacle, SwitchOutcome};

pub(super) fn switch_source(
    env: &SwitchEnv<'_>,
    path: &str,
    to: DesiredState,
    scope: ConfigScope,
) -> Result<SwitchOutcome, SwitchError> {
    let (configuration, snapshot) = env.load();
    let host = &env.inputs.host;
    let editable = files::editable_files(&configuration, env.inputs, scope)?;
    let (config_path, path_to_match) = normalize_path(path, host);
    if !snapshot.roots().any(|root| matches_path(root, &path_to_match)) {
        let known = snapshot.roots().map(|root| display_root(root, host)).collect();
        return Err(SwitchError::SourceNotFound { source_path: path.to_owned(), known });
    }
    let entry = format!("source:{config_path}");
    let project = &host.project;
    let is_match = |text: &str| {
        snapshot.roots().any(|root| matches_path(root, &path_to_match) && disables_root(root, text, host))
    };
    let mut changed: Vec<PathBuf> = Vec::new();
    match to {
        DesiredState::Disabled => {
            let exists = editable
                .iter()
                .any(|file| file.entries(SkillList::Disabled).iter().any(|(text, _)| *text == entry));
            if let (false, Some(file)) = (exists, file_for_list(&editable, SkillList::Disabled))
                && file.add(project, SkillList::Disabled, &entry)?
            {
                changed.push(file.path.clone());
            }
        }
        DesiredState::Enabled => {
            let all = files::config_files(&configuration, env.inputs);
            let mut user_files = all.iter().filter(|file| file.layer != ConfigLayer::Project);
            let location = user_files.find_map(|file| {
                file.entries(SkillList::Disabled).into_iter().find(|(text, _)| is_match(text))
            });
            if let (ConfigScope::Project, Some((_, location))) = (scope, location) {
                return Err(SwitchError::ProjectCannotEnable { location });
            }
            for file in &editable {
                for (text, _) in
                    file.entries(SkillList::Disabled).into_iter().filter(|(text, _)| is_match(text))
                {
                    if file.remove(project, SkillList::Disabled, &text)? {
                        changed.push(file.path.clone());
                    }
                }
            }
        }
    }
    changed.dedup();
    let obstacle = find_obstacle(env, &is_match, to);
    Ok(SwitchOutcome { name: config_path, changed_files: changed, status: None, reason: None, obstacle })
}

fn find_obstacle(
    env: &SwitchEnv<'_>,
    is_match: &dyn Fn(&str) -> bool,
    to: DesiredState,
) -> Option<SwitchObstacle> {
    let (configuration, _) = env.load();
    let is_disabled = configuration.policy.selection.disabled.iter().any(|text| is_match(text));
    match (to, is_disabled) {
        (DesiredState::Disabled, true) | (DesiredState::Enabled, false) => None,
        (DesiredState::Disabled, false) => {
            let origin = &configuration.setting("skills.disabled")?.origin;
            Some(SwitchObstacle::new(format!("skills.disabled in the {origin} takes precedence")))
        }
        (DesiredState::Enabled, true) => {
            let files = files::config_files(&configuration, env.inputs);
            let mut texts = files.iter().flat_map(|file| file.entries(SkillList::Disabled));
            let (_, location) = texts.find(|(text, _)| is_match(text))?;
            Some(SwitchObstacle::at_location("disabled in the configuration", location))
        }
    }
}

/// Returns a path as it is written and as it is compared. A path in the home directory is written with `~`, which is
/// portable.
fn normalize_path(path: &str, host: &HostEnv) -> (String, PathBuf) {
    let path = match path.trim_end_matches('/') {
        "bundled" => "bundled:",
        "" => "/",
        path => path.strip_prefix("./").unwrap_or(path),
    };
    let home = host.home.as_deref();
    match (path.strip_prefix("~/"), home) {
        (Some(inner), Some(home)) => (path.to_owned(), home.join(inner)),
        _ => {
            let in_home = home.and_then(|home| Path::new(path).strip_prefix(home).ok()?.to_str());
            let config_path = in_home.map_or_else(|| path.to_owned(), |inner| format!("~/{inner}"));
            (config_path, PathBuf::from(path))
        }
    }
}

/// Returns `true` if an entry of a list disables this source.
pub(super) fn disables_root(root: &Root, text: &str, host: &HostEnv) -> bool {
    text.strip_prefix("source:").is_some_and(|path| matches_path(root, &normalize_path(path, host).1))
}

/// Compares a path in the same way as resolving skills does.
fn matches_path(root: &Root, path: &Path) -> bool {
    root.path() == path || root.path().ends_with(path)
}

fn display_root(root: &Root, host: &HostEnv) -> String {
    match root.is_embedded() {
        true => "bundled".to_owned(),
        false => short_path(root.path(), host).display().to_string(),
    }
}
