use super::super::confidence::CONFIDENCE_MIN;
use super::*;
use proptest::prelude::*;

fn skill(name: &str, about: &str, body: &str) -> SkillTexts {
    SkillTexts { name: name.into(), about: about.into(), body: body.into() }
}

fn ranked(skills: &[SkillTexts], query: &str) -> Vec<String> {
    let index = LexicalIndex::new(skills, SkillTexts::clone);
    index.rank(query, 9).iter().map(|ranked| skills[ranked.skill].name.clone()).collect()
}

#[test]
fn the_name_counts_more_than_the_description_and_the_body() {
    let skills = [
        skill("weather", "Tells the forecast", "Ask a station."),
        skill("notes", "Writes things down", "A pdf is fine."),
        skill("pdf", "Merges documents", "Use it."),
    ];
    assert_eq!(ranked(&skills, "PDF?"), ["pdf", "notes"]);
    assert_eq!(ranked(&skills, "nothing of the sort at all").len(), 1);
    assert_eq!(ranked(&[], "pdf"), [] as [&str; 0]);
}

#[test]
fn inflected_words_and_words_of_other_languages_are_found() {
    let skills =
        [skill("a", "Merges documents", ""), skill("b", "Downloads articles", ""), skill("c", "x", "")];
    assert_eq!(ranked(&skills, "merging of a document")[0], "a");
    assert_eq!(ranked(&skills, "下载文章"), ["b"]);
}

#[test]
fn equal_scores_keep_their_order() {
    let skills = [skill("b", "same 1", ""), skill("c", "same 2", ""), skill("a", "same 3", "")];
    assert_eq!(ranked(&skills, "same"), ["b", "c", "a"]);
}

#[test]
fn a_word_that_every_skill_has_finds_them() {
    let skills: Vec<_> = (0..300).map(|n| skill(&format!("s{n}"), "Does many things", "")).collect();
    assert_eq!(ranked(&skills, "many things").len(), 9);
}

#[test]
fn copies_come_after_different_skills() {
    let skills = [
        skill("pdf", "Merges pdf files", "x"),
        skill("pdf-2", "Merges pdf files", "x"),
        skill("notes", "Merges notes", "y"),
    ];
    assert_eq!(ranked(&skills, "merge pdf files"), ["pdf", "notes", "pdf-2"]);
}

#[test]
fn near_copies_come_after_different_skills() {
    let body = |from: u32| (from..from + 60).map(|n| format!("step{n} of{} ", n % 7)).collect::<String>();
    let skills = [
        skill("pdf", "Merges pdf files", &body(0)),
        skill("pdf-2", "Merges pdf files", &(body(0) + "and more")),
        skill("notes", "Merges notes", &body(100)),
    ];
    assert_eq!(ranked(&skills, "merge pdf files"), ["pdf", "notes", "pdf-2"]);
    let index = LexicalIndex::new(&skills, SkillTexts::clone);
    let last = &index.rank("merge pdf files", 9)[2];
    assert_eq!(last.reasons.last().unwrap(), "nearly the same text as another");
}

#[test]
fn small_talk_has_low_confidence_and_a_request_has_high_confidence() {
    let skills = [
        skill(
            "pdf",
            "Merges and splits pdf files. Use when pages are to be put together.",
            "Use good tools.",
        ),
        skill("weather", "The forecast for a good morning.", "Ask a station."),
    ];
    let index = LexicalIndex::new(&skills, SkillTexts::clone);
    let confidence = |query: &str| index.rank(query, 1).first().map_or(0.0, |first| first.confidence);
    for message in [
        "hi",
        "good evening to you",
        "thank you, that was great",
        "what do you think about life?",
        "ok, tell me more",
    ] {
        assert!(confidence(message) < CONFIDENCE_MIN, "{message}: {}", confidence(message));
    }
    for request in
        ["merge these pdf files", "what is the weather forecast?", "put the pages of two pdf files together"]
    {
        assert!(confidence(request) >= CONFIDENCE_MIN, "{request}: {}", confidence(request));
    }
}

proptest! {
    #[test]
    fn the_best_k_are_a_prefix_of_all(abouts in prop::collection::vec("[ab ]{0,9}", 0..9), k in 0usize..9) {
        let skills: Vec<_> = abouts.iter().map(|about| skill("x", about, "")).collect();
        let index = LexicalIndex::new(&skills, SkillTexts::clone);
        let all = index.rank("a b ab", usize::MAX);
        prop_assert_eq!(&index.rank("a b ab", k)[..], &all[..k.min(all.len())]);
    }
}
