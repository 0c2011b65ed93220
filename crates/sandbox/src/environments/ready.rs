//! The environment of one run.

use std::ffi::OsString;
use std::path::PathBuf;

use prowess::HostEnv;
use prowess::lock::{PinnedEnvironment, ResolvedPackage};
use prowess::policy::EnvironmentSettings;
use prowess::resources::SkillFiles;

use super::builder::{check_python, resolution_key, without_provided};
use super::dependencies::{
    PythonVersion, RequirementSource, Requirements, ScriptLanguage, ScriptSources, requirements_of_script,
    script_language, shared_imports,
};
use super::error::EnvironmentError;
use super::interpreter_info::{InterpreterPaths, interpreter_info};
use super::pins::{PinState, find_pin};
use super::record::EnvironmentKind;
use super::sandboxed_tool::ToolSandbox;
use super::store::EnvironmentStore;
use crate::options::{Protection, SandboxHelper};

/// An environment that is ready to be used by a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyEnvironment {
    /// The id.
    pub id: String,
    /// The packages.
    pub packages: Vec<ResolvedPackage>,
    /// The directories that the script must be able to read.
    pub readable: Vec<PathBuf>,
    /// The variables that lead to the packages: `PYTHONPATH` or `NODE_PATH`.
    pub variables: Vec<(String, OsString)>,
    /// The directory of programs, for `PATH`.
    pub programs: Option<PathBuf>,
    /// The directory of npm packages. `NODE_PATH` is enough for `require`; `import` searches only the directories above the
    /// script.
    pub node_modules: Option<PathBuf>,
}

/// A script that is about to run.
pub struct EnvironmentRequest<'a> {
    /// The skill.
    pub skill: &'a str,
    /// Its files.
    pub files: &'a SkillFiles,
    /// The script, relative to the skill's directory.
    pub script: &'a str,
    /// The environments that the lock file of the skill pins.
    pub pins: &'a [PinnedEnvironment],
    /// The interpreter that runs it.
    pub interpreter: &'a InterpreterPaths,
    /// The settings.
    pub settings: &'a EnvironmentSettings,
    /// The environment of the user.
    pub host: &'a HostEnv,
    /// The helper and the protection, to ask an interpreter for its version the first time it is seen.
    pub helper: &'a SandboxHelper,
    /// See `helper`.
    pub protection: Protection,
}

/// Returns the environment of a script; `None` if it needs none. Fails if it needs one that has not been built.
///
/// Nothing is built here, and nothing is fetched.
pub fn for_script(request: &EnvironmentRequest<'_>) -> Result<Option<ReadyEnvironment>, EnvironmentError> {
    let sources = ScriptSources::from(request.files);
    let bytes = request.files.file(request.script).map(|(_, file)| file.bytes.as_slice()).unwrap_or_default();
    let kind = match script_language(request.script, bytes) {
        Some(ScriptLanguage::Python) => EnvironmentKind::Python,
        Some(ScriptLanguage::JavaScript) => EnvironmentKind::Node,
        None => return Ok(None),
    };
    if kind == EnvironmentKind::Node && !request.files.files().any(|(path, _)| path.ends_with("package.json"))
    {
        return Ok(None);
    }
    // Most scripts need no packages with any version, so the interpreter need not be asked for its own.
    let mut needs_packages = false;
    for version in [PythonVersion::oldest(), PythonVersion::newest()] {
        let needed = requirements_of_script(&sources, request.script, &version)?;
        needs_packages |= needed.is_some_and(|needed| !needed.packages.is_empty() || needed.python.is_some());
    }
    if !needs_packages {
        return Ok(None);
    }
    let store = EnvironmentStore::open(request.settings, request.host)?;
    let sandbox = ToolSandbox {
        helper: request.helper.clone(),
        protection: request.protection,
        cancel: crate::Cancel::default(),
    };
    let info = interpreter_info(&store, request.interpreter, kind, &sandbox)?;
    let version = info.python();
    let Some(own) = requirements_of_script(&sources, request.script, &version)? else { return Ok(None) };
    let all: Requirements = match own.source {
        // Scripts without declarations share an environment.
        RequirementSource::Imports => shared_imports(&sources, &version)?.unwrap_or_else(|| own.clone()),
        _ => own.clone(),
    };
    let own = without_provided(own, &info);
    check_python(&own, request.interpreter, &info)?;
    if own.packages.is_empty() {
        return Ok(None);
    }
    let digest = all.digest();
    let needed = without_provided(all, &info);
    let not_built = || EnvironmentError::NotBuilt {
        skill: request.skill.to_owned(),
        script: request.script.to_owned(),
        packages: own.packages.iter().map(|package| package.name.clone()).collect(),
    };
    let set = match find_pin(request.pins, kind, &info.tag, &digest, &needed) {
        PinState::Pinned(set) => set.clone(),
        PinState::Unpinned | PinState::OtherInterpreter(_) => {
            let key = resolution_key(kind, &info.tag, &needed, request.settings);
            store.resolution(&key).ok_or_else(not_built)?
        }
    };
    let id = set.id();
    let dir = store.path(&id);
    if set.kind != kind || set.tag != needed.environment_tag(&info.tag) || dir.symlink_metadata().is_err() {
        return Err(not_built());
    }
    let record = store.verified_record(&id, request.skill)?;
    store.record_usage(&id, request.skill);
    let existing = |name: &str| Some(dir.join(name)).filter(|path| path.is_dir());
    let (packages, node_modules) = (existing("site-packages"), existing("node_modules"));
    let variables = [("PYTHONPATH", &packages), ("NODE_PATH", &node_modules)];
    Ok(Some(ReadyEnvironment {
        variables: variables
            .into_iter()
            .filter_map(|(name, path)| Some((name.to_owned(), path.clone()?.into_os_string())))
            .collect(),
        programs: existing("bin"),
        node_modules,
        packages: record.set.packages,
        readable: vec![dir],
        id,
    }))
}
