//! The parts of the system that every script may see.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
    "/etc/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/etc/redhat-release",
    "/etc/alpine-release",
    "/etc/magic",
    "/etc/magic.mime",
    "/etc/papersize",
    "/etc/libreoffice",
    "/var/cache/fontconfig",
];

/// The starts of names in `/etc` whose ends are versions: settings of Java and ImageMagick.
const VERSIONED_SETTINGS: &[&str] = &["java-", "ImageMagick-"];

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
pub(crate) const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The directory of settings in the home directory of a script. It exists from the start and has a variable of its own,
/// because LibreOffice neither creates it nor uses `HOME` if the user has no name.
pub(crate) const SETTINGS_DIR: &str = ".config";

/// Returns `true` if the path is in a system directory.
pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM_DIRS.iter().any(|dir| path.starts_with(dir))
}

/// Directories of the system that no script may change, besides those of programs and libraries.
const OTHER_SYSTEM_DIRS: &[&str] =
    &["/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/var/lib", "/var/spool"];

/// Directories in those of the system that belong to users.
const USER_DIRS: &[&str] = &["/dev/shm", "/run/user"];

/// Returns `true` if the path is in a directory of the system.
pub(crate) fn is_protected(path: &Path) -> bool {
    let is_in = |dirs: &[&str]| dirs.iter().any(|dir| path.starts_with(dir));
    is_system(path) || is_in(OTHER_SYSTEM_DIRS) && !is_in(USER_DIRS)
}

/// Returns the existing system paths.
pub(crate) fn system_paths(network: bool) -> Vec<PathBuf> {
    let network = if network { NETWORK_SETTINGS } else { &[] };
    let candidates = SYSTEM_DIRS.iter().chain(SYSTEM_SETTINGS).chain(network);
    let fixed = candidates.map(PathBuf::from).filter(|path| path.symlink_metadata().is_ok());
    fixed.chain(versioned_settings().iter().cloned()).collect()
}

/// Returns the existing settings with versions in their names. They are searched once.
fn versioned_settings() -> &'static [PathBuf] {
    static FOUND: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let names = std::fs::read_dir("/etc").into_iter().flatten().flatten();
        let dirs = names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| VERSIONED_SETTINGS.iter().any(|start| is_versioned(name, start)))
            .map(|name| Path::new("/etc").join(name));
        let mut found: Vec<PathBuf> = dirs
            .flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten())
            // Java keeps passwords for remote management there.
            .filter(|entry| entry.file_name() != "management")
            .map(|entry| entry.path())
            .collect();
        found.sort();
        found
    })
}

/// Returns `true` for `java-17-openjdk` and `ImageMagick-6`.
fn is_versioned(name: &str, start: &str) -> bool {
    let version = name.strip_prefix(start).unwrap_or_default();
    version.trim_end_matches("-openjdk").bytes().all(|byte| byte.is_ascii_digit())
        && version.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the existing kernel files about the machine, for scripts that share `/proc` with other processes.
pub(crate) fn machine_files() -> Vec<PathBuf> {
    MACHINE_FILES.iter().map(PathBuf::from).filter(|path| path.exists()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versioned_settings_are_recognized() {
        let is_setting = |name: &str| VERSIONED_SETTINGS.iter().any(|start| is_versioned(name, start));
        assert!(["java-17-openjdk", "java-21-openjdk", "ImageMagick-6"].iter().all(|name| is_setting(name)));
        assert!(
            !["java", "java-", "java-secrets", "java-17-keys", "ImageMagick-x"]
                .iter()
                .any(|name| is_setting(name))
        );
    }

    #[test]
    fn no_settings_contain_users_or_secrets() {
        let all = system_paths(true);
        for secret in [
            "/etc/java-17-openjdk/management/jmxremote.password",
            "/etc/passwd",
            "/etc/shadow",
            "/etc/group",
            "/etc/ssh",
            "/etc/ssl/private/key",
            "/root",
            "/home",
        ] {
            assert!(!all.iter().any(|path| Path::new(secret).starts_with(path)), "{secret}");
        }
    }
}
