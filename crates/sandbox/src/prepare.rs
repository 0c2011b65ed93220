//! Prepares a run: checks permissions, finds the interpreter and copies the files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use prowess::format::hidden;
use prowess::policy::AllowedTools;
use prowess::{HostEnv, Skill, resources};

use super::error::RunError;
use super::interpreter::{self, Runner};
use super::log::{self, RunRecord};
use super::meter::Meter;
use super::options::{InputSource, NetworkAccess, Protection, RunOptions, RunSetup};
use super::run_dir::RunDir;
use super::sandbox::{self, Enforced, SandboxError, SandboxTask, unused_user};
use super::{RunOutcome, allowed_tools, gate, locate, watch};

/// The directories in which programs are found inside the sandbox.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A script that is ready to be confined and run.
pub(super) struct PreparedRun {
    script: String,
    digest: String,
    pub(super) tree: String,
    program: PathBuf,
    arguments: Vec<String>,
    readable: Vec<PathBuf>,
    environment: Vec<(String, OsString)>,
    network: NetworkAccess,
    user: Option<u32>,
    pub(super) run_dir: RunDir,
}

pub(super) fn prepare(
    skill: &Skill,
    script: &str,
    arguments: &[String],
    options: &RunOptions<'_>,
) -> Result<PreparedRun, RunError> {
    let (policy, env) = (options.policy, options.env);
    gate::check_arguments(arguments, &options.limits)?;
    // Check access to the skill first, so that the error does not reveal whether its scripts are allowed.
    let skill_files = resources::read_skill_files(skill)?;
    gate::check_consent(skill, options)?;
    let (script, file) = skill_files.file(script)?;
    let runner = interpreter::detect_runner(&script, &file.bytes)?;
    let user = unused_user().map_err(|error| RunError::Sandbox(vec![error]))?;
    let located = locate_runner(&script, &runner, env, user)?;
    let tools = match policy.run.allowed_tools {
        AllowedTools::Required => skill.manifest().and_then(|manifest| manifest.allowed_tools()),
        AllowedTools::Advisory => None,
    };
    if let Some(tools) = tools
        && !allowed_tools::covers(tools, &located.name, &script, arguments)
    {
        return Err(RunError::AllowedTools {
            skill: hidden::escape_for_display(&skill.name()).into_owned(),
            script,
            allowed: tools.iter().map(|tool| hidden::escape_for_display(tool).into_owned()).collect(),
        });
    }
    let digest = file.digest();
    let run_dir = RunDir::new(&sandbox::scratch_parent(), &skill_files, user)
        .map_err(|error| RunError::Io { context: "cannot create the scratch directory", error })?;
    let script_path = run_dir.skill.join(&script);
    let (program, mut command_arguments) = match located.program {
        Some(program) => (program, located.arguments),
        None => (script_path.clone(), Vec::new()),
    };
    if program != script_path {
        command_arguments.push(script_path.display().to_string());
    }
    command_arguments.extend(arguments.iter().cloned());
    let network = options.network.unwrap_or_else(|| gate::network_access(skill, policy, env));
    let mut environment = base_environment(&run_dir, &program);
    let granted = gate::granted_variables(skill, policy, env, &options.environment);
    environment.extend(granted);
    Ok(PreparedRun {
        digest,
        tree: skill_files.tree,
        script,
        program,
        arguments: command_arguments,
        readable: located.readable,
        environment,
        network,
        user,
        run_dir,
    })
}

/// The program that runs a script.
struct ResolvedRunner {
    name: String,
    /// `None` if the script is itself a program.
    program: Option<PathBuf>,
    arguments: Vec<String>,
    readable: Vec<PathBuf>,
}

fn locate_runner(
    script: &str,
    runner: &Runner,
    env: &HostEnv,
    user: Option<u32>,
) -> Result<ResolvedRunner, RunError> {
    let Runner::Interpreter { names, arguments } = runner else {
        return Ok(ResolvedRunner {
            name: script.to_owned(),
            program: None,
            arguments: Vec::new(),
            readable: Vec::new(),
        });
    };
    let mut error = locate::LocateError::NotInPath;
    for name in names {
        match locate::locate(name, &env.path, user) {
            Ok(located) => {
                return Ok(ResolvedRunner {
                    name: name.clone(),
                    program: Some(located.program),
                    arguments: arguments.clone(),
                    readable: located.readable,
                });
            }
            Err(locate::LocateError::NotInPath) => {}
            Err(other) => error = other,
        }
    }
    let name = names.first().cloned().unwrap_or_default();
    Err(RunError::Missing {
        script: hidden::escape_for_display(script).into_owned(),
        install: interpreter::install_hint(&name),
        name: hidden::escape_for_display(&name).into_owned(),
        reason: error.reason(),
    })
}

fn base_environment(run_dir: &RunDir, program: &Path) -> Vec<(String, OsString)> {
    let scratch = run_dir.scratch.clone().into_os_string();
    let mut path = OsString::from(PATH);
    // A script that starts its interpreter by name gets the same one.
    if let Some(dir) =
        program.parent().filter(|dir| !PATH.split(':').any(|included| dir.as_os_str() == included))
    {
        path = dir.as_os_str().to_owned();
        path.push(":");
        path.push(PATH);
    }
    let base = [("PATH", path), ("LANG", "C.UTF-8".into()), ("HOME", scratch.clone()), ("TMPDIR", scratch)];
    base.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

impl PreparedRun {
    pub(super) fn record(&self, skill: &Skill, arguments: usize) -> RunRecord {
        RunRecord {
            skill: skill.name().into_owned(),
            scope: skill.root().scope().as_str().to_owned(),
            script: self.script.clone(),
            arguments,
            digest: self.digest.clone(),
            tree: self.tree.clone(),
            interpreter: self.program.display().to_string(),
            network: self.network == NetworkAccess::On,
            env: self.environment.iter().skip(4).map(|(name, _)| name.clone()).collect(),
            ..log::new_record()
        }
    }

    /// Returns a meter for the script.
    pub(super) fn meter(&self) -> Meter {
        Meter::new(&self.run_dir.scratch, self.network)
    }

    /// Enforces the best available protection. Also returns why better ones failed.
    pub(super) fn enforce(&self, setup: &RunSetup) -> Result<(Enforced, Vec<String>), RunError> {
        let task = SandboxTask {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            environment: self.environment.clone(),
            skill: &self.run_dir.skill,
            scratch: &self.run_dir.scratch,
            readable: self.readable.clone(),
            limits: &setup.limits,
            network: self.network,
            input: setup.input.clone(),
            user: self.user,
        };
        let backends = match setup.protection {
            Protection::Required => sandbox::backends(&setup.helper, None),
            Protection::Only(tier) => sandbox::backends(&setup.helper, Some(tier)),
            Protection::Unsafe => vec![sandbox::unprotected(&setup.helper)],
        };
        let mut errors = Vec::new();
        for backend in backends {
            match backend.enforce(&task) {
                Ok(enforced) => return Ok((enforced, errors.iter().map(SandboxError::to_string).collect())),
                Err(error) => errors.push(error),
            }
        }
        Err(RunError::Sandbox(errors))
    }

    pub(super) fn run(self, options: &mut RunOptions<'_>) -> Result<RunOutcome, RunError> {
        let setup = options.setup(InputSource::Complete(options.input.clone()));
        let (enforced, remarks) = self.enforce(&setup)?;
        let process = enforced.spawn().map_err(|error| RunError::Sandbox(vec![error]))?;
        let tier = process.tier();
        let watched =
            watch::watch(process, &options.limits, self.meter(), &options.cancel, &mut options.on_output)
                .map_err(|error| RunError::Io { context: "cannot watch the script", error })?;
        match watched.not_started {
            Some(reason) => Err(RunError::NotStarted(reason)),
            None => Ok(RunOutcome { watched, tier, remarks }),
        }
    }
}
