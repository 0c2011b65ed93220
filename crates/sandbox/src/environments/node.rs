//! Installs npm packages from a lock file. Nothing is resolved: the lock file of the skill has exact versions and digests.

use std::ffi::OsString;

use super::build_failure::{BuildFailure, classify};
use super::builder::EnvironmentBuilder;
use super::dependencies::Requirements;
use super::error::EnvironmentError;
use super::interpreter_info::{InterpreterInfo, InterpreterPaths};
use super::package_index::PackageIndex;
use super::record::{EnvironmentKind, ResolvedPackage, ResolvedSet};
use super::sandboxed_tool::{FinishedTool, ToolCommand, ToolDir, tool_limits};
use crate::options::NetworkAccess;

/// Copies the manifest and the lock file to where npm writes, and installs without running any script of a package.
const DRIVER: &str = r#"set -e
mkdir -p "$HOME/installed"
cp "$1/package.json" "$1/package-lock.json" "$HOME/installed/"
cd "$HOME/installed"
shift
exec "$@"
"#;

/// Returns the packages of the lock file.
pub(super) fn resolve(
    info: &InterpreterInfo,
    requirements: &Requirements,
) -> Result<ResolvedSet, EnvironmentError> {
    let packages = requirements.node.iter().flat_map(|node| &node.packages);
    // Copies of a package in several directories differ only in the path, which is part of the layout.
    let packages = packages.map(|package| ResolvedPackage {
        name: package.path.trim_start_matches("node_modules/").to_owned(),
        version: package.version.clone(),
        hashes: vec![package.integrity.clone()],
    });
    let tag = requirements.environment_tag(&info.tag);
    ResolvedSet::new(EnvironmentKind::Node, tag, packages.collect()).ok_or_else(|| EnvironmentError::Tool {
        tool: "npm",
        lines: vec!["package-lock.json has a package without version or digest".to_owned()],
    })
}

/// Installs the packages of the lock file into `installed/node_modules`.
pub(super) fn install(
    builder: &EnvironmentBuilder<'_>,
    node: &InterpreterPaths,
    info: &InterpreterInfo,
    requirements: &Requirements,
) -> Result<FinishedTool, EnvironmentError> {
    let npm = builder.find_npm(node)?;
    let index = PackageIndex::from_settings(EnvironmentKind::Node, builder.settings);
    let proxy = builder.start_proxy(&index)?;
    let proxy_url = format!("http://127.0.0.1:{}", proxy.port());
    let Some(locked) = &requirements.node else {
        return Err(EnvironmentError::Tool { tool: "npm", lines: vec!["there is no lock file".to_owned()] });
    };
    let dir = ToolDir::new(&[
        ("driver.sh", DRIVER.as_bytes()),
        ("package.json", &locked.manifest),
        ("package-lock.json", &locked.lock),
    ])?;
    let certificates = builder.certificates();
    let mut environment: Vec<(String, OsString)> = vec![
        ("npm_config_cache".to_owned(), dir.scratch("cache").into()),
        ("npm_config_userconfig".to_owned(), "/dev/null".into()),
        ("npm_config_globalconfig".to_owned(), dir.scratch("no-config").into()),
        ("npm_config_registry".to_owned(), format!("{}/", index.url).into()),
        ("npm_config_proxy".to_owned(), proxy_url.clone().into()),
        ("npm_config_https_proxy".to_owned(), proxy_url.into()),
        ("npm_config_noproxy".to_owned(), "".into()),
        ("npm_config_update_notifier".to_owned(), "false".into()),
        ("npm_config_fetch_retries".to_owned(), "1".into()),
        ("npm_config_fetch_timeout".to_owned(), builder.network_timeout.as_millis().to_string().into()),
    ];
    if let Some(file) = &certificates.node {
        environment.push(("NODE_EXTRA_CA_CERTS".to_owned(), file.into()));
    }
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    let mut arguments = vec![text(dir.input("driver.sh")), text(dir.input(""))];
    arguments.extend([text(node.program.clone()), text(npm)]);
    let flags = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"];
    arguments.extend(flags.map(str::to_owned));
    let mut readable = node.readable.clone();
    readable.extend(certificates.readable);
    let finished = dir.run(
        ToolCommand {
            program: "/bin/sh".into(),
            arguments,
            environment,
            readable,
            network: NetworkAccess::ProxyPort(proxy.port()),
            limits: tool_limits(builder.timeout),
        },
        &builder.sandbox,
    )?;
    if finished.exit_code == Some(0) && finished.limits_hit.is_empty() && !finished.cancelled {
        return Ok(finished);
    }
    Err(classify(BuildFailure {
        tool: "npm",
        platform: format!("Node {} on {}", info.version, info.platform()),
        index: &index,
        failures: proxy.failures(),
        store: builder.store.dir(),
        time: builder.timeout,
        finished: &finished,
    }))
}
