//! A world in a line: a project, a home, and skills in them.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::{Policy, Preset, Progress, Registry, Skill, Snapshot, Surroundings};

pub struct World {
    folder: tempfile::TempDir,
    pub policy: Policy,
}

impl World {
    pub fn new(preset: Preset) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut policy = Policy::preset(preset);
        policy.enabled = true;
        Self { folder, policy }
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        match inner.strip_prefix("~/") {
            Some(inner) => self.folder.path().join("home").join(inner),
            None => self.folder.path().join("project").join(inner),
        }
    }

    /// Writes a file, folders included. `~/` is the home, everything else the project.
    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// A good skill in this folder, named after it.
    pub fn skill(&self, folder: &str) -> &Self {
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        self.file(&format!("{folder}/SKILL.md"), skill_md(name, &format!("Does {name} from {folder}.")))
    }

    pub fn surroundings(&self) -> Surroundings {
        Surroundings {
            project: self.path("").components().collect(),
            home: Some(self.path("~/").components().collect()),
            path: self.folder.path().join("bin").into(),
        }
    }

    pub fn registry(&self) -> Registry {
        Registry::open_in(self.policy.clone(), self.surroundings(), &Progress::default())
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.registry().snapshot()
    }

    /// Every skill but the bundled ones: where it is, what became of it, and why.
    pub fn told(&self) -> Vec<String> {
        self.snapshot()
            .all()
            .iter()
            .filter(|skill| !skill.root().is_embedded())
            .map(|skill| self.tell(skill))
            .collect()
    }

    pub fn tell(&self, skill: &Skill) -> String {
        let root = self.folder.path().to_string_lossy().into_owned();
        let place = skill.root().path().join(skill.inner()).to_string_lossy().replace(&root, "");
        let reason =
            skill.reason().map_or_else(String::new, |reason| format!(": {}", reason.replace(&root, "")));
        format!("{} in {place} is {}{reason}", skill.name(), skill.status().as_str())
    }

    /// All codes that were said, but for those about bundled skills.
    pub fn codes(&self) -> Vec<&'static str> {
        self.snapshot().diagnostics().map(|located| located.diagnostic.code.as_str()).collect()
    }

    pub fn command(&self, name: &str) -> &Self {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }
}

pub fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\nDo it.\n")
}

pub fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .enabled()
        .filter(|skill| !skill.root().is_embedded())
        .map(|skill| skill.name().into_owned())
        .collect()
}
