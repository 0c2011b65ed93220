//! Short, colloquial requests over a small collection: how many right skills are first and said to fit, and how
//! many requests without a right skill are said to fit. Everything is deterministic, so the counts are exact.

use prowess_routing::{CONFIDENCE_MIN, LexicalIndex, SkillTexts};

const SKILLS: &str = include_str!("../requests/skills.txt");
const REQUESTS: &str = include_str!("../requests/requests.txt");

fn skills() -> Vec<SkillTexts> {
    let skill = |line: &str| {
        let (name, about) = line.split_once(": ").unwrap();
        SkillTexts { name: name.to_owned(), about: about.to_owned(), body: String::new() }
    };
    SKILLS.lines().map(skill).collect()
}

/// Returns the name of the first skill, and whether it is said to fit.
fn route<'s>(index: &LexicalIndex, skills: &'s [SkillTexts], request: &str) -> (&'s str, bool) {
    index
        .rank(request, 5)
        .first()
        .map_or(("", false), |first| (&skills[first.skill].name, first.confidence >= CONFIDENCE_MIN))
}

#[test]
fn colloquial_requests_are_routed() {
    let skills = skills();
    let index = LexicalIndex::new(&skills, SkillTexts::clone);
    let (mut with_skill, mut right, mut fitting, mut without_skill, mut activated) = (0, 0, 0, 0, 0);
    let mut missed = String::new();
    for line in REQUESTS.lines().filter(|line| !line.starts_with('#')) {
        let (expected, request) = line.split_once(" | ").unwrap();
        let (name, fits) = route(&index, &skills, request);
        if expected == "-" {
            without_skill += 1;
            activated += usize::from(fits);
        } else {
            with_skill += 1;
            right += usize::from(name == expected);
            fitting += usize::from(name == expected && fits);
        }
        let is_expected = if expected == "-" { !fits } else { fits && name == expected };
        if !is_expected {
            missed.push_str(&format!("{expected} | {request}: {name}\n"));
        }
    }
    insta::assert_snapshot!(format!(
        "{with_skill} requests with a skill: {right} right first, {fitting} said to fit\n\
             {without_skill} requests without a skill: {activated} said to fit\n\n\
             not as expected:\n{missed}"
    ));
}

#[test]
fn a_skill_that_is_removed_is_not_replaced() {
    let skills = skills();
    let (mut requests, mut activated) = (0, 0);
    for line in REQUESTS.lines().filter(|line| !line.starts_with(['#', '-'])) {
        let (expected, request) = line.split_once(" | ").unwrap();
        let others: Vec<SkillTexts> = skills.iter().filter(|skill| skill.name != expected).cloned().collect();
        let index = LexicalIndex::new(&others, SkillTexts::clone);
        requests += 1;
        activated += usize::from(route(&index, &others, request).1);
    }
    insta::assert_snapshot!(format!("{activated} of {requests} said to fit"), @"2 of 48 said to fit");
}

#[test]
fn contractions_do_not_match_letters() {
    let skill =
        |name: &str, about: &str| SkillTexts { name: name.into(), about: about.into(), body: String::new() };
    let skills =
        [skill("plan-s", "The s plan, the t plan, and d, m, re, ll and ve."), skill("pdf", "Merges files.")];
    let index = LexicalIndex::new(&skills, SkillTexts::clone);
    for message in ["what's up", "what’s up", "WHAT'S up", "don't", "we'll", "they're", "I'd", "I've", "I'm"]
    {
        assert_eq!(index.rank(message, 5), [], "{message}");
    }
    assert_eq!(index.rank("the s plan", 5).len(), 1);
}
