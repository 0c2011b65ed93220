//! The environments on disk.
//!
//! ```text
//! environments/
//!   ID/                   an environment; complete, or absent
//!     site-packages/      Python packages; a plain directory on PYTHONPATH, whose .pth files are never executed
//!     bin/                programs of the packages
//!     node_modules/       npm packages
//!     environment.json    the record
//!     contents.json       the digests of all files
//!     usage.json          when it was last used, and by which skills
//!   resolutions/KEY.json  the exact packages for requirements and an interpreter
//!   interpreters.json     the versions of interpreters
//!   build.lock            held while something is built or removed
//!   .building             what a build has written so far
//! ```
//!
//! It is in the user's home directory. Scripts that root starts run as another user, who cannot enter root's home
//! directory, so root's environments are in `/var/cache/prowess`. Everything in an environment can be read by all users;
//! it contains nothing but public packages.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use prowess::HostEnv;
use prowess::policy::EnvironmentSettings;
use prowess_fs::{SyncPolicy, unix_now, write_atomic};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::copy_tree::{hash_tree, stamp_tree};
use super::error::EnvironmentError;
use super::record::{EnvironmentRecord, EnvironmentUsage, ResolvedSet, SCHEMA, is_environment_id};
use crate::sandbox::others_can_access;

/// The maximum size of a record.
const RECORD_MAX: u64 = 4 * 1024 * 1024;

/// Where the environments of root are.
const SYSTEM_DIR: &str = "/var/cache/prowess/environments";

/// The directories of an environment.
pub(super) const PARTS: &[&str] = &["bin", "node_modules", "site-packages"];

/// How often the time of the last use is written, in seconds.
const USAGE_INTERVAL: i64 = 3_600;

/// The environments of the user.
#[derive(Debug, Clone)]
pub struct EnvironmentStore {
    pub(super) dir: PathBuf,
}

/// An environment in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEnvironment {
    /// The id.
    pub id: String,
    /// The record, or why it cannot be used.
    pub record: Result<EnvironmentRecord, String>,
    /// Who uses it.
    pub usage: EnvironmentUsage,
}

impl EnvironmentStore {
    /// Returns the store of the user. Nothing is created.
    pub fn open(settings: &EnvironmentSettings, host: &HostEnv) -> Result<Self, EnvironmentError> {
        let is_root = prowess_fs::current_uid() == 0;
        let dir = match (&settings.directory, &host.home) {
            (Some(dir), _) => dir.clone(),
            (None, _) if is_root => PathBuf::from(SYSTEM_DIR),
            (None, Some(home)) => home.join(".prowess/environments"),
            (None, None) => return Err(EnvironmentError::NoHome),
        };
        let refuse = |reason| EnvironmentError::Directory { path: dir.clone(), reason };
        match fs::metadata(&dir) {
            Ok(metadata) if !metadata.is_dir() => return Err(refuse("it is not a directory")),
            Ok(metadata) if prowess_fs::owner_uid(&metadata) != prowess_fs::current_uid() => {
                return Err(refuse("it belongs to another user"));
            }
            Ok(metadata) if prowess_fs::permissions(&metadata) & 0o022 != 0 => {
                return Err(refuse("other users can write to it"));
            }
            Ok(_) if is_root && !others_can_access(&dir) => {
                return Err(refuse("scripts run as another user, who cannot enter it"));
            }
            _ => {}
        }
        Ok(Self { dir })
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the directory of an environment.
    pub(super) fn path(&self, id: &str) -> PathBuf {
        self.dir.join(id)
    }

    /// Creates the directory.
    pub(super) fn create(&self) -> Result<(), EnvironmentError> {
        let create = || {
            match self.dir.parent() {
                // The user's state is private; packages for root's scripts must be readable.
                Some(parent) if prowess_fs::current_uid() != 0 => prowess_fs::create_private_dir_all(parent)?,
                Some(parent) => fs::create_dir_all(parent)?,
                None => {}
            }
            match super::copy_tree::create_dir(&self.dir) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                result => result,
            }
        };
        create().map_err(|error| EnvironmentError::io(&self.dir, error))
    }

    /// Waits until no other process builds or removes environments, and removes what a killed one left behind.
    pub(super) fn lock(&self) -> Result<File, EnvironmentError> {
        self.create()?;
        let lock = prowess_fs::lock(&self.dir.join("build"))
            .map_err(|error| EnvironmentError::io(&self.dir, error))?;
        self.remove_remains();
        Ok(lock)
    }

    /// Removes what a killed process left behind. The caller holds the lock.
    fn remove_remains(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name == ".building" || name.starts_with(".removed-")) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Returns all environments, the most recently used first.
    pub fn list(&self) -> Vec<StoredEnvironment> {
        if let Ok(Some(_lock)) = prowess_fs::try_lock(&self.dir.join("build.lock")) {
            self.remove_remains();
        }
        let mut all: Vec<StoredEnvironment> = fs::read_dir(&self.dir)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| is_environment_id(name))
            .map(|id| StoredEnvironment { record: self.record(&id), usage: self.usage(&id), id })
            .collect();
        all.sort_by(|a, b| b.usage.last_used.cmp(&a.usage.last_used).then_with(|| a.id.cmp(&b.id)));
        all
    }

    /// Reads the record of an environment, or returns why it cannot be used.
    pub(super) fn record(&self, id: &str) -> Result<EnvironmentRecord, String> {
        let path = self.path(id).join("environment.json");
        let bytes = prowess_fs::read_bounded(&path, RECORD_MAX).ok_or("environment.json cannot be read")?;
        let record: EnvironmentRecord = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        match record.schema {
            SCHEMA if record.id == id && record.set.is_valid() && record.set.id() == id => Ok(record),
            SCHEMA => Err("it describes other packages".to_owned()),
            _ => Err("it was written by a newer version".to_owned()),
        }
    }

    /// Reads the record of an environment and checks that no file was changed since it was built.
    pub(super) fn verified_record(
        &self,
        id: &str,
        skill: &str,
    ) -> Result<EnvironmentRecord, EnvironmentError> {
        let corrupt =
            |reason| EnvironmentError::Corrupt { id: id.to_owned(), skill: skill.to_owned(), reason };
        let record = self.record(id).map_err(corrupt)?;
        let stamp = stamp_tree(&self.path(id));
        if stamp.as_ref().is_ok_and(|stamp| *stamp == record.stamp) || self.renew_stamp(&record, stamp) {
            return Ok(record);
        }
        Err(EnvironmentError::Tampered { id: id.to_owned(), skill: skill.to_owned() })
    }

    /// Compares the contents of an environment whose times have changed, for example because it was restored from a backup.
    /// Returns `true` if they are unchanged, and remembers the new times.
    fn renew_stamp(&self, record: &EnvironmentRecord, stamp: io::Result<String>) -> bool {
        let dir = self.path(&record.id);
        let Ok(stamp) = stamp else { return false };
        if !hash_tree(&dir, PARTS).is_ok_and(|tree| tree == record.tree) {
            return false;
        }
        // Not if a file was changed while the contents were read.
        if stamp_tree(&dir).is_ok_and(|after| after == stamp) {
            let renewed = EnvironmentRecord { stamp, ..record.clone() };
            let _ = self.write_json(&format!("{}/environment.json", record.id), &renewed);
            return true;
        }
        false
    }

    /// Checks that an environment can be used: it has a record, and no file was changed since it was built.
    pub fn check(&self, id: &str) -> Result<EnvironmentRecord, EnvironmentError> {
        let skill = self.usage(id).skills.first().cloned().unwrap_or_else(|| "NAME".to_owned());
        self.verified_record(id, &skill)
    }

    /// Compares the contents of all files of an environment with its record.
    pub fn verify(&self, id: &str) -> Result<EnvironmentRecord, EnvironmentError> {
        let record = self.check(id)?;
        let skill = self.usage(id).skills.first().cloned().unwrap_or_else(|| "NAME".to_owned());
        match hash_tree(&self.path(id), PARTS)? == record.tree {
            true => Ok(record),
            false => Err(EnvironmentError::Tampered { id: id.to_owned(), skill }),
        }
    }

    pub(super) fn usage(&self, id: &str) -> EnvironmentUsage {
        self.read_json(&format!("{id}/usage.json")).unwrap_or_default()
    }

    /// Records that a skill uses an environment. A failure is ignored: it only affects what is pruned.
    pub(super) fn record_usage(&self, id: &str, skill: &str) {
        let mut usage = self.usage(id);
        let now = unix_now();
        let is_known = usage.skills.iter().any(|known| known == skill);
        if is_known && (0..USAGE_INTERVAL).contains(&(now - usage.last_used)) {
            return;
        }
        if !is_known {
            usage.skills.push(skill.to_owned());
            usage.skills.sort();
        }
        usage.last_used = now;
        let _ = self.write_json(&format!("{id}/usage.json"), &usage);
    }

    /// Returns the exact packages for requirements that were resolved before.
    pub(super) fn resolution(&self, key: &str) -> Option<ResolvedSet> {
        self.read_json(&format!("resolutions/{key}.json")).filter(ResolvedSet::is_valid)
    }

    pub(super) fn record_resolution(&self, key: &str, set: &ResolvedSet) -> Result<(), EnvironmentError> {
        self.create()?;
        let dir = self.dir.join("resolutions");
        match super::copy_tree::create_dir(&dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(EnvironmentError::io(&dir, error));
            }
            _ => {}
        }
        let path = format!("resolutions/{key}.json");
        self.write_json(&path, set).map_err(|error| EnvironmentError::io(&self.dir.join(&path), error))
    }

    pub(super) fn read_json<T: DeserializeOwned>(&self, inner: &str) -> Option<T> {
        serde_json::from_slice(&prowess_fs::read_bounded(&self.dir.join(inner), RECORD_MAX)?).ok()
    }

    pub(super) fn write_json(&self, inner: &str, value: &impl Serialize) -> io::Result<()> {
        // Everything here can be created again.
        write_atomic(&self.dir.join(inner), &serde_json::to_vec(value)?, 0o644, SyncPolicy::NoSync)
    }

    /// Moves a complete environment from its staging directory into place. The caller holds the lock.
    pub(super) fn put(&self, staged: &Path, id: &str) -> Result<(), EnvironmentError> {
        let target = self.path(id);
        let failed = |error| EnvironmentError::io(&target, error);
        if target.symlink_metadata().is_ok() {
            // A damaged environment.
            self.move_away(id).map_err(failed)?;
        }
        prowess_fs::rename_noreplace(staged, &target).map_err(failed)
    }

    /// Removes an environment at once for other processes, and then its files.
    fn move_away(&self, id: &str) -> io::Result<()> {
        let removed = self.dir.join(format!(".removed-{id}"));
        let _ = fs::remove_dir_all(&removed);
        fs::rename(self.path(id), &removed)?;
        let _ = fs::remove_dir_all(&removed);
        Ok(())
    }

    /// Removes the environments with this id, or the start of one, or used only by this skill. Skills that share an
    /// environment keep it. Returns the ids of those that were removed.
    pub fn remove(&self, name: &str) -> Result<Vec<String>, EnvironmentError> {
        if !self.dir.is_dir() {
            return Err(EnvironmentError::NotFound { name: name.to_owned() });
        }
        let _lock = self.lock()?;
        let all = self.list_ids();
        let by_id: Vec<String> =
            all.iter().filter(|id| name.len() >= 6 && id.starts_with(name)).cloned().collect();
        let mut removed = Vec::new();
        let mut is_found = !by_id.is_empty();
        for id in by_id {
            self.remove_id(&id)?;
            removed.push(id);
        }
        if !is_found {
            for id in all {
                let mut usage = self.usage(&id);
                if !usage.skills.iter().any(|skill| skill == name) {
                    continue;
                }
                is_found = true;
                usage.skills.retain(|skill| skill != name);
                if usage.skills.is_empty() {
                    self.remove_id(&id)?;
                    removed.push(id);
                } else {
                    let path = self.path(&id).join("usage.json");
                    self.write_json(&format!("{id}/usage.json"), &usage)
                        .map_err(|error| EnvironmentError::io(&path, error))?;
                }
            }
        }
        match is_found {
            true => Ok(removed),
            false => Err(EnvironmentError::NotFound { name: name.to_owned() }),
        }
    }

    /// Removes environments that cannot be used, that no skill uses, or that were not used since `before`, in seconds since
    /// 1970. Returns the ids of those that were removed.
    pub fn prune(
        &self,
        before: i64,
        is_used: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, EnvironmentError> {
        if !self.dir.is_dir() {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let mut removed = Vec::new();
        for id in self.list_ids() {
            let usage = self.usage(&id);
            let is_kept = self.record(&id).is_ok()
                && usage.last_used >= before
                && usage.skills.iter().any(|skill| is_used(skill));
            if !is_kept {
                self.remove_id(&id)?;
                removed.push(id);
            }
        }
        Ok(removed)
    }

    fn list_ids(&self) -> Vec<String> {
        let names = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<String> = names.filter(|name| is_environment_id(name)).collect();
        ids.sort();
        ids
    }

    /// Removes an environment and the resolutions that lead to it. The caller holds the lock.
    fn remove_id(&self, id: &str) -> Result<(), EnvironmentError> {
        self.move_away(id).map_err(|error| EnvironmentError::io(&self.path(id), error))?;
        for entry in fs::read_dir(self.dir.join("resolutions")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let set: Option<ResolvedSet> = self.read_json(&format!("resolutions/{name}"));
            if set.is_none_or(|set| set.id() == id) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }
}
