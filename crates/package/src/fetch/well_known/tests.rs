use super::*;
use crate::InnerPathError;
use prowess::{ErrorCode, digest};
use prowess_archive::ArchiveError;
use std::collections::HashMap;

/// An in-memory network.
#[derive(Default)]
struct FakeNetwork(HashMap<String, Vec<u8>>);

impl FakeNetwork {
    fn with(mut self, url: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.0.insert(url.to_owned(), bytes.as_ref().to_vec());
        self
    }
}

impl Fetcher for FakeNetwork {
    fn get(&self, url: &Url, max: u64) -> Result<Vec<u8>, FetchUrlError> {
        let failure = |code, message: &str| FetchUrlError { code, message: message.to_owned(), hint: None };
        let bytes = self.0.get(url.as_str()).ok_or_else(|| failure(ErrorCode::NotFound, "not found"))?;
        if bytes.len() as u64 > max {
            Err(failure(ErrorCode::TooLarge, "too large"))
        } else {
            Ok(bytes.clone())
        }
    }
}

const INDEX_URL: &str = "https://example.com/.well-known/agent-skills/index.json";
const SKILL: &str = "---\nname: pdf\ndescription: Fill forms.\n---\n";

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn entry_json(kind: &str, address: &str, digest: &str) -> String {
    format!(
        r#"{{"name":"pdf","type":"{kind}","description":"Fill forms.","url":"{address}","digest":"{digest}","x":1}}"#
    )
}

fn index_json(entries: &str) -> String {
    format!(r#"{{"$schema":"{SCHEMA}","skills":[{entries}]}}"#)
}

fn parse_index(entries: &str) -> SkillIndex {
    SkillIndex::parse(index_json(entries).as_bytes(), &url(INDEX_URL)).unwrap()
}

fn skip_reason(entry: &str) -> IndexEntryError {
    let index = parse_index(entry);
    assert_eq!(index.entries, []);
    index.skipped[0].reason.clone()
}

#[test]
fn a_skill_md_is_fetched_and_verified() {
    let entries = entry_json("skill-md", "pdf/SKILL.md", &digest(SKILL.as_bytes()));
    let network = FakeNetwork::default()
        .with(INDEX_URL, index_json(&entries))
        .with("https://example.com/.well-known/agent-skills/pdf/SKILL.md", SKILL);
    let index = SkillIndex::fetch(&url("https://example.com"), &network).unwrap();
    assert_eq!(index.skipped, []);
    let pdf = index.get("pdf").unwrap();
    assert_eq!(pdf.description, "Fill forms.");
    let tree = index.fetch_skill(pdf, &network).unwrap();
    assert_eq!((tree.files().len(), &*tree.files()[0].bytes), (1, SKILL.as_bytes()));
}

#[test]
fn data_with_a_wrong_digest_is_rejected() {
    let expected = digest(b"other");
    for kind in ["skill-md", "archive"] {
        let network = FakeNetwork::default().with("https://example.com/a", SKILL);
        let index = parse_index(&entry_json(kind, "/a", &expected));
        let error = index.fetch_skill(&index.entries[0], &network).unwrap_err();
        let actual = digest(SKILL.as_bytes());
        let name = "pdf".to_owned();
        assert_eq!(error, WellKnownError::DigestMismatch { name, expected: expected.clone(), actual });
        assert_eq!(error.code(), ErrorCode::AccessDenied);
    }
}

#[test]
fn an_archive_is_validated() {
    let network = FakeNetwork::default().with("https://cdn.example.net/a", SKILL);
    let index = parse_index(&entry_json("archive", "https://cdn.example.net/a#x", &digest(SKILL.as_bytes())));
    let pdf = &index.entries[0];
    let error = ArchiveError::NotAnArchive;
    assert_eq!(
        index.fetch_skill(pdf, &network),
        Err(WellKnownError::Archive { name: "pdf".to_owned(), error })
    );
    let empty = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let network = FakeNetwork::default().with("https://example.com/a", empty);
    let index = parse_index(&entry_json("archive", "/a", &digest(empty)));
    assert_eq!(
        index.fetch_skill(&index.entries[0], &network),
        Err(WellKnownError::NoSkill("pdf".to_owned()))
    );
}

#[test]
fn version_0_1_0_lists_files() {
    let index_url = "https://example.com/.well-known/skills/index.json";
    let text = r#"{"skills":[{"name":"pdf","description":"d","files":["SKILL.md","a b/x%2f.md"]}]}"#;
    let network = FakeNetwork::default()
        .with(index_url, text)
        .with("https://example.com/.well-known/skills/pdf/SKILL.md", SKILL)
        .with("https://example.com/.well-known/skills/pdf/a%20b/x%252f.md", "x");
    let index = SkillIndex::fetch(&url("https://example.com/"), &network).unwrap();
    let pdf = index.get("pdf").unwrap();
    assert_eq!(pdf.digest(), None);
    let tree = index.fetch_skill(pdf, &network).unwrap();
    assert_eq!(
        tree.files().iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
        ["SKILL.md", "a b/x%2f.md"]
    );
    let reason = |files: &str| {
        let text = format!(r#"{{"skills":[{{"name":"pdf","description":"d","files":{files}}}]}}"#);
        SkillIndex::parse(text.as_bytes(), &url(index_url)).unwrap().skipped[0].reason.clone()
    };
    for files in ["[]", r#"["a.md"]"#, r#"["SKILL.md","a","A"]"#] {
        assert_eq!(reason(files), IndexEntryError::Files, "{files}");
    }
    let outside = IndexEntryError::File { path: "../x".to_owned(), reason: InnerPathError::BadComponent };
    assert_eq!(reason(r#"["SKILL.md","../x"]"#), outside);
    assert_eq!(reason(r#"["SKILL.md","a?b"]"#), IndexEntryError::Character("a?b".to_owned()));
    assert!(matches!(reason(r#"["SKILL.md",1]"#), IndexEntryError::Malformed(_)));
}

#[test]
fn an_invalid_entry_does_not_affect_the_others() {
    let good = entry_json("skill-md", "/a", &digest(b"a"));
    let index = parse_index(&format!("{good},{good},7,{{}}"));
    assert_eq!(index.entries.len(), 1);
    assert_eq!(index.skipped.len(), 3);
    assert_eq!(index.skipped[0], SkippedEntry { name: "pdf".to_owned(), reason: IndexEntryError::Duplicate });
}

#[test]
fn invalid_entries_are_skipped() {
    let valid = digest(b"a");
    assert_eq!(skip_reason(&entry_json("git", "/a", &valid)), IndexEntryError::Type("git".to_owned()));
    for invalid in ["", "sha256:", "md5:abc", &valid.to_uppercase(), &valid[..70]] {
        assert_eq!(skip_reason(&entry_json("archive", "/a", invalid)), IndexEntryError::Digest, "{invalid}");
    }
    for name in ["", "PDF", "../x", "a--b", " a", "a/b", "技能", &"a".repeat(65)] {
        let text = entry_json("archive", "/a", &valid).replace(r#""pdf""#, &format!(r#""{name}""#));
        assert_eq!(skip_reason(&text), IndexEntryError::Name, "{name}");
    }
    let cases = [
        ("http://example.com/a", "it is not https"),
        ("file:///etc/passwd", "it is not https"),
        ("https://user@example.com/a", "it contains a user or a password"),
        ("https://[bad", "it cannot be parsed"),
        ("https://127.0.0.1/a", "it refers to another host that is not public"),
        ("https://[::1]/a", "it refers to another host that is not public"),
        ("https://2130706433/a", "it refers to another host that is not public"),
        ("https://localhost/a", "it refers to another host that is not public"),
        ("https://router/a", "it refers to another host that is not public"),
    ];
    for (url, reason) in cases {
        assert_eq!(skip_reason(&entry_json("archive", url, &valid)), IndexEntryError::Url(reason), "{url}");
    }
    for long in [" ".to_owned(), "x".repeat(1025)] {
        let text = entry_json("archive", "/a", &valid).replace("Fill forms.", &long);
        assert_eq!(skip_reason(&text), IndexEntryError::Description);
    }
    // Hidden characters are escaped.
    let text = entry_json("archive", "/a", &valid).replace("Fill forms.", "a\u{200b}b");
    assert_eq!(parse_index(&text).entries[0].description, "a\\u{200b}b");
}

#[test]
fn an_index_has_limits_and_a_known_version() {
    let parse = |text: &str| SkillIndex::parse(text.as_bytes(), &url(INDEX_URL));
    assert!(matches!(parse("[]"), Err(WellKnownError::Malformed(_))));
    assert!(matches!(parse("{}"), Err(WellKnownError::Malformed(_))));
    assert!(matches!(parse(&"[".repeat(100_000)), Err(WellKnownError::Malformed(_))));
    assert_eq!(parse(r#"{"$schema":"x","skills":[]}"#), Err(WellKnownError::UnknownSchema("x".to_owned())));
    assert_eq!(parse(&" ".repeat(INDEX_MAX as usize + 1)), Err(WellKnownError::IndexTooLarge));
    let many = vec!["1"; SKILLS_MAX + 1].join(",");
    assert_eq!(parse(&index_json(&many)), Err(WellKnownError::TooManySkills));
    assert!(parse(&format!("\u{feff}{}", index_json(""))).is_ok());
    let plain = url("http://example.com/index.json");
    assert_eq!(SkillIndex::parse(b"{}", &plain), Err(WellKnownError::NotHttps(plain)));
}

#[test]
fn a_site_without_an_index_is_reported() {
    let site = url("https://example.com/docs/");
    assert_eq!(
        SkillIndex::fetch(&site, &FakeNetwork::default()),
        Err(WellKnownError::NoIndex { site: site.clone() })
    );
    let below = "https://example.com/docs/.well-known/agent-skills/index.json";
    assert_eq!(
        SkillIndex::fetch(&site, &FakeNetwork::default().with(below, index_json(""))).unwrap().url,
        url(below)
    );
    assert!(matches!(
        SkillIndex::fetch(&url(INDEX_URL), &FakeNetwork::default()),
        Err(WellKnownError::Fetch(_))
    ));
}
