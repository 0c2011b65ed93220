use super::*;
use crate::{LexicalIndex, SkillTexts};
use proptest::prelude::*;

fn skill(name: &str, about: &str) -> SkillTexts {
    SkillTexts { name: name.into(), about: about.into(), body: "Do it with care.".into() }
}

fn skills() -> Vec<SkillTexts> {
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

fn ranking(index: &LexicalIndex, skills: &[SkillTexts], message: &str) -> String {
    let lines = index.rank(message, 4).into_iter().map(|found| {
        format!("{} {:.1}: {}", skills[found.skill].name, found.score, found.reasons.join("; "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn rankings(messages: &[&str]) -> String {
    let skills = skills();
    let index = LexicalIndex::new(&skills, SkillTexts::clone);
    messages.iter().map(|message| format!("> {message}\n{}\n", ranking(&index, &skills, message))).collect()
}

#[test]
fn typos_find_names_and_the_reason_shows_it() {
    insta::assert_snapshot!(rankings(&[
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
fn prefixes_find_names_and_the_reason_shows_it() {
    insta::assert_snapshot!(rankings(&[
        "kube*",
        "what of *kube*",
        "roll out with kubern",
        "roll out with kubern.",
        "inv"
    ]));
}

#[test]
fn phrases_come_first_and_the_reason_shows_it() {
    insta::assert_snapshot!(rankings(&[
        "merge my invoices",
        "say “merge invoices” now",
        "use \"kubernetes deploy\"",
        "「merge the invoices」",
    ]));
}

#[test]
fn each_expansion_can_be_disabled() {
    let skills = skills();
    let index = || LexicalIndex::new(&skills, SkillTexts::clone);
    assert_eq!(ranking(&index().without(QueryExpansion::Typos), &skills, "the kuberntes"), "");
    assert_eq!(ranking(&index().without(QueryExpansion::Prefixes), &skills, "kubern*"), "");
    let plain = index().without(QueryExpansion::Phrases);
    assert!(!ranking(&plain, &skills, "\"merge invoices\"").contains("phrase"));
}

#[test]
fn possible_typos() {
    for word in ["code", "über", "oauth2"] {
        assert!(may_be_typo(word), "{word}");
    }
    for word in ["pdf", "k8ss", "2024", "a1b2c3d4", "翻译文档", "v12345"] {
        assert!(!may_be_typo(word), "{word}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Words that skills contain are never replaced: disabling the expansions changes nothing.
    #[test]
    fn correct_spelling_gives_the_same_result(picked in prop::collection::vec(0usize..9, 1..6)) {
        let words = ["kubernetes", "deploy", "services", "commands", "bills", "merge", "mode", "with", "invoices"];
        let message = picked.iter().map(|at| words[*at]).collect::<Vec<_>>().join(" ");
        let skills = skills();
        let all = LexicalIndex::new(&skills, SkillTexts::clone);
        let none = LexicalIndex::new(&skills, SkillTexts::clone).without(QueryExpansion::Typos).without(QueryExpansion::Prefixes);
        prop_assert_eq!(all.rank(&message, 9), none.rank(&message, 9));
    }

    #[test]
    fn an_extra_or_missing_letter_is_tolerated(name in "[a-z]{8,12}", at in 0usize..8, letter in "[a-z]") {
        let skills = [skill(&name, "Something."), skill("other", "Else.")];
        let index = LexicalIndex::new(&skills, SkillTexts::clone);
        let less = format!("{}{}", &name[..at], &name[at + 1..]);
        let more = format!("{}{letter}{}", &name[..at], &name[at..]);
        for message in [less, more].iter().filter(|message| **message != name) {
            let first = index.rank(message, 1).first().map(|found| found.skill);
            prop_assert_eq!(first, Some(0), "{} for {}", message, name);
        }
    }

    #[test]
    fn any_message_is_handled(message in "\\PC{0,80}") {
        let skills = skills();
        LexicalIndex::new(&skills, SkillTexts::clone).rank(&message, 9);
    }
}
