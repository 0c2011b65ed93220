//! One skill, on or off.

use std::path::PathBuf;

use prowess::policy::Identity;
use prowess::registry::Disabled;
use prowess::{Scope, Skill, Snapshot, Status};
use prowess_config::{Configuration, Layer};
use prowess_format::suggest;

use super::files::{self, ConfigFile, Key, for_list};
use super::{InTheWay, Mention, SwitchError, Switched, To, Whose, World, source};

/// What a skill is called in lists.
struct Named {
    /// The name that is written.
    key: String,
    /// All names that count.
    names: Vec<String>,
    bundled: bool,
}

impl Named {
    fn is(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}

/// A place that switches a skill off.
enum Off<'f> {
    List(&'f ConfigFile, Key, String, Mention),
    Plugin(&'f ConfigFile, String, Mention),
}

impl Off<'_> {
    fn mention(&self) -> &Mention {
        match self {
            Self::List(.., mention) | Self::Plugin(.., mention) => mention,
        }
    }
}

pub(super) fn switch(world: &World<'_>, name: &str, to: To, whose: Whose) -> Result<Switched, SwitchError> {
    let (configuration, snapshot) = world.read();
    let own = files::own(&configuration, world.inputs, whose)?;
    let named = match find(&snapshot, name) {
        Some(skill) => named(skill, &configuration),
        // What is not there any more can still be named, and then the name can be taken out.
        None => Named { key: name.to_owned(), names: vec![name.to_owned()], bundled: true },
    };
    if find(&snapshot, name).is_none() && (to == To::Off || offs(&own, &named).is_empty()) {
        let names: Vec<_> = snapshot.all().iter().map(|skill| skill.name()).collect();
        let near = suggest::nearest(name, names.iter().map(AsRef::as_ref)).map(ToOwned::to_owned);
        return Err(SwitchError::NoSkill { name: name.to_owned(), near });
    }
    let mut changed: Vec<PathBuf> = match to {
        To::Off => off(world, &own, &named)?.into_iter().collect(),
        To::On => on(world, &named, name, whose)?,
    };
    changed.dedup();
    let (configuration, snapshot) = world.read();
    let skill = find(&snapshot, name);
    Ok(Switched {
        name: named.key.clone(),
        changed,
        status: skill.map(|skill| skill.status().as_str()),
        reason: skill.and_then(Skill::reason),
        in_the_way: skill.and_then(|skill| in_the_way(world, &configuration, skill, &named, to)),
    })
}

/// What disables a skill.
pub(super) fn disabled_by(world: &World<'_>, name: &str) -> Option<InTheWay> {
    let (configuration, snapshot) = world.read();
    let skill = find(&snapshot, name)?;
    in_the_way(world, &configuration, skill, &named(skill, &configuration), To::On)
}

/// Names it in the list that switches it off, unless it is there.
fn off(world: &World<'_>, own: &[ConfigFile], named: &Named) -> Result<Option<PathBuf>, SwitchError> {
    if !offs(own, named).is_empty() {
        return Ok(None);
    }
    let project = &world.inputs.surroundings.project;
    let harness = own.iter().rev().find(|file| file.is_harness());
    let plugin = harness.and_then(|file| {
        let (plugin, ..) = file.plugins().into_iter().find(|(plugin, ..)| named.is(plugin))?;
        Some((file, plugin))
    });
    let (file, changed) = match (plugin, harness) {
        (Some((file, plugin)), _) => (file, file.set_plugin(project, &plugin, false)?),
        (None, Some(file)) if named.bundled => (file, file.add(project, Key::DisabledBundled, &named.key)?),
        _ => match for_list(own, Key::Disabled) {
            Some(file) => (file, file.add(project, Key::Disabled, &named.key)?),
            None => return Ok(None),
        },
    };
    Ok(changed.then(|| file.path.clone()))
}

/// Takes away what switches it off, one thing after the other: behind one there may be another.
fn on(world: &World<'_>, named: &Named, name: &str, whose: Whose) -> Result<Vec<PathBuf>, SwitchError> {
    let project = &world.inputs.surroundings.project;
    let mut changed = Vec::new();
    for _ in 0..4 {
        let (configuration, snapshot) = world.read();
        let own = files::own(&configuration, world.inputs, whose)?;
        let all = files::all(&configuration, world.inputs);
        let disabled = match find(&snapshot, name).map(Skill::status) {
            Some(Status::Disabled(disabled)) => *disabled,
            Some(_) => break,
            None => Disabled::Configuration,
        };
        if whose == Whose::Project {
            allowed(&all, named, disabled)?;
        }
        let before = changed.len();
        match disabled {
            Disabled::Configuration => {
                for off in offs(&own, named) {
                    let (file, did) = match &off {
                        Off::List(file, key, text, _) => (file, file.remove(project, *key, text)?),
                        Off::Plugin(file, plugin, _) => (file, file.set_plugin(project, plugin, true)?),
                    };
                    changed.extend(did.then(|| file.path.clone()));
                }
            }
            Disabled::Default => {
                if let Some(file) = for_list(&own, Key::Enabled)
                    && file.add(project, Key::Enabled, &named.key)?
                {
                    changed.push(file.path.clone());
                }
            }
            Disabled::NotListed => {
                let listing = own.iter().rev().find(|file| !file.texts(Key::EnabledBundled).is_empty());
                if let Some(file) = listing
                    && file.add(project, Key::EnabledBundled, &named.key)?
                {
                    changed.push(file.path.clone());
                }
            }
            Disabled::Source | Disabled::TooMany(_) => {}
        }
        if changed.len() == before {
            break;
        }
    }
    Ok(changed)
}

/// A project cannot switch on what the user switched off, in whatever way.
fn allowed(all: &[ConfigFile], named: &Named, disabled: Disabled) -> Result<(), SwitchError> {
    let users: Vec<_> = all.iter().filter(|file| file.layer != Layer::Project).cloned().collect();
    let mention = match disabled {
        Disabled::Configuration => offs(&users, named).first().map(|off| off.mention().clone()),
        Disabled::NotListed => first(&users, Key::EnabledBundled, |_| true).map(|(_, mention)| mention),
        Disabled::Source | Disabled::Default | Disabled::TooMany(_) => None,
    };
    mention.map_or(Ok(()), |mention| Err(SwitchError::NotTheProjects { mention }))
}

/// Why it is not as it was asked for, with the file and the line.
fn in_the_way(
    world: &World<'_>,
    configuration: &Configuration,
    skill: &Skill,
    named: &Named,
    to: To,
) -> Option<InTheWay> {
    let all = files::all(configuration, world.inputs);
    let surroundings = &world.inputs.surroundings;
    let disabled = match (to, skill.status()) {
        (To::Off, Status::Enabled) => {
            let origin = &configuration.setting("skills.disabled")?.origin;
            return Some(InTheWay::new(format!("what counts is the list of the {origin}")));
        }
        (To::On, Status::Disabled(disabled)) => disabled,
        _ => return None,
    };
    let reason = skill.reason().unwrap_or_default();
    let found = match disabled {
        Disabled::Configuration => offs(&all, named).first().map(|off| (off.mention().clone(), None)),
        Disabled::NotListed => first(&all, Key::EnabledBundled, |_| true).map(|(_, mention)| (mention, None)),
        Disabled::Source => {
            first(&all, Key::Disabled, |text| source::is_of(skill.root(), text, surroundings))
                .map(|(text, mention)| (mention, text.strip_prefix("source:").map(ToOwned::to_owned)))
        }
        Disabled::Default | Disabled::TooMany(_) => None,
    };
    Some(match found {
        Some((mention, source)) => InTheWay { source, ..InTheWay::at(&reason, mention) },
        None => InTheWay::new(reason),
    })
}

/// Everything in these files that switches it off.
fn offs<'f>(files: &'f [ConfigFile], named: &Named) -> Vec<Off<'f>> {
    let mut offs = Vec::new();
    for file in files {
        let keys: &[Key] =
            if named.bundled { &[Key::Disabled, Key::DisabledBundled] } else { &[Key::Disabled] };
        for key in keys {
            let texts = file.texts(*key).into_iter().filter(|(text, _)| named.is(text));
            offs.extend(texts.map(|(text, mention)| Off::List(file, *key, text, mention)));
        }
        let plugins = file.plugins().into_iter().filter(|(plugin, on, _)| !on && named.is(plugin));
        offs.extend(plugins.map(|(plugin, _, mention)| Off::Plugin(file, plugin, mention)));
    }
    offs
}

/// The text of a list that counts most and is of a kind.
fn first(files: &[ConfigFile], key: Key, which: impl Fn(&str) -> bool) -> Option<(String, Mention)> {
    files.iter().rev().flat_map(|file| file.texts(key)).find(|(text, _)| which(text))
}

fn named(skill: &Skill, configuration: &Configuration) -> Named {
    let (name, id) = (skill.name().into_owned(), skill.id().into_owned());
    let key = match configuration.policy.scan.identity {
        Identity::Id => id.clone(),
        Identity::Name => name.clone(),
    };
    Named { key, names: vec![name, id], bundled: skill.root().scope() == Scope::Bundled }
}

/// The skill of this name or folder; the one that counts goes first.
fn find<'s>(snapshot: &'s Snapshot, name: &str) -> Option<&'s Skill> {
    let all = snapshot.all();
    snapshot
        .get(name)
        .or_else(|| all.iter().find(|skill| skill.name() == name))
        .or_else(|| all.iter().find(|skill| skill.id() == name))
}
