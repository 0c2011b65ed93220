//! The ledger of a conversation.

use prowess::ledger::{DEPTH_MAX, EnterSkillError, Ledger, LoadOutcome};
use prowess::{ErrorCode, Preset};
use prowess_testing::registry_env::{RegistryEnv, skill_md};

#[test]
fn s004_19_names_are_stored_in_order_without_bodies() {
    let mut ledger = Ledger::default();
    ledger.record_activation("b", "sha256:1");
    ledger.record_activation("a", "sha256:2");
    ledger.record_activation("b", "sha256:1");
    assert_eq!(ledger.names().collect::<Vec<_>>(), ["b", "a"]);
    let json = serde_json::to_string(&ledger).unwrap();
    assert_eq!(json, r#"[{"name":"b","digest":"sha256:1"},{"name":"a","digest":"sha256:2"}]"#);
    assert_eq!(serde_json::from_str::<Ledger>(&json).unwrap(), ledger);
    assert!(ledger.remove("b") && !ledger.remove("b"));
    assert_eq!(ledger.names().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn loading_an_unchanged_skill_again_returns_a_reminder() {
    let mut ledger = Ledger::default();
    assert_eq!(ledger.record_activation("pdf", "1").reminder("pdf"), None);
    insta::assert_snapshot!(
        ledger.record_activation("pdf", "1").reminder("pdf").unwrap(),
        @"The skill pdf is already loaded in this conversation and has not changed. Follow the instructions given earlier."
    );
    assert_eq!(ledger.record_activation("pdf", "2"), LoadOutcome::Changed);
    assert_eq!(ledger.record_activation("pdf", "2"), LoadOutcome::Unchanged);
    ledger.remove("pdf");
    assert_eq!(ledger.record_activation("pdf", "2"), LoadOutcome::New);
}

#[test]
fn forgotten_instructions_are_shown_once_more() {
    let mut ledger = Ledger::default();
    for name in ["docs/pdf", "a"] {
        ledger.record_activation(name, "1");
    }
    ledger.pin_file_set("docs/pdf", Some("files"));
    ledger.forget_instructions("a");
    assert_eq!(ledger.record_activation("a", "1"), LoadOutcome::New);
    assert_eq!(ledger.record_activation("docs/pdf", "1"), LoadOutcome::Unchanged);
    assert!(ledger.has_file_set("docs/pdf") && !ledger.has_file_set("a"));
}

#[test]
fn restored_names_are_shown_once_more() {
    let mut ledger = Ledger::from_names(["a".to_owned(), "b".to_owned(), "a".to_owned()]);
    assert_eq!(ledger.names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(ledger.record_activation("a", "1"), LoadOutcome::New);
    assert_eq!(ledger.record_activation("a", "1"), LoadOutcome::Unchanged);
}

#[test]
fn after_compaction_current_instructions_are_shown_again() {
    let env = RegistryEnv::new(Preset::Chat);
    env.skill(".skills/a").skill(".skills/b").skill(".skills/c");
    let registry = env.registry();
    let mut ledger = Ledger::default();
    for name in ["c", "a", "gone"] {
        ledger.record_activation(name, "old");
    }
    env.file(".skills/a/SKILL.md", skill_md("a", "New."));
    ledger.record_activation("b", "old");
    let again = ledger.collect_reinjection(
        &registry.snapshot(),
        |name| name != "b",
        |skill| {
            let activated = prowess::activation::activate(skill, None, registry.policy()).ok()?;
            Some((activated.content(), activated.digest().to_owned()))
        },
    );
    assert_eq!(
        again.contents,
        [("c".to_owned(), "Do it.".to_owned()), ("a".to_owned(), "Do it.".to_owned())]
    );
    assert_eq!(again.unavailable, ["gone"]);
    assert_eq!(
        ledger.record_activation("a", "old"),
        LoadOutcome::Changed,
        "the ledger recorded the new digest"
    );
    assert_eq!(ledger.record_activation("b", "old"), LoadOutcome::Unchanged, "it was not removed");
    assert_eq!(ledger.record_activation("gone", "old"), LoadOutcome::New, "it was removed");
}

#[test]
fn s001_20_a_cycle_is_rejected_with_its_chain() {
    let ledger = Ledger::default();
    let a = ledger.enter("a").unwrap();
    let _b = ledger.enter("b").unwrap();
    let error = ledger.enter("a").unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidParam);
    insta::assert_snapshot!(error, @"skills invoke each other in a cycle: a → b → a");
    drop(a);
    assert!(ledger.enter("a").is_ok());
    assert!(ledger.enter("b").is_err());
}

#[test]
fn s001_20_the_depth_is_bounded() {
    let ledger = Ledger::default();
    let mut guards: Vec<_> = (0..DEPTH_MAX).map(|at| ledger.enter(&format!("s{at}")).unwrap()).collect();
    let error = ledger.enter("more").unwrap_err();
    assert!(matches!(&error, EnterSkillError::TooDeep { chain } if chain.len() == DEPTH_MAX + 1));
    assert_eq!(error.code(), ErrorCode::InvalidParam);
    guards.pop();
    assert!(ledger.enter("more").is_ok());
}
