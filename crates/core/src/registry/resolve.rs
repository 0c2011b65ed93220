//! Resolves the status of discovered skills. All access to the system goes through [`ResolveEnv`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use prowess_format::{Code, Diagnostic, Manifest, Severity};

use super::lookalike::skeleton;
use crate::file_diagnostic::FileDiagnostic;
use crate::policy::{DuplicatePolicy, Policy, RequiresPolicy, Scope};
use crate::skill::{
    DisabledReason, DiscoveredSkill, ModifiedReason, ShadowedBy, Skill, SkillKey, SkillStatus,
    UntrustedReason, Verify,
};

/// The environment of a skill that its status depends on.
pub(crate) trait ResolveEnv {
    /// Returns why the skill is not trusted; `None` if it is.
    fn untrusted_reason(&self, skill: &DiscoveredSkill) -> Option<UntrustedReason>;
    /// Returns how the skill differs from the lock file; `None` if it does not or is not locked.
    fn modified_reason(&self, skill: &DiscoveredSkill) -> Option<ModifiedReason>;
    /// Returns `true` if a command is on `PATH`.
    fn has_command(&self, name: &str) -> bool;
    /// Returns the verifier for the files of all skills.
    fn verifier(&self) -> Arc<dyn Verify>;
}

/// Resolves the status of every skill. `discovered` has the skills of each root, the root with the highest
/// precedence first.
pub(crate) fn resolve(
    discovered: &[&[Arc<DiscoveredSkill>]],
    policy: &Policy,
    env: &dyn ResolveEnv,
) -> (Vec<Skill>, Vec<FileDiagnostic>) {
    let total = discovered.iter().map(|root| root.len()).sum();
    let mut resolver = Resolver {
        policy,
        env,
        winners: HashMap::with_capacity(total),
        may_overlap: may_overlap(discovered),
        by_dir: HashMap::new(),
        diagnostics: Vec::new(),
    };
    let mut skills: Vec<Skill> = Vec::with_capacity(total);
    for root in discovered {
        match policy.scan.duplicates {
            DuplicatePolicy::FirstWins => skills.extend(root.iter().map(|skill| resolver.resolve(skill))),
            DuplicatePolicy::LastWins => {
                skills.extend(root.iter().rev().map(|skill| resolver.resolve(skill)))
            }
        }
    }
    resolver.apply_limit(&mut skills);
    // Catalog order: by name; a skill comes before those that it shadows.
    skills.sort_by(|a, b| a.name().cmp(&b.name()).then_with(|| rank(&a.status).cmp(&rank(&b.status))));
    resolver.report_look_alikes(&skills);
    resolver.report_same_names(&skills);
    (skills, resolver.diagnostics)
}

/// Returns `true` if the same directory may be found twice: through a symlink, or because one root is inside
/// another.
fn may_overlap(discovered: &[&[Arc<DiscoveredSkill>]]) -> bool {
    let roots: Vec<_> = discovered.iter().filter_map(|root| Some(root.first()?.root().canonical())).collect();
    let nested = roots.iter().enumerate().any(|(inner_index, inner)| {
        roots
            .iter()
            .enumerate()
            .any(|(outer_index, outer)| inner_index != outer_index && inner.starts_with(outer))
    });
    nested || discovered.iter().any(|root| root.iter().any(|skill| skill.link().is_some()))
}

fn rank(status: &SkillStatus) -> u8 {
    match status {
        SkillStatus::Enabled
        | SkillStatus::Disabled(_)
        | SkillStatus::Unavailable(_)
        | SkillStatus::Modified(_) => 0,
        SkillStatus::Untrusted(_) => 1,
        SkillStatus::Shadowed(_) => 2,
        SkillStatus::Invalid => 3,
    }
}

struct Resolver<'a> {
    policy: &'a Policy,
    env: &'a dyn ResolveEnv,
    /// The skill that holds each name.
    winners: HashMap<SkillKey, Arc<DiscoveredSkill>>,
    /// Whether the same directory may be found twice.
    may_overlap: bool,
    /// The first skill found in each canonical directory. Only used if `may_overlap`.
    by_dir: HashMap<PathBuf, Arc<DiscoveredSkill>>,
    diagnostics: Vec<FileDiagnostic>,
}

impl Resolver<'_> {
    fn resolve(&mut self, skill: &Arc<DiscoveredSkill>) -> Skill {
        let key = SkillKey::new(skill, self.policy.scan.identity);
        let status = self.status(skill, &key);
        Skill { key, status, discovered: Arc::clone(skill), verifier: self.env.verifier() }
    }

    fn status(&mut self, skill: &Arc<DiscoveredSkill>, key: &SkillKey) -> SkillStatus {
        if let Some(link) = skill.link()
            && !link.is_known
        {
            return SkillStatus::Untrusted(UntrustedReason::Link(link.target.clone()));
        }
        let Some(manifest) = skill.manifest() else { return SkillStatus::Invalid };
        let modified = || self.env.modified_reason(skill);
        let modified = match self.env.untrusted_reason(skill) {
            // Trusting it again is not enough: it must also match the lock file.
            Some(reason @ UntrustedReason::Changed(_)) => match modified() {
                Some(difference) => Some(difference),
                None => return SkillStatus::Untrusted(reason),
            },
            Some(reason) => return SkillStatus::Untrusted(reason),
            None => modified(),
        };
        // Compare directories before names: if skills are identified by directory name, a symlink to the same skill
        // has another name.
        if self.may_overlap {
            match self.by_dir.entry(skill.canonical_dir()) {
                Entry::Vacant(entry) => {
                    entry.insert(Arc::clone(skill));
                }
                Entry::Occupied(entry) => {
                    return SkillStatus::Shadowed(ShadowedBy {
                        path: entry.get().skill_md_path(),
                        same_dir: true,
                    });
                }
            }
        }
        let winner = match self.winners.entry(key.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(Arc::clone(skill));
                None
            }
            Entry::Occupied(entry) => Some(Arc::clone(entry.get())),
        };
        if let Some(winner) = winner {
            return self.report_shadowed(skill, &winner);
        }
        if let Some(reason) = self.disabled_reason(skill) {
            return SkillStatus::Disabled(reason);
        }
        if let Some(difference) = modified {
            return SkillStatus::Modified(difference);
        }
        let missing = self.missing_commands(manifest);
        if missing.is_empty() { SkillStatus::Enabled } else { SkillStatus::Unavailable(missing) }
    }

    /// Returns the required commands that are not on `PATH`, without duplicates.
    fn missing_commands(&self, manifest: &Manifest) -> Vec<Box<str>> {
        let mut missing: Vec<Box<str>> = Vec::new();
        let mut require = |name: &str| {
            if !missing.iter().any(|listed| **listed == *name) && !self.env.has_command(name) {
                missing.push(name.into());
            }
        };
        match self.policy.scan.requires {
            RequiresPolicy::Ignored => return Vec::new(),
            RequiresPolicy::ProwessOnly => {}
            RequiresPolicy::All => manifest.requires().for_each(&mut require),
        }
        manifest.prowess_requires().for_each(&mut require);
        if let Some(requires) = manifest.openclaw_requires() {
            requires.bins.iter().for_each(|name| require(name));
            if !requires.any_bins.is_empty()
                && !requires.any_bins.iter().any(|name| self.env.has_command(name))
            {
                missing.push(requires.any_bins.join(" or ").into());
            }
        }
        missing
    }

    /// Reports that a skill is shadowed, and returns its status.
    fn report_shadowed(&mut self, skill: &DiscoveredSkill, winner: &DiscoveredSkill) -> SkillStatus {
        let winner_path = winner.skill_md_path();
        let name = skill.resolved_name().map_or_else(|| skill.id(), Cow::from);
        let message = format!("{name} is shadowed by {}, which has the same name", winner_path.display());
        let help = "rename one of them, or delete the one you do not need";
        let diagnostic = Diagnostic::warning(Code::Shadowed, message);
        self.diagnostics.push(FileDiagnostic::new(skill.skill_md_path(), diagnostic.help(help)));
        if skill.root().scope() == Scope::Bundled && winner.root().scope() != Scope::Bundled {
            let message = format!("{name} shadows a bundled skill");
            let diagnostic = Diagnostic::warning(Code::ShadowsBundled, message);
            let help = "rename it if this is not intended";
            self.diagnostics.push(FileDiagnostic::new(&winner_path, diagnostic.help(help)));
        }
        SkillStatus::Shadowed(ShadowedBy { path: winner_path, same_dir: false })
    }

    /// Returns why a skill is disabled; `None` if it is not.
    fn disabled_reason(&self, skill: &DiscoveredSkill) -> Option<DisabledReason> {
        let selection = &self.policy.selection;
        if selection == &crate::policy::SkillSelection::default() && skill.manifest()?.default_enabled() {
            return None;
        }
        let manifest = skill.manifest()?;
        let name = skill.resolved_name().unwrap_or_default();
        let is_listed = |list: &[String]| list.iter().any(|entry| entry == name || *entry == skill.id());
        let is_source = |entry: &String| {
            entry.strip_prefix("source:").is_some_and(|path| {
                let root = skill.root();
                root.path() == std::path::Path::new(path) || root.path().ends_with(path)
            })
        };
        let bundled = skill.root().scope() == Scope::Bundled;
        if is_listed(&selection.disabled) || (bundled && is_listed(&selection.disabled_bundled)) {
            return Some(DisabledReason::Configuration);
        }
        if selection.disabled.iter().any(is_source) {
            return Some(DisabledReason::Source);
        }
        if bundled && !selection.enabled_bundled.is_empty() {
            return (!is_listed(&selection.enabled_bundled)).then_some(DisabledReason::NotListed);
        }
        (bundled && !manifest.default_enabled() && !is_listed(&selection.enabled))
            .then_some(DisabledReason::Default)
    }

    /// Disables the skills beyond `max_skills`. The skills are in order of precedence.
    fn apply_limit(&mut self, skills: &mut [Skill]) {
        let Some(limit) = self.policy.scan.max_skills else { return };
        let enabled = skills.iter().filter(|skill| skill.is_enabled()).count();
        if enabled <= limit as usize {
            return;
        }
        for skill in skills.iter_mut().filter(|skill| skill.is_enabled()).skip(limit as usize) {
            skill.status = SkillStatus::Disabled(DisabledReason::TooMany(limit));
        }
        let message = format!("found {enabled} skills; only {limit} are offered");
        let diagnostic = Diagnostic::warning(Code::TooManySkills, message);
        let root = skills.first().map(|skill| skill.root().path().to_owned()).unwrap_or_default();
        self.diagnostics.push(FileDiagnostic::new(
            root,
            diagnostic.help("raise max_skills, or remove skills that you do not need"),
        ));
    }

    /// Reports remote skills with the same frontmatter name as another skill. Neither shadows the other, but
    /// they may be confused.
    fn report_same_names(&mut self, skills: &[Skill]) {
        let enabled = || skills.iter().filter(|skill| skill.is_enabled());
        let frontmatter_name =
            |skill: &Skill| skill.manifest().map(|manifest| manifest.name().as_str().to_owned());
        if !enabled().any(|skill| skill.remote().is_some()) {
            return;
        }
        let mut names: HashMap<String, Vec<&Skill>> = HashMap::new();
        for skill in enabled() {
            names.entry(frontmatter_name(skill).unwrap_or_default()).or_default().push(skill);
        }
        for skill in enabled().filter(|skill| skill.remote().is_some()) {
            let name = frontmatter_name(skill).unwrap_or_default();
            let others = names.get(&name).map(Vec::as_slice).unwrap_or_default();
            let others = others.iter().map(|other| other.name()).filter(|other| *other != skill.name());
            let others: Vec<_> = others.collect();
            if let Some((last, rest)) = others.split_last() {
                let mut names = vec![skill.name()];
                names.extend_from_slice(rest);
                let message = format!(
                    "{} and {last} have the same name in their frontmatter, but are different skills",
                    names.join(", ")
                );
                self.diagnostics.push(FileDiagnostic::new(
                    skill.skill_md_path(),
                    Diagnostic::new(Code::SameName, Severity::Info, message),
                ));
            }
        }
    }

    fn report_look_alikes(&mut self, skills: &[Skill]) {
        let names: Vec<_> =
            skills.iter().filter(|skill| skill.is_enabled()).map(|skill| (skill.name(), skill)).collect();
        let mut skeletons: HashMap<Cow<'_, str>, &str> = HashMap::with_capacity(names.len());
        for (name, skill) in &names {
            match skeletons.entry(skeleton(name)) {
                Entry::Vacant(entry) => {
                    entry.insert(name);
                }
                // Equal names are possible if directories are the identity, and are not a deception.
                Entry::Occupied(entry) if *entry.get() == name => {}
                Entry::Occupied(entry) => {
                    let other = entry.get();
                    let diagnostic =
                        Diagnostic::warning(Code::LookAlike, format!("{name} looks like {other}"));
                    self.diagnostics.push(FileDiagnostic::new(
                        skill.skill_md_path(),
                        diagnostic.help("rename one of them"),
                    ));
                }
            }
        }
    }
}
