//! The user's grants to a skill: network access and environment variables.
//!
//! Invariant: grants come only from the configuration that the user controls. The grants in a lock file are a
//! record for people to read.

use std::path::{Path, PathBuf};

use prowess_format::Manifest;

use crate::host_env::HostEnv;
use crate::lock::GrantedAccess;
use crate::policy::{RunPolicy, Scope};
use crate::registry::Skill;

/// A skill that may be granted something, with what the lists of the configuration identify it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grantee {
    /// Its name. Lists can name only skills that do not belong to a project.
    pub name: String,
    /// Its canonical directory; `None` for bundled and remote skills.
    pub dir: Option<PathBuf>,
    /// Whether it is a project's skill. A project can give its skill any name, including one that the user
    /// trusts.
    pub is_project_skill: bool,
}

impl Grantee {
    /// Returns the grantee for a discovered skill.
    pub fn for_skill(skill: &Skill) -> Self {
        Self {
            name: skill.name().into_owned(),
            dir: skill.root().is_dir().then(|| skill.canonical_dir()),
            is_project_skill: skill.root().scope() == Scope::Project,
        }
    }

    /// Returns the list entry for the skill: its directory if it is a project's skill, otherwise its name.
    pub fn list_entry(&self) -> String {
        match &self.dir {
            Some(dir) if self.is_project_skill => dir.display().to_string(),
            _ => self.name.clone(),
        }
    }

    /// Returns the list entry for the skill as long as its files have this tree hash.
    pub fn pinned_entry(&self, tree: &str) -> String {
        format!("{}@{tree}", self.list_entry())
    }

    /// Returns `true` if a list contains the skill. `tree` returns the tree hash of the skill's files; it is called only if
    /// an entry is bound to one.
    pub fn is_listed(&self, list: &[String], host: &HostEnv, tree: &dyn Fn() -> Option<String>) -> bool {
        list.iter().any(|entry| match split_pinned(entry) {
            None => self.matches_entry(entry, host),
            Some((entry, pinned)) => self.matches_entry(entry, host) && tree().as_deref() == Some(pinned),
        })
    }

    fn matches_entry(&self, entry: &str, host: &HostEnv) -> bool {
        let path = match (entry.strip_prefix("~/"), &host.home) {
            (Some(inner), Some(home)) => home.join(inner),
            _ if entry.starts_with('/') => entry.into(),
            _ => return !self.is_project_skill && entry == self.name,
        };
        self.dir.as_deref().is_some_and(|dir| is_same_dir(&path, dir))
    }

    /// Returns `true` if the skill is granted a variable. The grant `NAME` is for every skill that needs the
    /// variable, `SKILL:NAME` for one.
    pub fn is_granted(&self, variable: &str, run: &RunPolicy, host: &HostEnv) -> bool {
        run.env.iter().any(|grant| match grant.rsplit_once(':') {
            None => grant == variable,
            Some((skill, granted)) => granted == variable && self.matches_entry(skill, host),
        })
    }

    /// Returns the grants to a skill that needs these variables, apart from those that are bound to a tree hash.
    pub fn grants(&self, needs: &[String], run: &RunPolicy, host: &HostEnv) -> GrantedAccess {
        GrantedAccess {
            network: self.is_listed(&run.network, host, &|| None),
            env: needs.iter().filter(|name| self.is_granted(name, run, host)).cloned().collect(),
        }
    }
}

/// Splits `ENTRY@sha256-tree-v1:HEX`. Returns `None` for an entry without a tree hash.
fn split_pinned(entry: &str) -> Option<(&str, &str)> {
    let (entry, tree) = entry.rsplit_once('@')?;
    tree.starts_with("sha256-tree-v1:").then_some((entry, tree))
}

fn is_same_dir(path: &Path, dir: &Path) -> bool {
    path == dir || std::fs::canonicalize(path).is_ok_and(|path| path == dir)
}

/// Returns the variables that a skill lists in `metadata.env`, in order and without duplicates.
pub fn needed_variables(manifest: &Manifest) -> Vec<String> {
    manifest.required_env()
}

/// Returns the grants to a discovered skill.
pub fn grants_for_skill(skill: &Skill, run: &RunPolicy, host: &HostEnv) -> GrantedAccess {
    let needs = skill.manifest().map(needed_variables).unwrap_or_default();
    Grantee::for_skill(skill).grants(&needs, run, host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grantee(of_project: bool) -> Grantee {
        Grantee { name: "pdf".into(), dir: Some("/home/me/skills/pdf".into()), is_project_skill: of_project }
    }

    #[test]
    fn names_do_not_grant_anything_to_project_skills() {
        let host = HostEnv { project: "/p".into(), home: Some("/home/me".into()), path: Default::default() };
        let is_in = |it: &Grantee, entry: &str| it.is_listed(&[entry.to_owned()], &host, &|| None);
        for entry in ["~/skills/pdf", "/home/me/skills/pdf"] {
            assert!(is_in(&grantee(false), entry) && is_in(&grantee(true), entry), "{entry}");
        }
        assert!(is_in(&grantee(false), "pdf") && !is_in(&grantee(true), "pdf"));
        for entry in ["PDF", "pd", "skills/pdf", "/home/me/skills", "", "*"] {
            assert!(!is_in(&grantee(false), entry) && !is_in(&grantee(true), entry), "{entry}");
        }
        let bundled = Grantee { dir: None, ..grantee(false) };
        assert!(is_in(&bundled, "pdf") && !is_in(&bundled, "/home/me/skills/pdf"));
    }

    #[test]
    fn a_pinned_entry_ends_with_a_change_of_the_files() {
        let host = HostEnv { project: "/p".into(), home: Some("/home/me".into()), path: Default::default() };
        let tree = || Some("sha256-tree-v1:aa".to_owned());
        for of_project in [false, true] {
            let skill = grantee(of_project);
            let entry = skill.pinned_entry("sha256-tree-v1:aa");
            assert!(skill.is_listed(std::slice::from_ref(&entry), &host, &tree), "{entry}");
            assert!(!skill.is_listed(std::slice::from_ref(&entry), &host, &|| None));
            assert!(!skill.is_listed(&[entry.replace(":aa", ":ab")], &host, &tree));
        }
        assert!(!grantee(true).is_listed(&["pdf@sha256-tree-v1:aa".to_owned()], &host, &tree));
        assert!(!grantee(false).is_listed(
            &["pdf@aa".to_owned(), "other@sha256-tree-v1:aa".to_owned()],
            &host,
            &tree
        ));
    }

    #[test]
    fn only_needed_variables_are_granted() {
        let host = HostEnv { project: "/p".into(), home: None, path: Default::default() };
        let run = RunPolicy {
            network: vec!["pdf".into()],
            env: ["A", "pdf:B", "other:C", "D"].map(str::to_owned).to_vec(),
            ..RunPolicy::default()
        };
        let needs = ["A", "B", "C"].map(str::to_owned);
        let granted = grantee(false).grants(&needs, &run, &host);
        assert_eq!(granted, GrantedAccess { network: true, env: ["A", "B"].map(str::to_owned).into() });
        let granted = grantee(true).grants(&needs, &run, &host);
        assert_eq!(granted, GrantedAccess { network: false, env: ["A".to_owned()].into() });
    }
}
