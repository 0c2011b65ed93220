use std::os::unix::fs::symlink;

use super::*;
use crate::agents::agent;

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        world.file(".agents/skills/pdf/SKILL.md", "---\nname: pdf\n---\n");
        world.file(".agents/skills/pdf/scripts/x.sh", "echo");
        world
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project").join(inner)
    }

    fn file(&self, inner: &str, text: &str) {
        fs::create_dir_all(self.path(inner).parent().unwrap()).unwrap();
        fs::write(self.path(inner), text).unwrap();
    }

    fn link(&self, name: &str, how: How) -> Result<Plan, LinkError> {
        let (skill, project) = (self.path(".agents/skills/pdf"), self.path(""));
        let plan = plan(&skill, agent(name).unwrap(), Place::Project(&project), how)?;
        perform(&skill, &plan)?;
        Ok(plan)
    }

    fn unlink(&self, name: &str) -> bool {
        let project = self.path("");
        unlink(&self.path(".agents/skills/pdf"), agent(name).unwrap(), Place::Project(&project))
            .unwrap()
            .is_some()
    }
}

#[test]
fn a_relative_link_that_moves_with_the_project() {
    let world = World::new();
    world.link("claude-code", How::Link).unwrap();
    let at = world.path(".claude/skills/pdf");
    assert_eq!(fs::read_link(&at).unwrap(), Path::new("../../.agents/skills/pdf"));
    assert!(at.join("SKILL.md").is_file());
    assert_eq!(world.link("claude-code", How::Link).unwrap(), Plan::There(at.clone()));
    world.link("tabnine-cli", How::Link).unwrap();
    let deep = fs::read_link(world.path(".tabnine/agent/skills/pdf")).unwrap();
    assert_eq!(deep, Path::new("../../../.agents/skills/pdf"));
    // Those that share the folder have it anyway.
    assert_eq!(world.link("codex", How::Link).unwrap(), Plan::SameFolder);

    let project = world.path("");
    let with: Vec<_> = agents_with(&world.path(".agents/skills/pdf"), Place::Project(&project))
        .iter()
        .map(|agent| agent.id)
        .filter(|id| ["claude-code", "codex", "tabnine-cli", "goose"].contains(id))
        .collect();
    assert_eq!(with, ["claude-code", "codex", "tabnine-cli"]);

    assert!(world.unlink("claude-code") && !world.unlink("claude-code"));
    assert!(!at.is_symlink() && world.path(".agents/skills/pdf/SKILL.md").is_file());
    // What all share is not a link, and stays.
    assert!(!world.unlink("codex") && world.path(".agents/skills/pdf").is_dir());
}

#[test]
fn a_copy_is_whole_and_replaces_nothing() {
    let world = World::new();
    world.file(".claude/skills/.pdf.prowess-new/half", "");
    world.link("claude-code", How::Copy).unwrap();
    assert_eq!(fs::read_to_string(world.path(".claude/skills/pdf/scripts/x.sh")).unwrap(), "echo");
    assert_eq!(fs::read_dir(world.path(".claude/skills")).unwrap().count(), 1);
    // The same again is there already; what somebody changed is in the way.
    assert!(matches!(world.link("claude-code", How::Copy), Ok(Plan::There(_))));
    world.file(".claude/skills/pdf/mine", "");
    assert!(matches!(world.link("claude-code", How::Copy), Err(LinkError::Conflict(_))));
    assert!(!world.unlink("claude-code"));

    symlink("/etc/passwd", world.path(".agents/skills/pdf/secret")).unwrap();
    assert!(matches!(world.link("goose", How::Copy), Err(LinkError::Unfit { .. })));
    assert_eq!(fs::read_dir(world.path(".goose/skills")).unwrap().count(), 0);
}

#[test]
fn what_is_not_ours_stays() {
    let world = World::new();
    world.file(".claude/skills/pdf/SKILL.md", "theirs");
    let error = world.link("claude-code", How::Link).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Conflict);
    assert_eq!(fs::read_to_string(world.path(".claude/skills/pdf/SKILL.md")).unwrap(), "theirs");

    fs::create_dir_all(world.path(".goose/skills")).unwrap();
    symlink("../../elsewhere", world.path(".goose/skills/pdf")).unwrap();
    assert!(matches!(world.link("goose", How::Link), Err(LinkError::Conflict(_))));
    assert!(!world.unlink("goose") && world.path(".goose/skills/pdf").is_symlink());

    // Somebody makes one between the plan and the deed.
    let (skill, project) = (world.path(".agents/skills/pdf"), world.path(""));
    let late = plan(&skill, agent("crush").unwrap(), Place::Project(&project), How::Link).unwrap();
    world.file(".crush/skills/pdf/SKILL.md", "theirs");
    assert!(matches!(perform(&skill, &late), Err(LinkError::Conflict(_))));
}

#[test]
fn a_link_whose_skill_is_gone_is_still_ours() {
    let world = World::new();
    world.link("claude-code", How::Link).unwrap();
    fs::remove_dir_all(world.path(".agents/skills/pdf")).unwrap();
    assert!(world.unlink("claude-code"));
}

#[test]
fn no_way_out_of_the_project() {
    let world = World::new();
    fs::create_dir(world.folder.path().join("outside")).unwrap();
    symlink("../outside", world.path(".claude")).unwrap();
    assert!(matches!(world.link("claude-code", How::Link), Err(LinkError::Outside { .. })));
    // A folder that is a link inside the project is fine.
    symlink(".agents", world.path(".goose")).unwrap();
    assert_eq!(world.link("goose", How::Link).unwrap(), Plan::SameFolder);
}

#[test]
fn the_home_and_what_is_missing() {
    let world = World::new();
    let home = world.path("home");
    let skill = world.path(".agents/skills/pdf");
    let link = plan(&skill, agent("windsurf").unwrap(), Place::Home(&home), How::Link).unwrap();
    let Plan::Link { at, to } = link else { panic!("{link:?}") };
    assert_eq!(at, home.join(".codeium/windsurf/skills/pdf"));
    assert_eq!(to, Path::new("../../../../.agents/skills/pdf"));
    let none = plan(&skill, agent("eve").unwrap(), Place::Home(&home), How::Link).unwrap_err();
    assert_eq!(
        (none.code(), none.to_string()),
        (ErrorCode::InvalidParam, "eve keeps no skills in the home".to_owned())
    );
    let missing = world.path(".agents/skills/none");
    let missing = plan(&missing, agent("goose").unwrap(), Place::Home(&home), How::Link).unwrap_err();
    assert_eq!(missing.code(), ErrorCode::NotFound);
}
