use std::os::unix::fs::symlink;

use super::*;
use crate::agents::{AgentHome, find_agent};

struct LinkTestProject {
    dir: tempfile::TempDir,
}

impl LinkTestProject {
    fn new() -> Self {
        let project = Self { dir: tempfile::tempdir().unwrap() };
        project.write_file(".agents/skills/pdf/SKILL.md", "---\nname: pdf\n---\n");
        project.write_file(".agents/skills/pdf/scripts/x.sh", "echo");
        project
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("project").join(inner)
    }

    fn write_file(&self, inner: &str, text: &str) {
        fs::create_dir_all(self.path(inner).parent().unwrap()).unwrap();
        fs::write(self.path(inner), text).unwrap();
    }

    fn link(&self, name: &str, mode: LinkMode) -> Result<LinkPlan, LinkError> {
        let (skill, base) = (self.path(".agents/skills/pdf"), self.path(""));
        let plan = plan_link(&skill, find_agent(name).unwrap(), AgentScope::Project(&base), mode)?;
        apply_link(&skill, &plan)?;
        Ok(plan)
    }

    fn unlink(&self, name: &str) -> bool {
        let base = self.path("");
        unlink(&self.path(".agents/skills/pdf"), find_agent(name).unwrap(), AgentScope::Project(&base))
            .unwrap()
            .is_some()
    }
}

#[test]
fn a_symlink_is_relative() {
    let project = LinkTestProject::new();
    project.link("claude-code", LinkMode::Symlink).unwrap();
    let at = project.path(".claude/skills/pdf");
    assert_eq!(fs::read_link(&at).unwrap(), Path::new("../../.agents/skills/pdf"));
    assert!(at.join("SKILL.md").is_file());
    assert_eq!(project.link("claude-code", LinkMode::Symlink).unwrap(), LinkPlan::Exists(at.clone()));
    project.link("tabnine-cli", LinkMode::Symlink).unwrap();
    let deep = fs::read_link(project.path(".tabnine/agent/skills/pdf")).unwrap();
    assert_eq!(deep, Path::new("../../../.agents/skills/pdf"));
    // Agents that share the directory need no symlink.
    assert_eq!(project.link("codex", LinkMode::Symlink).unwrap(), LinkPlan::SameDirectory);

    let base = project.path("");
    let with: Vec<_> = agents_with(&project.path(".agents/skills/pdf"), AgentScope::Project(&base))
        .iter()
        .map(|agent| agent.id)
        .filter(|id| ["claude-code", "codex", "tabnine-cli", "roo"].contains(id))
        .collect();
    assert_eq!(with, ["claude-code", "codex", "tabnine-cli"]);

    assert!(project.unlink("claude-code") && !project.unlink("claude-code"));
    assert!(!at.is_symlink() && project.path(".agents/skills/pdf/SKILL.md").is_file());
    // The shared directory is not a symlink and is not removed.
    assert!(!project.unlink("codex") && project.path(".agents/skills/pdf").is_dir());
}

#[test]
fn a_copy_is_complete_and_replaces_nothing() {
    let project = LinkTestProject::new();
    project.write_file(".claude/skills/.pdf.prowess-new/half", "");
    project.link("claude-code", LinkMode::Copy).unwrap();
    assert_eq!(fs::read_to_string(project.path(".claude/skills/pdf/scripts/x.sh")).unwrap(), "echo");
    assert_eq!(fs::read_dir(project.path(".claude/skills")).unwrap().count(), 1);
    // An identical copy exists; a modified one is a conflict.
    assert!(matches!(project.link("claude-code", LinkMode::Copy), Ok(LinkPlan::Exists(_))));
    project.write_file(".claude/skills/pdf/mine", "");
    assert!(matches!(project.link("claude-code", LinkMode::Copy), Err(LinkError::Conflict(_))));
    assert!(!project.unlink("claude-code"));

    symlink("/etc/passwd", project.path(".agents/skills/pdf/secret")).unwrap();
    assert!(matches!(project.link("crush", LinkMode::Copy), Err(LinkError::NotCopyable { .. })));
    assert_eq!(fs::read_dir(project.path(".crush/skills")).unwrap().count(), 0);
}

#[test]
fn unrelated_directories_are_not_changed() {
    let project = LinkTestProject::new();
    project.write_file(".claude/skills/pdf/SKILL.md", "theirs");
    let error = project.link("claude-code", LinkMode::Symlink).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Conflict);
    assert_eq!(fs::read_to_string(project.path(".claude/skills/pdf/SKILL.md")).unwrap(), "theirs");

    fs::create_dir_all(project.path(".roo/skills")).unwrap();
    symlink("../../elsewhere", project.path(".roo/skills/pdf")).unwrap();
    assert!(matches!(project.link("roo", LinkMode::Symlink), Err(LinkError::Conflict(_))));
    assert!(!project.unlink("roo") && project.path(".roo/skills/pdf").is_symlink());

    // The path is created between planning and performing.
    let (skill, base) = (project.path(".agents/skills/pdf"), project.path(""));
    let plan_before =
        plan_link(&skill, find_agent("crush").unwrap(), AgentScope::Project(&base), LinkMode::Symlink)
            .unwrap();
    project.write_file(".crush/skills/pdf/SKILL.md", "theirs");
    assert!(matches!(apply_link(&skill, &plan_before), Err(LinkError::Conflict(_))));
}

#[test]
fn a_dangling_symlink_to_the_skill_is_removed() {
    let project = LinkTestProject::new();
    project.link("claude-code", LinkMode::Symlink).unwrap();
    fs::remove_dir_all(project.path(".agents/skills/pdf")).unwrap();
    assert!(project.unlink("claude-code"));
}

#[test]
fn symlinks_out_of_the_project_are_rejected() {
    let project = LinkTestProject::new();
    fs::create_dir(project.dir.path().join("outside")).unwrap();
    symlink("../outside", project.path(".claude")).unwrap();
    assert!(matches!(project.link("claude-code", LinkMode::Symlink), Err(LinkError::Outside { .. })));
    // A directory that is a symlink inside the project is allowed.
    symlink(".agents", project.path(".roo")).unwrap();
    assert_eq!(project.link("roo", LinkMode::Symlink).unwrap(), LinkPlan::SameDirectory);
}

#[test]
fn home_directories_and_missing_skills() {
    let project = LinkTestProject::new();
    let home = AgentHome::new(&project.path("home"));
    let skill = project.path(".agents/skills/pdf");
    let link = plan_link(&skill, find_agent("windsurf").unwrap(), AgentScope::Home(&home), LinkMode::Symlink)
        .unwrap();
    let LinkPlan::Symlink { path: at, target: to } = link else { panic!("{link:?}") };
    assert_eq!(at, home.dir.join(".codeium/windsurf/skills/pdf"));
    assert_eq!(to, Path::new("../../../../.agents/skills/pdf"));
    let none = plan_link(&skill, find_agent("eve").unwrap(), AgentScope::Home(&home), LinkMode::Symlink)
        .unwrap_err();
    assert_eq!(
        (none.code(), none.to_string()),
        (ErrorCode::InvalidParam, "eve has no skill directory in the home directory".to_owned())
    );
    let missing = project.path(".agents/skills/none");
    let missing = plan_link(&missing, find_agent("roo").unwrap(), AgentScope::Home(&home), LinkMode::Symlink)
        .unwrap_err();
    assert_eq!(missing.code(), ErrorCode::NotFound);
}

#[test]
fn agents_that_read_the_directory_need_no_symlink() {
    let project = LinkTestProject::new();
    // Their own directories are .qwen/skills and .goose/skills.
    for name in ["qwen-code", "goose", "codex", "gemini-cli", "opencode", "github-copilot", "droid"] {
        assert_eq!(project.link(name, LinkMode::Symlink).unwrap(), LinkPlan::SameDirectory, "{name}");
    }
}

#[test]
fn skills_are_copied_where_symlinks_are_impossible() {
    let project = LinkTestProject::new();
    let (skill, base) = (project.path(".agents/skills/pdf"), project.path(""));
    let claude = find_agent("claude-code").unwrap();
    let plan = plan_link(&skill, claude, AgentScope::Project(&base), LinkMode::Symlink).unwrap();
    let impossible = |_: &Path, _: &Path| -> io::Result<()> { Err(io::ErrorKind::PermissionDenied.into()) };
    assert_eq!(apply_link_with(&skill, &plan, impossible).unwrap(), Some(LinkMode::Copy));
    let at = project.path(".claude/skills/pdf");
    assert!(!at.is_symlink() && at.join("scripts/x.sh").is_file());
    // The copy counts as existing.
    let again = plan_link(&skill, claude, AgentScope::Project(&base), LinkMode::Symlink).unwrap();
    assert_eq!(again, LinkPlan::Exists(at));
    // If the copy fails as well, the first error is reported.
    symlink("/etc/passwd", project.path(".agents/skills/pdf/secret")).unwrap();
    let plan = plan_link(&skill, find_agent("crush").unwrap(), AgentScope::Project(&base), LinkMode::Symlink);
    assert!(matches!(apply_link_with(&skill, &plan.unwrap(), impossible), Err(LinkError::Io { .. })));
}
