//! What a conversation remembers.

use prowess::ledger::{DEPTH_MAX, Ledger, LedgerError, Loaded};
use prowess::{ErrorCode, Preset};
use prowess_testing::library::{World, skill_md};

#[test]
fn s004_19_names_are_kept_in_order_and_nothing_of_the_bodies() {
    let mut ledger = Ledger::default();
    ledger.activated("b", "sha256:1");
    ledger.activated("a", "sha256:2");
    ledger.activated("b", "sha256:1");
    assert_eq!(ledger.names().collect::<Vec<_>>(), ["b", "a"]);
    let json = serde_json::to_string(&ledger).unwrap();
    assert_eq!(json, r#"[{"name":"b","digest":"sha256:1"},{"name":"a","digest":"sha256:2"}]"#);
    assert_eq!(serde_json::from_str::<Ledger>(&json).unwrap(), ledger);
    assert!(ledger.release("b") && !ledger.release("b"));
    assert_eq!(ledger.names().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn loading_again_gives_a_reminder_unless_it_changed() {
    let mut ledger = Ledger::default();
    assert_eq!(ledger.activated("pdf", "1").reminder("pdf"), None);
    insta::assert_snapshot!(
        ledger.activated("pdf", "1").reminder("pdf").unwrap(),
        @"The skill pdf is already loaded in this conversation and has not changed. Follow the instructions given before."
    );
    assert_eq!(ledger.activated("pdf", "2"), Loaded::Changed);
    assert_eq!(ledger.activated("pdf", "2"), Loaded::Again);
    ledger.release("pdf");
    assert_eq!(ledger.activated("pdf", "2"), Loaded::First);
}

#[test]
fn where_only_names_were_kept_each_is_shown_once_more() {
    let mut ledger = Ledger::from_names(["a".to_owned(), "b".to_owned(), "a".to_owned()]);
    assert_eq!(ledger.names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(ledger.activated("a", "1"), Loaded::First);
    assert_eq!(ledger.activated("a", "1"), Loaded::Again);
}

#[test]
fn after_a_conversation_was_shortened_current_instructions_are_shown_again() {
    let world = World::new(Preset::Chat);
    world.skill(".skills/a").skill(".skills/b").skill(".skills/c");
    let registry = world.registry();
    let mut ledger = Ledger::default();
    for name in ["c", "a", "gone"] {
        ledger.activated(name, "old");
    }
    world.file(".skills/a/SKILL.md", skill_md("a", "New."));
    let again = ledger.reinjection(&registry.snapshot(), |skill| {
        let activated = prowess::activate::activate(skill, None, registry.policy()).ok()?;
        Some((activated.content(), activated.digest().to_owned()))
    });
    assert_eq!(
        again.contents,
        [("c".to_owned(), "Do it.".to_owned()), ("a".to_owned(), "Do it.".to_owned())]
    );
    assert_eq!(again.gone, ["gone"]);
    assert_eq!(ledger.activated("a", "old"), Loaded::Changed, "it knows what was shown");
}

#[test]
fn s001_20_a_circle_is_refused_with_its_chain() {
    let ledger = Ledger::default();
    let a = ledger.enter("a").unwrap();
    let _b = ledger.enter("b").unwrap();
    let error = ledger.enter("a").unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidParam);
    insta::assert_snapshot!(error, @"the skills invoke each other in a circle: a → b → a");
    drop(a);
    assert!(ledger.enter("a").is_ok());
    assert!(ledger.enter("b").is_err());
}

#[test]
fn s001_20_the_depth_is_bounded() {
    let ledger = Ledger::default();
    let mut guards: Vec<_> = (0..DEPTH_MAX).map(|at| ledger.enter(&format!("s{at}")).unwrap()).collect();
    let error = ledger.enter("more").unwrap_err();
    assert!(matches!(&error, LedgerError::TooDeep { chain } if chain.len() == DEPTH_MAX + 1));
    assert_eq!(error.code(), ErrorCode::InvalidParam);
    guards.pop();
    assert!(ledger.enter("more").is_ok());
}
