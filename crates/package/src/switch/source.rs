//! A whole source, on or off.

use std::path::{Path, PathBuf};

use prowess::{Root, Surroundings, short_path};
use prowess_config::Layer;

use super::files::{self, Key, for_list};
use super::{InTheWay, SwitchError, Switched, To, Whose, World};

pub(super) fn switch(world: &World<'_>, path: &str, to: To, whose: Whose) -> Result<Switched, SwitchError> {
    let (configuration, snapshot) = world.read();
    let surroundings = &world.inputs.surroundings;
    let own = files::own(&configuration, world.inputs, whose)?;
    let typed = typed(path, surroundings);
    if !snapshot.roots().any(|root| is(root, &typed.1)) {
        let known = snapshot.roots().map(|root| shown(root, surroundings)).collect();
        return Err(SwitchError::NoSource { source_path: path.to_owned(), known });
    }
    let entry = format!("source:{}", typed.0);
    let project = &surroundings.project;
    let meant =
        |text: &str| snapshot.roots().any(|root| is(root, &typed.1) && is_of(root, text, surroundings));
    let mut changed: Vec<PathBuf> = Vec::new();
    match to {
        To::Off => {
            let there =
                own.iter().any(|file| file.texts(Key::Disabled).iter().any(|(text, _)| *text == entry));
            if let (false, Some(file)) = (there, for_list(&own, Key::Disabled))
                && file.add(project, Key::Disabled, &entry)?
            {
                changed.push(file.path.clone());
            }
        }
        To::On => {
            let all = files::all(&configuration, world.inputs);
            let mut users = all.iter().filter(|file| file.layer != Layer::Project);
            let mention =
                users.find_map(|file| file.texts(Key::Disabled).into_iter().find(|(text, _)| meant(text)));
            if let (Whose::Project, Some((_, mention))) = (whose, mention) {
                return Err(SwitchError::NotTheProjects { mention });
            }
            for file in &own {
                for (text, _) in file.texts(Key::Disabled).into_iter().filter(|(text, _)| meant(text)) {
                    if file.remove(project, Key::Disabled, &text)? {
                        changed.push(file.path.clone());
                    }
                }
            }
        }
    }
    changed.dedup();
    let in_the_way = in_the_way(world, &meant, to);
    Ok(Switched { name: typed.0, changed, status: None, reason: None, in_the_way })
}

fn in_the_way(world: &World<'_>, meant: &dyn Fn(&str) -> bool, to: To) -> Option<InTheWay> {
    let (configuration, _) = world.read();
    let is_off = configuration.policy.selection.disabled.iter().any(|text| meant(text));
    match (to, is_off) {
        (To::Off, true) | (To::On, false) => None,
        (To::Off, false) => {
            let origin = &configuration.setting("skills.disabled")?.origin;
            Some(InTheWay::new(format!("what counts is the list of the {origin}")))
        }
        (To::On, true) => {
            let files = files::all(&configuration, world.inputs);
            let mut texts = files.iter().flat_map(|file| file.texts(Key::Disabled));
            let (_, mention) = texts.find(|(text, _)| meant(text))?;
            Some(InTheWay::at("switched off in the configuration", mention))
        }
    }
}

/// A path as it is written, and as it is compared. Below the home it is written with `~`, which is the same on every
/// machine.
fn typed(path: &str, world: &Surroundings) -> (String, PathBuf) {
    let path = match path.trim_end_matches('/') {
        "bundled" => "bundled:",
        "" => "/",
        path => path.strip_prefix("./").unwrap_or(path),
    };
    let home = world.home.as_deref();
    match (path.strip_prefix("~/"), home) {
        (Some(inner), Some(home)) => (path.to_owned(), home.join(inner)),
        _ => {
            let below = home.and_then(|home| Path::new(path).strip_prefix(home).ok()?.to_str());
            let written = below.map_or_else(|| path.to_owned(), |inner| format!("~/{inner}"));
            (written, PathBuf::from(path))
        }
    }
}

/// Whether an entry of a list switches off this source.
pub(super) fn is_of(root: &Root, text: &str, world: &Surroundings) -> bool {
    text.strip_prefix("source:").is_some_and(|path| is(root, &typed(path, world).1))
}

/// As skills are told apart by their source.
fn is(root: &Root, path: &Path) -> bool {
    root.path() == path || root.path().ends_with(path)
}

fn shown(root: &Root, world: &Surroundings) -> String {
    match root.is_embedded() {
        true => "bundled".to_owned(),
        false => short_path(root.path(), world).display().to_string(),
    }
}
