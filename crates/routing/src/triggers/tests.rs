use proptest::prelude::*;
use prowess_format::{Rules, parse};

use super::super::text::{fold_trimmed, is_boundary};
use super::*;

fn manifest(name: &str, triggers: &str) -> Manifest {
    let source = format!("---\nname: {name}\ndescription: d\ntriggers: {triggers}\n---\nx");
    parse(source.as_bytes(), None, &Rules::standard()).document.unwrap().manifest
}

/// Returns a manifest with these keywords, as JSON, which is valid YAML.
fn keywords(keywords: &[String]) -> Manifest {
    manifest("000", &serde_json::json!({ "keywords": keywords }).to_string())
}

fn index(manifests: &[Manifest]) -> (TriggerIndex, Vec<(usize, Diagnostic)>) {
    TriggerIndex::new(manifests.iter().enumerate())
}

fn matches(manifest: &Manifest, query: &str) -> Vec<String> {
    let (index, _) = index(std::slice::from_ref(manifest));
    index.matches(query).iter().map(|hit| format!("{}: {}", hit.kind.as_str(), hit.text)).collect()
}

#[test]
fn s003_01_keywords_verbs_and_patterns() {
    let hello = manifest(
        "hello-extended",
        r#"{keywords: ["hello", "say  hello"], verbs: ["wave"], patterns: ["greet\\s+\\w+"]}"#,
    );
    assert_eq!(matches(&hello, "Say\nHELLO!"), ["phrase: say hello", "keyword: hello"]);
    assert_eq!(matches(&hello, "Othello waves"), [] as [&str; 0]);
    assert_eq!(matches(&hello, "wave, then GREET  Anna"), ["verb: wave", "pattern: greet\\s+\\w+"]);
    assert_eq!(
        matches(&hello, "use hello-extended: wave"),
        ["name: hello-extended", "keyword: hello", "verb: wave"]
    );
    assert_eq!(matches(&hello, "hello-extended-more"), ["keyword: hello"]);
}

#[test]
fn s003_01_keywords_in_any_script() {
    let skill = manifest("zzz", r#"{keywords: ["翻译", "PDF", "Größe", "テスト", "แปล", "c++", ".net"]}"#);
    assert_eq!(matches(&skill, "请把这个文档翻译成英文"), ["keyword: 翻译"]);
    assert_eq!(matches(&skill, "把ＰＤＦ转换"), ["keyword: PDF"]);
    assert_eq!(matches(&skill, "die GRÖSSE ändern"), ["keyword: Größe"]);
    assert_eq!(matches(&skill, "Größen"), [] as [&str; 0]);
    assert_eq!(matches(&skill, "このﾃｽﾄを実行"), ["keyword: テスト"]);
    assert_eq!(matches(&skill, "ช่วยแปลหน่อย"), ["keyword: แปล"]);
    assert_eq!(matches(&skill, "C++ and ASP.NET"), ["keyword: .net", "keyword: c++"]);
}

#[test]
fn patterns_see_the_message_as_written() {
    let skill = manifest("zzz", r#"{patterns: ["caf(e|é)\\b.*ﬁ", "(?-i)ABC", "[^\\x00-\\x7f]"]}"#);
    assert_eq!(matches(&skill, "CAFÉ ﬁ"), ["pattern: [^\\x00-\\x7f]", "pattern: caf(e|é)\\b.*ﬁ"]);
    assert_eq!(matches(&skill, "abc"), [] as [&str; 0]);
    assert_eq!(matches(&skill, "xABCx"), ["pattern: (?-i)ABC"]);
}

#[test]
fn an_invalid_pattern_is_reported_and_others_still_match() {
    let bad = manifest("zzz", r#"{keywords: [pdf], patterns: ["(", "(?=x)", "(\\w{300}){300}", "ok\\d"]}"#);
    let (index, problems) = index(&[bad]);
    let messages: Vec<_> = problems.iter().map(|(_, diagnostic)| diagnostic.to_string()).collect();
    insta::assert_snapshot!(messages.join("\n"), @r#"
    warning[SK055]: invalid pattern "(": unclosed group
    warning[SK055]: invalid pattern "(?=x)": look-around, including look-ahead and look-behind, is not supported
    warning[SK055]: invalid pattern "(\\w{300}){300}": Compiled regex exceeds size limit of 1048576 bytes.
    "#);
    assert_eq!(index.matches("pdf ok7").len(), 2);
}

/// Superlinear work would exceed the time limit of the test runner.
#[test]
fn hostile_triggers_and_long_messages_are_handled() {
    let many: Vec<String> = (1..=300).map(|n| "a".repeat(n)).collect();
    let (index, problems) = index(&[
        keywords(&many),
        manifest("b", r#"{patterns: ["(a+)+$", "(a|a)*b", "(x+x+)+y", "\\w{5}\\W"]}"#),
    ]);
    assert_eq!(problems.len(), 1);
    let long = "a".repeat(1_000_000);
    let hits: Vec<_> = index.matches(&long).iter().map(|hit| hit.text).collect();
    assert_eq!(hits, ["(a+)+$"]);
    assert_eq!(index.matches(&format!("{}pdf", " ".repeat(1_000_000))).len(), 0);
}

/// Searches for each keyword separately.
fn naive_matches(manifests: &[Manifest], query: &str) -> Vec<(usize, String)> {
    let query: Vec<char> = fold(query).chars().collect();
    let mut found = Vec::new();
    for (skill, manifest) in manifests.iter().enumerate() {
        for keyword in &manifest.triggers().unwrap().keywords {
            let folded: Vec<char> = fold_trimmed(keyword).chars().collect();
            let at = |start: usize| {
                let end = start + folded.len();
                query.get(start..end) == Some(&folded[..])
                    && is_boundary(folded.first().copied(), start.checked_sub(1).map(|at| query[at]))
                    && is_boundary(folded.last().copied(), query.get(end).copied())
            };
            if !folded.is_empty() && (0..query.len()).any(at) {
                found.push((skill, keyword.split_whitespace().collect::<Vec<_>>().join(" ")));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

proptest! {
    #[test]
    fn the_index_finds_what_a_naive_matcher_finds(
        sets in prop::collection::vec(prop::collection::vec("[abß翻 é-]{1,4}", 1..4), 1..5),
        query in "[abßS翻 éÉ\u{301}-]{0,30}",
    ) {
        let manifests: Vec<_> = sets.iter().map(|set| keywords(set)).collect();
        let (index, _) = index(&manifests);
        let mut hits: Vec<_> = index.matches(&query).iter().map(|hit| (hit.skill, hit.text.to_owned())).collect();
        hits.sort();
        hits.dedup();
        prop_assert_eq!(hits, naive_matches(&manifests, &query));
    }

    #[test]
    fn matching_never_panics(set in prop::collection::vec("\\PC{0,12}", 0..4), patterns in prop::collection::vec("\\PC{0,12}", 0..4), query in "\\PC{0,60}") {
        let triggers = serde_json::json!({ "keywords": set, "verbs": set, "patterns": patterns }).to_string();
        let source = format!("---\nname: a\ndescription: d\ntriggers: {triggers}\n---\nx");
        if let Some(document) = parse(source.as_bytes(), None, &Rules::standard()).document {
            index(&[document.manifest]).0.matches(&query);
        }
    }

    #[test]
    fn a_keyword_inside_a_larger_word_never_matches(word in "[a-z]{1,8}", left in "[a-z0-9_]{0,3}", right in "[a-zäöü0-9_]{0,3}") {
        prop_assume!(!left.is_empty() || !right.is_empty());
        let query = format!("{left}{word}{right}");
        let (index, _) = index(&[keywords(&[word])]);
        prop_assert!(index.matches(&query).is_empty());
    }

    #[test]
    fn matching_ignores_case(word in "[a-zäöüéжд]{1,8}") {
        let (index, _) = index(&[keywords(std::slice::from_ref(&word))]);
        prop_assert_eq!(index.matches(&word.to_uppercase()).len(), 1);
        prop_assert_eq!(index.matches(&format!("x {word} x")).len(), 1);
    }
}
