//! Importing uploaded archives and directories.

use crate::user_skills_support::{TestHome, files, skill_md};
use insta::assert_snapshot;
use prowess::{ErrorCode, Preset};
use prowess_package::limits::FILE_MAX;
use prowess_package::{ImportRequest, PackageError, PlanAction, Upload};
use prowess_testing::builders::{ZipEntry, zip};

fn pdf() -> Vec<u8> {
    skill_md("pdf", "Fills forms.").into_bytes()
}

fn archive(entries: impl IntoIterator<Item = ZipEntry>) -> Upload {
    Upload::Archive("pdf.zip".to_owned(), zip(entries).bytes())
}

#[test]
fn s000_15_a_directory_or_a_zip_is_imported_with_all_files() {
    for upload in [
        archive([
            ZipEntry::deflated("pdf/SKILL.md", &pdf()),
            ZipEntry::stored("pdf/scripts/run.sh", b"#!/bin/sh\n").mode(0o100755),
        ]),
        files(&[("pdf/SKILL.md", &skill_md("pdf", "Fills forms.")), ("pdf/scripts/run.sh", "#!/bin/sh\n")]),
        files(&[("SKILL.md", &skill_md("pdf", "Fills forms.")), ("scripts/run.sh", "#!/bin/sh\n")]),
    ] {
        let home = TestHome::new(Preset::Standard);
        let items = home.import(&upload).unwrap();
        assert_eq!((items[0].name.as_str(), &items[0].action), ("pdf", &PlanAction::Add));
        assert_eq!(home.list_files("~/.agents"), ["skills/pdf/SKILL.md", "skills/pdf/scripts/run.sh"]);
        assert!(home.snapshot().get("pdf").unwrap().is_enabled());
        let locked = home.snapshot().get("pdf").unwrap().lock_entry().unwrap();
        assert!(locked.source.starts_with("upload:"), "{}", locked.source);
    }
}

#[test]
fn s000_15_the_id_is_derived_or_given_and_the_name_stays() {
    let title = skill_md("Weekly Report", "Writes.");
    let import_as = |upload: &Upload, id| {
        let home = TestHome::new(Preset::App);
        let items = home.plan(upload, |import| ImportRequest { id, ..import }).unwrap().commit().unwrap();
        let id = items[0].name.clone();
        assert_eq!(home.read_text(&format!(".agents/skills/{id}/SKILL.md")), title);
        assert_eq!(home.snapshot().get(&id).unwrap().name(), "Weekly Report");
        id
    };
    let inner = files(&[("My Report/SKILL.md", &title)]);
    assert_eq!(import_as(&inner, None), "my-report");
    assert_eq!(import_as(&inner, Some("other")), "other");
    assert_eq!(import_as(&files(&[("SKILL.md", &title)]), None), "weekly-report");
    assert_eq!(import_as(&archive([ZipEntry::stored("SKILL.md", title.as_bytes())]), None), "pdf");
    // If skills are identified by name, the id replaces the name.
    let home = TestHome::new(Preset::Standard);
    let upload = files(&[("pdf/SKILL.md", &skill_md("pdf", "D."))]);
    home.plan(&upload, |import| ImportRequest { id: Some("forms"), ..import }).unwrap().commit().unwrap();
    assert_eq!(
        home.read_text("~/.agents/skills/forms/SKILL.md"),
        skill_md("forms", "D.").replace("# forms", "# pdf")
    );
}

#[test]
fn s000_24_an_existing_skill_is_replaced_only_on_request() {
    let home = TestHome::new(Preset::App);
    home.write_skill(".agents/skills/pdf").write_file(".agents/skills/pdf/old.md", "old");
    let upload = files(&[("pdf/SKILL.md", &skill_md("pdf", "Is new."))]);
    let before = (home.list_files(""), home.read_text(".agents/skills/pdf/SKILL.md"));
    let error = home.import(&upload).unwrap_err();
    assert!(
        matches!(error, PackageError::AlreadyExists(_)) && error.code() == ErrorCode::Conflict,
        "{error}"
    );
    // A plan without a commit changes nothing.
    let plan = home.plan(&upload, |import| ImportRequest { overwrite: true, ..import }).unwrap();
    assert_eq!(plan.items[0].action, PlanAction::Replace);
    drop(plan);
    assert_eq!((home.list_files(""), home.read_text(".agents/skills/pdf/SKILL.md")), before);
    home.plan(&upload, |import| ImportRequest { overwrite: true, ..import }).unwrap().commit().unwrap();
    assert_eq!(home.read_text(".agents/skills/pdf/SKILL.md"), skill_md("pdf", "Is new."));
    assert_eq!(home.list_files(".agents"), ["skills/pdf/SKILL.md"]);
    // Importing the same skill again is a conflict, too.
    assert_eq!(home.import(&upload).unwrap_err().code(), ErrorCode::Conflict);
}

#[test]
fn a_dropped_plan_leaves_no_directories() {
    let home = TestHome::new(Preset::App);
    drop(home.plan(&files(&[("pdf/SKILL.md", &skill_md("pdf", "D."))]), |import| import).unwrap());
    assert_eq!(std::fs::read_dir(home.path("")).unwrap().count(), 0);
}

#[test]
fn malicious_uploads_are_rejected() {
    let skill = || ZipEntry::deflated("pdf/SKILL.md", &pdf());
    let archive_with = |entry: ZipEntry| archive([skill(), entry]);
    let files_with = |path: &str| {
        Upload::Files(vec![("pdf/SKILL.md".to_owned(), pdf()), (path.to_owned(), b"x".to_vec())])
    };
    let bomb = ZipEntry::deflated("pdf/x", &vec![0; FILE_MAX as usize + 1]);
    let cases = [
        ("parent path in an archive", archive_with(ZipEntry::stored("../evil", b"x"))),
        ("absolute path in an archive", archive_with(ZipEntry::stored("/etc/evil", b"x"))),
        ("symlink in an archive", archive_with(ZipEntry::stored("pdf/link", b"/etc/passwd").mode(0o120777))),
        ("zip bomb", archive_with(bomb)),
        ("case collision in an archive", archive_with(ZipEntry::stored("pdf/skill.md", b"x"))),
        (".git in an archive", archive_with(ZipEntry::stored("pdf/.git/config", b"x"))),
        ("not an archive", Upload::Archive("x.zip".to_owned(), b"hello".to_vec())),
        ("parent path", files_with("../evil")),
        ("nested parent path", files_with("pdf/../../evil")),
        ("absolute path", files_with("/etc/evil")),
        ("backslash", files_with("pdf\\evil")),
        (".git", files_with("pdf/.git/hooks/post-checkout")),
        ("hidden character", files_with("pdf/a\u{202e}b")),
        ("case collision", files_with("pdf/Skill.MD")),
        ("duplicate", files_with("pdf/SKILL.md")),
        ("file and directory", files_with("pdf/SKILL.md/x")),
        ("empty upload", Upload::Files(Vec::new())),
        ("no skill", files(&[("pdf/README.md", "x")])),
        ("two skills", files(&[("a/SKILL.md", &skill_md("a", "A.")), ("b/SKILL.md", &skill_md("b", "B."))])),
        ("no frontmatter", files(&[("pdf/SKILL.md", "# Text\n")])),
        ("path as name", files(&[("SKILL.md", &skill_md("../evil", "D."))])),
        (
            "dropper",
            files(&[(
                "pdf/SKILL.md",
                &format!("{}```sh\necho aGVsbG8= | base64 -d | bash\n```\n", skill_md("pdf", "D.")),
            )]),
        ),
    ];
    let report = cases.map(|(case, upload)| {
        let home = TestHome::new(Preset::Standard);
        let error = home.import(&upload).unwrap_err();
        assert!(home.list_files("~/.agents").is_empty(), "{case}: {:?}", home.list_files("~/"));
        format!("{case}: {} {error}\n", error.code().as_str())
    });
    assert_snapshot!(report.concat());
    for id in ["../evil", "a/b", ".hidden", "", "a\u{202e}"] {
        let home = TestHome::new(Preset::Standard);
        let error =
            home.plan(&archive([skill()]), |import| ImportRequest { id: Some(id), ..import }).unwrap_err();
        assert!(matches!(error, PackageError::InvalidName { .. }), "{id:?}: {error}");
    }
}

#[test]
fn symlinks_are_not_followed() {
    let upload = files(&[("pdf/SKILL.md", &skill_md("pdf", "Is new."))]);
    // The directory is a symlink: the symlink is replaced, its target is not changed.
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/else/pdf").symlink("~/.agents/skills/pdf", "../../else/pdf");
    assert_eq!(home.import(&upload).unwrap_err().code(), ErrorCode::Conflict);
    home.plan(&upload, |import| ImportRequest { overwrite: true, ..import }).unwrap().commit().unwrap();
    assert_eq!(home.read_text("~/else/pdf/SKILL.md"), skill_md("pdf", "Does."));
    assert_eq!(home.read_text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Is new."));
    // The application's directory is a symlink to a directory outside.
    let home = TestHome::new(Preset::App);
    std::fs::create_dir_all(home.path("~/else")).unwrap();
    home.symlink(".agents", "../home/else");
    assert_eq!(home.import(&upload).unwrap_err().code(), ErrorCode::AccessDenied);
    assert!(home.create("pdf", "pdf", "D.").is_err());
    assert!(home.list_files("~/else").is_empty());
}

#[test]
fn a_rejected_skill_can_be_accepted_by_the_user() {
    let home = TestHome::new(Preset::Standard);
    let text = format!("{}```sh\necho aGVsbG8= | base64 -d | bash\n```\n", skill_md("pdf", "D."));
    let upload = files(&[("pdf/SKILL.md", &text)]);
    assert_eq!(home.import(&upload).unwrap_err().code(), ErrorCode::Untrusted);
    let plan = home.plan(&upload, |import| ImportRequest { accept_risk: true, ..import }).unwrap();
    let findings = &plan.items[0].prepared.as_ref().unwrap().verdict.findings;
    assert_eq!(findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["PA101"]);
    plan.commit().unwrap();
    assert!(home.snapshot().get("pdf").is_some());
}
