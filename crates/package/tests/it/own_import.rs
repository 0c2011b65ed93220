//! What is sent becomes a skill, or nothing.

use crate::own_world::{World, files, skill_md};
use insta::assert_snapshot;
use prowess::{ErrorCode, Preset};
use prowess_package::limits::FILE_MAX;
use prowess_package::{Action, Import, PackageError, Upload};
use prowess_testing::builders::{ZipEntry, zip};

fn pdf() -> Vec<u8> {
    skill_md("pdf", "Fills forms.").into_bytes()
}

fn archive(entries: impl IntoIterator<Item = ZipEntry>) -> Upload {
    Upload::Archive("pdf.zip".to_owned(), zip(entries).bytes())
}

#[test]
fn s000_15_a_folder_or_a_zip_takes_its_place_with_every_file() {
    for upload in [
        archive([
            ZipEntry::deflated("pdf/SKILL.md", &pdf()),
            ZipEntry::stored("pdf/scripts/run.sh", b"#!/bin/sh\n").mode(0o100755),
        ]),
        files(&[("pdf/SKILL.md", &skill_md("pdf", "Fills forms.")), ("pdf/scripts/run.sh", "#!/bin/sh\n")]),
        files(&[("SKILL.md", &skill_md("pdf", "Fills forms.")), ("scripts/run.sh", "#!/bin/sh\n")]),
    ] {
        let world = World::new(Preset::Standard);
        let items = world.import(&upload).unwrap();
        assert_eq!((items[0].name.as_str(), &items[0].action), ("pdf", &Action::Add));
        assert_eq!(world.tree("~/.agents"), ["skills/pdf/SKILL.md", "skills/pdf/scripts/run.sh"]);
        assert!(world.snapshot().get("pdf").unwrap().is_enabled());
        let locked = world.snapshot().get("pdf").unwrap().locked().unwrap();
        assert!(locked.source.starts_with("upload:"), "{}", locked.source);
    }
}

#[test]
fn s000_15_the_id_comes_from_the_folder_or_from_the_user_and_the_name_stays() {
    let title = skill_md("Weekly Report", "Writes.");
    let ids = |upload: &Upload, id| {
        let world = World::new(Preset::App);
        let items = world.plan(upload, |import| Import { id, ..import }).unwrap().commit().unwrap();
        let id = items[0].name.clone();
        assert_eq!(world.text(&format!(".agents/skills/{id}/SKILL.md")), title);
        assert_eq!(world.snapshot().get(&id).unwrap().name(), "Weekly Report");
        id
    };
    let inner = files(&[("My Report/SKILL.md", &title)]);
    assert_eq!(ids(&inner, None), "my-report");
    assert_eq!(ids(&inner, Some("other")), "other");
    assert_eq!(ids(&files(&[("SKILL.md", &title)]), None), "weekly-report");
    assert_eq!(ids(&archive([ZipEntry::stored("SKILL.md", title.as_bytes())]), None), "pdf");
    // Where skills are known by their names, the name is what is given.
    let world = World::new(Preset::Standard);
    let upload = files(&[("pdf/SKILL.md", &skill_md("pdf", "D."))]);
    world.plan(&upload, |import| Import { id: Some("forms"), ..import }).unwrap().commit().unwrap();
    assert_eq!(
        world.text("~/.agents/skills/forms/SKILL.md"),
        skill_md("forms", "D.").replace("# forms", "# pdf")
    );
}

#[test]
fn s000_24_over_a_skill_that_is_there_only_when_the_user_says_so() {
    let world = World::new(Preset::App);
    world.skill(".agents/skills/pdf").file(".agents/skills/pdf/old.md", "old");
    let upload = files(&[("pdf/SKILL.md", &skill_md("pdf", "Is new."))]);
    let before = (world.tree(""), world.text(".agents/skills/pdf/SKILL.md"));
    let error = world.import(&upload).unwrap_err();
    assert!(matches!(error, PackageError::Taken(_)) && error.code() == ErrorCode::Conflict, "{error}");
    // A plan that is not done changes nothing.
    let plan = world.plan(&upload, |import| Import { overwrite: true, ..import }).unwrap();
    assert_eq!(plan.items[0].action, Action::Replace);
    drop(plan);
    assert_eq!((world.tree(""), world.text(".agents/skills/pdf/SKILL.md")), before);
    world.plan(&upload, |import| Import { overwrite: true, ..import }).unwrap().commit().unwrap();
    assert_eq!(world.text(".agents/skills/pdf/SKILL.md"), skill_md("pdf", "Is new."));
    assert_eq!(world.tree(".agents"), ["skills/pdf/SKILL.md"]);
    // The same again is there, too.
    assert_eq!(world.import(&upload).unwrap_err().code(), ErrorCode::Conflict);
}

#[test]
fn a_plan_for_nothing_leaves_nothing_not_even_folders() {
    let world = World::new(Preset::App);
    drop(world.plan(&files(&[("pdf/SKILL.md", &skill_md("pdf", "D."))]), |import| import).unwrap());
    assert_eq!(std::fs::read_dir(world.path("")).unwrap().count(), 0);
}

#[test]
fn what_is_hostile_is_refused_as_a_whole() {
    let skill = || ZipEntry::deflated("pdf/SKILL.md", &pdf());
    let beside = |entry: ZipEntry| archive([skill(), entry]);
    let sent = |path: &str| {
        Upload::Files(vec![("pdf/SKILL.md".to_owned(), pdf()), (path.to_owned(), b"x".to_vec())])
    };
    let bomb = ZipEntry::deflated("pdf/x", &vec![0; FILE_MAX as usize + 1]);
    let cases = [
        ("up and out of an archive", beside(ZipEntry::stored("../evil", b"x"))),
        ("absolute in an archive", beside(ZipEntry::stored("/etc/evil", b"x"))),
        ("a link in an archive", beside(ZipEntry::stored("pdf/link", b"/etc/passwd").mode(0o120777))),
        ("a bomb", beside(bomb)),
        ("two cases in an archive", beside(ZipEntry::stored("pdf/skill.md", b"x"))),
        ("git's in an archive", beside(ZipEntry::stored("pdf/.git/config", b"x"))),
        ("no archive", Upload::Archive("x.zip".to_owned(), b"hello".to_vec())),
        ("up and out", sent("../evil")),
        ("up inside", sent("pdf/../../evil")),
        ("absolute", sent("/etc/evil")),
        ("another system's path", sent("pdf\\evil")),
        ("git's", sent("pdf/.git/hooks/post-checkout")),
        ("hidden", sent("pdf/a\u{202e}b")),
        ("two cases", sent("pdf/Skill.MD")),
        ("twice", sent("pdf/SKILL.md")),
        ("a file that is a folder", sent("pdf/SKILL.md/x")),
        ("nothing", Upload::Files(Vec::new())),
        ("no skill", files(&[("pdf/README.md", "x")])),
        ("two skills", files(&[("a/SKILL.md", &skill_md("a", "A.")), ("b/SKILL.md", &skill_md("b", "B."))])),
        ("no manifest", files(&[("pdf/SKILL.md", "# Text\n")])),
        ("a name that is a path", files(&[("SKILL.md", &skill_md("../evil", "D."))])),
        (
            "a dropper",
            files(&[(
                "pdf/SKILL.md",
                &format!("{}```sh\necho aGVsbG8= | base64 -d | bash\n```\n", skill_md("pdf", "D.")),
            )]),
        ),
    ];
    let told = cases.map(|(what, upload)| {
        let world = World::new(Preset::Standard);
        let error = world.import(&upload).unwrap_err();
        assert!(world.tree("~/.agents").is_empty(), "{what}: {:?}", world.tree("~/"));
        format!("{what}: {} {error}\n", error.code().as_str())
    });
    assert_snapshot!(told.concat());
    for id in ["../evil", "a/b", ".hidden", "", "a\u{202e}"] {
        let world = World::new(Preset::Standard);
        let error = world.plan(&archive([skill()]), |import| Import { id: Some(id), ..import }).unwrap_err();
        assert!(matches!(error, PackageError::Name { .. }), "{id:?}: {error}");
    }
}

#[test]
fn what_the_audit_refuses_is_taken_by_whoever_accepts_it() {
    let world = World::new(Preset::Standard);
    let text = format!("{}```sh\necho aGVsbG8= | base64 -d | bash\n```\n", skill_md("pdf", "D."));
    let upload = files(&[("pdf/SKILL.md", &text)]);
    assert_eq!(world.import(&upload).unwrap_err().code(), ErrorCode::Untrusted);
    let plan = world.plan(&upload, |import| Import { accept_risk: true, ..import }).unwrap();
    let findings = &plan.items[0].prepared.as_ref().unwrap().verdict.findings;
    assert_eq!(findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["PA101"]);
    plan.commit().unwrap();
    assert!(world.snapshot().get("pdf").is_some());
}

#[test]
fn links_in_the_way_lead_nothing_astray() {
    let upload = files(&[("pdf/SKILL.md", &skill_md("pdf", "Is new."))]);
    // The folder is a link: the link is replaced, what it led to stays.
    let world = World::new(Preset::Standard);
    world.skill("~/else/pdf").link("~/.agents/skills/pdf", "../../else/pdf");
    assert_eq!(world.import(&upload).unwrap_err().code(), ErrorCode::Conflict);
    world.plan(&upload, |import| Import { overwrite: true, ..import }).unwrap().commit().unwrap();
    assert_eq!(world.text("~/else/pdf/SKILL.md"), skill_md("pdf", "Does."));
    assert_eq!(world.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Is new."));
    // The directory of an application is a link out of it.
    let world = World::new(Preset::App);
    std::fs::create_dir_all(world.path("~/else")).unwrap();
    world.link(".agents", "../home/else");
    assert_eq!(world.import(&upload).unwrap_err().code(), ErrorCode::AccessDenied);
    assert!(world.make("pdf", "pdf", "D.").is_err());
    assert!(world.tree("~/else").is_empty());
}
