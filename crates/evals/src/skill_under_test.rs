//! The skill that is evaluated: its files, its evaluations, and what identifies its instructions.

use std::collections::BTreeMap;

use prowess::format::{Rules, parse};
use prowess::resources::{ReadResourceError, SkillFiles, read_skill_files};
use prowess::{Skill, digest};

use crate::agent::StagedSkill;
use crate::gateway::InstructionMarkers;
use crate::suite::{EvalSuite, LoadSuiteError, is_eval_file};

/// Why a skill cannot be evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadSkillError {
    /// Its files cannot be read.
    #[error(transparent)]
    Files(#[from] ReadResourceError),
    /// Its evaluations cannot be read.
    #[error(transparent)]
    Suite(#[from] LoadSuiteError),
    /// Its `SKILL.md` cannot be parsed.
    #[error("the SKILL.md of {0} cannot be parsed; run `prowess check` to see why")]
    Invalid(String),
}

/// One version of a skill, as agents get it.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillVersion {
    /// The files, without evaluations.
    pub staged: StagedSkill,
    /// The instructions.
    pub body: String,
    /// The description.
    pub description: String,
    /// The digest of the files, without evaluations.
    pub digest: String,
}

impl SkillVersion {
    /// Creates a version from the files of a skill: paths, contents, and whether they are executable.
    pub fn new(name: &str, files: Vec<(String, Vec<u8>, bool)>) -> Result<Self, LoadSkillError> {
        let files: Vec<_> = files.into_iter().filter(|(path, ..)| !is_eval_file(path)).collect();
        let invalid = || LoadSkillError::Invalid(name.to_owned());
        let (_, source, _) =
            files.iter().find(|(path, ..)| path.eq_ignore_ascii_case("SKILL.md")).ok_or_else(invalid)?;
        let document = parse(source, Some(name), &Rules::standard()).document.ok_or_else(invalid)?;
        let body = String::from_utf8_lossy(document.body(source)).into_owned();
        let description = document.manifest.description().to_owned();
        let mut text = String::new();
        for (path, bytes, executable) in &files {
            text.push_str(&format!("{path:?} {} {executable}\n", digest(bytes)));
        }
        let digest = digest(text.as_bytes());
        Ok(Self { staged: StagedSkill { name: name.to_owned(), files }, body, description, digest })
    }

    /// Returns the lines that identify the instructions in a request about a task.
    pub fn markers(&self, prompt: &str, task_files: &[(String, Vec<u8>)]) -> InstructionMarkers {
        let files: Vec<String> =
            task_files.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect();
        let mut texts: Vec<&str> = files.iter().map(String::as_str).collect();
        texts.extend([prompt, self.description.as_str()]);
        InstructionMarkers::new(&self.body, &texts)
    }
}

/// A skill with its evaluations.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillUnderTest {
    /// The name.
    pub name: String,
    /// The directory, for reports.
    pub path: String,
    /// The version that is evaluated.
    pub version: SkillVersion,
    /// The version to compare it with.
    pub old_version: Option<SkillVersion>,
    /// The evaluations.
    pub suite: EvalSuite,
}

impl SkillUnderTest {
    /// Reads and verifies a skill and its evaluations.
    pub fn load(skill: &Skill) -> Result<Self, LoadSkillError> {
        let files = read_skill_files(skill)?;
        let name = skill.name().into_owned();
        let contents: BTreeMap<String, Vec<u8>> =
            files.files().map(|(path, file)| (path.to_owned(), file.bytes.clone())).collect();
        Ok(Self {
            suite: EvalSuite::load(&contents)?,
            version: SkillVersion::new(&name, staged_files(&files))?,
            old_version: None,
            path: skill.skill_md_path().parent().map(|dir| dir.display().to_string()).unwrap_or_default(),
            name,
        })
    }
}

/// Returns the files of a skill for an agent.
pub fn staged_files(files: &SkillFiles) -> Vec<(String, Vec<u8>, bool)> {
    files.files().map(|(path, file)| (path.to_owned(), file.bytes.clone(), file.executable)).collect()
}
