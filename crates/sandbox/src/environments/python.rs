//! Resolves and installs Python packages, with `uv` if it is installed and with `pip` otherwise.
//!
//! Resolving reads the index and returns exact versions and digests. Installing takes only these, only wheels, and no
//! dependencies, so no code of a package runs while an environment is built.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::build_failure::{BuildFailure, classify};
use super::builder::EnvironmentBuilder;
use super::dependencies::parse_requirement_lines;
use super::error::EnvironmentError;
use super::index_proxy::IndexProxy;
use super::interpreter_info::{InterpreterInfo, InterpreterPaths};
use super::package_index::PackageIndex;
use super::record::{EnvironmentKind, ResolvedPackage, ResolvedSet};
use super::sandboxed_tool::{FinishedTool, ToolCommand, ToolDir, tool_limits};
use crate::options::NetworkAccess;

/// The script that runs inside the sandbox.
const DRIVER: &str = include_str!("install_python.py");

/// The exit code of the driver if there is no pip.
const NO_PIP: i32 = 97;

/// The maximum size of a resolution.
const REPORT_MAX: u64 = 64 * 1024 * 1024;

/// The installer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Installer {
    Uv(InterpreterPaths),
    Pip,
}

impl Installer {
    fn name(&self) -> &'static str {
        match self {
            Self::Uv(_) => "uv",
            Self::Pip => "pip",
        }
    }
}

/// A run of an installer.
struct InstallerRun<'a> {
    builder: &'a EnvironmentBuilder<'a>,
    interpreter: &'a InterpreterPaths,
    info: &'a InterpreterInfo,
    index: PackageIndex,
    installer: Installer,
}

/// Returns the exact packages for requirements, given as lines of a requirements file.
pub(super) fn resolve(
    builder: &EnvironmentBuilder<'_>,
    interpreter: &InterpreterPaths,
    info: &InterpreterInfo,
    lines: &[String],
) -> Result<ResolvedSet, EnvironmentError> {
    let run = InstallerRun::new(builder, interpreter, info);
    let text = format!("{}\n", lines.join("\n"));
    let report = match run.installer {
        Installer::Uv(_) => "resolved.txt",
        Installer::Pip => "report.json",
    };
    let (finished, _) = run.start(&text, |dir| {
        let (input, output) = (path_text(&dir.input("requirements.txt")), path_text(&dir.scratch(report)));
        let python = path_text(&interpreter.program);
        let arguments: Vec<&str> = match run.installer {
            Installer::Uv(_) => vec![
                "pip",
                "compile",
                "--quiet",
                "--no-config",
                "--no-build",
                "--generate-hashes",
                "--no-header",
                "--no-annotate",
                "--python",
                &python,
                "--output-file",
                &output,
                &input,
            ],
            Installer::Pip => vec![
                "install",
                "--dry-run",
                "--ignore-installed",
                "--only-binary",
                ":all:",
                "--report",
                &output,
                "-r",
                &input,
            ],
        };
        (run.command(&arguments), serde_json::Value::Null)
    })?;
    let failed =
        |lines: &str| EnvironmentError::Tool { tool: run.installer.name(), lines: vec![lines.to_owned()] };
    let (file, stat) = finished
        .scratch()?
        .open_file(Path::new(report))
        .map_err(|_| failed("it did not report what it resolved"))?;
    let bytes =
        prowess_fs::read_whole(&file, &stat, REPORT_MAX).map_err(|error| failed(&error.to_string()))?;
    let packages = match run.installer {
        Installer::Uv(_) => parse_lock_lines(&String::from_utf8_lossy(&bytes)),
        Installer::Pip => parse_pip_report(&bytes),
    };
    let set =
        packages.and_then(|packages| ResolvedSet::new(EnvironmentKind::Python, info.tag.clone(), packages));
    set.ok_or_else(|| failed("its report contains a package without a valid name, version and sha256 digest"))
}

/// Installs exactly these packages. The result has `site-packages` and perhaps `bin` in `installed`.
pub(super) fn install(
    builder: &EnvironmentBuilder<'_>,
    interpreter: &InterpreterPaths,
    info: &InterpreterInfo,
    set: &ResolvedSet,
    target: &Path,
) -> Result<FinishedTool, EnvironmentError> {
    let run = InstallerRun::new(builder, interpreter, info);
    let mut text = String::new();
    for package in &set.packages {
        let hashes: String = package.hashes.iter().map(|hash| format!(" --hash={hash}")).collect();
        text.push_str(&format!("{}=={}{hashes}\n", package.name, package.version));
    }
    let (finished, _) = run.start(&text, |dir| {
        let installed = dir.scratch("installed");
        let (input, packages) =
            (path_text(&dir.input("requirements.txt")), path_text(&installed.join("site-packages")));
        let python = path_text(&interpreter.program);
        let arguments: Vec<&str> = match run.installer {
            Installer::Uv(_) => vec![
                "pip",
                "install",
                "--quiet",
                "--no-config",
                "--no-build",
                "--no-deps",
                "--require-hashes",
                "--link-mode",
                "copy",
                "--python",
                &python,
                "--target",
                &packages,
                "-r",
                &input,
            ],
            Installer::Pip => vec![
                "install",
                "--quiet",
                "--no-deps",
                "--require-hashes",
                "--only-binary",
                ":all:",
                "--no-compile",
                "--no-warn-script-location",
                "--target",
                &packages,
                "-r",
                &input,
            ],
        };
        (run.command(&arguments), json!({"installed": installed, "final": target}))
    })?;
    Ok(finished)
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl<'a> InstallerRun<'a> {
    fn new(
        builder: &'a EnvironmentBuilder<'a>,
        interpreter: &'a InterpreterPaths,
        info: &'a InterpreterInfo,
    ) -> Self {
        let index = PackageIndex::from_settings(EnvironmentKind::Python, builder.settings);
        Self { builder, interpreter, info, index, installer: builder.python_installer() }
    }

    /// Returns the command of the installer with the options that all its commands share.
    fn command(&self, arguments: &[&str]) -> Vec<String> {
        let mut command: Vec<String> = match &self.installer {
            Installer::Uv(uv) => vec![path_text(&uv.program)],
            Installer::Pip => {
                // Neither variables nor configuration files: only these options.
                let common = [
                    "pip",
                    "--isolated",
                    "--no-cache-dir",
                    "--disable-pip-version-check",
                    "--no-input",
                    "--no-color",
                ];
                common.iter().map(|word| (*word).to_owned()).collect()
            }
        };
        command.extend(arguments.iter().map(|word| (*word).to_owned()));
        let timeout = self.builder.network_timeout.as_secs().max(1).to_string();
        match self.installer {
            Installer::Uv(_) => command.extend(["--index-url".to_owned(), self.index.url.clone()]),
            Installer::Pip => {
                command.extend(
                    ["--index-url", &self.index.url, "--retries", "1", "--timeout", &timeout]
                        .map(str::to_owned),
                );
            }
        }
        command
    }

    /// Starts the installer. `plan` returns its command, and the fields for the driver.
    fn start(
        &self,
        requirements: &str,
        plan: impl FnOnce(&ToolDir) -> (Vec<String>, serde_json::Value),
    ) -> Result<(FinishedTool, IndexProxy), EnvironmentError> {
        let builder = self.builder;
        let proxy = builder.start_proxy(&self.index)?;
        let proxy_url = format!("http://127.0.0.1:{}", proxy.port());
        // The paths are needed before the file that contains them is written.
        let dir =
            ToolDir::new(&[("driver.py", DRIVER.as_bytes()), ("requirements.txt", requirements.as_bytes())])?;
        let (mut command, mut fields) = plan(&dir);
        let mut environment: Vec<(String, OsString)> = Vec::new();
        let certificates = builder.certificates();
        match &self.installer {
            Installer::Pip => {
                command.extend(["--proxy".to_owned(), proxy_url]);
                if let Some(file) = &certificates.python {
                    command.extend(["--cert".to_owned(), path_text(file)]);
                }
            }
            Installer::Uv(_) => {
                for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
                    environment.push((name.to_owned(), proxy_url.clone().into()));
                }
                let timeout = builder.network_timeout.as_secs().max(1).to_string();
                for (name, value) in [
                    ("UV_PYTHON_DOWNLOADS", "never"),
                    ("UV_NO_PROGRESS", "1"),
                    ("NO_COLOR", "1"),
                    ("UV_HTTP_TIMEOUT", &timeout),
                ] {
                    environment.push((name.to_owned(), value.into()));
                }
                environment.push(("UV_CACHE_DIR".to_owned(), dir.scratch("cache").into()));
                if let Some(file) = &certificates.python {
                    environment.push(("SSL_CERT_FILE".to_owned(), file.into()));
                }
            }
        }
        let scratch = dir.scratch("");
        if fields.is_null() {
            fields = json!({});
        }
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("command".to_owned(), json!(command));
            fields.insert("scratch".to_owned(), json!(scratch));
        }
        dir.add_input("plan.json", fields.to_string().as_bytes())?;
        let (driver, plan) = (path_text(&dir.input("driver.py")), path_text(&dir.input("plan.json")));
        let mut readable = self.interpreter.readable.clone();
        readable.extend(certificates.readable);
        if let Installer::Uv(uv) = &self.installer {
            readable.extend(uv.readable.iter().cloned());
        }
        let finished = dir.run(
            ToolCommand {
                program: self.interpreter.program.clone(),
                arguments: vec!["-I".to_owned(), driver, plan],
                environment,
                readable,
                network: NetworkAccess::ProxyPort(proxy.port()),
                limits: tool_limits(builder.timeout),
            },
            &builder.sandbox,
        )?;
        if finished.exit_code == Some(0) && finished.limits_hit.is_empty() && !finished.cancelled {
            return Ok((finished, proxy));
        }
        if finished.exit_code == Some(NO_PIP) {
            return Err(EnvironmentError::MissingProgram {
                name: "pip".to_owned(),
                reason: format!("22.2 or later is not available for {}", self.interpreter.program.display()),
                install: "install it; on Debian, run: apt-get install python3-pip".to_owned(),
            });
        }
        Err(classify(BuildFailure {
            tool: self.installer.name(),
            platform: format!("Python {} on {}", self.info.python().short(), self.info.platform()),
            index: &self.index,
            failures: proxy.failures(),
            store: builder.store.dir(),
            time: builder.timeout,
            finished: &finished,
        }))
    }
}

#[derive(Deserialize)]
struct PipReport {
    install: Vec<PipReportEntry>,
}

#[derive(Deserialize)]
struct PipReportEntry {
    metadata: PipMetadata,
    download_info: PipDownload,
}

#[derive(Deserialize)]
struct PipMetadata {
    name: String,
    version: String,
}

#[derive(Deserialize)]
struct PipDownload {
    url: String,
    archive_info: Option<PipArchive>,
}

#[derive(Deserialize)]
struct PipArchive {
    hash: Option<String>,
    hashes: Option<std::collections::BTreeMap<String, String>>,
}

/// Reads the report of `pip install --report`.
fn parse_pip_report(bytes: &[u8]) -> Option<Vec<ResolvedPackage>> {
    let report: PipReport = serde_json::from_slice(bytes).ok()?;
    let package = |entry: PipReportEntry| {
        let archive = entry.download_info.archive_info?;
        let from_map = archive.hashes.and_then(|mut hashes| hashes.remove("sha256"));
        let digest = from_map.or_else(|| archive.hash?.strip_prefix("sha256=").map(str::to_owned))?;
        // Source archives are excluded by an option; this makes sure.
        entry.download_info.url.split(['#', '?']).next()?.ends_with(".whl").then_some(())?;
        let PipMetadata { name, version } = entry.metadata;
        Some(ResolvedPackage {
            name,
            version,
            hashes: vec![format!("sha256:{}", digest.to_ascii_lowercase())],
        })
    };
    report.install.into_iter().map(package).collect()
}

/// Reads the output of `uv pip compile --generate-hashes`.
fn parse_lock_lines(text: &str) -> Option<Vec<ResolvedPackage>> {
    let requirements = parse_requirement_lines(text).ok()?;
    let package = |requirement: super::Requirement| {
        let version = requirement.versions.strip_prefix("==")?.to_owned();
        Some(ResolvedPackage { name: requirement.name, version, hashes: requirement.hashes })
    };
    requirements.into_iter().map(package).collect()
}

/// The default time for a build.
pub(super) const BUILD_TIME: Duration = Duration::from_secs(900);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let digest = "A".repeat(64);
        let report = |url: &str| {
            format!(
                r#"{{"version": "1", "install": [{{"metadata": {{"name": "Six", "version": "1.16.0"}},
                "download_info": {{"url": "{url}", "archive_info": {{"hash": "sha256={digest}"}}}}}}]}}"#
            )
        };
        let packages =
            parse_pip_report(report("https://x.example/six-1.16.0-py3-none-any.whl").as_bytes()).unwrap();
        assert_eq!(packages[0].hashes, [format!("sha256:{}", "a".repeat(64))]);
        assert_eq!(parse_pip_report(report("https://x.example/six-1.16.0.tar.gz").as_bytes()), None);
        assert_eq!(parse_pip_report(b"{"), None);
        let lock =
            format!("six==1.16.0 \\\n    --hash=sha256:{0} \\\n    --hash=sha256:{0}\n", "b".repeat(64));
        assert_eq!(parse_lock_lines(&lock).unwrap()[0].hashes.len(), 2);
        assert_eq!(parse_lock_lines("six>=1\n"), None);
    }
}
