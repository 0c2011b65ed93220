//! Which of the skills that were found count. Pure: it takes what was found and returns what becomes of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use prowess_format::{Code, Diagnostic, Severity};

use super::lookalike::skeleton;
use crate::located::Located;
use crate::policy::{Identity, Policy, Requires, Scope, Twice};
use crate::skill::{Disabled, Found, Modified, Shadowed, Skill, Status, Untrusted, Verify};

/// What the world says about a skill besides its own files.
pub(crate) trait Circumstances {
    /// Why its project is not trusted; `None` where it is.
    fn untrusted(&self, found: &Found) -> Option<Untrusted>;
    /// How it differs from what its lock says; `None` where it does not, or is not locked.
    fn modified(&self, found: &Found) -> Option<Modified>;
    /// Whether a command can be run.
    fn has_command(&self, name: &str) -> bool;
    /// What verifies its files before they are used.
    fn verify(&self) -> Arc<dyn Verify>;
}

/// Gives every find its status. `found` holds the finds of each root, the root that wins first.
pub(crate) fn resolve(
    found: &[&[Arc<Found>]],
    policy: &Policy,
    world: &dyn Circumstances,
) -> (Vec<Skill>, Vec<Located>) {
    let total = found.iter().map(|root| root.len()).sum();
    let mut resolver = Resolver {
        policy,
        world,
        winners: HashMap::with_capacity(total),
        overlap: overlap(found),
        folders: HashMap::new(),
        said: Vec::new(),
    };
    let mut skills: Vec<Skill> = Vec::with_capacity(total);
    for root in found {
        match policy.scan.twice {
            Twice::First => skills.extend(root.iter().map(|found| resolver.judge(found))),
            Twice::Last => skills.extend(root.iter().rev().map(|found| resolver.judge(found))),
        }
    }
    resolver.bound(&mut skills);
    // The order of the catalog: by name, and the copy that counts before the others.
    skills.sort_by(|a, b| a.name().cmp(&b.name()).then_with(|| rank(&a.status).cmp(&rank(&b.status))));
    resolver.look_alikes(&skills);
    resolver.same_names(&skills);
    (skills, resolver.said)
}

/// The same folder is found twice only through a link, or where one root lies inside another.
fn overlap(found: &[&[Arc<Found>]]) -> bool {
    let roots: Vec<_> = found.iter().filter_map(|root| Some(root.first()?.root().canonical())).collect();
    let nested = roots.iter().enumerate().any(|(at, inner)| {
        roots.iter().enumerate().any(|(other, outer)| at != other && inner.starts_with(outer))
    });
    nested || found.iter().any(|root| root.iter().any(|found| found.link().is_some()))
}

fn rank(status: &Status) -> u8 {
    match status {
        Status::Enabled | Status::Disabled(_) | Status::Unavailable(_) | Status::Modified(_) => 0,
        Status::Untrusted(_) => 1,
        Status::Shadowed(_) => 2,
        Status::Invalid => 3,
    }
}

struct Resolver<'a> {
    policy: &'a Policy,
    world: &'a dyn Circumstances,
    /// Who holds a name.
    winners: HashMap<String, Arc<Found>>,
    /// Whether one folder may have been reached by two ways.
    overlap: bool,
    folders: HashMap<PathBuf, Arc<Found>>,
    said: Vec<Located>,
}

impl Resolver<'_> {
    fn judge(&mut self, found: &Arc<Found>) -> Skill {
        Skill { status: self.status(found), found: Arc::clone(found), verify: self.world.verify() }
    }

    fn status(&mut self, found: &Arc<Found>) -> Status {
        if let Some(link) = found.link()
            && !link.known
        {
            return Status::Untrusted(Untrusted::Link(link.target.clone()));
        }
        let Some(manifest) = found.manifest() else { return Status::Invalid };
        let modified = || self.world.modified(found);
        let modified = match self.world.untrusted(found) {
            // Trusting it again would not be enough: the lock has to be satisfied, too.
            Some(reason @ Untrusted::Changed(_)) => match modified() {
                Some(difference) => Some(difference),
                None => return Status::Untrusted(reason),
            },
            Some(reason) => return Status::Untrusted(reason),
            None => modified(),
        };
        // Before it takes a name: with the folder's name as identity, a link has another one.
        if self.overlap {
            match self.folders.entry(found.canonical_folder()) {
                Entry::Vacant(entry) => {
                    entry.insert(Arc::clone(found));
                }
                Entry::Occupied(entry) => {
                    return Status::Shadowed(Shadowed { by: entry.get().location(), same_folder: true });
                }
            }
        }
        let key = match self.policy.scan.identity {
            Identity::Id => found.id(),
            Identity::Name => found.called().map_or_else(|| found.id(), Cow::from),
        };
        let winner = match self.winners.entry(key.into_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(Arc::clone(found));
                None
            }
            Entry::Occupied(entry) => Some(Arc::clone(entry.get())),
        };
        if let Some(winner) = winner {
            return self.shadowed(found, &winner);
        }
        if let Some(disabled) = self.disabled(found) {
            return Status::Disabled(disabled);
        }
        if let Some(difference) = modified {
            return Status::Modified(difference);
        }
        let (common, own) = match self.policy.scan.requires {
            Requires::Checked => (Some(manifest.requires()), Some(manifest.own_requires())),
            Requires::Own => (None, Some(manifest.own_requires())),
            Requires::Ignored => (None, None),
        };
        let mut missing: Vec<Box<str>> = Vec::new();
        for name in common.into_iter().flatten().chain(own.into_iter().flatten()) {
            if !missing.iter().any(|known| **known == *name) && !self.world.has_command(name) {
                missing.push(name.into());
            }
        }
        if missing.is_empty() { Status::Enabled } else { Status::Unavailable(missing) }
    }

    fn shadowed(&mut self, found: &Found, winner: &Found) -> Status {
        let by = winner.location();
        let name = found.called().map_or_else(|| found.id(), Cow::from);
        let message = format!("{name} is not used: {} has the same name and goes first", by.display());
        let help = "rename one of them, or delete the one you do not need";
        let diagnostic = Diagnostic::warning(Code::Shadowed, message);
        self.said.push(Located::new(found.location(), diagnostic.help(help)));
        if found.root().scope() == Scope::Bundled && winner.root().scope() != Scope::Bundled {
            let message = format!("{name} takes the place of a bundled skill");
            let diagnostic = Diagnostic::warning(Code::ShadowsBundled, message);
            let help = "that may be what you want; if not, rename it";
            self.said.push(Located::new(&by, diagnostic.help(help)));
        }
        Status::Shadowed(Shadowed { by, same_folder: false })
    }

    fn disabled(&self, found: &Found) -> Option<Disabled> {
        let selection = &self.policy.selection;
        if selection == &crate::policy::Selection::default() && found.manifest()?.default_enabled() {
            return None;
        }
        let manifest = found.manifest()?;
        let called = found.called().unwrap_or_default();
        let named = |list: &[String]| list.iter().any(|name| name == called || *name == found.id());
        let source = |entry: &String| {
            entry.strip_prefix("source:").is_some_and(|path| {
                let root = found.root();
                root.path() == std::path::Path::new(path) || root.path().ends_with(path)
            })
        };
        let bundled = found.root().scope() == Scope::Bundled;
        if named(&selection.disabled) || (bundled && named(&selection.disabled_bundled)) {
            return Some(Disabled::Configuration);
        }
        if selection.disabled.iter().any(source) {
            return Some(Disabled::Source);
        }
        if bundled && !selection.enabled_bundled.is_empty() {
            return (!named(&selection.enabled_bundled)).then_some(Disabled::NotListed);
        }
        (bundled && !manifest.default_enabled() && !named(&selection.enabled)).then_some(Disabled::Default)
    }

    /// Switches off what is beyond `max_skills`. The skills come in the order in which they win.
    fn bound(&mut self, skills: &mut [Skill]) {
        let Some(limit) = self.policy.scan.max_skills else { return };
        let enabled = skills.iter().filter(|skill| skill.is_enabled()).count();
        if enabled <= limit as usize {
            return;
        }
        for skill in skills.iter_mut().filter(|skill| skill.is_enabled()).skip(limit as usize) {
            skill.status = Status::Disabled(Disabled::TooMany(limit));
        }
        let message = format!("there are {enabled} skills; only {limit} are offered");
        let diagnostic = Diagnostic::warning(Code::TooManySkills, message);
        let root = skills.first().map(|skill| skill.root().path().to_owned()).unwrap_or_default();
        self.said
            .push(Located::new(root, diagnostic.help("raise max_skills, or remove what you do not need")));
    }

    /// Tells of a server's skills that are called as another is. Neither takes the other's place, but people may take one
    /// for the other.
    fn same_names(&mut self, skills: &[Skill]) {
        let offered = || skills.iter().filter(|skill| skill.is_enabled());
        let own_name = |skill: &Skill| skill.manifest().map(|manifest| manifest.name().as_str().to_owned());
        if !offered().any(|skill| skill.supplied().is_some()) {
            return;
        }
        let mut names: HashMap<String, Vec<&Skill>> = HashMap::new();
        for skill in offered() {
            names.entry(own_name(skill).unwrap_or_default()).or_default().push(skill);
        }
        for skill in offered().filter(|skill| skill.supplied().is_some()) {
            let own = own_name(skill).unwrap_or_default();
            let others = names.get(&own).map(Vec::as_slice).unwrap_or_default();
            let others = others.iter().map(|other| other.name()).filter(|other| *other != skill.name());
            let others: Vec<_> = others.collect();
            if !others.is_empty() {
                let message = format!(
                    "{} has the name of {}; they are different skills",
                    skill.name(),
                    others.join(", ")
                );
                self.said.push(Located::new(
                    skill.location(),
                    Diagnostic::new(Code::SameName, Severity::Info, message),
                ));
            }
        }
    }

    fn look_alikes(&mut self, skills: &[Skill]) {
        let names: Vec<_> =
            skills.iter().filter(|skill| skill.is_enabled()).map(|skill| (skill.name(), skill)).collect();
        let mut seen: HashMap<Cow<'_, str>, &str> = HashMap::with_capacity(names.len());
        for (name, skill) in &names {
            match seen.entry(skeleton(name)) {
                Entry::Vacant(entry) => {
                    entry.insert(name);
                }
                // The same name twice is possible where folders are what counts, and is no deception.
                Entry::Occupied(entry) if *entry.get() == name => {}
                Entry::Occupied(entry) => {
                    let other = entry.get();
                    let diagnostic =
                        Diagnostic::warning(Code::LookAlike, format!("{name} looks like {other}"));
                    self.said.push(Located::new(skill.location(), diagnostic.help("rename one of them")));
                }
            }
        }
    }
}
