//! A world with skills in it, and what the user does to them.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::{Policy, Preset, Progress, Registry, Snapshot, Surroundings};
use prowess_package::own::{Expected, Made, NewSkill, OwnError, Written, delete, make, write};
use prowess_package::{Import, Item, Judge, Known, PackageError, Place, Plan, Upload, Work, plan_import};

pub struct World {
    folder: Folder,
    pub policy: Policy,
}

/// A folder that goes away, or one that somebody else made.
enum Folder {
    Own(tempfile::TempDir),
    Others(PathBuf),
}

pub fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n")
}

impl World {
    pub fn new(preset: Preset) -> Self {
        let folder = Folder::Own(tempfile::tempdir().unwrap());
        let world = Self { folder, policy: Policy { enabled: true, ..Policy::preset(preset) } };
        fs::create_dir(world.path("")).unwrap();
        fs::create_dir(world.path("~/")).unwrap();
        world
    }

    /// The world of another process.
    pub fn at(folder: &Path, preset: Preset) -> Self {
        Self { folder: Folder::Others(folder.to_owned()), policy: Policy::preset(preset) }
    }

    pub fn top(&self) -> PathBuf {
        match &self.folder {
            Folder::Own(folder) => folder.path().canonicalize().unwrap(),
            Folder::Others(folder) => folder.clone(),
        }
    }

    /// `~/…` in the home, everything else in the project.
    pub fn path(&self, inner: &str) -> PathBuf {
        match inner.strip_prefix("~/") {
            Some(inner) => self.top().join("home").join(inner),
            None => self.top().join("project").join(inner),
        }
    }

    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub fn skill(&self, folder: &str) -> &Self {
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        self.file(&format!("{folder}/SKILL.md"), skill_md(name, "Does."))
    }

    pub fn link(&self, inner: &str, target: &str) -> &Self {
        fs::create_dir_all(self.path(inner).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, self.path(inner)).unwrap();
        self
    }

    pub fn text(&self, inner: &str) -> String {
        fs::read_to_string(self.path(inner)).unwrap_or_default()
    }

    pub fn surroundings(&self) -> Surroundings {
        Surroundings { project: self.path(""), home: Some(self.path("~/")), path: "".into() }
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        Registry::open_in(self.policy.clone(), self.surroundings(), &Progress::default()).snapshot()
    }

    pub fn place(&self) -> Place {
        Place::own(&self.policy, &self.surroundings()).unwrap()
    }

    pub fn make(&self, id: &str, name: &str, description: &str) -> Result<Made, OwnError> {
        let new = NewSkill { id, name, description, body: None };
        make(&new, &Place::own(&self.policy, &self.surroundings())?, &self.policy.manifest)
    }

    pub fn write(&self, id: &str, path: &str, bytes: &[u8], expected: Expected) -> Result<Written, OwnError> {
        let snapshot = self.snapshot();
        let skill = snapshot.copies(id).next().unwrap();
        write(skill, path, bytes, &expected, &self.policy, &self.surroundings())
    }

    pub fn delete(&self, id: &str) -> Result<(), OwnError> {
        let snapshot = self.snapshot();
        let skill = snapshot.copies(id).next().unwrap();
        delete(skill, &self.policy, &self.surroundings())
    }

    pub fn plan(
        &self,
        upload: &Upload,
        change: impl FnOnce(Import<'_>) -> Import<'_>,
    ) -> Result<Plan, PackageError> {
        let known = match self.policy.scan.identity {
            prowess::policy::Identity::Id => Known::ByFolder,
            prowess::policy::Identity::Name => Known::ByName,
        };
        let (overwrite, accept_risk, accept_findings) = (false, false, false);
        let import = change(Import { upload, id: None, known, overwrite, accept_risk, accept_findings });
        let judge = Judge { manifest: &self.policy.manifest, suppressions: Vec::new() };
        plan_import(&import, &self.place(), &judge, &Work::default())
    }

    pub fn import(&self, upload: &Upload) -> Result<Vec<Item>, PackageError> {
        self.plan(upload, |import| import)?.commit()
    }

    /// Every file and folder that is there, but for the state of other things.
    pub fn tree(&self, inner: &str) -> Vec<String> {
        let mut all = Vec::new();
        list(&self.path(inner), "", &mut all);
        all.sort();
        all
    }
}

fn list(folder: &Path, below: &str, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => list(&entry.path(), &format!("{path}/"), all),
            false => all.push(path),
        }
    }
}

pub fn files(files: &[(&str, &str)]) -> Upload {
    Upload::Files(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect())
}
