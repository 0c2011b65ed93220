use super::*;
use crate::near::Compared;
use crate::words::terms;
use proptest::prelude::*;

fn texts(name: &str, about: &str, body: &str) -> Texts {
    Texts { name: name.into(), about: about.into(), body: body.into() }
}

fn asked(text: &str) -> Vec<Asked> {
    let mut asked = Vec::new();
    terms(text, |term| asked.push(Asked { term, weight: 1.0 }));
    asked
}

/// Skill and score of each that is found.
fn found(index: &Index, text: &str, k: usize) -> Vec<(u32, f32)> {
    let asked = asked(text);
    let known = index.know(&asked).unwrap();
    let mut found: Vec<_> =
        index.search(&asked, &known, k).unwrap().iter().map(|found| (found.skill, found.score)).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found
}

fn segment(skills: &[Texts]) -> Segment {
    let numbered: Vec<(u64, &Texts)> = (0..).zip(skills).collect();
    Segment::open(Source::Memory(build(&numbered, |(number, texts)| (*number, (*texts).clone())))).unwrap()
}

prop_compose! {
    /// Some words are in nearly every skill, so that long lists are skipped.
    fn skills()(seeds in prop::collection::vec((0u32..40, 0u32..9, 0u32..4), 1..400)) -> Vec<Texts> {
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
        // Many copies make lists longer than what is read whole.
        let many: Vec<Texts> = skills.iter().cycle().take(6000).cloned().collect();
        let index = Index::whole(segment(&many));
        let query = "rare3 some2 common words everywhere";
        let all = found(&index, query, usize::MAX);
        let few = found(&index, query, k);
        let scores = |found: &[(u32, f32)]| found.iter().map(|(_, score)| (score * 1000.0).round()).collect::<Vec<_>>();
        prop_assert_eq!(scores(&few), scores(&all[..k.min(all.len())]));
    }

    #[test]
    fn parts_give_what_the_whole_gives(skills in skills(), cut: prop::sample::Index) {
        let at = cut.index(skills.len());
        let whole = Index::whole(segment(&skills));
        let numbers = |from: usize, to: usize| (from..to).map(|number| Some(number as u32)).collect::<Vec<_>>();
        let parts = Index::parts([
            (segment(&skills[..at]), numbers(0, at)),
            (segment(&skills[at..]), numbers(at, skills.len())),
        ]);
        let query = "rare3 some2 common";
        prop_assert_eq!(found(&parts, query, 1000), found(&whole, query, 1000));
    }

    #[test]
    fn what_is_gone_is_not_found(skills in skills(), gone: prop::sample::Index) {
        let gone = gone.index(skills.len()) as u32;
        let numbers = (0..skills.len() as u32).map(|number| (number != gone).then_some(number)).collect();
        let index = Index::parts([(segment(&skills), numbers)]);
        prop_assert!(found(&index, "rare3 some2 common other", 1000).iter().all(|(skill, _)| *skill != gone));
    }

    #[test]
    fn a_damaged_file_is_refused_or_read(skills in skills(), at: prop::sample::Index, bit in 0u8..8, cut: prop::sample::Index) {
        let numbered: Vec<(u64, &Texts)> = (0..).zip(&skills).collect();
        let mut bytes = build(&numbered, |(number, texts)| (*number, (*texts).clone()));
        let place = at.index(bytes.len());
        bytes[place] ^= 1 << bit;
        prop_assert!(Segment::open(Source::Memory(bytes[..cut.index(bytes.len())].to_vec())).is_err());
        if let Ok(segment) = Segment::open(Source::Memory(bytes)) {
            let index = Index::whole(segment);
            let asked = asked("rare3 some2 common");
            if let Ok(known) = index.know(&asked) {
                let _ = index.search(&asked, &known, 9);
            }
            for names in index.names().flatten() {
                let _ = (names.beginning("rare"), names.nearest("raer3", Compared::Whole));
            }
        }
    }
}

#[test]
fn an_empty_index_finds_nothing() {
    assert!(found(&Index::whole(segment(&[])), "anything", 9).is_empty());
    assert!(found(&Index::parts([]), "anything", 9).is_empty());
}

#[test]
fn the_words_of_names_are_there_as_text() {
    let index = Index::whole(segment(&[texts("code-review", "a", ""), texts("Code useEffect the", "b", "")]));
    let names = index.names().next().unwrap().unwrap();
    let told: Vec<_> = names.words(0..names.len()).map(|near| (near.word, near.count)).collect();
    assert_eq!(told, [("code", 2), ("effect", 1), ("review", 1)]);
}
