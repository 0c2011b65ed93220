//! The parts of the system that every script may see.

use std::path::{Path, PathBuf};

/// Directories of programs and libraries.
const SYSTEM_DIRS: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32", "/nix/store", "/gnu/store"];

/// Files in `/etc` that loaders and interpreters read. None contains users or secrets.
const SYSTEM_SETTINGS: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
    "/etc/fonts",
    "/etc/ssl/openssl.cnf",
    "/etc/perl",
    "/etc/php",
    "/etc/python3",
    "/etc/python3.11",
    "/etc/python3.12",
    "/etc/python3.13",
    "/etc/R",
];

/// Files for name resolution and TLS, if network access is allowed.
const NETWORK_SETTINGS: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/nsswitch.conf",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ca-certificates",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust",
    "/run/systemd/resolve",
];

/// Kernel files about the machine. None is about a process.
const MACHINE_FILES: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/random",
    "/proc/sys/vm/max_map_count",
    "/proc/sys/vm/overcommit_memory",
];

/// Devices without data.
pub(super) const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Returns `true` if the path is in a system directory.
pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM_DIRS.iter().any(|dir| path.starts_with(dir))
}

/// Returns the existing system paths.
pub(super) fn system_paths(network: bool) -> Vec<PathBuf> {
    let network = if network { NETWORK_SETTINGS } else { &[] };
    let candidates = SYSTEM_DIRS.iter().chain(SYSTEM_SETTINGS).chain(network);
    candidates.map(PathBuf::from).filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// Returns the existing kernel files about the machine, for scripts that share `/proc` with other processes.
pub(super) fn machine_files() -> Vec<PathBuf> {
    MACHINE_FILES.iter().map(PathBuf::from).filter(|path| path.exists()).collect()
}
