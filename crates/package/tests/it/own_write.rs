//! Files of the user's own skills: written inside them, and never over what somebody else wrote.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::own_world::{World, skill_md};
use insta::assert_snapshot;
use prowess::{ErrorCode, Preset, digest};
use prowess_package::own::{Expected, OwnError, write};
use prowess_package::{Upload, verify};

fn of(text: &str) -> Expected {
    Expected::Digest(digest(text.as_bytes()))
}

#[test]
fn a_file_is_written_if_it_is_still_what_was_read() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/pdf").file("~/.agents/skills/pdf/run.sh", "1");
    fs::set_permissions(world.path("~/.agents/skills/pdf/run.sh"), fs::Permissions::from_mode(0o750))
        .unwrap();
    let write = |path: &str, text: &str, expected| world.write("pdf", path, text.as_bytes(), expected);
    assert_eq!(write("run.sh", "2", of("1")).unwrap().digest, digest(b"2"));
    let error = write("run.sh", "3", of("1")).unwrap_err();
    assert!(matches!(&error, OwnError::Changed { now: Some(now), .. } if *now == digest(b"2")), "{error}");
    assert_eq!((error.code(), world.text("~/.agents/skills/pdf/run.sh")), (ErrorCode::Conflict, "2".into()));
    let mode = fs::metadata(world.path("~/.agents/skills/pdf/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    assert!(write("deep/er/new.md", "x", of("1")).is_err());
    write("deep/er/new.md", "x", Expected::Nothing).unwrap();
    assert!(write("deep/er/new.md", "y", Expected::Nothing).is_err());
    write("deep/er/new.md", "z", Expected::Any).unwrap();
    assert_eq!(
        world.tree("~/.agents/skills"),
        ["pdf/SKILL.md", "pdf/deep/er/new.md", "pdf/run.sh"],
        "nothing is left"
    );
}

#[test]
fn a_manifest_that_would_not_load_is_not_written() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/pdf");
    let before = world.text("~/.agents/skills/pdf/SKILL.md");
    for bad in [
        "",
        "# Text\n",
        "---\nname: [\n---\n",
        "---\nname: pdf\n---\n",
        "---\nname: pdf\ndescription: \0\n---\n",
    ] {
        let error = world.write("pdf", "SKILL.md", bad.as_bytes(), Expected::Any).unwrap_err();
        assert!(matches!(error, OwnError::Invalid { .. }), "{bad:?}: {error}");
        assert_eq!(error.code(), ErrorCode::InvalidParam);
    }
    assert_eq!(world.text("~/.agents/skills/pdf/SKILL.md"), before);
    let warned = skill_md("pdf", "D.").replace("\n---\n\n#", "\nwhat: is this\n---\n\n#");
    let written = world.write("pdf", "SKILL.md", warned.as_bytes(), of(&before)).unwrap();
    assert_eq!(written.diagnostics.iter().map(|said| said.code.as_str()).collect::<Vec<_>>(), ["SK051"]);
    assert_eq!(world.snapshot().get("pdf").unwrap().description(), "D.");
}

#[test]
fn no_path_leads_out_of_a_skill() {
    let world = World::new(Preset::Standard);
    world
        .skill("~/.agents/skills/pdf")
        .file("~/secret/file", "s")
        .link("~/.agents/skills/pdf/link", "../../../secret")
        .link("~/.agents/skills/pdf/file-link", "../../../secret/file")
        .file("~/.agents/skills/pdf/folder/x", "x");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.path("~/.agents/skills/pdf/fifo"),
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
    let told = paths.map(|path| {
        let error = world.write("pdf", path, b"evil", Expected::Any).unwrap_err();
        format!("{:20} {} {error}\n", path.escape_debug(), error.code().as_str())
    });
    assert_snapshot!(told.concat());
    assert_eq!(world.text("~/secret/file"), "s");
    assert_eq!(world.tree("~/secret"), ["file"]);
    assert_eq!(
        world.tree("~/.agents/skills"),
        ["pdf/SKILL.md", "pdf/fifo", "pdf/file-link", "pdf/folder/x", "pdf/link"]
    );
    let large = vec![b'x'; 16 * 1024 * 1024 + 1];
    assert_eq!(world.write("pdf", "x", &large, Expected::Any).unwrap_err().code(), ErrorCode::TooLarge);
}

#[test]
fn a_link_that_comes_in_the_way_after_the_scan_is_refused() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/pdf").skill("~/elsewhere/pdf");
    let snapshot = world.snapshot();
    let skill = snapshot.get("pdf").unwrap();
    fs::rename(world.path("~/.agents/skills/pdf"), world.path("~/.agents/skills/moved")).unwrap();
    world.link("~/.agents/skills/pdf", "../../elsewhere/pdf");
    let text = skill_md("pdf", "Is evil.");
    let result =
        write(skill, "SKILL.md", text.as_bytes(), &Expected::Any, &world.policy, &world.surroundings());
    assert_eq!(result.unwrap_err().code(), ErrorCode::AccessDenied);
    assert_eq!(world.text("~/elsewhere/pdf/SKILL.md"), skill_md("pdf", "Does."));
}

#[test]
fn editors_at_once_lose_nothing() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/pdf").file("~/.agents/skills/pdf/count", "0");
    let snapshot = world.snapshot();
    let skill = snapshot.get("pdf").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut done = 0;
                while done < 10 {
                    let before = world.text("~/.agents/skills/pdf/count");
                    let after = (before.parse::<u32>().unwrap() + 1).to_string();
                    let (policy, around) = (&world.policy, world.surroundings());
                    match write(skill, "count", after.as_bytes(), &of(&before), policy, &around) {
                        Ok(_) => done += 1,
                        Err(OwnError::Changed { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(world.text("~/.agents/skills/pdf/count"), "40");
    assert_eq!(world.tree("~/.agents/skills"), ["pdf/SKILL.md", "pdf/count"]);
}

#[test]
fn what_was_installed_is_accepted_as_the_user_edits_it_and_goes_as_a_whole() {
    let world = World::new(Preset::Standard);
    let upload = Upload::Files(vec![("pdf/SKILL.md".to_owned(), skill_md("pdf", "D.").into_bytes())]);
    world.import(&upload).unwrap();
    world.link("~/.claude/skills/pdf", "../../.agents/skills/pdf");
    let status = || {
        let verified = verify(&world.place()).unwrap();
        verified.iter().map(|one| (one.status.as_str(), one.accepted)).collect::<Vec<_>>()
    };
    assert_eq!(status(), [("ok", false)]);
    let text = skill_md("pdf", "Is edited.");
    world.write("pdf", "SKILL.md", text.as_bytes(), Expected::Any).unwrap();
    assert_eq!(status(), [("modified", true)]);
    // What somebody else did to it is not accepted along with an edit.
    world.file("~/.agents/skills/pdf/evil.sh", "evil");
    world.write("pdf", "more.md", b"more", Expected::Any).unwrap();
    assert_eq!(status(), [("modified", false)]);
    world.delete("pdf").unwrap();
    assert_eq!(status(), []);
    assert!(world.tree("~/.agents").is_empty() && world.tree("~/.claude").is_empty());
    // Made anew, it is nothing that was installed.
    world.make("pdf", "pdf", "D.").unwrap();
    assert_eq!(status(), [("unlocked", false)]);
}
