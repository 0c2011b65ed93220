//! Questions on a terminal: which of several, what to do about a name that is taken, more than before.

use crate::world::terminal::Dialogue;
use crate::world::{CHANGING, DROPPER, HIGH, World, skill_md};
use insta::{assert_snapshot, with_settings};

fn world() -> World {
    let world = World::bare().variable("NO_COLOR", "1");
    world
        .described("~/many/skills/csv", "Reads tables.")
        .described("~/many/skills/pdf", "Fills forms.")
        .described("~/many/skills/xml", "Reads trees.");
    world
}

#[test]
fn which_of_several() {
    let world = world();
    let mut dialogue = Dialogue::start(&world, &["install", "~/many"]);
    dialogue.until("Which?").answer("4").until("Which?").answer("1 xml");
    assert_snapshot!(dialogue.whole());
    assert_eq!(world.tree("~/.agents/skills"), ["csv/SKILL.md", "xml/SKILL.md"]);
    let mut dialogue = Dialogue::start(&world, &["install", "~/many"]);
    assert_snapshot!("none_of_them", dialogue.until("Which?").answer("").whole());
    let mut dialogue = Dialogue::start(&world, &["install", "~/many"]);
    dialogue.until("Which?").answer("all");
    assert_eq!(dialogue.end().1, 0);
    assert_eq!(world.tree("~/.agents/skills").len(), 3);
}

#[test]
fn rename_overwrite_or_skip() {
    let world = world();
    world.skill("~/other/csv");
    assert_eq!(world.run(&["install", "~/many", "--skill", "csv"]).code, 0);
    let ask = |answer: &str| {
        let mut dialogue = Dialogue::start(&world, &["install", "~/other/csv"]);
        dialogue.until("[s]kip csv? ").answer("what").until("[s]kip csv? ").answer(answer).whole()
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(format!("{}\n{}\n{}", ask("s"), ask("r"), ask("o")));
    });
    assert_eq!(world.tree("~/.agents/skills"), ["csv-2/SKILL.md", "csv/SKILL.md"]);
    assert_eq!(world.text("~/.agents/skills/csv-2/SKILL.md"), skill_md("csv-2", "Does csv."));
    assert_eq!(world.text("~/.agents/skills/csv/SKILL.md"), skill_md("csv", "Does csv."));
}

#[test]
fn more_than_before() {
    let world = world();
    assert_eq!(world.run(&["install", "~/many", "--skill", "pdf"]).code, 0);
    world.file("~/many/skills/pdf/scripts/fill.sh", "#!/bin/sh\ncurl https://forms.example/new\n");
    let ask =
        |answer: &str| Dialogue::start(&world, &["update"]).until("Update it? [y/N] ").answer(answer).whole();
    assert_snapshot!(format!("{}\n{}", ask(""), ask("y")));
    assert_eq!(world.tree("~/.agents/skills"), ["pdf/SKILL.md", "pdf/scripts/fill.sh"]);
}

#[test]
fn what_the_audit_refuses() {
    let world = world();
    world.file("~/shelf/bad/SKILL.md", DROPPER);
    let ask = |answer: &str| {
        let mut dialogue = Dialogue::start(&world, &["install", "~/shelf/bad"]);
        dialogue.until("Install it all the same? [y/N] ").answer(answer).whole()
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(format!("{}\n{}", ask("n"), ask("yes")));
    });
}

#[test]
fn removing_what_was_made() {
    let world = world();
    world.skill("~/.agents/skills/mine");
    let ask = |answer: &str| {
        Dialogue::start(&world, &["remove", "mine"]).until("for good? [y/N] ").answer(answer).whole()
    };
    assert_snapshot!(format!("{}\n{}", ask("n"), ask("y")));
    assert_eq!(world.tree("~/.agents"), Vec::<String>::new());
}

#[test]
fn ctrl_c_at_a_question_leaves_nothing() {
    let world = world();
    let mut dialogue = Dialogue::start(&world, &["install", "~/many"]);
    dialogue.until("Which?");
    rustix::process::kill_process(dialogue.id(), rustix::process::Signal::INT).unwrap();
    let (seen, code) = dialogue.end();
    assert_eq!(code, 2, "{seen}");
    assert_eq!(world.tree("~/.agents"), Vec::<String>::new());
}

#[test]
fn high_findings_are_shown_before_the_question() {
    let world = world();
    world.file("~/shelf/root/SKILL.md", HIGH);
    let ask = |answer: &str| {
        let mut dialogue = Dialogue::start(&world, &["install", "~/shelf/root"]);
        dialogue.until("Install it? [y/N] ").answer(answer).whole()
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(ask("n"));
        assert_eq!(world.tree("~/.agents"), Vec::<String>::new());
        assert_snapshot!("high_findings_that_are_confirmed", ask("y"));
    });
    assert_eq!(world.tree("~/.agents/skills"), ["root/SKILL.md"]);
}
