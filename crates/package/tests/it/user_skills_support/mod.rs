//! A test home directory and project with skills.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::{HostEnv, Policy, Preset, Registry, ScanProgress, Snapshot};
use prowess_package::user_skills::{
    CreatedSkill, ExpectedContent, NewSkill, UserSkillError, WrittenFile, create_skill, delete_skill,
    delete_skill_file, rename_skill_file, write_skill_file,
};
use prowess_package::{
    IdentifiedBy, ImportRequest, InstallChecks, InstallPlan, InstallTarget, PackageError, PlanItem, Task,
    Upload, plan_import,
};

pub struct TestHome {
    dir: TestDir,
    pub policy: Policy,
}

/// A temporary directory, or one of another process.
enum TestDir {
    Temporary(tempfile::TempDir),
    Existing(PathBuf),
}

pub fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n")
}

impl TestHome {
    pub fn new(preset: Preset) -> Self {
        let dir = TestDir::Temporary(tempfile::tempdir().unwrap());
        let home = Self { dir, policy: Policy { enabled: true, ..Policy::from_preset(preset) } };
        fs::create_dir(home.path("")).unwrap();
        fs::create_dir(home.path("~/")).unwrap();
        home
    }

    /// Opens the directory of another process.
    pub fn open(dir: &Path, preset: Preset) -> Self {
        Self { dir: TestDir::Existing(dir.to_owned()), policy: Policy::from_preset(preset) }
    }

    pub fn root(&self) -> PathBuf {
        match &self.dir {
            TestDir::Temporary(dir) => dir.path().canonicalize().unwrap(),
            TestDir::Existing(dir) => dir.clone(),
        }
    }

    /// Returns a path in the home directory for `~/…`, else in the project.
    pub fn path(&self, inner: &str) -> PathBuf {
        match inner.strip_prefix("~/") {
            Some(inner) => self.root().join("home").join(inner),
            None => self.root().join("project").join(inner),
        }
    }

    pub fn write_file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub fn write_skill(&self, dir: &str) -> &Self {
        let name = Path::new(dir).file_name().unwrap().to_str().unwrap();
        self.write_file(&format!("{dir}/SKILL.md"), skill_md(name, "Does."))
    }

    pub fn symlink(&self, inner: &str, target: &str) -> &Self {
        fs::create_dir_all(self.path(inner).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, self.path(inner)).unwrap();
        self
    }

    pub fn read_text(&self, inner: &str) -> String {
        fs::read_to_string(self.path(inner)).unwrap_or_default()
    }

    pub fn host(&self) -> HostEnv {
        HostEnv { project: self.path(""), home: Some(self.path("~/")), path: "".into() }
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        Registry::open_in(self.policy.clone(), self.host(), &ScanProgress::default()).snapshot()
    }

    pub fn target(&self) -> InstallTarget {
        InstallTarget::user_skills(&self.policy, &self.host()).unwrap()
    }

    pub fn create(&self, id: &str, name: &str, description: &str) -> Result<CreatedSkill, UserSkillError> {
        let new = NewSkill { id, name, description, body: None };
        create_skill(&new, &InstallTarget::user_skills(&self.policy, &self.host())?, &self.policy.manifest)
    }

    pub fn write(
        &self,
        id: &str,
        path: &str,
        bytes: &[u8],
        expected: ExpectedContent,
    ) -> Result<WrittenFile, UserSkillError> {
        let snapshot = self.snapshot();
        let skill = snapshot.copies(id).next().unwrap();
        write_skill_file(skill, path, bytes, &expected, &self.policy, &self.host())
    }

    pub fn rename(&self, id: &str, from: &str, to: &str) -> Result<(), UserSkillError> {
        let snapshot = self.snapshot();
        let skill = snapshot.copies(id).next().unwrap();
        rename_skill_file(skill, from, to, &ExpectedContent::Any, &self.policy, &self.host())
    }

    pub fn delete_file(&self, id: &str, path: &str, expected: ExpectedContent) -> Result<(), UserSkillError> {
        let snapshot = self.snapshot();
        let skill = snapshot.copies(id).next().unwrap();
        delete_skill_file(skill, path, &expected, &self.policy, &self.host())
    }

    pub fn delete(&self, id: &str) -> Result<(), UserSkillError> {
        let snapshot = self.snapshot();
        let skill = snapshot.copies(id).next().unwrap();
        delete_skill(skill, &self.policy, &self.host())
    }

    pub fn plan(
        &self,
        upload: &Upload,
        change: impl FnOnce(ImportRequest<'_>) -> ImportRequest<'_>,
    ) -> Result<InstallPlan, PackageError> {
        let known = match self.policy.scan.identity {
            prowess::policy::SkillIdentity::Id => IdentifiedBy::Directory,
            prowess::policy::SkillIdentity::Name => IdentifiedBy::Name,
        };
        let (overwrite, accept_risk, accept_findings) = (false, false, false);
        let import = change(ImportRequest {
            upload,
            id: None,
            identified_by: known,
            overwrite,
            accept_risk,
            accept_findings,
        });
        let checks = InstallChecks { rules: &self.policy.manifest, suppressions: Vec::new() };
        plan_import(&import, &self.target(), &checks, &Task::default())
    }

    pub fn import(&self, upload: &Upload) -> Result<Vec<PlanItem>, PackageError> {
        self.plan(upload, |import| import)?.commit()
    }

    /// Returns all files below a directory, sorted.
    pub fn list_files(&self, inner: &str) -> Vec<String> {
        let mut all = Vec::new();
        add_files(&self.path(inner), "", &mut all);
        all.sort();
        all
    }
}

fn add_files(dir: &Path, prefix: &str, all: &mut Vec<String>) {
    for entry in fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok) {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => add_files(&entry.path(), &format!("{path}/"), all),
            false => all.push(path),
        }
    }
}

pub fn files(files: &[(&str, &str)]) -> Upload {
    Upload::Files(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect())
}
