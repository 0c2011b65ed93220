//! The programs of all skills: started when they are asked for, kept while their conversation goes on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use prowess::format::hidden;
use prowess::{Skill, Status, resource};

use super::limits::ProgramLimits;
use super::pool::{Pool, Which};
use super::talk::{Stops, Unanswered};
use super::tool::Tool;
use crate::answer::{ToolCall, ToolResult};
use crate::error::ToolsetError;
use crate::fault::Fault;
use crate::host::{Loaded, is_module};
use crate::limits::Cancel;
use prowess_sandbox::Options;

/// A program, and the tools that it has told of.
type Told = (Which, Arc<Vec<Tool>>);

/// A conversation that programs work for. Each has processes of its own, which end with its last clone.
#[derive(Debug, Clone, Default)]
pub struct Conversation(Arc<()>);

impl Conversation {
    fn owner(&self) -> Weak<()> {
        Arc::downgrade(&self.0)
    }
}

/// Runs the programs that bring tools.
///
/// Nothing happens until tools are asked for. What tools a program has is asked once for the same files; a process is
/// kept for each conversation and program while it is used, and ended with everything it started when it is not.
#[derive(Debug, Default)]
pub struct Programs {
    pool: Pool,
}

impl Programs {
    /// With limits of your own.
    pub fn with_limits(limits: ProgramLimits) -> Self {
        Self { pool: Pool::new(limits) }
    }

    /// The tools of a skill's programs. A skill without programs has none and costs nothing.
    pub fn tools(
        &self,
        skill: &Skill,
        conversation: &Conversation,
        options: &Options<'_>,
    ) -> Result<Loaded, ToolsetError> {
        let mut loaded = Loaded::default();
        for (_, tools) in self.each(skill, conversation, options, &mut loaded.failures)? {
            loaded.tools.extend(tools.iter().map(|tool| tool.definition.clone()));
        }
        Ok(loaded)
    }

    /// Calls a tool of a skill and waits for its answer. Arguments are checked first.
    pub fn call(
        &self,
        skill: &Skill,
        call: ToolCall,
        cancel: Cancel,
        conversation: &Conversation,
        options: &Options<'_>,
    ) -> Result<ToolResult, ToolsetError> {
        let mut failures = Vec::new();
        let all = self.each(skill, conversation, options, &mut failures)?;
        let found = all.iter().find_map(|(which, tools)| {
            Some((which, tools.iter().find(|tool| tool.definition.id == call.id)?))
        });
        let Some((which, tool)) = found else {
            let none = ToolsetError::NoTool(hidden::shown(&call.id).into_owned());
            return Err(failures.into_iter().next().unwrap_or(none));
        };
        let bytes = call.arguments.to_string().len();
        if bytes > self.pool.limits.arguments {
            let most = self.pool.limits.arguments;
            return Err(ToolsetError::Rejected(format!(
                "the arguments have {bytes} bytes; at most {most} are passed"
            )));
        }
        tool.schema.check(&call.arguments).map_err(ToolsetError::Rejected)?;
        let ask = || {
            let keeper = self.pool.keeper(skill, which, &conversation.owner(), options)?;
            let stops = Stops { call: cancel.clone(), all: options.cancel.clone() };
            Ok::<_, ToolsetError>(keeper.call(call.clone(), stops))
        };
        let answer = match ask()? {
            // It has not been asked yet.
            Err(Unanswered::Left) => ask()?,
            answer => answer,
        };
        match answer {
            Ok(result) => {
                self.pool.succeeded(which);
                Ok(result)
            }
            Err(Unanswered::Failed(message)) => {
                self.pool.succeeded(which);
                Err(ToolsetError::Thrown { message, place: None })
            }
            Err(Unanswered::Refused(message)) => {
                Err(ToolsetError::Answer(format!("{}: {message}", which.file)))
            }
            Err(Unanswered::Cancelled) => Err(ToolsetError::Cancelled),
            Err(Unanswered::Fault(fault)) => Err(self.pool.failed(which, fault)),
            Err(Unanswered::Left) => {
                let (how, said) = ("before it was asked".to_owned(), String::new());
                Err(self.pool.failed(which, Fault::Ended { how, said }))
            }
        }
    }

    /// Ends the programs of a conversation that belong to none of these folders' skills.
    pub fn keep_only(&self, conversation: &Conversation, folders: &[PathBuf]) {
        self.pool.keep_only(&conversation.owner(), folders);
    }

    /// How many processes there are.
    pub fn running(&self) -> usize {
        self.pool.running()
    }

    /// Each program of a skill with its tools. What is wrong with one does not hide the others.
    fn each(
        &self,
        skill: &Skill,
        conversation: &Conversation,
        options: &Options<'_>,
        failures: &mut Vec<ToolsetError>,
    ) -> Result<Vec<Told>, ToolsetError> {
        let mut files = programs(skill);
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let tree = admit(skill, options, files.first().map_or("", String::as_str))
            // What may no longer run does not run on, whoever it works for.
            .inspect_err(|_| self.pool.end_all_of(&skill.folder()))?;
        let most = self.pool.limits.programs;
        for file in files.split_off(files.len().min(most)) {
            failures
                .push(ToolsetError::load(format!("{file} is left out: a skill has at most {most} programs")));
        }
        let mut found: Vec<Told> = Vec::new();
        for file in files {
            let which = Which { folder: skill.folder(), file, tree: tree.clone() };
            let told = match self.pool.known(&which) {
                Some(tools) => Ok(tools),
                None => {
                    let keeper = self.pool.keeper(skill, &which, &conversation.owner(), options);
                    keeper.map(|keeper| Arc::clone(&keeper.tools))
                }
            };
            match told.and_then(|tools| match clash(&which, &tools, &found) {
                Some(clash) => Err(ToolsetError::load(clash)),
                None => Ok(tools),
            }) {
                Ok(tools) => found.push((which, tools)),
                Err(error) => failures.push(error),
            }
        }
        Ok(found)
    }
}

/// That a program lists a tool that another of the same skill has.
fn clash(which: &Which, tools: &[Tool], found: &[Told]) -> Option<String> {
    found.iter().find_map(|(other, known)| {
        let known = |tool: &&Tool| known.iter().any(|known| known.definition.id == tool.definition.id);
        let twice = tools.iter().find(known)?;
        Some(format!("{} lists the tool {}, which {} has", which.file, twice.definition.id, other.file))
    })
}

/// Whether a program of a skill may run, and the tree hash of what it would run among.
fn admit(skill: &Skill, options: &Options<'_>, file: &str) -> Result<String, ToolsetError> {
    if let Status::Unavailable(missing) = skill.status() {
        return Err(ToolsetError::Unavailable(missing.join(", ")));
    }
    let material = resource::material(skill)?;
    prowess_sandbox::consent(skill, options).map_err(|error| ToolsetError::not_run(file, &error))?;
    Ok(material.tree)
}

/// The toolsets of a skill that are programs, each named once.
fn programs(skill: &Skill) -> Vec<String> {
    let toolsets = skill.manifest().map_or(&[][..], |manifest| manifest.toolsets());
    let mut files: Vec<String> = Vec::new();
    for toolset in toolsets.iter().filter(|toolset| !is_module(toolset)) {
        let file = inner(toolset);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// `./toolsets/x.py` is `toolsets/x.py`.
fn inner(toolset: &str) -> String {
    let parts: Vec<_> = Path::new(toolset)
        .components()
        .filter(|part| !matches!(part, std::path::Component::CurDir))
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}
