//! Entries that break a rule, one by one.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn digest() -> String {
    prowess::digest(b"x")
}

fn good() -> Value {
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
    let mut entry = good();
    *entry.pointer_mut(pointer).unwrap() = value;
    entry
}

fn without(pointer: &str, key: &str) -> Value {
    let mut entry = good();
    entry.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key);
    entry
}

#[test]
fn a_good_entry_is_taken_as_it_is() {
    let offered = judge("docs", &good(), 0);
    assert_eq!((offered.name.as_str(), offered.own_name.as_str()), ("docs/acme/pdf", "pdf"));
    assert_eq!(offered.problem, None);
    assert_eq!(offered.frontmatter["metadata"], json!({"v": 1}));
    let paths: Vec<_> = offered.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "a/b.md"]);
}

#[test]
fn every_broken_rule_has_its_reason() {
    let many: Vec<_> = (0..513)
        .map(|n| json!({"uri": format!("skill://acme/pdf/{n}"), "digest": digest(), "size": 0}))
        .collect();
    let twice = json!([good()["resources"][0], good()["resources"][0]]);
    let encoded = json!([good()["resources"][0], {"uri": "skill://acme/pdf/SKILL%2Emd", "digest": digest(), "size": 1}]);
    let cases = [
        ("no uri", without("", "uri")),
        ("uri is a number", with("/uri", json!(1))),
        ("uri is no SKILL.md", with("/uri", json!("skill://acme/pdf"))),
        ("uri with dots", with("/uri", json!("skill://acme/../pdf/SKILL.md"))),
        ("no frontmatter", without("", "frontmatter")),
        ("frontmatter is a list", with("/frontmatter", json!([]))),
        ("no name", without("/frontmatter", "name")),
        ("no description", without("/frontmatter", "description")),
        ("another name", with("/frontmatter/name", json!("pdf-2"))),
        ("no resources", without("", "resources")),
        ("resources are null", with("/resources", json!(null))),
        ("resources are an object", with("/resources", json!({}))),
        ("another word", with("/resources", json!("Dynamic"))),
        ("dynamic", with("/resources", json!("dynamic"))),
        ("no files", with("/resources", json!([]))),
        ("SKILL.md not listed", with("/resources/0/uri", json!("skill://acme/pdf/other.md"))),
        ("file elsewhere", with("/resources/1/uri", json!("skill://acme/other/b.md"))),
        ("file with dots", with("/resources/1/uri", json!("skill://acme/pdf/../x"))),
        ("file at another scheme", with("/resources/1/uri", json!("https://acme/pdf/x"))),
        ("file without uri", without("/resources/1", "uri")),
        ("the same twice", with("/resources", twice)),
        ("the same twice, encoded", with("/resources", encoded)),
        ("no digest", without("/resources/1", "digest")),
        ("capital digest", with("/resources/1/digest", json!(digest().to_uppercase()))),
        ("short digest", with("/resources/1/digest", json!("sha256:ab"))),
        ("other digest", with("/resources/1/digest", json!(format!("sha512:{}", "a".repeat(64))))),
        ("no size", without("/resources/1", "size")),
        ("negative size", with("/resources/1/size", json!(-1))),
        ("size is a fraction", with("/resources/1/size", json!(1.5))),
        ("too many files", with("/resources", json!(many))),
        ("too many bytes", with("/resources/1/size", json!(16 * 1024 * 1024))),
        ("endless bytes", with("/resources/1/size", json!(u64::MAX))),
        ("no entry at all", json!("skill")),
    ];
    let told: String = cases
        .iter()
        .map(|(what, entry)| {
            let offered = judge("docs", entry, 2);
            assert!(offered.name.starts_with("docs/"), "{what}");
            format!("{what}: {} is invalid: {}\n", offered.name, offered.problem.unwrap())
        })
        .collect();
    insta::assert_snapshot!(told);
}

#[test]
fn the_limits_themselves_are_within_them() {
    let mut files: Vec<_> = (0..511)
        .map(|n| json!({"uri": format!("skill://acme/pdf/{n}"), "digest": digest(), "size": 0}))
        .collect();
    files.push(json!({"uri": "skill://acme/pdf/SKILL.md", "digest": digest(), "size": 16 * 1024 * 1024}));
    assert_eq!(judge("docs", &with("/resources", json!(files)), 0).problem, None);
}

#[test]
fn two_of_one_name_are_told_apart() {
    let other = |uri: &str| {
        let mut entry = good();
        entry["uri"] = json!(format!("{uri}/SKILL.md"));
        entry["resources"] = json!([{"uri": format!("{uri}/SKILL.md"), "digest": digest(), "size": 1}]);
        entry
    };
    let names = |entries: &[Value]| {
        offered("docs", entries).into_iter().map(|offered| offered.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[good(), other("skill://pdf")]), ["docs/acme/pdf", "docs/pdf"], "by their paths");
    assert_eq!(
        names(&[good(), other("gh://acme/pdf")]),
        ["docs/acme/pdf", "docs/gh:acme/pdf"],
        "by their schemes"
    );
    let alike = names(&[other("file:///acme/pdf"), other("file://acme/pdf")]);
    assert!(
        alike.iter().all(|name| name.starts_with("docs/file:acme/pdf@")) && alike[0] != alike[1],
        "{alike:?}"
    );
    assert_eq!(names(&[good(), good()]), ["docs/acme/pdf"], "the same twice is one");
    let differing = offered("docs", &[good(), with("/frontmatter/description", json!("Other."))]);
    assert_eq!(differing.len(), 1);
    assert_eq!(differing[0].problem.as_deref(), Some("the server lists it twice, and not the same"));
}

proptest! {
    #[test]
    fn whatever_comes_ends_in_its_servers_space(uri in any::<String>(), name in any::<String>(), word in any::<String>()) {
        let entry = json!({"uri": uri, "frontmatter": {"name": name, "description": word}, "resources": word});
        let offered = judge("docs", &entry, 0);
        prop_assert!(offered.name.starts_with("docs/"));
        prop_assert!(offered.problem.is_some());
    }
}
