//! The workspace of an agent that is a program: staged skills, and which files are outputs.

use prowess_sandbox::{FinishedWorkspace, InputFile, ScriptFilesError};

use super::{OutputFile, StagedSkill};

/// Where an agent finds skills, and where it stores settings, in its project directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentDirs {
    /// The directory of skills, such as `.claude/skills`.
    pub(super) skills: String,
    /// Directories and files of settings, such as `.claude`.
    pub(super) settings: Vec<String>,
}

impl AgentDirs {
    /// Returns the files of the workspace: those of the task and those of the skills.
    pub(super) fn stage(
        &self,
        mut files: Vec<InputFile>,
        skills: &[StagedSkill],
    ) -> Result<Vec<InputFile>, ScriptFilesError> {
        for skill in skills {
            for (path, bytes, executable) in &skill.files {
                let file = InputFile::new(&format!("{}/{}/{path}", self.skills, skill.name), bytes.clone())?;
                files.push(if *executable { file.executable() } else { file });
            }
        }
        Ok(files)
    }

    /// Returns `true` if a file is an output: not in a staged skill, and not a setting of the agent. Other skills that the
    /// agent created are outputs.
    fn is_output(&self, path: &str, skills: &[StagedSkill]) -> bool {
        let in_skills = is_in(path, &self.skills);
        let is_staged = skills.iter().any(|skill| is_in(path, &format!("{}/{}", self.skills, skill.name)));
        let is_setting = self.settings.iter().any(|dir| is_in(path, dir));
        !is_staged && (in_skills || !is_setting)
    }

    /// Returns the outputs of an agent, and whether some could not be read.
    pub(super) fn outputs(
        &self,
        workspace: Option<&FinishedWorkspace>,
        skills: &[StagedSkill],
    ) -> Vec<OutputFile> {
        let Some(workspace) = workspace else { return Vec::new() };
        let artifacts = workspace.artifacts().iter();
        artifacts
            .filter(|artifact| self.is_output(&artifact.path, skills))
            .filter_map(|artifact| {
                let bytes = workspace.read(artifact).ok()?;
                Some(OutputFile { path: artifact.path.clone(), bytes })
            })
            .collect()
    }
}

/// Returns `true` if a path is a directory or inside it.
fn is_in(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_outside_of_staged_skills_and_settings() {
        let dirs = AgentDirs { skills: ".claude/skills".into(), settings: vec![".claude".into()] };
        let skills = [StagedSkill { name: "csv".into(), files: Vec::new() }];
        let outputs: Vec<_> = [
            "a.txt",
            ".claude/settings.local.json",
            ".claude/skills/csv/SKILL.md",
            ".claude/skills/csv2/SKILL.md",
            ".claudette",
            "x/.claude/y",
        ]
        .into_iter()
        .filter(|path| dirs.is_output(path, &skills))
        .collect();
        assert_eq!(outputs, ["a.txt", ".claude/skills/csv2/SKILL.md", ".claudette", "x/.claude/y"]);
    }
}
