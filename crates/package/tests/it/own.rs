//! The user's own skills: made and deleted, and which they are.

use crate::own_world::World;
use insta::assert_snapshot;
use prowess::{ErrorCode, Preset};
use prowess_package::Place;
use prowess_package::own::{Expected, NewSkill, OwnError, make};

#[test]
fn s000_13_a_skill_is_made_where_the_users_skills_lie() {
    let told = |preset| {
        let world = World::new(preset);
        let made = world.make("pdf-tools", "pdf-tools", "Fills forms.");
        let told = |error: OwnError| error.to_string();
        let place = made.map(|made| made.location.strip_prefix(world.top()).unwrap().display().to_string());
        let seen = world.snapshot().get("pdf-tools").map(|skill| skill.status().as_str());
        format!("{preset}: {} {seen:?}\n", place.unwrap_or_else(told))
    };
    assert_snapshot!(Preset::ALL.map(told).concat());
}

#[test]
fn s000_13_an_id_is_made_to_fit_and_a_name_may_be_a_title() {
    let world = World::new(Preset::App);
    let made =
        world.make("Weekly Report!", "Weekly \"Report\" 2026", "Writes it:\nevery \\ Friday.").unwrap();
    assert_eq!(made.id, "weekly-report");
    assert_eq!(world.tree(""), [".agents/skills/weekly-report/SKILL.md"]);
    assert_snapshot!(world.text(".agents/skills/weekly-report/SKILL.md"));
    let snapshot = world.snapshot();
    let skill = snapshot.get("weekly-report").unwrap();
    assert_eq!(
        (skill.name().as_ref(), skill.description()),
        ("Weekly \"Report\" 2026", "Writes it: every \\ Friday.")
    );
}

#[test]
fn what_is_wrong_is_told_field_by_field() {
    let world = World::new(Preset::Standard);
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
    let told = cases.map(|(id, name, description)| {
        let Err(OwnError::Fields(fields)) = world.make(id, name, description) else { panic!("{id}") };
        let fields: Vec<_> =
            fields.iter().map(|field| format!("{}: {}", field.field, field.message)).collect();
        format!("{:?}\n  {}\n", &id[..id.len().min(20)], fields.join("\n  "))
    });
    assert_snapshot!(told.concat());
    assert!(world.tree("").is_empty() && world.tree("~/").is_empty());
}

#[test]
fn a_preset_that_wants_more_says_so_before_anything_is_written() {
    let world = World::new(Preset::Harness);
    let error = world.make("pdf", "Other Name", "D.").unwrap_err();
    assert_snapshot!(error);
    assert_eq!(error.code(), ErrorCode::InvalidParam);
    assert!(world.tree("~/").is_empty());
}

#[test]
fn instructions_come_along_and_can_be_anything() {
    let world = World::new(Preset::Standard);
    let body = "Do:\n---\nname: other\n---\nend";
    let new = NewSkill { id: "pdf", name: "pdf", description: "D.", body: Some(body) };
    make(&new, &world.place(), &world.policy.manifest).unwrap();
    assert_eq!(
        world.text("~/.agents/skills/pdf/SKILL.md"),
        format!("---\nname: pdf\ndescription: \"D.\"\n---\n\n{body}\n")
    );
}

#[test]
fn what_is_there_is_not_made_again() {
    let world = World::new(Preset::Standard);
    world
        .skill("~/.agents/skills/pdf")
        .link("~/.agents/skills/csv", "nowhere")
        .file("~/.agents/skills/x", "x");
    for id in ["pdf", "csv", "x"] {
        let error = world.make(id, id, "D.").unwrap_err();
        assert!(matches!(&error, OwnError::Exists(there) if there == id), "{error}");
    }
    assert_eq!(world.tree("~/.agents"), ["skills/csv", "skills/pdf/SKILL.md", "skills/x"]);
}

#[test]
fn of_two_that_make_one_skill_one_does() {
    let world = World::new(Preset::Standard);
    let made: Vec<bool> = std::thread::scope(|scope| {
        let made: Vec<_> = (0..8).map(|_| scope.spawn(|| world.make("pdf", "pdf", "D.").is_ok())).collect();
        made.into_iter().map(|made| made.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
    assert_eq!(world.tree("~/.agents"), ["skills/pdf/SKILL.md"]);
}

#[test]
fn s000_02_s000_14_only_the_users_own_are_changed() {
    let told = |preset, folder: &str| {
        let world = World::new(preset);
        world.skill(folder).skill("~/else/linked").link("~/.agents/skills/linked", "../../else/linked");
        let snapshot = world.snapshot();
        let mut told = format!("{preset}\n");
        for skill in snapshot.all() {
            let place = Place::of_own(skill, &world.policy, &world.surroundings());
            let place =
                place.map(|place| place.root.strip_prefix(world.top()).unwrap().display().to_string());
            told += &format!("  {}: {}\n", skill.id(), place.unwrap_or_else(|why| format!("no, {why}")));
            let id = skill.id();
            assert_eq!(world.delete(&id).is_ok(), world.snapshot().copies(&id).next().is_none(), "{id}");
        }
        told
    };
    assert_snapshot!(
        [
            told(Preset::App, ".agents/sys.skills/shipped"),
            told(Preset::App, ".agents/skills/own"),
            told(Preset::Standard, "~/.claude/skills/own"),
            told(Preset::Standard, "~/.agents/skills/group/own"),
            told(Preset::Harness, "~/.agent/plugins/plugin"),
            told(Preset::SkillTool, "skills/project"),
        ]
        .concat()
    );
    let mut world = World::new(Preset::Standard);
    world.skill("given/pdf");
    world.policy = world.policy.clone().with_roots([world.path("given")]);
    world.write("pdf", "x", b"x", Expected::Nothing).unwrap();
    world.make("csv", "csv", "D.").unwrap();
    world.delete("pdf").unwrap();
    assert_eq!(world.tree("given"), ["csv/SKILL.md"]);
}
