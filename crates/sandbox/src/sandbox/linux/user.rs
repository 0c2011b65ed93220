//! The user that runs scripts if Prowess is root.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::sandbox::{SandboxError, SandboxTier};

/// The first user id of a range that no system assigns, and the size of the range.
const UNUSED_UIDS: (u32, u32) = (0x7700_0000, 0x1_0000);

/// The user nobody, for containers without higher user ids.
const NOBODY: u32 = 65_534;

/// Returns the user to become if Prowess is root: one that owns nothing, and a different one for each run.
pub(crate) fn unused_user() -> Result<Option<u32>, SandboxError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = std::process::id().wrapping_mul(16).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
    let unused = UNUSED_UIDS.0 + number % UNUSED_UIDS.1;
    let is_mapped =
        |user: u32| contains_id("/proc/self/uid_map", user) && contains_id("/proc/self/gid_map", user);
    match [unused, NOBODY].into_iter().find(|user| is_mapped(*user)) {
        Some(user) => Ok(Some(user)),
        None => Err(SandboxError::new(SandboxTier::Tier2, "running as root, and no other user is available")),
    }
}

/// Returns `true` if the id map of this namespace contains the user.
fn contains_id(file: &str, user: u32) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|part| part.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&u64::from(user)))
    })
}

/// Returns `true` if a user who owns nothing can access and execute the file.
pub(crate) fn others_can_access(path: &Path) -> bool {
    path.ancestors().all(|ancestor| ancestor.metadata().is_ok_and(|metadata| metadata.mode() & 0o001 != 0))
}

/// Returns the parent of scratch directories. For root, it is a directory that all users can access.
pub(crate) fn scratch_parent() -> PathBuf {
    if rustix::process::geteuid().is_root() { PathBuf::from("/tmp") } else { std::env::temp_dir() }
}
