use super::*;
use crate::{Lexical, Texts};
use proptest::prelude::*;

fn skill(name: &str, about: &str) -> Texts {
    Texts { name: name.into(), about: about.into(), body: "Do it with care.".into() }
}

fn skills() -> Vec<Texts> {
    vec![
        skill("kubernetes-deploy", "Rolls out services."),
        skill("kubectl-help", "Explains commands."),
        skill("invoice-merge", "Puts bills together. Say \"merge invoices\" to begin."),
        skill(
            "invoices",
            "Keeps many of them in order, also those of last year. Others merge what belongs together.",
        ),
        skill("übersetzung", "Translates."),
        skill("mode", "Says what it is."),
    ]
}

fn told(index: &Lexical, skills: &[Texts], message: &str) -> String {
    let lines = index.rank(message, 4).into_iter().map(|found| {
        format!("{} {:.1}: {}", skills[found.skill].name, found.score, found.reasons.join("; "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn all_told(messages: &[&str]) -> String {
    let skills = skills();
    let index = Lexical::new(&skills, Texts::clone);
    messages.iter().map(|message| format!("> {message}\n{}\n", told(&index, &skills, message))).collect()
}

#[test]
fn mistyped_words_find_names_and_the_reason_says_so() {
    insta::assert_snapshot!(all_told(&[
        "kuberntes",
        "please deploy to kuberentes",
        "ÜBERSETZNUG bitte",
        "fix the invocie",
        "kbe",
        "a `modd` in prose",
        "```\nkuberntes\n```",
    ]));
}

#[test]
fn beginnings_find_names_and_the_reason_says_so() {
    insta::assert_snapshot!(all_told(&[
        "kube*",
        "what of *kube*",
        "roll out with kubern",
        "roll out with kubern.",
        "inv"
    ]));
}

#[test]
fn phrases_come_first_and_the_reason_says_so() {
    insta::assert_snapshot!(all_told(&[
        "merge my invoices",
        "say “merge invoices” now",
        "use \"kubernetes deploy\"",
        "「merge the invoices」",
    ]));
}

#[test]
fn each_can_be_left_out() {
    let skills = skills();
    let index = || Lexical::new(&skills, Texts::clone);
    assert_eq!(told(&index().without(Beyond::Typos), &skills, "the kuberntes"), "");
    assert_eq!(told(&index().without(Beyond::Prefixes), &skills, "kubern*"), "");
    let plain = index().without(Beyond::Phrases);
    assert!(!told(&plain, &skills, "\"merge invoices\"").contains("phrase"));
}

#[test]
fn what_may_be_mistyped() {
    for word in ["code", "über", "oauth2"] {
        assert!(may_be_mistyped(word), "{word}");
    }
    for word in ["pdf", "k8ss", "2024", "a1b2c3d4", "翻译文档", "v12345"] {
        assert!(!may_be_mistyped(word), "{word}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Words that skills have are never taken for others: leaving it out changes nothing.
    #[test]
    fn what_is_spelled_right_is_answered_as_before(picked in prop::collection::vec(0usize..9, 1..6)) {
        let words = ["kubernetes", "deploy", "services", "commands", "bills", "merge", "mode", "with", "invoices"];
        let message = picked.iter().map(|at| words[*at]).collect::<Vec<_>>().join(" ");
        let skills = skills();
        let all = Lexical::new(&skills, Texts::clone);
        let none = Lexical::new(&skills, Texts::clone).without(Beyond::Typos).without(Beyond::Prefixes);
        prop_assert_eq!(all.rank(&message, 9), none.rank(&message, 9));
    }

    #[test]
    fn a_letter_more_or_less_is_forgiven(name in "[a-z]{8,12}", at in 0usize..8, letter in "[a-z]") {
        let skills = [skill(&name, "Something."), skill("other", "Else.")];
        let index = Lexical::new(&skills, Texts::clone);
        let less = format!("{}{}", &name[..at], &name[at + 1..]);
        let more = format!("{}{letter}{}", &name[..at], &name[at..]);
        for message in [less, more].iter().filter(|message| **message != name) {
            let first = index.rank(message, 1).first().map(|found| found.skill);
            prop_assert_eq!(first, Some(0), "{} for {}", message, name);
        }
    }

    #[test]
    fn whatever_is_asked(message in "\\PC{0,80}") {
        let skills = skills();
        Lexical::new(&skills, Texts::clone).rank(&message, 9);
    }
}
