//! Local git servers over HTTPS and SSH, and repositories to serve.
//!
//! Each server listens on a free local port and is stopped on drop.

#![allow(missing_docs)]

pub mod https;
pub mod repository;
pub mod ssh;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a test in a child process that trusts the certificates of [`https::HttpsServer`]. The trusted certificates are set by
/// environment variables, which a process cannot safely change for itself. The closure receives the directory of the
/// certificates.
pub fn with_test_certificates<F: FnOnce(&Path)>(test: F) {
    const CERTIFICATES_DIR: &str = "PROWESS_TEST_CERTIFICATES";
    if let Some(dir) = std::env::var_os(CERTIFICATES_DIR) {
        return test(&PathBuf::from(dir));
    }
    // `file::test::{{closure}}`
    let name = std::any::type_name::<F>();
    let name = name.split_once("::").map_or(name, |(_, name)| name);
    let name = name.strip_suffix("::{{closure}}").unwrap_or(name);
    let dir = tempfile::tempdir().unwrap();
    https::make_certificates(dir.path());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(CERTIFICATES_DIR, dir.path())
        .env("SSL_CERT_FILE", dir.path().join("authority.pem"))
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stdout.contains("1 passed"), "{name}:\n{stdout}\n{stderr}");
}
