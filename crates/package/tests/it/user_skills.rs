//! Creating and deleting the user's skills, and which skills are editable.

use crate::user_skills_support::TestHome;
use insta::assert_snapshot;
use prowess::{ErrorCode, Preset};
use prowess_package::InstallTarget;
use prowess_package::user_skills::{ExpectedContent, NewSkill, UserSkillError, create_skill};

#[test]
fn s000_13_a_skill_is_created_in_the_users_directory() {
    let create = |preset| {
        let home = TestHome::new(preset);
        let created = home.create("pdf-tools", "pdf-tools", "Fills forms.");
        let message = |error: UserSkillError| error.to_string();
        let path = created
            .map(|created| created.skill_md_path.strip_prefix(home.root()).unwrap().display().to_string());
        let status = home.snapshot().get("pdf-tools").map(|skill| skill.status().as_str());
        format!("{preset}: {} {status:?}\n", path.unwrap_or_else(message))
    };
    assert_snapshot!(Preset::ALL.map(create).concat());
}

#[test]
fn s000_13_an_id_is_normalized_and_a_name_may_be_a_title() {
    let home = TestHome::new(Preset::App);
    let created =
        home.create("Weekly Report!", "Weekly \"Report\" 2026", "Writes it:\nevery \\ Friday.").unwrap();
    assert_eq!(created.id, "weekly-report");
    assert_eq!(home.list_files(""), [".agents/skills/weekly-report/SKILL.md"]);
    assert_snapshot!(home.read_text(".agents/skills/weekly-report/SKILL.md"));
    let snapshot = home.snapshot();
    let skill = snapshot.get("weekly-report").unwrap();
    assert_eq!(
        (skill.name().as_ref(), skill.description()),
        ("Weekly \"Report\" 2026", "Writes it: every \\ Friday.")
    );
}

#[test]
fn errors_are_reported_for_each_field() {
    let home = TestHome::new(Preset::Standard);
    let long = "x".repeat(300);
    let cases = [
        ("", "", ""),
        ("../evil", "evil", "D."),
        ("a/b", "a", "D."),
        ("C:\\x", "a", "D."),
        (".hidden", "a", "D."),
        ("...", "a", "D."),
        ("a\u{202e}b", "a\u{202e}b", "D\u{200b}."),
        (long.as_str(), "a", "D."),
        ("ok", "ok", "\u{1b}[31m"),
    ];
    let report = cases.map(|(id, name, description)| {
        let Err(UserSkillError::InvalidFields(fields)) = home.create(id, name, description) else {
            panic!("{id}")
        };
        let fields: Vec<_> =
            fields.iter().map(|field| format!("{}: {}", field.field, field.message)).collect();
        format!("{:?}\n  {}\n", &id[..id.len().min(20)], fields.join("\n  "))
    });
    assert_snapshot!(report.concat());
    assert!(home.list_files("").is_empty() && home.list_files("~/").is_empty());
}

#[test]
fn stricter_rules_of_a_preset_are_checked_before_writing() {
    let home = TestHome::new(Preset::Harness);
    let error = home.create("pdf", "Other Name", "D.").unwrap_err();
    assert_snapshot!(error);
    assert_eq!(error.code(), ErrorCode::InvalidParam);
    assert!(home.list_files("~/").is_empty());
}

#[test]
fn instructions_are_written_unmodified() {
    let home = TestHome::new(Preset::Standard);
    let body = "Do:\n---\nname: other\n---\nend";
    let new = NewSkill { id: "pdf", name: "pdf", description: "D.", body: Some(body) };
    create_skill(&new, &home.target(), &home.policy.manifest).unwrap();
    assert_eq!(
        home.read_text("~/.agents/skills/pdf/SKILL.md"),
        format!("---\nname: pdf\ndescription: \"D.\"\n---\n\n{body}\n")
    );
}

#[test]
fn an_existing_skill_is_not_overwritten() {
    let home = TestHome::new(Preset::Standard);
    home.write_skill("~/.agents/skills/pdf")
        .symlink("~/.agents/skills/csv", "nowhere")
        .write_file("~/.agents/skills/x", "x");
    for id in ["pdf", "csv", "x"] {
        let error = home.create(id, id, "D.").unwrap_err();
        assert!(matches!(&error, UserSkillError::Exists(existing) if existing == id), "{error}");
    }
    assert_eq!(home.list_files("~/.agents"), ["skills/csv", "skills/pdf/SKILL.md", "skills/x"]);
}

#[test]
fn only_one_of_concurrent_creations_succeeds() {
    let home = TestHome::new(Preset::Standard);
    let results: Vec<bool> = std::thread::scope(|scope| {
        let results: Vec<_> =
            (0..8).map(|_| scope.spawn(|| home.create("pdf", "pdf", "D.").is_ok())).collect();
        results.into_iter().map(|result| result.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|is_created| **is_created).count(), 1);
    assert_eq!(home.list_files("~/.agents"), ["skills/pdf/SKILL.md"]);
}

#[test]
fn s000_02_s000_14_only_the_users_skills_are_editable() {
    let check = |preset, dir: &str| {
        let home = TestHome::new(preset);
        home.write_skill(dir)
            .write_skill("~/else/linked")
            .symlink("~/.agents/skills/linked", "../../else/linked");
        let snapshot = home.snapshot();
        let mut report = format!("{preset}\n");
        for skill in snapshot.all() {
            let target = InstallTarget::for_editing(skill, &home.policy, &home.host());
            let root =
                target.map(|target| target.root.strip_prefix(home.root()).unwrap().display().to_string());
            report +=
                &format!("  {}: {}\n", skill.id(), root.unwrap_or_else(|reason| format!("no, {reason}")));
            let id = skill.id();
            assert_eq!(home.delete(&id).is_ok(), home.snapshot().copies(&id).next().is_none(), "{id}");
        }
        report
    };
    assert_snapshot!(
        [
            check(Preset::App, ".agents/sys.skills/shipped"),
            check(Preset::App, ".agents/skills/own"),
            check(Preset::Standard, "~/.claude/skills/own"),
            check(Preset::Standard, "~/.agents/skills/group/own"),
            check(Preset::Harness, "~/.agent/plugins/plugin"),
            check(Preset::SkillTool, "skills/project"),
        ]
        .concat()
    );
    let mut home = TestHome::new(Preset::Standard);
    home.write_skill("given/pdf");
    home.policy = home.policy.clone().with_roots([home.path("given")]);
    home.write("pdf", "x", b"x", ExpectedContent::Absent).unwrap();
    home.create("csv", "csv", "D.").unwrap();
    home.delete("pdf").unwrap();
    assert_eq!(home.list_files("given"), ["csv/SKILL.md"]);
}
