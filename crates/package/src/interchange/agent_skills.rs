//! Finds skills in the directories of other agents.

use std::fs;
use std::path::{Path, PathBuf};

use super::link::AgentScope;
use crate::agents::KnownAgent;

/// The maximum number of directories of an agent that are examined.
const DIRS_MAX: usize = 10_000;

/// A skill in the directory of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSkill {
    /// The agent.
    pub agent: &'static KnownAgent,
    /// The name of its directory.
    pub name: String,
    /// The directory, which may be a symlink.
    pub dir: PathBuf,
    /// The target, if the directory is a symlink.
    pub link_target: Option<PathBuf>,
}

/// Returns the skills of an agent, by name: directories, or symlinks to directories, with a file `SKILL.md`. Hidden
/// directories and names that are not Unicode are ignored.
pub fn find_agent_skills(agent: &'static KnownAgent, scope: AgentScope<'_>) -> Vec<AgentSkill> {
    let Some(dir) = scope.agent_dir(agent) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(&dir) else { return Vec::new() };
    let mut skills: Vec<_> =
        entries.take(DIRS_MAX).filter_map(|entry| read_agent_skill(agent, &entry.ok()?.path())).collect();
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    skills
}

fn read_agent_skill(agent: &'static KnownAgent, dir: &Path) -> Option<AgentSkill> {
    let name = dir.file_name()?.to_str().filter(|name| !name.starts_with('.'))?.to_owned();
    let has_skill = fs::symlink_metadata(dir.join("SKILL.md")).is_ok_and(|metadata| metadata.is_file());
    let link_target = dir.is_symlink().then(|| fs::canonicalize(dir).ok()).flatten();
    has_skill.then(|| AgentSkill { agent, name, dir: dir.to_owned(), link_target })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::find_agent;

    #[test]
    fn directories_with_a_skill_are_found() {
        let project = tempfile::tempdir().unwrap();
        let base = project.path().canonicalize().unwrap();
        let create = |inner: &str| {
            fs::create_dir_all(base.join(inner).parent().unwrap()).unwrap();
            fs::write(base.join(inner), "").unwrap();
        };
        create(".claude/skills/pdf/SKILL.md");
        create(".claude/skills/notes/README.md");
        create(".claude/skills/.hidden/SKILL.md");
        create(".claude/skills/SKILL.md");
        create("elsewhere/csv/SKILL.md");
        std::os::unix::fs::symlink("../../elsewhere/csv", base.join(".claude/skills/csv")).unwrap();
        std::os::unix::fs::symlink("nowhere", base.join(".claude/skills/gone")).unwrap();
        let found = |name| {
            let skills = find_agent_skills(find_agent(name).unwrap(), AgentScope::Project(&base));
            skills.into_iter().map(|skill| (skill.name, skill.link_target)).collect::<Vec<_>>()
        };
        let csv = ("csv".to_owned(), Some(base.join("elsewhere/csv")));
        assert_eq!(found("claude-code"), [csv, ("pdf".to_owned(), None)]);
        assert_eq!(found("goose"), []);
    }
}
