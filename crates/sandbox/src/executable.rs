//! What a run executes: a script, or a command in the instructions.

use prowess::Skill;
use prowess::format::hidden;
use prowess::resources::SkillFiles;

use super::error::RunError;
use super::interpreter::{self, Runner};

/// What a run executes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Executable<'a> {
    /// A file of the skill.
    Script(&'a str),
    /// A command in the instructions of the skill.
    Command(&'a InlineCommand),
}

/// A command in the instructions of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineCommand {
    /// The command, for a shell.
    pub text: String,
    /// The digest of the `SKILL.md` that contains it. The command does not run if the file has changed since.
    pub skill_md: String,
    /// Variables for the command, besides those of every script.
    pub variables: Vec<(String, String)>,
}

/// The shells for commands, in order of preference.
const SHELLS: [&str; 2] = ["bash", "sh"];

impl Executable<'_> {
    /// Returns the name for messages and records, the digest of what runs, and how to run it.
    pub(super) fn resolve(
        self,
        skill: &Skill,
        files: &SkillFiles,
    ) -> Result<(String, String, Runner), RunError> {
        match self {
            Self::Script(path) => {
                let (path, file) = files.file(path)?;
                let runner = interpreter::detect_runner(&path, &file.bytes)?;
                Ok((path, file.digest(), runner))
            }
            Self::Command(command) => {
                let path = skill.skill_md_path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if files.file(&name)?.1.digest() != command.skill_md {
                    return Err(RunError::Changed {
                        skill: hidden::escape_for_display(&skill.name()).into(),
                    });
                }
                let names = SHELLS.map(str::to_owned).to_vec();
                let arguments = vec!["-c".to_owned(), command.text.clone()];
                let digest = prowess_fs::digest(command.text.as_bytes());
                Ok((format!("!`{}`", command.text), digest, Runner::Interpreter { names, arguments }))
            }
        }
    }
}
