//! The formats of the lock file and of accepted changes. This module does not depend on skills.

pub(crate) mod accepted;
mod compare;
mod environments;
mod file;
mod grants;
mod packages;
mod plugin;

pub use accepted::{accept_tree, accepted_tree, forget_accepted};
pub use compare::{FileChange, LockComparison, compare_with_lock};
pub use environments::PinnedEnvironment;
pub(crate) use environments::merge_pinned;
pub(crate) use file::resolve_lock_dir;
pub use file::{
    AuditRecord, LinkAction, LockEntry, LockFile, NEWER_VERSION, PendingChange, PendingLink, ReadLockError,
    Replacement,
};
pub use grants::GrantedAccess;
pub use packages::{
    EnvironmentKind, ResolvedPackage, ResolvedSet, is_environment_id, is_package_name, is_version,
    normalize_package_name,
};
pub use plugin::LockedPlugin;
pub use prowess_format::Capabilities;

use std::path::{Path, PathBuf};

use crate::host_env::HostEnv;

/// The name of a project's lock file.
pub const LOCK_FILE_NAME: &str = "skills.lock";

/// Returns the path of a project's lock file.
pub fn project_lock_path(project: &Path) -> PathBuf {
    project.join(LOCK_FILE_NAME)
}

/// Returns the path of the user's lock file; `None` without a home directory.
pub fn user_lock_path(host: &HostEnv) -> Option<PathBuf> {
    Some(host.state_dir()?.join("installed.json"))
}
