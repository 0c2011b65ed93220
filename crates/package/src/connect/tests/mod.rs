//! Tests the entry for each client, and that nothing else changes.

mod diff;
mod files;
mod rich;
mod table;

use std::path::{Path, PathBuf};

use prowess::HostEnv;

use super::{Client, ClientEnv, ConnectError, ConnectPlan, ServerName, ServerSpec, TargetOs, plan_install};
use crate::install_target::InstallScope;

/// A temporary home directory and project.
pub(super) struct TestHome {
    temp_dir: tempfile::TempDir,
}

impl TestHome {
    pub(super) fn new() -> Self {
        let temp_dir = tempfile::tempdir().unwrap();
        for inner in ["home", "project", "bin"] {
            std::fs::create_dir(temp_dir.path().join(inner)).unwrap();
        }
        Self { temp_dir }
    }

    pub(super) fn path(&self, inner: &str) -> PathBuf {
        self.temp_dir.path().join(inner)
    }

    pub(super) fn client_env(&self) -> ClientEnv {
        client_env_for(&self.path("home"), &self.path("project"), self.path("bin").into())
    }
}

pub(super) fn client_env_for(home: &Path, project: &Path, path: std::ffi::OsString) -> ClientEnv {
    let host = HostEnv { project: project.to_owned(), home: Some(home.to_owned()), path };
    ClientEnv { host, os: TargetOs::Linux, variables: Vec::new() }
}

fn server_name() -> ServerName {
    ServerName::parse("prowess").unwrap()
}

fn stdio_server() -> ServerSpec {
    ServerSpec::Stdio { command: "prowess".to_owned(), args: vec!["mcp".to_owned()], env: Vec::new() }
}

/// Plans the entry of [`stdio_server`].
fn plan_entry(
    env: &ClientEnv,
    client: &'static Client,
    scope: InstallScope,
) -> Result<ConnectPlan, ConnectError> {
    plan_install(env, client, scope, &server_name(), &stdio_server())
}
