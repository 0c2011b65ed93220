//! The programs of all skills: started on first use, and kept during their conversation.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use prowess::format::hidden;
use prowess::{Skill, SkillStatus, resources};

use super::limits::ProgramLimits;
use super::pool::{ProcessPool, ProgramKey};
use super::session::{CallFailure, CancelFlags};
use super::tool::ProgramTool;
use crate::error::ToolsetError;
use crate::host::{LoadedTools, is_module};
use crate::program_fault::ProgramFault;
use crate::response::{ToolCall, ToolResult};
use prowess_sandbox::Cancel;
use prowess_sandbox::RunOptions;

type ProgramTools = (ProgramKey, Arc<Vec<ProgramTool>>);

/// A conversation that programs serve. Each has its own processes, which end when its last clone is dropped.
#[derive(Debug, Clone, Default)]
pub struct Conversation(Arc<()>);

impl Conversation {
    fn owner(&self) -> Weak<()> {
        Arc::downgrade(&self.0)
    }
}

/// Runs programs that provide tools.
///
/// Programs are started on first use. The tools of a program are requested once for the same files. A process is kept for
/// each conversation and program while it is used, and then killed with everything it started.
#[derive(Debug, Default)]
pub struct Programs {
    pool: ProcessPool,
}

impl Programs {
    /// Creates programs with custom limits.
    pub fn with_limits(limits: ProgramLimits) -> Self {
        Self { pool: ProcessPool::new(limits) }
    }

    /// Returns the tools of a skill's programs. A skill without programs has none, and nothing is started.
    pub fn tools(
        &self,
        skill: &Skill,
        conversation: &Conversation,
        options: &RunOptions<'_>,
    ) -> Result<LoadedTools, ToolsetError> {
        let mut loaded = LoadedTools::default();
        for (_, tools) in self.list_programs(skill, conversation, options, &mut loaded.failures)? {
            loaded.tools.extend(tools.iter().map(|tool| tool.definition.clone()));
        }
        Ok(loaded)
    }

    /// Calls a tool of a skill and waits for its result. Arguments are validated first.
    pub fn call(
        &self,
        skill: &Skill,
        call: ToolCall,
        cancel: Cancel,
        conversation: &Conversation,
        options: &RunOptions<'_>,
    ) -> Result<ToolResult, ToolsetError> {
        let mut failures = Vec::new();
        let programs = self.list_programs(skill, conversation, options, &mut failures)?;
        let found = programs
            .iter()
            .find_map(|(key, tools)| Some((key, tools.iter().find(|tool| tool.definition.id == call.id)?)));
        let Some((key, tool)) = found else {
            let unknown_tool = ToolsetError::UnknownTool(hidden::escape_for_display(&call.id).into_owned());
            return Err(failures.into_iter().next().unwrap_or(unknown_tool));
        };
        let bytes = call.arguments.to_string().len();
        if bytes > self.pool.limits.arguments {
            let max = self.pool.limits.arguments;
            return Err(ToolsetError::Rejected(format!(
                "the arguments have {bytes} bytes; the maximum is {max}"
            )));
        }
        tool.schema.check(&call.arguments).map_err(ToolsetError::Rejected)?;
        let call_process = || {
            let process = self.pool.process(skill, key, &conversation.owner(), options)?;
            let flags = CancelFlags { call: cancel.clone(), all: options.cancel.clone() };
            Ok::<_, ToolsetError>(process.call(call.clone(), flags))
        };
        let answer = match call_process()? {
            // The process exited before it received the call.
            Err(CallFailure::Exited) => call_process()?,
            answer => answer,
        };
        match answer {
            Ok(result) => {
                self.pool.record_success(key);
                Ok(result)
            }
            Err(CallFailure::Failed(message)) => {
                self.pool.record_success(key);
                Err(ToolsetError::Thrown { message, location: None })
            }
            Err(CallFailure::Refused(message)) => {
                Err(ToolsetError::InvalidResult(format!("{}: {message}", key.file)))
            }
            Err(CallFailure::Cancelled) => Err(ToolsetError::Cancelled),
            Err(CallFailure::Fault(fault)) => Err(self.pool.record_failure(key, fault)),
            Err(CallFailure::Exited) => {
                let (status, last_stderr) = ("before it received the call".to_owned(), String::new());
                Err(self.pool.record_failure(key, ProgramFault::Exited { status, last_stderr }))
            }
        }
    }

    /// Ends the programs of a conversation whose skills are not in these directories.
    pub fn keep_only(&self, conversation: &Conversation, dirs: &[PathBuf]) {
        self.pool.keep_only(&conversation.owner(), dirs);
    }

    /// Returns the number of processes.
    pub fn running(&self) -> usize {
        self.pool.running()
    }

    /// Returns each program of a skill with its tools. An error in one program does not hide the others.
    fn list_programs(
        &self,
        skill: &Skill,
        conversation: &Conversation,
        options: &RunOptions<'_>,
        failures: &mut Vec<ToolsetError>,
    ) -> Result<Vec<ProgramTools>, ToolsetError> {
        let mut files = program_toolsets(skill);
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let tree = check_allowed(skill, options, files.first().map_or("", String::as_str))
            // A program that is no longer allowed is stopped, for all conversations.
            .inspect_err(|_| self.pool.end_skill(&skill.dir()))?;
        let max = self.pool.limits.programs;
        for file in files.split_off(files.len().min(max)) {
            failures.push(ToolsetError::load(format!(
                "{file} is ignored: a skill can have at most {max} programs"
            )));
        }
        let mut programs: Vec<ProgramTools> = Vec::new();
        for file in files {
            let key = ProgramKey { dir: skill.dir(), file, tree: tree.clone() };
            let tools = match self.pool.known_tools(&key) {
                Some(tools) => Ok(tools),
                None => {
                    let process = self.pool.process(skill, &key, &conversation.owner(), options);
                    process.map(|process| Arc::clone(&process.tools))
                }
            };
            match tools.and_then(|tools| match duplicate_tool(&key, &tools, &programs) {
                Some(message) => Err(ToolsetError::load(message)),
                None => Ok(tools),
            }) {
                Ok(tools) => programs.push((key, tools)),
                Err(error) => failures.push(error),
            }
        }
        Ok(programs)
    }
}

/// Returns an error message if another program of the skill has a tool with the same name.
fn duplicate_tool(key: &ProgramKey, tools: &[ProgramTool], programs: &[ProgramTools]) -> Option<String> {
    programs.iter().find_map(|(other_key, other_tools)| {
        let is_duplicate =
            |tool: &&ProgramTool| other_tools.iter().any(|other| other.definition.id == tool.definition.id);
        let duplicate = tools.iter().find(is_duplicate)?;
        Some(format!(
            "{} lists the tool {}, which {} already has",
            key.file, duplicate.definition.id, other_key.file
        ))
    })
}

/// Checks that a program of a skill may run. Returns the tree hash of the files.
fn check_allowed(skill: &Skill, options: &RunOptions<'_>, file: &str) -> Result<String, ToolsetError> {
    if let SkillStatus::Unavailable(missing) = skill.status() {
        return Err(ToolsetError::Unavailable(missing.join(", ")));
    }
    let skill_files = resources::read_skill_files(skill)?;
    prowess_sandbox::check_consent(skill, options).map_err(|error| ToolsetError::cannot_run(file, &error))?;
    Ok(skill_files.tree)
}

/// Returns the toolsets of a skill that are programs, without duplicates.
fn program_toolsets(skill: &Skill) -> Vec<String> {
    let toolsets = skill.manifest().map_or(&[][..], |manifest| manifest.toolsets());
    let mut files: Vec<String> = Vec::new();
    for toolset in toolsets.iter().filter(|toolset| !is_module(toolset)) {
        let file = normalize_path(toolset);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Normalizes a path: `./toolsets/x.py` is `toolsets/x.py`.
fn normalize_path(toolset: &str) -> String {
    let parts: Vec<_> = Path::new(toolset)
        .components()
        .filter(|part| !matches!(part, std::path::Component::CurDir))
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}
