//! Writing files of the user's skills.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::user_skills_support::{TestHome, skill_md};
use insta::assert_snapshot;
use prowess::{ErrorCode, Preset, digest};
use prowess_package::user_skills::{ExpectedContent, UserSkillError, write_skill_file};
use prowess_package::{Upload, verify_skills};

fn expected_text(text: &str) -> ExpectedContent {
    ExpectedContent::Digest(digest(text.as_bytes()))
}

#[test]
fn a_file_is_written_if_it_is_unchanged() {
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/.agents/skills/pdf").write_file("~/.agents/skills/pdf/run.sh", "1");
    fs::set_permissions(home.path("~/.agents/skills/pdf/run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    let write = |path: &str, text: &str, expected| home.write("pdf", path, text.as_bytes(), expected);
    assert_eq!(write("run.sh", "2", expected_text("1")).unwrap().digest, digest(b"2"));
    let error = write("run.sh", "3", expected_text("1")).unwrap_err();
    assert!(
        matches!(&error, UserSkillError::ConcurrentChange { current_digest: Some(current_digest), .. } if *current_digest == digest(b"2")),
        "{error}"
    );
    assert_eq!(
        (error.code(), home.read_text("~/.agents/skills/pdf/run.sh")),
        (ErrorCode::Conflict, "2".into())
    );
    let mode = fs::metadata(home.path("~/.agents/skills/pdf/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    assert!(write("deep/er/new.md", "x", expected_text("1")).is_err());
    write("deep/er/new.md", "x", ExpectedContent::Absent).unwrap();
    assert!(write("deep/er/new.md", "y", ExpectedContent::Absent).is_err());
    write("deep/er/new.md", "z", ExpectedContent::Any).unwrap();
    assert_eq!(
        home.list_files("~/.agents/skills"),
        ["pdf/SKILL.md", "pdf/deep/er/new.md", "pdf/run.sh"],
        "no leftovers"
    );
}

#[test]
fn an_invalid_manifest_is_not_written() {
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/.agents/skills/pdf");
    let before = home.read_text("~/.agents/skills/pdf/SKILL.md");
    for invalid in [
        "",
        "# Text\n",
        "---\nname: [\n---\n",
        "---\nname: pdf\n---\n",
        "---\nname: pdf\ndescription: \0\n---\n",
    ] {
        let error = home.write("pdf", "SKILL.md", invalid.as_bytes(), ExpectedContent::Any).unwrap_err();
        assert!(matches!(error, UserSkillError::InvalidManifest { .. }), "{invalid:?}: {error}");
        assert_eq!(error.code(), ErrorCode::InvalidParam);
    }
    assert_eq!(home.read_text("~/.agents/skills/pdf/SKILL.md"), before);
    let with_warning = skill_md("pdf", "D.").replace("\n---\n\n#", "\nwhat: is this\n---\n\n#");
    let written = home.write("pdf", "SKILL.md", with_warning.as_bytes(), expected_text(&before)).unwrap();
    assert_eq!(
        written.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect::<Vec<_>>(),
        ["SK051"]
    );
    assert_eq!(home.snapshot().get("pdf").unwrap().description(), "D.");
}

#[test]
fn paths_out_of_a_skill_are_rejected() {
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/.agents/skills/pdf")
        .write_file("~/secret/file", "s")
        .symlink("~/.agents/skills/pdf/link", "../../../secret")
        .symlink("~/.agents/skills/pdf/file-link", "../../../secret/file")
        .write_file("~/.agents/skills/pdf/folder/x", "x");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        home.path("~/.agents/skills/pdf/fifo"),
        rustix::fs::FileType::Fifo,
        0o644.into(),
        0,
    )
    .unwrap();
    let paths = [
        "../x",
        "/etc/passwd",
        "a/../../x",
        "link/file",
        "link/new",
        "file-link",
        "folder",
        "fifo",
        ".git/config",
        "a\\b",
        "C:x",
        "",
        "a\u{202e}",
        "skill.md",
        "FOLDER/y",
        "folder/x/y",
        "SKILL.md/x",
    ];
    let report = paths.map(|path| {
        let error = home.write("pdf", path, b"evil", ExpectedContent::Any).unwrap_err();
        format!("{:20} {} {error}\n", path.escape_debug(), error.code().as_str())
    });
    assert_snapshot!(report.concat());
    assert_eq!(home.read_text("~/secret/file"), "s");
    assert_eq!(home.list_files("~/secret"), ["file"]);
    assert_eq!(
        home.list_files("~/.agents/skills"),
        ["pdf/SKILL.md", "pdf/fifo", "pdf/file-link", "pdf/folder/x", "pdf/link"]
    );
    let large = vec![b'x'; 16 * 1024 * 1024 + 1];
    assert_eq!(home.write("pdf", "x", &large, ExpectedContent::Any).unwrap_err().code(), ErrorCode::TooLarge);
}

#[test]
fn a_symlink_that_is_created_after_the_scan_is_rejected() {
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/.agents/skills/pdf").write_skill("~/elsewhere/pdf");
    let snapshot = home.snapshot();
    let skill = snapshot.get("pdf").unwrap();
    fs::rename(home.path("~/.agents/skills/pdf"), home.path("~/.agents/skills/moved")).unwrap();
    home.symlink("~/.agents/skills/pdf", "../../elsewhere/pdf");
    let text = skill_md("pdf", "Is evil.");
    let result = write_skill_file(
        skill,
        "SKILL.md",
        text.as_bytes(),
        &ExpectedContent::Any,
        &home.policy,
        &home.host(),
    );
    assert_eq!(result.unwrap_err().code(), ErrorCode::AccessDenied);
    assert_eq!(home.read_text("~/elsewhere/pdf/SKILL.md"), skill_md("pdf", "Does."));
}

#[test]
fn concurrent_editors_lose_no_changes() {
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/.agents/skills/pdf").write_file("~/.agents/skills/pdf/count", "0");
    let snapshot = home.snapshot();
    let skill = snapshot.get("pdf").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut done = 0;
                while done < 10 {
                    let before = home.read_text("~/.agents/skills/pdf/count");
                    let after = (before.parse::<u32>().unwrap() + 1).to_string();
                    let (policy, host) = (&home.policy, home.host());
                    match write_skill_file(
                        skill,
                        "count",
                        after.as_bytes(),
                        &expected_text(&before),
                        policy,
                        &host,
                    ) {
                        Ok(_) => done += 1,
                        Err(UserSkillError::ConcurrentChange { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(home.read_text("~/.agents/skills/pdf/count"), "40");
    assert_eq!(home.list_files("~/.agents/skills"), ["pdf/SKILL.md", "pdf/count"]);
}

#[test]
fn edits_of_installed_skills_are_accepted_and_deleting_removes_all() {
    let home = TestHome::new(Preset::Standard);
    let upload = Upload::Files(vec![("pdf/SKILL.md".to_owned(), skill_md("pdf", "D.").into_bytes())]);
    home.import(&upload).unwrap();
    home.symlink("~/.claude/skills/pdf", "../../.agents/skills/pdf");
    let status = || {
        let verified = verify_skills(&home.target()).unwrap();
        verified.iter().map(|skill| (skill.status.as_str(), skill.accepted)).collect::<Vec<_>>()
    };
    assert_eq!(status(), [("ok", false)]);
    let text = skill_md("pdf", "Is edited.");
    home.write("pdf", "SKILL.md", text.as_bytes(), ExpectedContent::Any).unwrap();
    assert_eq!(status(), [("modified", true)]);
    // A change by another program is not accepted with an edit.
    home.write_file("~/.agents/skills/pdf/evil.sh", "evil");
    home.write("pdf", "more.md", b"more", ExpectedContent::Any).unwrap();
    assert_eq!(status(), [("modified", false)]);
    home.delete("pdf").unwrap();
    assert_eq!(status(), []);
    assert!(home.list_files("~/.agents").is_empty() && home.list_files("~/.claude").is_empty());
    // A skill that is created again is not an installed one.
    home.create("pdf", "pdf", "D.").unwrap();
    assert_eq!(status(), [("unlocked", false)]);
}
