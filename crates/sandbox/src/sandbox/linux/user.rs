//! Whom a script runs as where Prowess is root.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::sandbox::{SandboxError, Tier};

/// The first user of a range that no system hands out, and how many there are.
const UNUSED: (u32, u32) = (0x7700_0000, 0x1_0000);

/// Nobody, for containers that know no higher numbers.
const NOBODY: u32 = 65_534;

/// Whom to become where Prowess is root: a user that owns nothing, another one for each run.
pub(crate) fn unused_user() -> Result<Option<u32>, SandboxError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = std::process::id().wrapping_mul(16).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
    let unused = UNUSED.0 + number % UNUSED.1;
    let known = |user: u32| maps("/proc/self/uid_map", user) && maps("/proc/self/gid_map", user);
    match [unused, NOBODY].into_iter().find(|user| known(*user)) {
        Some(user) => Ok(Some(user)),
        None => Err(SandboxError::new(Tier::Tier2, "this is root, and there is no other user to become")),
    }
}

/// Whether a number is a user here.
fn maps(file: &str, user: u32) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|part| part.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&u64::from(user)))
    })
}

/// Whether a user who owns nothing can get to a file and execute it.
pub(crate) fn may_enter(path: &Path, _user: u32) -> bool {
    path.ancestors().all(|step| step.metadata().is_ok_and(|metadata| metadata.mode() & 0o001 != 0))
}

/// Where scratch folders are made. For root that is a place that everybody can get to.
pub(crate) fn scratch_parent() -> PathBuf {
    if rustix::process::geteuid().is_root() { PathBuf::from("/tmp") } else { std::env::temp_dir() }
}
