//! Builds environments: what is needed, which exact packages that is, and installing them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use prowess::HostEnv;
use prowess::lock::PinnedEnvironment;
use prowess::policy::{EnvironmentSettings, Policy};
use prowess::resources::SkillFiles;
use prowess_fs::unix_now;

use super::copy_tree::{CopiedTree, copy_tree, create_dir, stamp_tree};
use super::dependencies::{
    RequirementSource, Requirements, ScriptGroup, ScriptSources, requirements_of_skill,
};
use super::error::EnvironmentError;
use super::index_proxy::IndexProxy;
use super::interpreter_info::{InterpreterInfo, InterpreterPaths, interpreter_info};
use super::package_index::{PackageIndex, UpstreamProxy};
use super::pins::{PinState, find_pin};
use super::python::{self, BUILD_TIME, Installer};
use super::record::{EnvironmentKind, EnvironmentRecord, ResolvedSet, SCHEMA};
use super::sandboxed_tool::ToolSandbox;
use super::store::{EnvironmentStore, PARTS};
use crate::options::{Cancel, Protection, SandboxHelper};
use crate::{interpreter, locate, sandbox};

/// Receives the current step of a build.
pub type StepHandler<'a> = Box<dyn Fn(&str) + 'a>;

/// Builds environments.
pub struct EnvironmentBuilder<'a> {
    pub(super) store: EnvironmentStore,
    pub(super) settings: &'a EnvironmentSettings,
    host: &'a HostEnv,
    pub(super) sandbox: ToolSandbox,
    /// The variables of the user's environment: proxies and certificates are taken from it.
    pub variables: Vec<(OsString, OsString)>,
    /// The maximum time of a build.
    pub timeout: Duration,
    /// How long to wait for the package index.
    pub network_timeout: Duration,
    /// The environments that the lock file of the skill pins.
    pub pins: Vec<PinnedEnvironment>,
    /// Whether packages are resolved again, even if they are pinned or were resolved before.
    pub upgrade: bool,
    /// Receives the current step, such as `resolving`.
    pub on_step: Option<StepHandler<'a>>,
}

/// What an environment is needed for, and which interpreter uses it.
#[derive(Debug, Clone)]
pub struct EnvironmentPlan {
    /// The kind of the environment.
    pub kind: EnvironmentKind,
    /// What the scripts need, without what the interpreter already has.
    pub requirements: Requirements,
    /// The scripts.
    pub scripts: Vec<String>,
    /// The digest of the requirements, including what the interpreter already has.
    pub(super) digest: String,
    pub(super) interpreter: InterpreterPaths,
    pub(super) info: InterpreterInfo,
}

impl EnvironmentPlan {
    /// Returns `true` if the user must agree before anything is fetched, because the packages were inferred.
    pub fn needs_consent(&self) -> bool {
        self.requirements.source == RequirementSource::Imports
    }

    /// Returns the interpreter and the platform, such as `cpython-311-linux-x86_64`.
    pub fn interpreter_tag(&self) -> &str {
        &self.info.tag
    }

    /// Returns the entry that pins these packages in a lock file.
    pub fn pin(&self, set: &ResolvedSet) -> PinnedEnvironment {
        PinnedEnvironment { requirements: self.digest.clone(), set: set.clone() }
    }

    /// Returns the version of the interpreter.
    pub fn interpreter_version(&self) -> &str {
        &self.info.version
    }

    /// Returns the name under which the resolution of these requirements is stored.
    pub(super) fn resolution_key(&self, settings: &EnvironmentSettings) -> String {
        resolution_key(self.kind, &self.info.tag, &self.requirements, settings)
    }
}

/// Returns the name under which the resolution of requirements is stored.
pub(super) fn resolution_key(
    kind: EnvironmentKind,
    tag: &str,
    requirements: &Requirements,
    settings: &EnvironmentSettings,
) -> String {
    let index = PackageIndex::from_settings(kind, settings);
    let mut text = format!("{kind}\n{tag}\n{}\n{}\n", index.url, requirements.lines().join("\n"));
    if let Some(node) = &requirements.node {
        text.push_str(&node.digest());
    }
    prowess_fs::digest(text.as_bytes()).trim_start_matches("sha256:").to_owned()
}

/// Certificates that an installer needs.
pub(super) struct Certificates {
    /// A file for Python and uv.
    pub(super) python: Option<PathBuf>,
    /// A file for Node.
    pub(super) node: Option<PathBuf>,
    /// The files and directories to read.
    pub(super) readable: Vec<PathBuf>,
}

/// Directories of certificates.
const CERTIFICATE_DIRS: &[&str] =
    &["/etc/ssl/certs", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust"];

impl<'a> EnvironmentBuilder<'a> {
    /// Creates a builder for the environments of the user.
    pub fn new(policy: &'a Policy, host: &'a HostEnv) -> Result<Self, EnvironmentError> {
        let settings = &policy.run.environments;
        Ok(Self {
            store: EnvironmentStore::open(settings, host)?,
            settings,
            host,
            sandbox: ToolSandbox::default(),
            variables: Vec::new(),
            timeout: BUILD_TIME,
            network_timeout: Duration::from_secs(20),
            pins: Vec::new(),
            upgrade: false,
            on_step: None,
        })
    }

    /// Sets the sandbox in which installers run.
    pub fn with_sandbox(mut self, helper: SandboxHelper, protection: Protection, cancel: Cancel) -> Self {
        self.sandbox = ToolSandbox { helper, protection, cancel };
        self
    }

    /// Returns the store.
    pub fn store(&self) -> &EnvironmentStore {
        &self.store
    }

    fn step(&self, step: &str) {
        if let Some(on_step) = &self.on_step {
            on_step(step);
        }
    }

    /// Returns the environments that the scripts of a skill need.
    pub fn plan(&self, files: &SkillFiles) -> Result<Vec<EnvironmentPlan>, EnvironmentError> {
        let sources = ScriptSources::from(files);
        // The version decides what belongs to the standard library.
        let python = self.find_interpreter(EnvironmentKind::Python);
        let info = match &python {
            Ok(python) => {
                Some(interpreter_info(&self.store, python, EnvironmentKind::Python, &self.sandbox)?)
            }
            Err(_) => None,
        };
        let version = info.as_ref().map_or_else(super::PythonVersion::newest, InterpreterInfo::python);
        let mut plans = Vec::new();
        for ScriptGroup { requirements, scripts } in requirements_of_skill(&sources, &version)? {
            let kind = kind_of(&requirements);
            let (interpreter, info) = match (kind, &python, &info) {
                (EnvironmentKind::Python, Ok(python), Some(info)) => (python.clone(), info.clone()),
                (EnvironmentKind::Python, ..) => {
                    self.find_interpreter(kind)?;
                    continue;
                }
                (EnvironmentKind::Node, ..) => {
                    let node = self.find_interpreter(kind)?;
                    let info = interpreter_info(&self.store, &node, kind, &self.sandbox)?;
                    (node, info)
                }
            };
            let digest = requirements.digest();
            let requirements = without_provided(requirements, &info);
            check_python(&requirements, &interpreter, &info)?;
            plans.push(EnvironmentPlan { kind, requirements, scripts, digest, interpreter, info });
        }
        Ok(plans)
    }

    pub(super) fn find_interpreter(
        &self,
        kind: EnvironmentKind,
    ) -> Result<InterpreterPaths, EnvironmentError> {
        let names: &[&str] = match kind {
            EnvironmentKind::Python => &["python3", "python"],
            EnvironmentKind::Node => &["node"],
        };
        self.find_program(names)
    }

    pub(super) fn find_program(&self, names: &[&str]) -> Result<InterpreterPaths, EnvironmentError> {
        let user = sandbox::unused_user().map_err(|error| EnvironmentError::Sandbox(vec![error]))?;
        let mut reason = "is not in PATH";
        for name in names {
            match locate::locate(name, &self.host.path, self.host.home.as_deref(), user) {
                Ok(found) => {
                    return Ok(InterpreterPaths { program: found.program, readable: found.readable });
                }
                Err(locate::LocateError::NotInPath) => {}
                Err(error) => reason = error.reason(),
            }
        }
        let name = names.first().copied().unwrap_or_default();
        Err(EnvironmentError::MissingProgram {
            name: name.to_owned(),
            reason: reason.to_owned(),
            install: interpreter::install_hint(name),
        })
    }

    /// Returns the script of npm, which is beside Node or in the system directories.
    pub(super) fn find_npm(&self, node: &InterpreterPaths) -> Result<PathBuf, EnvironmentError> {
        let beside = node.program.parent().map(|dir| dir.join("npm"));
        let on_path = prowess_fs::programs_on_path("npm", &self.host.path);
        let is_readable = |real: &PathBuf| {
            crate::system_paths::is_system(real) || node.readable.iter().any(|dir| real.starts_with(dir))
        };
        beside
            .into_iter()
            .chain(on_path)
            .filter_map(|path| std::fs::canonicalize(path).ok())
            .find(is_readable)
            .ok_or_else(|| EnvironmentError::MissingProgram {
                name: "npm".to_owned(),
                reason: "is not installed beside node".to_owned(),
                install: "install it; on Debian, run: apt-get install npm".to_owned(),
            })
    }

    pub(super) fn python_installer(&self) -> Installer {
        self.find_program(&["uv"]).map_or(Installer::Pip, Installer::Uv)
    }

    pub(super) fn start_proxy(&self, index: &PackageIndex) -> Result<IndexProxy, EnvironmentError> {
        let upstream = UpstreamProxy::from_variables(&self.variables);
        IndexProxy::start(index.hosts.clone(), upstream, self.network_timeout)
            .map_err(|error| EnvironmentError::io(self.store.dir(), error))
    }

    /// Returns the certificates that the user's environment names. Files elsewhere than in `/etc` and `/usr` could be
    /// private, so they are not shown to an installer.
    pub(super) fn certificates(&self) -> Certificates {
        let is_system = |path: &PathBuf| {
            let real = std::fs::canonicalize(path).unwrap_or_default();
            (real.starts_with("/etc") || real.starts_with("/usr")) && real.is_file()
        };
        let file = |names: &[&str]| {
            names.iter().find_map(|name| {
                let found = self.variables.iter().find(|(key, _)| key == name);
                found.map(|(_, value)| PathBuf::from(value)).filter(is_system)
            })
        };
        let python = file(&["PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"]);
        let node = file(&["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]);
        let dirs = CERTIFICATE_DIRS.iter().map(PathBuf::from).filter(|dir| dir.is_dir());
        let readable = dirs.chain(python.iter().chain(&node).cloned()).collect();
        Certificates { python, node, readable }
    }

    /// Returns what the lock file of the skill pins for a plan.
    pub fn pin_state(&self, plan: &EnvironmentPlan) -> PinState<'_> {
        find_pin(&self.pins, plan.kind, &plan.info.tag, &plan.digest, &plan.requirements)
    }

    /// Returns the exact packages of an environment: those that are pinned, those of an earlier build, or what the index
    /// offers now. Only the index is read; no package is installed.
    pub fn resolve(&self, plan: &EnvironmentPlan) -> Result<ResolvedSet, EnvironmentError> {
        let key = plan.resolution_key(self.settings);
        if !self.upgrade {
            if let PinState::Pinned(set) = self.pin_state(plan) {
                return Ok(set.clone());
            }
            if let Some(set) = self.earlier_resolution(plan) {
                return Ok(set);
            }
        }
        self.step("resolving");
        let set = match plan.kind {
            EnvironmentKind::Python => {
                python::resolve(self, &plan.interpreter, &plan.info, &plan.requirements.lines())?
            }
            EnvironmentKind::Node => super::node::resolve(&plan.info, &plan.requirements)?,
        };
        self.store.record_resolution(&key, &set)?;
        Ok(set)
    }

    /// Returns the packages of an earlier build.
    pub(super) fn earlier_resolution(&self, plan: &EnvironmentPlan) -> Option<ResolvedSet> {
        let tag = plan.requirements.environment_tag(&plan.info.tag);
        let is_current = |set: &ResolvedSet| set.kind == plan.kind && set.tag == tag;
        self.store.resolution(&plan.resolution_key(self.settings)).filter(is_current)
    }

    /// Returns `true` if the environment exists and is unchanged.
    pub fn is_built(&self, set: &ResolvedSet) -> bool {
        self.store.verified_record(&set.id(), "").is_ok()
    }

    /// Installs exactly these packages, unless the environment already exists.
    pub fn build(
        &self,
        plan: &EnvironmentPlan,
        set: &ResolvedSet,
        skill: &str,
    ) -> Result<EnvironmentRecord, EnvironmentError> {
        let id = set.id();
        let _lock = self.store.lock()?;
        // Another process may have built it in the meantime.
        if let Ok(record) = self.store.verified_record(&id, skill) {
            self.store.record_usage(&id, skill);
            return Ok(record);
        }
        self.step("installing");
        let target = self.store.path(&id);
        let finished = match plan.kind {
            EnvironmentKind::Python => python::install(self, &plan.interpreter, &plan.info, set, &target)?,
            EnvironmentKind::Node => {
                super::node::install(self, &plan.interpreter, &plan.info, &plan.requirements)?
            }
        };
        self.step("verifying");
        let staged = self.store.dir().join(".building");
        let record = self.copy_installed(&finished, &staged, plan, set);
        drop(finished);
        let record = record.and_then(|record| self.store.put(&staged, &id).map(|()| record));
        if record.is_err() {
            let _ = std::fs::remove_dir_all(&staged);
        }
        let record = record?;
        self.store.record_usage(&id, skill);
        Ok(record)
    }

    fn copy_installed(
        &self,
        finished: &super::sandboxed_tool::FinishedTool,
        staged: &std::path::Path,
        plan: &EnvironmentPlan,
        set: &ResolvedSet,
    ) -> Result<EnvironmentRecord, EnvironmentError> {
        let io_error = |error| EnvironmentError::io(staged, error);
        create_dir(staged).map_err(io_error)?;
        let installed = finished
            .scratch()?
            .open_dir(std::path::Path::new("installed"))
            .map_err(|error| io_error(error.into()))?;
        let mut copied = CopiedTree::default();
        for part in PARTS {
            match installed.open_dir(std::path::Path::new(part)) {
                Ok(dir) => copy_tree(&dir, &staged.join(part), part, &mut copied)?,
                Err(prowess_fs::Errno::NOENT) => {}
                Err(error) => return Err(io_error(error.into())),
            }
        }
        let record = EnvironmentRecord {
            schema: SCHEMA,
            id: set.id(),
            set: set.clone(),
            interpreter: plan.info.version.clone(),
            stamp: stamp_tree(staged).map_err(io_error)?,
            tree: copied.digest(),
            files: copied.contents.len() as u64,
            bytes: copied.bytes,
            created: unix_now(),
        };
        self.store.write_json(".building/contents.json", &copied.contents).map_err(io_error)?;
        self.store.write_json(".building/environment.json", &record).map_err(io_error)?;
        Ok(record)
    }
}

/// Returns the kind of environment for requirements.
pub(super) fn kind_of(requirements: &Requirements) -> EnvironmentKind {
    match requirements.source {
        RequirementSource::PackageJson => EnvironmentKind::Node,
        _ => EnvironmentKind::Python,
    }
}

/// Removes inferred packages that the interpreter already has.
pub(super) fn without_provided(mut requirements: Requirements, info: &InterpreterInfo) -> Requirements {
    if requirements.source == RequirementSource::Imports {
        let is_provided =
            |modules: &[String]| !modules.is_empty() && modules.iter().all(|module| info.has_module(module));
        requirements.packages.retain(|package| !is_provided(&package.modules));
        requirements.unknown.retain(|module| !info.has_module(module));
    }
    requirements
}

/// Checks that the interpreter has the required version.
pub(super) fn check_python(
    requirements: &Requirements,
    interpreter: &InterpreterPaths,
    info: &InterpreterInfo,
) -> Result<(), EnvironmentError> {
    match &requirements.python {
        Some(required) if !required.accepts(&info.python()) => Err(EnvironmentError::PythonVersion {
            file: requirements.file.clone(),
            required: required.to_string(),
            interpreter: interpreter.program.clone(),
            version: info.version.clone(),
        }),
        _ => Ok(()),
    }
}
