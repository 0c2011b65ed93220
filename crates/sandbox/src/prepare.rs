//! Prepares a run: checks permissions, finds the interpreter, copies the files, and collects changes at the end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use prowess::format::hidden;
use prowess::policy::{AllowedTools, ScriptDirectory};
use prowess::resources::SkillFiles;
use prowess::{HostEnv, Skill, resources};
use prowess_fs::Dir;

use super::environments::{self, EnvironmentRequest, InterpreterPaths, ReadyEnvironment};
use super::error::RunError;
use super::executable::Executable;
use super::interpreter::{self, Runner};
use super::log::{self, RunRecord};
use super::meter::Meter;
use super::options::{InputSource, NetworkAccess, RunOptions, RunSetup};
use super::programs::find_named_programs;
use super::result::RunLimit;
use super::run_dir::RunDir;
use super::sandbox::{
    self, Enforced, FileCopy, SandboxError, SandboxTask, SandboxTier, ScratchLocation, TaskArguments,
    unused_user,
};
use super::workspace::{
    Changes, CopiedTree, CopyLimits, FinishedWorkspace, ProtectedFiles, ScriptFilesError, Workspace,
    add_inputs, check_workspace, copy_dir, copy_file, copy_workspace, resolve_read_grants, write_inputs,
};
use super::{Limits, RunOutcome, allowed_tools, gate, locate, watch};

/// The directories in which programs are found inside the sandbox.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A script that is ready to be confined and run.
pub(super) struct PreparedRun {
    script: String,
    digest: String,
    pub(super) tree: String,
    program: PathBuf,
    /// The arguments of the interpreter, and the script.
    fixed_arguments: Vec<String>,
    user_arguments: Vec<String>,
    current_dir: Option<PathBuf>,
    readable: Vec<PathBuf>,
    environment: Vec<(String, OsString)>,
    /// The names of the variables that the user granted.
    granted: Vec<String>,
    network: NetworkAccess,
    user: Option<u32>,
    files: UserFiles,
    run_dir: RunDir,
}

/// Copies of files of the user.
#[derive(Debug, Default)]
struct UserFiles {
    copies: Vec<FileCopy>,
    /// What was copied into the workspace, if there is one.
    copied: Option<CopiedTree>,
    /// The directory to which changes are applied. It stays open, so that nothing can take its place.
    apply_to: Option<Dir>,
    remarks: Vec<String>,
}

/// Whether a script works in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkspaceUse {
    /// As the options say.
    FromOptions,
    /// It works in the directory of the skill.
    None,
}

pub(super) fn prepare(
    skill: &Skill,
    executable: Executable<'_>,
    arguments: &[String],
    options: &RunOptions<'_>,
    workspace_use: WorkspaceUse,
) -> Result<PreparedRun, RunError> {
    let (policy, env) = (options.policy, options.env);
    gate::check_arguments(arguments, &options.limits)?;
    // Check access to the skill first, so that the error does not reveal whether its scripts are allowed.
    let skill_files = match executable {
        Executable::Script(_) => resources::read_skill_files(skill)?,
        Executable::Command(_) => resources::read_instruction_files(skill)?,
    };
    gate::check_consent_at(skill, options, &|| Some(skill_files.tree.clone()))?;
    let (script, digest, runner) = executable.resolve(skill, &skill_files)?;
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
    let environment = match executable {
        Executable::Script(_) => find_environment(skill, &script, &skill_files, &located, options)?,
        Executable::Command(_) => None,
    };
    let run_dir = RunDir::new(&sandbox::scratch_parent(), &skill_files, user)
        .map_err(|error| RunError::Io { context: "cannot create the scratch directory", error })?;
    let mut files = match workspace_use {
        WorkspaceUse::FromOptions => copy_user_files(options, &run_dir, user)?,
        WorkspaceUse::None => UserFiles::default(),
    };
    let programs = find_named_programs(skill, env, user);
    let mut readable = located.readable;
    readable.push(run_dir.python.clone());
    readable.extend(programs.readable);
    let script_path = match executable {
        Executable::Script(_) => Some(run_dir.skill.join(&script)),
        Executable::Command(_) => None,
    };
    let (program, mut fixed_arguments) = match (located.program, &script_path) {
        (Some(program), _) => (program, located.arguments),
        (None, script_path) => (script_path.clone().unwrap_or_default(), Vec::new()),
    };
    if let Some(script_path) = script_path
        && program != script_path
    {
        fixed_arguments.push(script_path.display().to_string());
    }
    let tree = || Some(skill_files.tree.clone());
    let network = options.network.unwrap_or_else(|| gate::network_access_at(skill, policy, env, &tree));
    let mut variables = base_environment(&run_dir, &program, environment.as_ref(), &programs.dirs);
    let granted = gate::granted_variables(skill, policy, env, &options.environment);
    let granted_names = granted.iter().map(|(name, _)| name.clone()).collect();
    variables.extend(granted);
    if let Executable::Command(command) = executable {
        variables.extend(command.variables.iter().map(|(name, value)| (name.clone(), value.into())));
        variables.push(("CLAUDE_SKILL_DIR".to_owned(), run_dir.skill.clone().into_os_string()));
        // A command provides text. Its changes are discarded.
        files.apply_to = None;
    }
    if let Some(environment) = &environment {
        readable.extend(environment.readable.iter().cloned());
        run_dir
            .link_node_modules(environment.node_modules.as_deref())
            .map_err(|error| RunError::Io { context: "cannot link the packages", error })?;
    }
    Ok(PreparedRun {
        digest,
        tree: skill_files.tree,
        script,
        program,
        fixed_arguments,
        user_arguments: arguments.to_vec(),
        current_dir: options.current_dir.clone(),
        readable,
        environment: variables,
        granted: granted_names,
        network,
        user,
        files,
        run_dir,
    })
}

/// Returns the environment of a script; `None` if it needs none. Fails if it needs one that cannot be used.
pub(super) fn environment_of_script(
    skill: &Skill,
    script: &str,
    options: &RunOptions<'_>,
) -> Result<Option<ReadyEnvironment>, RunError> {
    environment_for_files(skill, &resources::read_skill_files(skill)?, script, options)
}

/// Returns the environment of a script with these files of the skill; `None` if it needs none.
pub(super) fn environment_for_files(
    skill: &Skill,
    files: &SkillFiles,
    script: &str,
    options: &RunOptions<'_>,
) -> Result<Option<ReadyEnvironment>, RunError> {
    let (script, file) = files.file(script)?;
    let runner = interpreter::detect_runner(&script, &file.bytes)?;
    let user = unused_user().map_err(|error| RunError::Sandbox(vec![error]))?;
    let located = locate_runner(&script, &runner, options.env, user)?;
    find_environment(skill, &script, files, &located, options)
}

/// Returns the environment of a script, if it needs one.
fn find_environment(
    skill: &Skill,
    script: &str,
    files: &SkillFiles,
    located: &ResolvedRunner,
    options: &RunOptions<'_>,
) -> Result<Option<ReadyEnvironment>, RunError> {
    let Some(program) = &located.program else { return Ok(None) };
    let interpreter = InterpreterPaths { program: program.clone(), readable: located.readable.clone() };
    let pins = skill.lock_entry().map(|locked| locked.environments).unwrap_or_default();
    let request = EnvironmentRequest {
        skill: &skill.name(),
        files,
        script,
        pins: &pins,
        interpreter: &interpreter,
        settings: &options.policy.run.environments,
        host: options.env,
        helper: &options.helper,
        protection: options.protection,
    };
    Ok(environments::for_script(&request)?)
}

/// Copies the files of the user that the script may access.
fn copy_user_files(
    options: &RunOptions<'_>,
    run_dir: &RunDir,
    user: Option<u32>,
) -> Result<UserFiles, RunError> {
    let io_error = |error| RunError::Io { context: "cannot create the workspace", error };
    let mut limits = CopyLimits::new(&options.limits, user);
    let mut files = UserFiles::default();
    let temporary = Workspace::default();
    let workspace = match (&options.workspace, options.policy.run.directory) {
        (Some(workspace), _) => Some(workspace),
        (None, ScriptDirectory::Workspace) => Some(&temporary),
        (None, ScriptDirectory::Skill) => None,
    };
    let mut workspace_dir = None;
    if let Some(workspace) = workspace {
        run_dir.create_workspace().map_err(io_error)?;
        let copy = run_dir.workspace.clone();
        let (typed, path) = match workspace {
            Workspace::Temporary(inputs) => {
                files.copied = Some(write_inputs(inputs, &copy, &mut limits)?);
                (copy.clone(), copy.clone())
            }
            Workspace::Directory(dir) | Workspace::DirectoryWithInputs(dir, _) => {
                let resolved = check_workspace(dir, options.env)?;
                let (open, mut copied) = copy_workspace(&resolved, &copy, options.env, &mut limits)?;
                if let Workspace::DirectoryWithInputs(_, inputs) = workspace {
                    add_inputs(&mut copied, inputs, &resolved, &copy, &mut limits)?;
                }
                if copied.skipped > 0 {
                    files.remarks.push(format!(
                        "{} symlinks and special files of the workspace are not visible to the script",
                        copied.skipped
                    ));
                }
                files.copied = Some(copied);
                files.apply_to = Some(open);
                (dir.clone(), resolved)
            }
        };
        workspace_dir = Some(path.clone());
        files.copies.push(FileCopy { typed, path, copy, writable: true });
    }
    let paths = options
        .read
        .iter()
        .map(|path| options.current_dir.as_ref().map_or(path.clone(), |dir| dir.join(path)));
    let grants = resolve_read_grants(&paths.collect::<Vec<_>>(), workspace_dir.as_deref())?;
    let mut limits = CopyLimits::new(&options.limits, user);
    for (number, path) in grants.into_iter().enumerate() {
        let target = run_dir.create_read_dir(number).map_err(io_error)?;
        let copy = if path.is_dir() {
            let unreadable = |error: prowess_fs::Errno| ScriptFilesError::Unreadable {
                path: path.clone(),
                error: error.into(),
            };
            copy_dir(&Dir::open_resolved(&path).map_err(unreadable)?, &target, &mut limits)?;
            target
        } else {
            copy_file(&path, &target, &mut limits)?
        };
        files.copies.push(FileCopy { typed: path.clone(), path, copy, writable: false });
    }
    Ok(files)
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
        match locate::locate(name, &env.path, env.home.as_deref(), user) {
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

/// Returns the variables that every script has, besides `HOME` and `TMPDIR`.
fn base_environment(
    run_dir: &RunDir,
    program: &Path,
    environment: Option<&ReadyEnvironment>,
    named_programs: &[PathBuf],
) -> Vec<(String, OsString)> {
    let mut path = OsString::from(PATH);
    // A script that starts its interpreter by name gets the same one.
    if let Some(dir) =
        program.parent().filter(|dir| !PATH.split(':').any(|included| dir.as_os_str() == included))
    {
        path = dir.as_os_str().to_owned();
        path.push(":");
        path.push(PATH);
    }
    if let Some(programs) = environment.and_then(|environment| environment.programs.as_ref()) {
        let mut with_programs = programs.clone().into_os_string();
        with_programs.push(":");
        with_programs.push(path);
        path = with_programs;
    }
    // Last, because directories of other programs may contain interpreters of their own.
    for dir in named_programs {
        path.push(":");
        path.push(dir);
    }
    // Scripts import modules of their skill by the path from its directory.
    let mut python_path = run_dir.python.clone().into_os_string();
    python_path.push(":");
    python_path.push(&run_dir.skill);
    let mut base = Vec::new();
    for (name, value) in environment.iter().flat_map(|environment| &environment.variables) {
        if name == "PYTHONPATH" {
            python_path.push(":");
            python_path.push(value);
        } else {
            base.push((name.clone(), value.clone()));
        }
    }
    let fixed = [
        ("PATH", path),
        ("LANG", "C.UTF-8".into()),
        ("PYTHONPATH", python_path),
        // Compiled modules would become artifacts.
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
    ];
    base.extend(fixed.map(|(name, value)| (name.to_owned(), value)));
    base
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
            env: self.granted.clone(),
            ..log::new_record()
        }
    }

    /// Returns a meter for the script.
    pub(super) fn meter(&self) -> Meter {
        let workspace = self.files.copied.as_ref().and_then(|_| self.files.copies.first());
        let dirs = workspace.map(|workspace| [workspace.copy.clone(), workspace.path.clone()]);
        Meter::new(&self.run_dir.scratch, dirs, self.network)
    }

    /// Enforces the best available protection. Also returns why better ones failed.
    pub(super) fn enforce(&self, setup: &RunSetup) -> Result<(Enforced, Vec<String>), RunError> {
        let task = SandboxTask {
            program: self.program.clone(),
            arguments: TaskArguments {
                fixed: &self.fixed_arguments,
                user: &self.user_arguments,
                current_dir: self.current_dir.as_deref(),
            },
            environment: self.environment.clone(),
            skill: &self.run_dir.skill,
            copies: &self.files.copies,
            scratch: &self.run_dir.scratch,
            scratch_location: ScratchLocation::Tmp,
            readable: self.readable.clone(),
            limits: &setup.limits,
            network: self.network,
            input: setup.input.clone(),
            user: self.user,
        };
        let (enforced, errors) =
            sandbox::enforce(&task, setup.protection, &setup.helper).map_err(RunError::Sandbox)?;
        Ok((enforced, errors.iter().map(SandboxError::to_string).collect()))
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
            None => self.finish(watched, tier, remarks, &options.limits),
        }
    }

    /// Collects the changes in the workspace and applies them. A script that was killed changes nothing.
    fn finish(
        self,
        mut watched: watch::WatchResult,
        tier: SandboxTier,
        mut remarks: Vec<String>,
        limits: &Limits,
    ) -> Result<RunOutcome, RunError> {
        let Self { files: UserFiles { copied, apply_to, remarks: file_remarks, .. }, run_dir, .. } = self;
        remarks.extend(file_remarks);
        let Some(copied) = copied else {
            return Ok(RunOutcome { watched, tier, remarks, workspace: None });
        };
        if watched.limits_hit.contains(&RunLimit::Workspace) {
            remarks.push(format!(
                "the workspace had more than {} bytes or {} files and directories, or could not be measured; \
                 see run.workspace-bytes and run.workspace-files",
                limits.workspace_bytes, limits.workspace_files
            ));
        }
        if watched.was_killed() && apply_to.is_none() {
            return Ok(RunOutcome { watched, tier, remarks, workspace: None });
        }
        if watched.was_killed() {
            remarks.push("the script was killed, so its changes in the workspace are not kept".to_owned());
            return Ok(RunOutcome { watched, tier, remarks, workspace: None });
        }
        let mut changes = Changes::collect(&run_dir.workspace, &copied, limits, ProtectedFiles::Skipped)
            .map_err(|error| RunError::Io { context: "cannot read the workspace", error })?;
        remarks.append(&mut changes.remarks);
        if changes.artifacts.iter().any(|artifact| artifact.size >= limits.file_bytes) {
            watched.add_limit(RunLimit::FileSize);
        }
        let workspace = FinishedWorkspace::new(run_dir, changes);
        if let Some(dir) = apply_to {
            workspace.apply_to(&dir, &copied)?;
        }
        Ok(RunOutcome { watched, tier, remarks, workspace: Some(workspace) })
    }
}
