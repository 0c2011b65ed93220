//! Prompts on a terminal: selection, conflicts, new capabilities.

use crate::support::terminal::TerminalSession;
use crate::support::{CHANGING, DROPPER, HIGH, TestEnv, skill_md};
use insta::{assert_snapshot, with_settings};

fn env() -> TestEnv {
    let env = TestEnv::bare().variable("NO_COLOR", "1");
    env.skill_with_description("~/many/skills/csv", "Reads tables.")
        .skill_with_description("~/many/skills/pdf", "Fills forms.")
        .skill_with_description("~/many/skills/xml", "Reads trees.");
    env
}

#[test]
fn selecting_skills_of_a_source() {
    let env = env();
    let mut session = TerminalSession::start(&env, &["install", "~/many"]);
    session.until("esc cancels");
    assert_snapshot!(env.redact(&session.seen().replace("\r\n", "\n").replace('\u{1b}', "␛")));
    // The first one, and the one that a search finds.
    session
        .keys(" ")
        .until("1 selected")
        .keys("tre")
        .until("search: tre")
        .keys(" ")
        .until("2 selected")
        .keys("\r");
    assert_eq!(session.end().1, 0);
    assert_eq!(env.tree("~/.agents/skills"), ["csv/SKILL.md", "xml/SKILL.md"]);
    // Nothing is selected, or the user cancels.
    for keys in ["\r", "\u{1b}", "  \r", "zzz \r"] {
        let mut session = TerminalSession::start(&env, &["install", "~/many"]);
        session.until("esc cancels").keys(keys);
        let (seen, code) = session.end();
        assert!(code != 0 && seen.contains("error: no skills selected"), "{keys:?}: {code} {seen}");
        assert!(session.is_cooked(), "the terminal is restored");
    }
    // All of them, with the cursor keys.
    let mut session = TerminalSession::start(&env, &["install", "~/many"]);
    session.until("esc cancels").keys("\u{1b}[C").until("3 selected").keys("\u{1b}[B\u{1b}[B\r");
    assert_eq!(session.end().1, 0);
    assert_eq!(env.tree("~/.agents/skills").len(), 3);
}

#[test]
fn resolving_a_conflict() {
    let env = env();
    env.skill("~/other/csv");
    assert_eq!(env.run(&["install", "~/many", "--skill", "csv"]).code, 0);
    let ask = |answer: &str| {
        let mut session = TerminalSession::start(&env, &["install", "~/other/csv"]);
        session.until("[s]kip csv? ").answer("what").until("[s]kip csv? ").answer(answer).transcript()
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(format!("{}\n{}\n{}", ask("s"), ask("r"), ask("o")));
    });
    assert_eq!(env.tree("~/.agents/skills"), ["csv-2/SKILL.md", "csv/SKILL.md"]);
    assert_eq!(env.text("~/.agents/skills/csv-2/SKILL.md"), skill_md("csv-2", "Does csv."));
    assert_eq!(env.text("~/.agents/skills/csv/SKILL.md"), skill_md("csv", "Does csv."));
}

#[test]
fn an_update_with_new_capabilities() {
    let env = env();
    assert_eq!(env.run(&["install", "~/many", "--skill", "pdf"]).code, 0);
    env.file("~/many/skills/pdf/scripts/fill.sh", "#!/bin/sh\ncurl https://forms.example/new\n");
    let ask = |answer: &str| {
        TerminalSession::start(&env, &["update"])
            .until("Install the update? [y/N] ")
            .answer(answer)
            .transcript()
    };
    assert_snapshot!(format!("{}\n{}", ask(""), ask("y")));
    assert_eq!(env.tree("~/.agents/skills"), ["pdf/SKILL.md", "pdf/scripts/fill.sh"]);
}

#[test]
fn a_skill_that_the_audit_rejects() {
    let env = env();
    env.file("~/shelf/bad/SKILL.md", DROPPER);
    let ask = |answer: &str| {
        let mut session = TerminalSession::start(&env, &["install", "~/shelf/bad"]);
        session.until("Install it anyway? [y/N] ").answer(answer).transcript()
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(format!("{}\n{}", ask("n"), ask("yes")));
    });
}

#[test]
fn removing_a_skill_that_was_not_installed() {
    let env = env();
    env.skill("~/.agents/skills/mine");
    let ask = |answer: &str| {
        TerminalSession::start(&env, &["remove", "mine"])
            .until("permanently? [y/N] ")
            .answer(answer)
            .transcript()
    };
    assert_snapshot!(format!("{}\n{}", ask("n"), ask("y")));
    assert_eq!(env.tree("~/.agents"), Vec::<String>::new());
}

#[test]
fn ctrl_c_at_a_prompt_leaves_nothing_behind() {
    let env = env();
    let mut session = TerminalSession::start(&env, &["install", "~/many"]);
    session.until("Which skills?");
    rustix::process::kill_process(session.id(), rustix::process::Signal::INT).unwrap();
    let (seen, code) = session.end();
    assert_eq!(code, 130, "{seen}");
    assert_eq!(env.tree("~/.agents"), Vec::<String>::new());
}

#[test]
fn high_findings_are_shown_before_the_prompt() {
    let env = env();
    env.file("~/shelf/root/SKILL.md", HIGH);
    let ask = |answer: &str| {
        let mut session = TerminalSession::start(&env, &["install", "~/shelf/root"]);
        session.until("Install it? [y/N] ").answer(answer).transcript()
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(ask("n"));
        assert_eq!(env.tree("~/.agents"), Vec::<String>::new());
        assert_snapshot!("high_findings_that_are_confirmed", ask("y"));
    });
    assert_eq!(env.tree("~/.agents/skills"), ["root/SKILL.md"]);
}
