use super::*;
use crate::edit_distance::CompareMode;
use crate::words::for_each_term;
use proptest::prelude::*;

fn texts(name: &str, about: &str, body: &str) -> SkillTexts {
    SkillTexts { name: name.into(), about: about.into(), body: body.into() }
}

fn weighted_terms(text: &str) -> Vec<WeightedTerm> {
    let mut weighted = Vec::new();
    for_each_term(text, |term| weighted.push(WeightedTerm { term, weight: 1.0 }));
    weighted
}

/// Returns the skill and score of each result.
fn found(index: &Index, text: &str, k: usize) -> Vec<(u32, f32)> {
    let terms = weighted_terms(text);
    let stats = index.term_stats(&terms).unwrap();
    let mut found: Vec<_> =
        index.search(&terms, &stats, k).unwrap().iter().map(|found| (found.skill, found.score)).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found
}

fn segment(skills: &[SkillTexts]) -> Segment {
    let numbered: Vec<(u64, &SkillTexts)> = (0..).zip(skills).collect();
    Segment::open(SegmentSource::Memory(build(&numbered, |(number, texts)| (*number, (*texts).clone()))))
        .unwrap()
}

prop_compose! {
    /// Some words occur in nearly every skill, so that long lists are skipped.
    fn skills()(seeds in prop::collection::vec((0u32..40, 0u32..9, 0u32..4), 1..400)) -> Vec<SkillTexts> {
        seeds.iter().map(|(rare, some, often)| {
            let common = if *often > 0 { "common words everywhere" } else { "other" };
            texts(&format!("rare{rare}"), common, &format!("some{some} common {common}"))
        }).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn skipping_loses_nothing(skills in skills(), k in 1usize..12) {
        // Many copies make the lists longer than the whole-read limit.
        let many: Vec<SkillTexts> = skills.iter().cycle().take(6000).cloned().collect();
        let index = Index::from_segment(segment(&many));
        let query = "rare3 some2 common words everywhere";
        let all = found(&index, query, usize::MAX);
        let few = found(&index, query, k);
        let scores = |found: &[(u32, f32)]| found.iter().map(|(_, score)| (score * 1000.0).round()).collect::<Vec<_>>();
        prop_assert_eq!(scores(&few), scores(&all[..k.min(all.len())]));
    }

    #[test]
    fn parts_give_the_same_result_as_the_whole(skills in skills(), cut: prop::sample::Index) {
        let at = cut.index(skills.len());
        let whole = Index::from_segment(segment(&skills));
        let numbers = |from: usize, to: usize| (from..to).map(|number| Some(number as u32)).collect::<Vec<_>>();
        let parts = Index::from_parts([
            (segment(&skills[..at]), numbers(0, at)),
            (segment(&skills[at..]), numbers(at, skills.len())),
        ]);
        let query = "rare3 some2 common";
        prop_assert_eq!(found(&parts, query, 1000), found(&whole, query, 1000));
    }

    #[test]
    fn removed_skills_are_not_found(skills in skills(), gone: prop::sample::Index) {
        let removed = gone.index(skills.len()) as u32;
        let numbers = (0..skills.len() as u32).map(|number| (number != removed).then_some(number)).collect();
        let index = Index::from_parts([(segment(&skills), numbers)]);
        prop_assert!(found(&index, "rare3 some2 common other", 1000).iter().all(|(skill, _)| *skill != removed));
    }

    #[test]
    fn a_damaged_file_is_rejected_or_read(skills in skills(), at: prop::sample::Index, bit in 0u8..8, cut: prop::sample::Index) {
        let numbered: Vec<(u64, &SkillTexts)> = (0..).zip(&skills).collect();
        let mut bytes = build(&numbered, |(number, texts)| (*number, (*texts).clone()));
        let offset = at.index(bytes.len());
        bytes[offset] ^= 1 << bit;
        prop_assert!(Segment::open(SegmentSource::Memory(bytes[..cut.index(bytes.len())].to_vec())).is_err());
        if let Ok(segment) = Segment::open(SegmentSource::Memory(bytes)) {
            let index = Index::from_segment(segment);
            let terms = weighted_terms("rare3 some2 common");
            if let Ok(stats) = index.term_stats(&terms) {
                let _ = index.search(&terms, &stats, 9);
            }
            for names in index.names().flatten() {
                let _ = (names.with_prefix("rare"), names.nearest("raer3", CompareMode::Whole));
            }
        }
    }
}

#[test]
fn an_empty_index_finds_nothing() {
    assert!(found(&Index::from_segment(segment(&[])), "anything", 9).is_empty());
    assert!(found(&Index::from_parts([]), "anything", 9).is_empty());
}

#[test]
fn the_words_of_names_are_stored_as_text() {
    let index =
        Index::from_segment(segment(&[texts("code-review", "a", ""), texts("Code useEffect the", "b", "")]));
    let names = index.names().next().unwrap().unwrap();
    let words: Vec<_> = names.entries(0..names.len()).map(|near| (near.word, near.count)).collect();
    assert_eq!(words, [("code", 2), ("effect", 1), ("review", 1)]);
}
