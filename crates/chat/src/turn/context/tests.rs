use proptest::prelude::*;
use prowess::{Policy, Registry};
use serde_json::json;

use super::*;
use crate::provider::{Call, CallResult};

fn exchange(words: usize, skills: &[&str]) -> Exchange {
    let user = "a question ".repeat(words);
    let entries = vec![Entry::Assistant { text: "an answer ".repeat(words), calls: Vec::new() }];
    let cost = tokens::count(&user) + entries.iter().map(cost).sum::<usize>();
    Exchange { user, entries, skills: skills.iter().map(|name| (*name).to_owned()).collect(), cost }
}

fn step(context: &mut Context, number: usize, words: usize) {
    let (id, name) = (format!("c{number}"), "t".to_owned());
    let call = Call { id: id.clone(), name: name.clone(), arguments: json!({"n": number}) };
    context.add(Entry::Assistant { text: String::new(), calls: vec![call] }, Stays::No);
    let result = CallResult { id, name, text: "a result ".repeat(words), failed: false };
    context.add(Entry::Results(vec![result]), Stays::No);
}

/// What the model would be charged for.
fn charged(entries: &[Entry]) -> usize {
    entries.iter().map(cost).sum()
}

#[test]
fn what_fits_is_left_alone() {
    let mut context = Context { past: vec![exchange(5, &[]), exchange(5, &[])], ..Context::default() };
    context.add(Entry::User("now".to_owned()), Stays::Yes);
    let before = context.entries();
    context.fit(10_000, None, &mut Session::default()).unwrap();
    assert_eq!((context.entries(), context.left_out.len()), (before, 0));
}

#[test]
fn a_skill_that_is_still_held_is_not_put_in_again() {
    let toolbox = Toolbox::new(std::sync::Arc::new(Registry::open(Policy::default()).unwrap()));
    let mut session = Session::default();
    session.ledger =
        Ledger::from_names(["hello-world".to_owned(), "code-review".to_owned(), "gone".to_owned()]);
    let past = vec![exchange(40, &["hello-world"]), exchange(400, &[]), exchange(5, &["code-review"])];
    let mut context = Context { past, ..Context::default() };
    context.add(Entry::User("now".to_owned()), Stays::Yes);
    context.fit(900, Some(&toolbox), &mut session).unwrap();
    let again: Vec<_> = context.again.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!((again, context.past.len()), (vec!["hello-world"], 1));
    // What is put in again is known again: the model is reminded, not shown it twice.
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
    fn it_fits_or_says_why_not(
        past in proptest::collection::vec(1_usize..60, 0..12),
        now in proptest::collection::vec(0_usize..120, 0..6),
        said in 1_usize..60,
        room in 0_usize..2_000,
    ) {
        let mut context = Context { past: past.iter().map(|words| exchange(*words, &[])).collect(), ..Context::default() };
        context.add(Entry::User("a message ".repeat(said)), Stays::Yes);
        for (number, words) in now.iter().enumerate() {
            step(&mut context, number, *words);
        }
        let whole = context.entries().len();
        match context.fit(room, None, &mut Session::default()) {
            Ok(()) => {
                let entries = context.entries();
                prop_assert!(context.cost() <= room);
                // The estimate of the parts is never far below the cost of the whole.
                prop_assert!(charged(&entries) <= room + 2 * OVERHEAD, "{} > {room}", charged(&entries));
                prop_assert!(matches!(entries.first(), Some(Entry::User(_))));
                prop_assert_eq!(context.left_out.len() + context.past.len(), past.len());
                prop_assert_eq!(entries.len(), whole - 2 * context.left_out.len());
            }
            Err(ModelError::TooLong(message)) => {
                prop_assert!(context.past.is_empty());
                prop_assert!(message.contains(&room.to_string()));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
