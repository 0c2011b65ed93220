//! Skills that are in the folders of other agents already.

use std::fs;
use std::path::{Path, PathBuf};

use super::link::Place;
use crate::agents::Agent;

/// The most folders of one agent that are looked at.
const FOLDERS_MAX: usize = 10_000;

/// A folder with a skill in it, of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The agent.
    pub agent: &'static Agent,
    /// The folder's name.
    pub name: String,
    /// The folder, as it lies among the agent's skills.
    pub folder: PathBuf,
    /// Where it really is, if it is a link.
    pub link: Option<PathBuf>,
}

/// The skills in an agent's folder, by name: folders, or links to folders, with a file `SKILL.md`. What has a name that
/// is not Unicode, or begins with a point, is none.
pub fn candidates(agent: &'static Agent, place: Place<'_>) -> Vec<Candidate> {
    let Some(folder) = place.folder(agent) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<_> =
        entries.take(FOLDERS_MAX).filter_map(|entry| candidate(agent, &entry.ok()?.path())).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn candidate(agent: &'static Agent, folder: &Path) -> Option<Candidate> {
    let name = folder.file_name()?.to_str().filter(|name| !name.starts_with('.'))?.to_owned();
    let has_skill = fs::symlink_metadata(folder.join("SKILL.md")).is_ok_and(|metadata| metadata.is_file());
    let link = folder.is_symlink().then(|| fs::canonicalize(folder).ok()).flatten();
    has_skill.then(|| Candidate { agent, name, folder: folder.to_owned(), link })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::agent;

    #[test]
    fn folders_with_a_skill_in_them() {
        let project = tempfile::tempdir().unwrap();
        let base = project.path().canonicalize().unwrap();
        let file = |inner: &str| {
            fs::create_dir_all(base.join(inner).parent().unwrap()).unwrap();
            fs::write(base.join(inner), "").unwrap();
        };
        file(".claude/skills/pdf/SKILL.md");
        file(".claude/skills/notes/README.md");
        file(".claude/skills/.hidden/SKILL.md");
        file(".claude/skills/SKILL.md");
        file("elsewhere/csv/SKILL.md");
        std::os::unix::fs::symlink("../../elsewhere/csv", base.join(".claude/skills/csv")).unwrap();
        std::os::unix::fs::symlink("nowhere", base.join(".claude/skills/gone")).unwrap();
        let told = |name| {
            let found = candidates(agent(name).unwrap(), Place::Project(&base));
            found.into_iter().map(|found| (found.name, found.link)).collect::<Vec<_>>()
        };
        let csv = ("csv".to_owned(), Some(base.join("elsewhere/csv")));
        assert_eq!(told("claude-code"), [csv, ("pdf".to_owned(), None)]);
        assert_eq!(told("goose"), []);
    }
}
