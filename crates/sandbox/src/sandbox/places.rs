//! The parts of the system that every script may see.

use std::path::{Path, PathBuf};

/// Programs and libraries.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32", "/nix/store", "/gnu/store"];

/// What loaders and interpreters read of `/etc`: nothing that names a user or a secret.
const SETTINGS: &[&str] = &[
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

/// What finding and trusting a host takes, where the user let the network in.
const NETWORK: &[&str] = &[
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

/// What programs ask the kernel about the machine. Nothing of it is about a process.
const MACHINE: &[&str] = &[
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

/// Devices that hold nothing.
pub(super) const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Whether everybody may see a path as it is.
pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|place| path.starts_with(place))
}

/// The places that are there.
pub(super) fn system(network: bool) -> Vec<PathBuf> {
    let network = if network { NETWORK } else { &[] };
    let all = SYSTEM.iter().chain(SETTINGS).chain(network);
    all.map(PathBuf::from).filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// The same with what the kernel says of the machine, for those who share `/proc` with everybody.
pub(super) fn machine() -> Vec<PathBuf> {
    MACHINE.iter().map(PathBuf::from).filter(|path| path.exists()).collect()
}
