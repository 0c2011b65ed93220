//! Facts about an interpreter: its version, its platform and the packages that it already has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prowess_fs::Fingerprint;
use serde::{Deserialize, Serialize};

use super::dependencies::{PythonVersion, escape};
use super::error::EnvironmentError;
use super::sandboxed_tool::{ToolCommand, ToolDir, ToolSandbox, tool_limits};
use super::store::EnvironmentStore;
use crate::options::NetworkAccess;

/// An interpreter and the files that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterpreterPaths {
    /// The program.
    pub program: PathBuf,
    /// The paths it needs besides the system directories.
    pub readable: Vec<PathBuf>,
}

/// Facts about an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InterpreterInfo {
    /// The version, such as `3.11.2`.
    pub(super) version: String,
    /// The implementation and the platform, such as `cpython-311-linux-x86_64`.
    pub(super) tag: String,
    /// The directories of installed packages.
    pub(super) site: Vec<PathBuf>,
}

impl InterpreterInfo {
    /// Returns the version of Python.
    pub(super) fn python(&self) -> PythonVersion {
        let version = PythonVersion::parse(&self.version);
        version.or_else(|| PythonVersion::parse("3.8")).unwrap_or_else(PythonVersion::oldest)
    }

    /// Returns the platform, such as `linux-x86_64`.
    pub(super) fn platform(&self) -> &str {
        self.tag.splitn(3, '-').nth(2).unwrap_or(&self.tag)
    }

    /// Returns `true` if a package directory of the interpreter has the module. Nothing is executed.
    pub(super) fn has_module(&self, module: &str) -> bool {
        let inner = module.replace('.', "/");
        self.site.iter().any(|dir| {
            let path = dir.join(&inner);
            path.is_dir() || path.with_extension("py").is_file() || has_native_module(&path)
        })
    }
}

impl InterpreterInfo {
    /// Returns `true` if the standard library can create a virtual environment with pip.
    pub(super) fn has_bundled_pip(&self) -> bool {
        self.site.iter().any(|dir| {
            let libraries = dir.ancestors().skip(1).take(2);
            libraries.into_iter().any(|library| {
                library.join("ensurepip").is_dir()
                    || library.join(format!("python{}", self.python().short())).join("ensurepip").is_dir()
            })
        })
    }
}

/// Returns `true` for a module in a library, such as `x.cpython-311-x86_64-linux-gnu.so`.
fn has_native_module(path: &Path) -> bool {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return false;
    };
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).any(|file| {
        file.strip_prefix(name).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".so"))
    })
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct CachedInterpreter {
    stamp: [u64; 7],
    info: InterpreterInfo,
}

/// The file with the facts about all interpreters.
const CACHE: &str = "interpreters.json";

const PYTHON_QUERY: &str = "\
import json, site, sys, sysconfig
print(json.dumps({
    'version': '.'.join(str(number) for number in sys.version_info[:3]),
    'tag': (sys.implementation.cache_tag or sys.implementation.name) + '-' + sysconfig.get_platform(),
    'site': site.getsitepackages(),
}))
";

const NODE_QUERY: &str = "console.log(JSON.stringify({version: process.versions.node, \
    tag: 'node-' + process.versions.modules + '-' + process.platform + '-' + process.arch, site: []}))";

/// Returns the facts about an interpreter. They are remembered until its file changes, so that it is started only once.
pub(super) fn interpreter_info(
    store: &EnvironmentStore,
    interpreter: &InterpreterPaths,
    language: super::EnvironmentKind,
    sandbox: &ToolSandbox,
) -> Result<InterpreterInfo, EnvironmentError> {
    let real = std::fs::canonicalize(&interpreter.program);
    let stamp = real.ok().and_then(|real| Fingerprint::from_path(&real)).map(|stamp| stamp.to_numbers());
    let key = interpreter.program.display().to_string();
    let mut cache: BTreeMap<String, CachedInterpreter> = store.read_json(CACHE).unwrap_or_default();
    if let (Some(cached), Some(stamp)) = (cache.get(&key), stamp)
        && cached.stamp == stamp
    {
        return Ok(cached.info.clone());
    }
    let info = query(interpreter, language, sandbox)?;
    if let Some(stamp) = stamp {
        cache.insert(key, CachedInterpreter { stamp, info: info.clone() });
        // The next command asks the interpreter again.
        let _ = store.create().map(|()| store.write_json(CACHE, &cache));
    }
    Ok(info)
}

fn query(
    interpreter: &InterpreterPaths,
    kind: super::EnvironmentKind,
    sandbox: &ToolSandbox,
) -> Result<InterpreterInfo, EnvironmentError> {
    let arguments: &[&str] = match kind {
        super::EnvironmentKind::Python => &["-I", "-S", "-c", PYTHON_QUERY],
        super::EnvironmentKind::Node => &["-e", NODE_QUERY],
    };
    let finished = ToolDir::new(&[])?.run(
        ToolCommand {
            program: interpreter.program.clone(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            environment: Vec::new(),
            readable: interpreter.readable.clone(),
            network: NetworkAccess::Off,
            limits: tool_limits(Duration::from_secs(30)),
        },
        sandbox,
    )?;
    if finished.cancelled {
        return Err(EnvironmentError::Stopped);
    }
    let info: Option<InterpreterInfo> = serde_json::from_slice(&finished.stdout).ok();
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.len() < 200
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c))
    };
    info.filter(|info| is_plain(&info.version) && is_plain(&info.tag)).ok_or_else(|| {
        EnvironmentError::MissingProgram {
            name: interpreter.program.display().to_string(),
            reason: format!(
                "does not work: {}",
                escape(String::from_utf8_lossy(&finished.stderr).lines().next_back().unwrap_or("no output"))
            ),
            install: "install another version and put it first in PATH".to_owned(),
        }
    })
}
