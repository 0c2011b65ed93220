//! How agents that are programs are found and confined.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prowess::HostEnv;
use prowess::format::hidden::escape_for_display;
use prowess_sandbox::{
    Limits, LocateProgramError, LocatedProgram, NetworkAccess, ProgramTask, Protection, SandboxHelper,
    ScriptInput, locate_program,
};
use serde_json::json;

use super::presets::{AgentPreset, DUMMY_KEY};
use super::workspace::AgentDirs;
use super::{AgentTask, GatewayAddress};

const MEBIBYTE: u64 = 1024 * 1024;

/// How an agent that is a program is found and confined.
#[derive(Debug, Clone)]
pub struct ProgramSettings {
    /// Where programs are searched.
    pub host: HostEnv,
    /// Variables for the agent. The values may contain `{model}` and `{base_url}`.
    pub environment: Vec<(String, String)>,
    /// Paths that the agent may read, besides its own files.
    pub readable: Vec<PathBuf>,
    /// The limits. The time of the task replaces the time.
    pub limits: Limits,
    /// Whether the agent is confined.
    pub protection: Protection,
    /// The sandbox helper.
    pub helper: SandboxHelper,
}

impl ProgramSettings {
    /// Creates settings with the limits of agents, in the sandbox.
    pub fn new(host: HostEnv) -> Self {
        Self {
            host,
            environment: Vec::new(),
            readable: Vec::new(),
            limits: agent_limits(),
            protection: Protection::Required,
            helper: SandboxHelper::current_exe(),
        }
    }
}

/// Returns the limits of agents: larger than those of a script, because agents are large programs that start others.
pub fn agent_limits() -> Limits {
    Limits {
        time: Duration::from_secs(600),
        output_bytes: 32 * MEBIBYTE,
        memory_bytes: 8 * 1024 * MEBIBYTE,
        processes: 512,
        file_bytes: 512 * MEBIBYTE,
        open_files: 4_096,
        scratch_bytes: 1024 * MEBIBYTE,
        workspace_bytes: 256 * MEBIBYTE,
        ..Limits::default()
    }
}

/// Why an agent cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentSetupError {
    /// The command is empty.
    #[error("the command of the agent is empty")]
    EmptyCommand,
    /// The program cannot be run.
    #[error(transparent)]
    Program(#[from] LocateProgramError),
    /// Another program that the agent needs is not available.
    #[error("{agent} needs {program}, which cannot be used: {reason}")]
    NeededProgram {
        /// The agent.
        agent: String,
        /// The other program.
        program: &'static str,
        /// The reason.
        reason: LocateProgramError,
    },
    /// A path that the agent may read does not exist or contains everything.
    #[error("the agent cannot read {path}: {reason}")]
    Readable {
        /// The path, escaped.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The name of a variable is not valid.
    #[error("{name} is not a valid name of an environment variable")]
    Variable {
        /// The name, escaped.
        name: String,
    },
    /// The agent does not speak the Agent Client Protocol itself.
    #[error("{agent} does not speak the Agent Client Protocol; name the command of an adapter instead")]
    NoAcp {
        /// The agent.
        agent: &'static str,
    },
}

/// A program that was found, and how it is confined.
#[derive(Debug, Clone)]
pub(super) struct AgentProgram {
    located: LocatedProgram,
    pub(super) settings: ProgramSettings,
}

impl AgentProgram {
    pub(super) fn find(name: &str, mut settings: ProgramSettings) -> Result<Self, AgentSetupError> {
        let located = locate_program(name, &settings.host)?;
        let show = |path: &Path| escape_for_display(&path.to_string_lossy()).into_owned();
        for path in &mut settings.readable {
            let unreadable =
                |reason: &str| AgentSetupError::Readable { path: show(path), reason: reason.to_owned() };
            let resolved = std::fs::canonicalize(&*path).map_err(|error| unreadable(&error.to_string()))?;
            if resolved.parent().is_none() {
                return Err(unreadable("it is the root directory"));
            }
            *path = resolved;
        }
        let is_valid = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
        if let Some((name, _)) = settings.environment.iter().find(|(name, _)| !is_valid(name)) {
            return Err(AgentSetupError::Variable { name: escape_for_display(name).into_owned() });
        }
        Ok(Self { located, settings })
    }

    /// Finds the program of a known agent, and the other programs that it needs.
    pub(super) fn find_preset(
        preset: AgentPreset,
        name: &str,
        settings: ProgramSettings,
    ) -> Result<Self, AgentSetupError> {
        let mut found = Self::find(name, settings)?;
        for program in preset.needed_programs() {
            let host = &found.settings.host;
            let needed = locate_program(program, host).map_err(|reason| AgentSetupError::NeededProgram {
                agent: preset.to_string(),
                program,
                reason,
            })?;
            found.located.readable.extend(needed.readable);
            // By its name in `PATH`, which may be a symlink.
            let entry = prowess_fs::programs_on_path(program, &host.path).next();
            if let Some((entry, dir)) = entry.as_ref().and_then(|entry| Some((entry, entry.parent()?))) {
                let dirs: Vec<PathBuf> = std::env::split_paths(&found.located.path).collect();
                if !dirs.iter().any(|included| included == dir) {
                    found.located.readable.push(entry.clone());
                    let dirs = dirs.into_iter().chain([dir.to_owned()]);
                    found.located.path = std::env::join_paths(dirs).unwrap_or(found.located.path);
                }
            }
        }
        Ok(found)
    }

    /// Returns the task that runs the program. `environment` are the variables of the agent, which those of the user replace.
    pub(super) fn task(
        &self,
        task: &AgentTask<'_>,
        arguments: Vec<String>,
        environment: Vec<(String, String)>,
        input: ScriptInput,
    ) -> ProgramTask {
        let own = self.settings.environment.iter();
        let own = own.map(|(name, value)| (name.clone(), fill_placeholders(value, task.gateway)));
        let mut variables = vec![("PATH".to_owned(), self.located.path.clone())];
        variables
            .extend(environment.into_iter().chain(own).map(|(name, value)| (name, OsString::from(value))));
        let mut program_task = ProgramTask::new(&self.located.program);
        program_task.arguments = self.located.arguments.iter().cloned().chain(arguments).collect();
        program_task.environment = variables;
        program_task.readable =
            self.located.readable.iter().chain(&self.settings.readable).cloned().collect();
        program_task.network = NetworkAccess::Gateway(task.gateway.port);
        program_task.limits = Limits { time: task.time, ..self.settings.limits.clone() };
        program_task.input = input;
        program_task
    }

    /// Returns a digest of everything that influences the work of the agent: its files, arguments, variables and limits.
    pub(super) fn fingerprint(&self, kind: &str, words: &[String], dirs: &AgentDirs) -> String {
        let settings = &self.settings;
        let described = json!({
            "kind": kind,
            "words": words,
            "skills": dirs.skills,
            "program": self.located.program,
            "arguments": self.located.arguments,
            "version": self.version(),
            "environment": settings.environment,
            "readable": settings.readable,
            "limits": format!("{:?}", settings.limits),
            "protection": format!("{:?}", settings.protection),
        });
        format!("{kind} {}", prowess_fs::digest(described.to_string().as_bytes()))
    }

    /// Returns what changes when the agent is updated: its `package.json`, and the size and time of its file.
    fn version(&self) -> String {
        let script = self.located.arguments.last().map(Path::new).filter(|path| path.is_absolute());
        let file = script.unwrap_or(&self.located.program);
        let package = file.ancestors().skip(1).take(4).map(|dir| dir.join("package.json"));
        let package = package.filter_map(|path| prowess::read_bounded(&path, MEBIBYTE)).next();
        let metadata = file.metadata().ok();
        let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
        format!(
            "{:?} {:?} {:?}",
            package.map(|bytes| prowess_fs::digest(&bytes)),
            metadata.map(|metadata| metadata.len()),
            modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        )
    }
}

/// Replaces `{model}` and `{base_url}`.
pub(super) fn fill_placeholders(text: &str, gateway: &GatewayAddress) -> String {
    replace_placeholders(text, &[("{model}", &gateway.model), ("{base_url}", &gateway.base_url())])
}

/// Replaces placeholders in one pass, so that values that contain placeholders stay as they are.
pub(super) fn replace_placeholders(text: &str, values: &[(&str, &str)]) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        replaced.push_str(before);
        match values.iter().find(|(name, _)| from.starts_with(name)) {
            Some((name, value)) => {
                replaced.push_str(value);
                rest = from.get(name.len()..).unwrap_or_default();
            }
            None => {
                replaced.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    replaced + rest
}

/// Returns variables for clients of common providers, which lead them to the gateway.
pub(super) fn provider_variables(gateway: &GatewayAddress) -> Vec<(String, String)> {
    let (base, model) = (gateway.base_url(), gateway.model.clone());
    [
        ("ANTHROPIC_BASE_URL", base.clone()),
        ("ANTHROPIC_API_KEY", DUMMY_KEY.to_owned()),
        ("ANTHROPIC_MODEL", model.clone()),
        ("OPENAI_BASE_URL", format!("{base}/v1")),
        ("OPENAI_API_KEY", DUMMY_KEY.to_owned()),
        ("OPENAI_MODEL", model),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_once() {
        let replace = |text| replace_placeholders(text, &[("{prompt}", "say {model}"), ("{model}", "m")]);
        assert_eq!(replace("-p={prompt} {model}{model} {other} {"), "-p=say {model} mm {other} {");
    }
}
