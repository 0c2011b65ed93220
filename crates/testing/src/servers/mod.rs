//! Real servers on this machine for tests of whatever fetches: git over https and over ssh, and repositories to serve.
//!
//! Each listens on a free port of the loopback and ends with its value.

#![allow(missing_docs)]

pub mod https;
pub mod repository;
pub mod ssh;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a test in a process of its own that trusts the certificates of [`https::Server`]: which certificates count
/// is said by the environment, which a process cannot change for itself. The closure gets the folder with them.
pub fn trusting<F: FnOnce(&Path)>(test: F) {
    const INSIDE: &str = "PROWESS_TEST_CERTIFICATES";
    if let Some(folder) = std::env::var_os(INSIDE) {
        return test(&PathBuf::from(folder));
    }
    // `file::test::{{closure}}`
    let name = std::any::type_name::<F>();
    let name = name.split_once("::").map_or(name, |(_, name)| name);
    let name = name.strip_suffix("::{{closure}}").unwrap_or(name);
    let folder = tempfile::tempdir().unwrap();
    https::make_certificates(folder.path());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, folder.path())
        .env("SSL_CERT_FILE", folder.path().join("authority.pem"))
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{name}:\n{said}\n{failed}");
}
