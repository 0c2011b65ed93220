use proptest::prelude::*;
use prowess::ledger::Ledger;
use prowess::{Policy, Registry};
use serde_json::json;

use super::*;
use crate::provider::{ToolInvocation, ToolOutput};

fn exchange(words: usize, skills: &[&str]) -> Exchange {
    let user = "a question ".repeat(words);
    let entries = vec![ConversationEntry::Assistant {
        text: "an answer ".repeat(words),
        thinking: Vec::new(),
        calls: Vec::new(),
    }];
    let cost = tokens::count(&user) + entries.iter().map(entry_cost).sum::<usize>();
    Exchange {
        ids: Vec::new(),
        user,
        entries,
        skills: skills.iter().map(|name| (*name).to_owned()).collect(),
        cost,
    }
}

fn step(context: &mut ConversationContext, number: usize, words: usize) {
    let (id, name) = (format!("c{number}"), "t".to_owned());
    let call = ToolInvocation { id: id.clone(), name: name.clone(), arguments: json!({"n": number}) };
    context.add(
        ConversationEntry::Assistant { text: String::new(), thinking: Vec::new(), calls: vec![call] },
        Retention::Shortenable,
    );
    let result = ToolOutput { id, name, text: "a result ".repeat(words), failed: false };
    context.add(ConversationEntry::Results(vec![result]), Retention::Shortenable);
}

fn total_tokens(entries: &[ConversationEntry]) -> usize {
    entries.iter().map(entry_cost).sum()
}

#[test]
fn a_conversation_that_fits_is_unchanged() {
    let mut context = ConversationContext {
        past: vec![exchange(5, &[]), exchange(5, &[])],
        ..ConversationContext::default()
    };
    context.add(ConversationEntry::User("now".to_owned()), Retention::Required);
    let before = context.entries();
    context.fit(10_000, None, &mut Session::default()).unwrap();
    assert_eq!((context.entries(), context.dropped.len()), (before, 0));
}

#[test]
fn a_skill_that_is_still_present_is_not_added_again() {
    let toolbox = Toolbox::new(std::sync::Arc::new(Registry::open(Policy::default()).unwrap()));
    let mut session = Session::default();
    session.ledger =
        Ledger::from_names(["hello-world".to_owned(), "code-review".to_owned(), "gone".to_owned()]);
    let past = vec![exchange(40, &["hello-world"]), exchange(400, &[]), exchange(5, &["code-review"])];
    let mut context = ConversationContext { past, ..ConversationContext::default() };
    context.add(ConversationEntry::User("now".to_owned()), Retention::Required);
    context.fit(900, Some(&toolbox), &mut session).unwrap();
    let reinjected: Vec<_> = context.reinjected.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!((reinjected, context.past.len()), (vec!["hello-world"], 1));
    // The digest is known again, so the model gets a reminder if it loads the skill again.
    let digest = |name: &str| {
        serde_json::to_value(&session.ledger)
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .find(|entry| entry["name"] == name)
            .unwrap()["digest"]
            .is_string()
    };
    assert!(digest("hello-world") && !digest("gone"));
    assert_eq!(session.ledger.names().count(), 3, "no name is lost");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_conversation_fits_or_an_error_is_returned(
        past in proptest::collection::vec(1_usize..60, 0..12),
        steps in proptest::collection::vec(0_usize..120, 0..6),
        message in 1_usize..60,
        budget in 0_usize..2_000,
    ) {
        let mut context = ConversationContext { past: past.iter().map(|words| exchange(*words, &[])).collect(), ..ConversationContext::default() };
        context.add(ConversationEntry::User("a message ".repeat(message)), Retention::Required);
        for (number, words) in steps.iter().enumerate() {
            step(&mut context, number, *words);
        }
        let full_len = context.entries().len();
        match context.fit(budget, None, &mut Session::default()) {
            Ok(()) => {
                let entries = context.entries();
                prop_assert!(context.total_cost() <= budget);
                // The estimate of the parts is close to the cost of the whole.
                prop_assert!(total_tokens(&entries) <= budget + 2 * OVERHEAD, "{} > {budget}", total_tokens(&entries));
                prop_assert!(matches!(entries.first(), Some(ConversationEntry::User(_))));
                prop_assert_eq!(context.dropped.len() + context.past.len(), past.len());
                prop_assert_eq!(entries.len(), full_len - 2 * context.dropped.len());
            }
            Err(ModelError::TooLong(message)) => {
                prop_assert!(context.past.is_empty());
                prop_assert!(message.contains(&budget.to_string()));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
