use super::*;
use crate::PathError;
use prowess::{ErrorCode, digest};
use prowess_archive::ArchiveError;
use std::collections::HashMap;

/// A network in memory.
#[derive(Default)]
struct Web(HashMap<String, Vec<u8>>);

impl Web {
    fn with(mut self, url: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.0.insert(url.to_owned(), bytes.as_ref().to_vec());
        self
    }
}

impl Fetch for Web {
    fn get(&self, url: &Url, max: u64) -> Result<Vec<u8>, FetchFailure> {
        let failure = |code, message: &str| FetchFailure { code, message: message.to_owned(), hint: None };
        let bytes = self.0.get(url.as_str()).ok_or_else(|| failure(ErrorCode::NotFound, "nothing there"))?;
        if bytes.len() as u64 > max {
            Err(failure(ErrorCode::TooLarge, "too much"))
        } else {
            Ok(bytes.clone())
        }
    }
}

const PLACE: &str = "https://example.com/.well-known/agent-skills/index.json";
const SKILL: &str = "---\nname: pdf\ndescription: Fill forms.\n---\n";

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn entry(kind: &str, address: &str, digest: &str) -> String {
    format!(
        r#"{{"name":"pdf","type":"{kind}","description":"Fill forms.","url":"{address}","digest":"{digest}","x":1}}"#
    )
}

fn index(entries: &str) -> String {
    format!(r#"{{"$schema":"{SCHEMA}","skills":[{entries}]}}"#)
}

fn parsed(entries: &str) -> Index {
    Index::parse(index(entries).as_bytes(), &url(PLACE)).unwrap()
}

fn skipped(entry: &str) -> EntryError {
    let index = parsed(entry);
    assert_eq!(index.entries, []);
    index.skipped[0].why.clone()
}

#[test]
fn a_skill_md_is_fetched_and_checked() {
    let entries = entry("skill-md", "pdf/SKILL.md", &digest(SKILL.as_bytes()));
    let web = Web::default()
        .with(PLACE, index(&entries))
        .with("https://example.com/.well-known/agent-skills/pdf/SKILL.md", SKILL);
    let index = Index::fetch(&url("https://example.com"), &web).unwrap();
    assert_eq!(index.skipped, []);
    let pdf = index.get("pdf").unwrap();
    assert_eq!((pdf.description.as_str(), pdf.elsewhere(&index)), ("Fill forms.", None));
    let tree = index.tree(pdf, &web).unwrap();
    assert_eq!((tree.files().len(), &*tree.files()[0].bytes), (1, SKILL.as_bytes()));
}

#[test]
fn wrong_bytes_are_refused_before_they_are_looked_at() {
    let expected = digest(b"other");
    for kind in ["skill-md", "archive"] {
        let web = Web::default().with("https://example.com/a", SKILL);
        let index = parsed(&entry(kind, "/a", &expected));
        let error = index.tree(&index.entries[0], &web).unwrap_err();
        let found = digest(SKILL.as_bytes());
        let name = "pdf".to_owned();
        assert_eq!(error, WellKnownError::Digest { name, expected: expected.clone(), found });
        assert_eq!(error.code(), ErrorCode::AccessDenied);
    }
}

#[test]
fn an_archive_is_read_as_strictly_as_any() {
    let web = Web::default().with("https://cdn.example.net/a", SKILL);
    let index = parsed(&entry("archive", "https://cdn.example.net/a#x", &digest(SKILL.as_bytes())));
    let pdf = &index.entries[0];
    assert_eq!(pdf.elsewhere(&index), Some("cdn.example.net"));
    let error = ArchiveError::NotAnArchive;
    assert_eq!(index.tree(pdf, &web), Err(WellKnownError::Archive { name: "pdf".to_owned(), error }));
    let empty = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let web = Web::default().with("https://example.com/a", empty);
    let index = parsed(&entry("archive", "/a", &digest(empty)));
    assert_eq!(index.tree(&index.entries[0], &web), Err(WellKnownError::NoSkill("pdf".to_owned())));
}

#[test]
fn the_older_version_lists_files() {
    let place = "https://example.com/.well-known/skills/index.json";
    let text = r#"{"skills":[{"name":"pdf","description":"d","files":["SKILL.md","a b/x%2f.md"]}]}"#;
    let web = Web::default()
        .with(place, text)
        .with("https://example.com/.well-known/skills/pdf/SKILL.md", SKILL)
        .with("https://example.com/.well-known/skills/pdf/a%20b/x%252f.md", "x");
    let index = Index::fetch(&url("https://example.com/"), &web).unwrap();
    let pdf = index.get("pdf").unwrap();
    assert_eq!(pdf.digest(), None);
    let tree = index.tree(pdf, &web).unwrap();
    assert_eq!(
        tree.files().iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
        ["SKILL.md", "a b/x%2f.md"]
    );
    let why = |files: &str| {
        let text = format!(r#"{{"skills":[{{"name":"pdf","description":"d","files":{files}}}]}}"#);
        Index::parse(text.as_bytes(), &url(place)).unwrap().skipped[0].why.clone()
    };
    for files in ["[]", r#"["a.md"]"#, r#"["SKILL.md","a","A"]"#] {
        assert_eq!(why(files), EntryError::Files, "{files}");
    }
    let outside = EntryError::File { path: "../x".to_owned(), why: PathError::Step };
    assert_eq!(why(r#"["SKILL.md","../x"]"#), outside);
    assert_eq!(why(r#"["SKILL.md","a?b"]"#), EntryError::Character("a?b".to_owned()));
    assert!(matches!(why(r#"["SKILL.md",1]"#), EntryError::Malformed(_)));
}

#[test]
fn one_bad_entry_does_not_take_the_others_along() {
    let good = entry("skill-md", "/a", &digest(b"a"));
    let index = parsed(&format!("{good},{good},7,{{}}"));
    assert_eq!(index.entries.len(), 1);
    assert_eq!(index.skipped.len(), 3);
    assert_eq!(index.skipped[0], Skipped { name: "pdf".to_owned(), why: EntryError::Twice });
}

#[test]
fn what_an_entry_may_not_say() {
    let right = digest(b"a");
    assert_eq!(skipped(&entry("git", "/a", &right)), EntryError::Type("git".to_owned()));
    for wrong in ["", "sha256:", "md5:abc", &right.to_uppercase(), &right[..70]] {
        assert_eq!(skipped(&entry("archive", "/a", wrong)), EntryError::Digest, "{wrong}");
    }
    for name in ["", "PDF", "../x", "a--b", " a", "a/b", "技能", &"a".repeat(65)] {
        let text = entry("archive", "/a", &right).replace(r#""pdf""#, &format!(r#""{name}""#));
        assert_eq!(skipped(&text), EntryError::Name, "{name}");
    }
    let cases = [
        ("http://example.com/a", "it is not https"),
        ("file:///etc/passwd", "it is not https"),
        ("https://user@example.com/a", "it has a user or a password in it"),
        ("https://[bad", "it is not a URL"),
        ("https://127.0.0.1/a", "it is on another host, which is not a public one"),
        ("https://[::1]/a", "it is on another host, which is not a public one"),
        ("https://2130706433/a", "it is on another host, which is not a public one"),
        ("https://localhost/a", "it is on another host, which is not a public one"),
        ("https://router/a", "it is on another host, which is not a public one"),
    ];
    for (address, why) in cases {
        assert_eq!(skipped(&entry("archive", address, &right)), EntryError::Address(why), "{address}");
    }
    for long in [" ".to_owned(), "x".repeat(1025)] {
        let text = entry("archive", "/a", &right).replace("Fill forms.", &long);
        assert_eq!(skipped(&text), EntryError::Description);
    }
    // What cannot be seen is shown.
    let text = entry("archive", "/a", &right).replace("Fill forms.", "a\u{200b}b");
    assert_eq!(parsed(&text).entries[0].description, "a\\u{200b}b");
}

#[test]
fn an_index_is_bounded_and_its_version_known() {
    let parse = |text: &str| Index::parse(text.as_bytes(), &url(PLACE));
    assert!(matches!(parse("[]"), Err(WellKnownError::Malformed(_))));
    assert!(matches!(parse("{}"), Err(WellKnownError::Malformed(_))));
    assert!(matches!(parse(&"[".repeat(100_000)), Err(WellKnownError::Malformed(_))));
    assert_eq!(parse(r#"{"$schema":"x","skills":[]}"#), Err(WellKnownError::Schema("x".to_owned())));
    assert_eq!(parse(&" ".repeat(INDEX_MAX as usize + 1)), Err(WellKnownError::TooLarge));
    let many = vec!["1"; SKILLS_MAX + 1].join(",");
    assert_eq!(parse(&index(&many)), Err(WellKnownError::TooMany));
    assert!(parse(&format!("\u{feff}{}", index(""))).is_ok());
    let plain = url("http://example.com/index.json");
    assert_eq!(Index::parse(b"{}", &plain), Err(WellKnownError::Plain(plain)));
}

#[test]
fn a_site_without_an_index_says_so() {
    let site = url("https://example.com/docs/");
    assert_eq!(Index::fetch(&site, &Web::default()), Err(WellKnownError::NoIndex { site: site.clone() }));
    let below = "https://example.com/docs/.well-known/agent-skills/index.json";
    assert_eq!(Index::fetch(&site, &Web::default().with(below, index(""))).unwrap().url, url(below));
    assert!(matches!(Index::fetch(&url(PLACE), &Web::default()), Err(WellKnownError::Fetch(_))));
}
