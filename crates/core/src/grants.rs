//! What the user grants to a skill: whether the lists of the configuration name it, and which variables it gets.
//!
//! What must always hold: a grant comes from the configuration that the user is in charge of, and from nowhere else. What
//! a lock says was granted is a record for people to read.

use std::path::{Path, PathBuf};

use prowess_format::Manifest;

use crate::lock::Granted;
use crate::policy::{Run, Scope};
use crate::registry::Skill;
use crate::surroundings::Surroundings;

/// A skill as the lists of the configuration name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grantee {
    /// Its name. It counts only where nobody but the user could have given it.
    pub name: String,
    /// Where it lies, links resolved; none for a part of the program and for what lies at a server.
    pub folder: Option<PathBuf>,
    /// Whether it is a project's: anybody can give such a skill a name that the user knows.
    pub of_project: bool,
}

impl Grantee {
    /// A skill that was found.
    pub fn of(skill: &Skill) -> Self {
        Self {
            name: skill.name().into_owned(),
            folder: skill.root().is_folder().then(|| skill.canonical_folder()),
            of_project: skill.root().scope() == Scope::Project,
        }
    }

    /// What names it in a list: its name, or its folder where it is a project's.
    pub fn entry(&self) -> String {
        match &self.folder {
            Some(folder) if self.of_project => folder.display().to_string(),
            _ => self.name.clone(),
        }
    }

    /// Whether a list names it.
    pub fn is_in(&self, list: &[String], world: &Surroundings) -> bool {
        list.iter().any(|entry| self.is_named(entry, world))
    }

    fn is_named(&self, entry: &str, world: &Surroundings) -> bool {
        let path = match (entry.strip_prefix("~/"), &world.home) {
            (Some(inner), Some(home)) => home.join(inner),
            _ if entry.starts_with('/') => entry.into(),
            _ => return !self.of_project && entry == self.name,
        };
        self.folder.as_deref().is_some_and(|folder| same(&path, folder))
    }

    /// Whether it gets a variable that it needs: `NAME` grants it to every skill that names it, `SKILL:NAME` to one.
    pub fn gets(&self, variable: &str, run: &Run, world: &Surroundings) -> bool {
        run.env.iter().any(|grant| match grant.rsplit_once(':') {
            None => grant == variable,
            Some((of, granted)) => granted == variable && self.is_named(of, world),
        })
    }

    /// All that is granted to it, of what it needs.
    pub fn granted(&self, needs: &[String], run: &Run, world: &Surroundings) -> Granted {
        Granted {
            network: self.is_in(&run.network, world),
            env: needs.iter().filter(|name| self.gets(name, run, world)).cloned().collect(),
        }
    }
}

fn same(path: &Path, folder: &Path) -> bool {
    path == folder || std::fs::canonicalize(path).is_ok_and(|path| path == folder)
}

/// The variables that a skill names in `metadata.env`, in its order and each once.
pub fn needs(manifest: &Manifest) -> Vec<String> {
    manifest.needed_variables()
}

/// All that is granted to a skill that was found.
pub fn granted(skill: &Skill, run: &Run, world: &Surroundings) -> Granted {
    let needs = skill.manifest().map(needs).unwrap_or_default();
    Grantee::of(skill).granted(&needs, run, world)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grantee(of_project: bool) -> Grantee {
        Grantee { name: "pdf".into(), folder: Some("/home/me/skills/pdf".into()), of_project }
    }

    #[test]
    fn a_name_is_the_users_and_a_folder_is_anybodys() {
        let world =
            Surroundings { project: "/p".into(), home: Some("/home/me".into()), path: Default::default() };
        let is_in = |it: &Grantee, entry: &str| it.is_in(&[entry.to_owned()], &world);
        for entry in ["~/skills/pdf", "/home/me/skills/pdf"] {
            assert!(is_in(&grantee(false), entry) && is_in(&grantee(true), entry), "{entry}");
        }
        assert!(is_in(&grantee(false), "pdf") && !is_in(&grantee(true), "pdf"));
        for entry in ["PDF", "pd", "skills/pdf", "/home/me/skills", "", "*"] {
            assert!(!is_in(&grantee(false), entry) && !is_in(&grantee(true), entry), "{entry}");
        }
        let bundled = Grantee { folder: None, ..grantee(false) };
        assert!(is_in(&bundled, "pdf") && !is_in(&bundled, "/home/me/skills/pdf"));
    }

    #[test]
    fn of_the_variables_only_those_that_it_needs_are_granted() {
        let world = Surroundings { project: "/p".into(), home: None, path: Default::default() };
        let run = Run {
            network: vec!["pdf".into()],
            env: ["A", "pdf:B", "other:C", "D"].map(str::to_owned).to_vec(),
            ..Run::default()
        };
        let needs = ["A", "B", "C"].map(str::to_owned);
        let granted = grantee(false).granted(&needs, &run, &world);
        assert_eq!(granted, Granted { network: true, env: ["A", "B"].map(str::to_owned).into() });
        let granted = grantee(true).granted(&needs, &run, &world);
        assert_eq!(granted, Granted { network: false, env: ["A".to_owned()].into() });
    }
}
