//! Tests of invalid entries.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn digest() -> String {
    prowess::digest(b"x")
}

fn valid_entry() -> Value {
    json!({
        "uri": "skill://acme/pdf/SKILL.md",
        "frontmatter": {"name": "pdf", "description": "Does pdf.", "metadata": {"v": 1}},
        "resources": [
            {"uri": "skill://acme/pdf/SKILL.md", "digest": digest(), "size": 1},
            {"uri": "skill://acme/pdf/a/b.md", "digest": digest(), "size": 2, "more": true},
        ],
        "_meta": {"x": 1},
    })
}

fn with(pointer: &str, value: Value) -> Value {
    let mut entry = valid_entry();
    *entry.pointer_mut(pointer).unwrap() = value;
    entry
}

fn without(pointer: &str, key: &str) -> Value {
    let mut entry = valid_entry();
    entry.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key);
    entry
}

#[test]
fn a_valid_entry_is_parsed() {
    let entry = parse_entry("docs", &valid_entry(), 0);
    assert_eq!((entry.name.as_str(), entry.frontmatter_name.as_str()), ("docs/acme/pdf", "pdf"));
    assert_eq!(entry.problem, None);
    assert_eq!(entry.frontmatter["metadata"], json!({"v": 1}));
    let paths: Vec<_> = entry.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "a/b.md"]);
}

#[test]
fn every_violated_rule_is_reported() {
    let many: Vec<_> = (0..513)
        .map(|n| json!({"uri": format!("skill://acme/pdf/{n}"), "digest": digest(), "size": 0}))
        .collect();
    let duplicate = json!([valid_entry()["resources"][0], valid_entry()["resources"][0]]);
    let encoded = json!([valid_entry()["resources"][0], {"uri": "skill://acme/pdf/SKILL%2Emd", "digest": digest(), "size": 1}]);
    let cases = [
        ("no uri", without("", "uri")),
        ("uri is a number", with("/uri", json!(1))),
        ("uri without SKILL.md", with("/uri", json!("skill://acme/pdf"))),
        ("uri with dots", with("/uri", json!("skill://acme/../pdf/SKILL.md"))),
        ("no frontmatter", without("", "frontmatter")),
        ("frontmatter is a list", with("/frontmatter", json!([]))),
        ("no name", without("/frontmatter", "name")),
        ("no description", without("/frontmatter", "description")),
        ("another name", with("/frontmatter/name", json!("pdf-2"))),
        ("no resources", without("", "resources")),
        ("resources are null", with("/resources", json!(null))),
        ("resources are an object", with("/resources", json!({}))),
        ("unknown value", with("/resources", json!("Dynamic"))),
        ("dynamic", with("/resources", json!("dynamic"))),
        ("no files", with("/resources", json!([]))),
        ("SKILL.md not listed", with("/resources/0/uri", json!("skill://acme/pdf/other.md"))),
        ("file in another directory", with("/resources/1/uri", json!("skill://acme/other/b.md"))),
        ("file with dots", with("/resources/1/uri", json!("skill://acme/pdf/../x"))),
        ("file with another scheme", with("/resources/1/uri", json!("https://acme/pdf/x"))),
        ("file without uri", without("/resources/1", "uri")),
        ("duplicate file", with("/resources", duplicate)),
        ("duplicate file, encoded", with("/resources", encoded)),
        ("no digest", without("/resources/1", "digest")),
        ("upper-case digest", with("/resources/1/digest", json!(digest().to_uppercase()))),
        ("short digest", with("/resources/1/digest", json!("sha256:ab"))),
        ("other digest", with("/resources/1/digest", json!(format!("sha512:{}", "a".repeat(64))))),
        ("no size", without("/resources/1", "size")),
        ("negative size", with("/resources/1/size", json!(-1))),
        ("size is a fraction", with("/resources/1/size", json!(1.5))),
        ("too many files", with("/resources", json!(many))),
        ("too many bytes", with("/resources/1/size", json!(16 * 1024 * 1024))),
        ("maximum size", with("/resources/1/size", json!(u64::MAX))),
        ("not an object", json!("skill")),
    ];
    let report: String = cases
        .iter()
        .map(|(case, entry)| {
            let parsed = parse_entry("docs", entry, 2);
            assert!(parsed.name.starts_with("docs/"), "{case}");
            format!("{case}: {} is invalid: {}\n", parsed.name, parsed.problem.unwrap())
        })
        .collect();
    insta::assert_snapshot!(report);
}

#[test]
fn the_limits_are_inclusive() {
    let mut files: Vec<_> = (0..511)
        .map(|n| json!({"uri": format!("skill://acme/pdf/{n}"), "digest": digest(), "size": 0}))
        .collect();
    files.push(json!({"uri": "skill://acme/pdf/SKILL.md", "digest": digest(), "size": 16 * 1024 * 1024}));
    assert_eq!(parse_entry("docs", &with("/resources", json!(files)), 0).problem, None);
}

#[test]
fn entries_with_the_same_name_get_unique_names() {
    let other = |uri: &str| {
        let mut entry = valid_entry();
        entry["uri"] = json!(format!("{uri}/SKILL.md"));
        entry["resources"] = json!([{"uri": format!("{uri}/SKILL.md"), "digest": digest(), "size": 1}]);
        entry
    };
    let names = |entries: &[Value]| {
        parse_entries("docs", entries).into_iter().map(|entry| entry.name).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&[valid_entry(), other("skill://pdf")]),
        ["docs/acme/pdf", "docs/pdf"],
        "different paths"
    );
    assert_eq!(
        names(&[valid_entry(), other("gh://acme/pdf")]),
        ["docs/acme/pdf", "docs/gh:acme/pdf"],
        "different schemes"
    );
    let similar = names(&[other("file:///acme/pdf"), other("file://acme/pdf")]);
    assert!(
        similar.iter().all(|name| name.starts_with("docs/file:acme/pdf@")) && similar[0] != similar[1],
        "{similar:?}"
    );
    assert_eq!(names(&[valid_entry(), valid_entry()]), ["docs/acme/pdf"], "identical duplicates");
    let differing =
        parse_entries("docs", &[valid_entry(), with("/frontmatter/description", json!("Other."))]);
    assert_eq!(differing.len(), 1);
    assert_eq!(differing[0].problem.as_deref(), Some("the server lists it twice with different contents"));
}

proptest! {
    #[test]
    fn every_name_starts_with_the_label(uri in any::<String>(), name in any::<String>(), word in any::<String>()) {
        let entry = json!({"uri": uri, "frontmatter": {"name": name, "description": word}, "resources": word});
        let parsed = parse_entry("docs", &entry, 0);
        prop_assert!(parsed.name.starts_with("docs/"));
        prop_assert!(parsed.problem.is_some());
    }
}
