//! Renaming and deleting files of the user's skills.

use crate::user_skills_support::{TestHome, skill_md};
use insta::assert_snapshot;
use prowess::{ErrorCode, Preset, digest};
use prowess_package::user_skills::{ExpectedContent, UserSkillError};
use prowess_package::{Upload, verify_skills};

#[test]
fn a_file_is_renamed_into_new_directories_and_empty_ones_are_removed() {
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/.agents/skills/pdf").write_file("~/.agents/skills/pdf/old/deep/a.md", "a");
    home.rename("pdf", "old/deep/a.md", "references/b.md").unwrap();
    assert_eq!(home.list_files("~/.agents/skills"), ["pdf/SKILL.md", "pdf/references/b.md"]);
    assert!(!home.path("~/.agents/skills/pdf/old").exists());
    home.rename("pdf", "references/b.md", "references/B.md").unwrap();
    assert_eq!(home.read_text("~/.agents/skills/pdf/references/B.md"), "a");
}

#[test]
fn files_that_cannot_be_renamed() {
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/.agents/skills/pdf")
        .write_file("~/.agents/skills/pdf/a.md", "a")
        .write_file("~/.agents/skills/pdf/b.md", "b")
        .write_file("~/secret/file", "s")
        .symlink("~/.agents/skills/pdf/link", "../../../secret");
    let attempts = [
        ("a.md", "b.md"),
        ("a.md", "a.md"),
        ("a.md", "B.md"),
        ("a.md", "b.md/x"),
        ("a.md", "skill.md"),
        ("a.md", "../x"),
        ("a.md", "/etc/x"),
        ("a.md", "link/x"),
        ("a.md", ".git/x"),
        ("link/file", "x"),
        ("link", "x"),
        ("none", "x"),
        ("SKILL.md", "x.md"),
    ];
    let report = attempts.map(|(from, to)| {
        let error = home.rename("pdf", from, to).unwrap_err();
        format!("{from:10} {to:10} {} {error}\n", error.code().as_str())
    });
    assert_snapshot!(report.concat());
    let files = ["pdf/SKILL.md", "pdf/a.md", "pdf/b.md", "pdf/link"];
    assert_eq!(home.list_files("~/.agents/skills"), files, "nothing changed");
    assert_eq!(home.list_files("~/secret"), ["file"]);
}

#[test]
fn a_file_is_deleted_unless_it_changed() {
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/.agents/skills/pdf").write_file("~/.agents/skills/pdf/notes/a.md", "new");
    let read = |text: &str| ExpectedContent::Digest(digest(text.as_bytes()));
    let error = home.delete_file("pdf", "notes/a.md", read("old")).unwrap_err();
    assert!(matches!(error, UserSkillError::ConcurrentChange { .. }), "{error}");
    assert_eq!(home.read_text("~/.agents/skills/pdf/notes/a.md"), "new");
    home.delete_file("pdf", "notes/a.md", read("new")).unwrap();
    assert_eq!(home.list_files("~/.agents/skills"), ["pdf/SKILL.md"], "no leftovers");
    assert!(!home.path("~/.agents/skills/pdf/notes").exists());
    let code = |path: &str| home.delete_file("pdf", path, ExpectedContent::Any).unwrap_err().code();
    assert_eq!(code("notes/a.md"), ErrorCode::NotFound);
    assert_eq!(code("SKILL.md"), ErrorCode::InvalidParam);
    assert_eq!(code("../x"), ErrorCode::InvalidParam);
}

#[test]
fn changes_of_installed_skills_are_accepted() {
    let home = TestHome::new(Preset::Standard);
    let files = [("pdf/SKILL.md", skill_md("pdf", "D.")), ("pdf/a.md", "a".into()), ("pdf/b.md", "b".into())];
    let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes()));
    home.import(&Upload::Files(files.to_vec())).unwrap();
    let status = || {
        let verified = verify_skills(&home.target()).unwrap();
        verified.iter().map(|skill| (skill.status.as_str(), skill.accepted)).collect::<Vec<_>>()
    };
    home.rename("pdf", "a.md", "references/a.md").unwrap();
    assert_eq!(status(), [("modified", true)]);
    home.delete_file("pdf", "b.md", ExpectedContent::Any).unwrap();
    assert_eq!(status(), [("modified", true)]);
    home.rename("pdf", "references/a.md", "SKILL.md").unwrap_err();
    assert_eq!(status(), [("modified", true)]);
}
