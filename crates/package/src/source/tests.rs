use super::*;
use crate::InnerPathError;
use proptest::prelude::*;

fn parse_without_files(text: &str) -> Result<Source, ParseSourceError> {
    parse_source(text, |_| None)
}

fn git_source(
    url: &str,
    reference: Option<&str>,
    inner: Option<&str>,
    skill: Option<&str>,
) -> Result<Source, ParseSourceError> {
    Ok(Source::Git {
        url: url.to_owned(),
        reference: reference.map(String::from),
        subdir: inner.map(|inner| InnerPath::parse(inner.as_bytes()).unwrap()),
        skill: skill.map(String::from),
    })
}

const HUB: &str = "https://github.com/owner/repo";

#[test]
fn short_forms_are_repositories() {
    assert_eq!(parse_without_files("owner/repo"), git_source(HUB, None, None, None));
    assert_eq!(parse_without_files("owner/repo/"), git_source(HUB, None, None, None));
    assert_eq!(parse_without_files("owner/repo/skills/pdf"), git_source(HUB, None, Some("skills/pdf"), None));
    assert_eq!(parse_without_files("owner/repo@pdf"), git_source(HUB, None, None, Some("pdf")));
    assert_eq!(parse_without_files("owner/repo#v1.2"), git_source(HUB, Some("v1.2"), None, None));
    assert_eq!(
        parse_without_files("owner/repo/skills/pdf#feature/x"),
        git_source(HUB, Some("feature/x"), Some("skills/pdf"), None)
    );
    assert_eq!(parse_without_files("owner/repo@pdf#v1"), git_source(HUB, Some("v1"), None, Some("pdf")));
    assert_eq!(parse_without_files("github:owner/repo"), git_source(HUB, None, None, None));
    assert_eq!(
        parse_without_files("gitlab:owner/repo"),
        git_source("https://gitlab.com/owner/repo", None, None, None)
    );
    assert_eq!(parse_without_files("github:owner/repo/a.zip"), git_source(HUB, None, Some("a.zip"), None));
    assert_eq!(
        parse_without_files("github.com/owner/repo/tree/main/x"),
        git_source(HUB, Some("main"), Some("x"), None)
    );
}

#[test]
fn urls_are_repositories_archives_or_sites() {
    assert_eq!(parse_without_files("https://github.com/owner/repo"), git_source(HUB, None, None, None));
    assert_eq!(
        parse_without_files("https://github.com/owner/repo/?tab=readme"),
        git_source(HUB, None, None, None)
    );
    let dot_git = "https://github.com/owner/repo.git";
    assert_eq!(parse_without_files(dot_git), git_source(dot_git, None, None, None));
    assert_eq!(
        parse_without_files("https://www.github.com/owner/repo#main"),
        git_source(HUB, Some("main"), None, None)
    );
    assert_eq!(
        parse_without_files("https://git.example.com/a/b"),
        git_source("https://git.example.com/a/b", None, None, None)
    );
    assert_eq!(
        parse_without_files("https://example.com/a/b#v1"),
        git_source("https://example.com/a/b", Some("v1"), None, None)
    );
    assert_eq!(
        parse_without_files("git+https://example.com/a.zip"),
        git_source("https://example.com/a.zip", None, None, None)
    );
    assert_eq!(
        parse_without_files("git+ssh://git@example.com/a"),
        git_source("ssh://git@example.com/a", None, None, None)
    );
    assert_eq!(
        parse_without_files("ssh://git@example.com:22/a"),
        git_source("ssh://git@example.com:22/a", None, None, None)
    );
    assert_eq!(
        parse_without_files("git@example.com:a/b.git"),
        git_source("git@example.com:a/b.git", None, None, None)
    );
    assert_eq!(
        parse_without_files("git@example.com:a/b#v1"),
        git_source("git@example.com:a/b", Some("v1"), None, None)
    );
    assert_eq!(parse_without_files("Git+HTTPS://e/x/../"), git_source("https://e/x/../", None, None, None));
    assert_eq!(parse_without_files("file:///srv/repo"), git_source("file:///srv/repo", None, None, None));
    let url = |text: &str| Url::parse(text).unwrap();
    for text in
        ["https://example.com/a.zip", "https://example.com/x/A.SKILL?v=1", "https://example.com/a.tar.gz"]
    {
        assert_eq!(parse_without_files(text), Ok(Source::ArchiveUrl(url(text))));
    }
    let index = "https://example.com/.well-known/agent-skills/index.json";
    assert_eq!(parse_without_files(index), Ok(Source::Site(url(index))));
    assert_eq!(parse_without_files("https://example.com"), Ok(Source::Site(url("https://example.com/"))));
}

#[test]
fn pages_are_repository_directories() {
    let page = |rest: &str| parse_without_files(&format!("{HUB}/{rest}"));
    assert_eq!(page("tree/main"), git_source(HUB, Some("main"), None, None));
    assert_eq!(page("tree/main/skills/pdf"), git_source(HUB, Some("main"), Some("skills/pdf"), None));
    assert_eq!(
        page("tree/feature%2Fx/my%20skill"),
        git_source(HUB, Some("feature/x"), Some("my skill"), None)
    );
    assert_eq!(
        page("blob/main/skills/pdf/SKILL.md"),
        git_source(HUB, Some("main"), Some("skills/pdf"), None)
    );
    assert_eq!(page("blob/main/SKILL.md"), git_source(HUB, Some("main"), None, None));
    assert_eq!(page("blob/main/README.md"), Err(ParseSourceError::NotASkill));
    assert_eq!(page("tree/main/a.zip"), git_source(HUB, Some("main"), Some("a.zip"), None));
    assert!(matches!(page("archive/refs/heads/main.zip"), Ok(Source::ArchiveUrl(_))));
    assert_eq!(page("tree/main#v1"), Err(ParseSourceError::DuplicateReference));
    assert_eq!(page("issues"), Err(ParseSourceError::UnsupportedPage));
    assert_eq!(
        page("tree/main/a%2F..%2F..%2Fb"),
        Err(ParseSourceError::InvalidPath(InnerPathError::BadComponent))
    );
    assert_eq!(page("tree/-x/a"), Err(ParseSourceError::InvalidReference("-x".to_owned())));
    let lab = "https://git.example.com/group/sub/repo";
    assert_eq!(
        parse_without_files(&format!("{lab}/-/tree/main/a/b")),
        git_source(lab, Some("main"), Some("a/b"), None)
    );
    assert_eq!(
        parse_without_files(&format!("{lab}/-/blob/main/a/SKILL.md")),
        git_source(lab, Some("main"), Some("a"), None)
    );
    assert_eq!(parse_without_files(&format!("{lab}/-/issues")), Err(ParseSourceError::UnsupportedPage));
}

#[test]
fn existing_files_take_precedence() {
    let parse_existing = |text: &str, kind: DiskEntryKind| parse_source(text, |_| Some(kind));
    assert_eq!(
        parse_existing("owner/repo", DiskEntryKind::Directory),
        Ok(Source::Directory("owner/repo".into()))
    );
    assert_eq!(
        parse_existing("my skills", DiskEntryKind::Directory),
        Ok(Source::Directory("my skills".into()))
    );
    assert_eq!(parse_existing("~/x", DiskEntryKind::Directory), Ok(Source::Directory("~/x".into())));
    assert_eq!(parse_existing("a.skill", DiskEntryKind::File), Ok(Source::Archive("a.skill".into())));
    assert_eq!(parse_existing("./download", DiskEntryKind::File), Ok(Source::Archive("./download".into())));
    assert_eq!(parse_existing("pdf/SKILL.md", DiskEntryKind::File), Ok(Source::Directory("pdf".into())));
    assert_eq!(parse_existing("SKILL.md", DiskEntryKind::File), Ok(Source::Directory(".".into())));
    assert_eq!(
        parse_existing("https://example.com/a/b", DiskEntryKind::Directory),
        git_source("https://example.com/a/b", None, None, None)
    );
    for text in ["./none", "../none", "/none", "~/none", "none.zip", "a/b.skill"] {
        assert_eq!(parse_without_files(text), Err(ParseSourceError::Missing(text.into())));
    }
}

#[test]
fn dangerous_and_unknown_sources_are_rejected() {
    let unknown = |text: &str| ParseSourceError::Unknown(text.to_owned());
    let cases = [
        ("", ParseSourceError::Empty),
        ("-u", ParseSourceError::LooksLikeOption),
        ("--upload-pack=x", ParseSourceError::LooksLikeOption),
        ("ssh://-oProxyCommand=x/y", ParseSourceError::LooksLikeOption),
        ("a@-host:x", ParseSourceError::LooksLikeOption),
        ("git@host:-x", ParseSourceError::LooksLikeOption),
        ("a\nb/c", ParseSourceError::HiddenCharacter),
        ("own\u{200b}er/repo", ParseSourceError::HiddenCharacter),
        ("owner/my repo", ParseSourceError::Space),
        ("ext::sh", ParseSourceError::RemoteHelper),
        ("http://example.com/a/b", ParseSourceError::Insecure("http".to_owned())),
        ("git://example.com/a", ParseSourceError::Insecure("git".to_owned())),
        ("HTTP://example.com", ParseSourceError::Insecure("http".to_owned())),
        ("foo://x", ParseSourceError::UnsupportedScheme("foo".to_owned())),
        ("https://user:secret@example.com/a", ParseSourceError::ContainsSecret),
        ("https://token@github.com/a/b", ParseSourceError::ContainsSecret),
        ("ssh://git:secret@example.com/a", ParseSourceError::ContainsSecret),
        ("https://", ParseSourceError::InvalidUrl("it cannot be parsed")),
        ("owner/repo#", ParseSourceError::InvalidReference(String::new())),
        ("owner/repo#-x", ParseSourceError::InvalidReference("-x".to_owned())),
        ("owner/repo#a..b", ParseSourceError::InvalidReference("a..b".to_owned())),
        ("owner/repo/../x", ParseSourceError::InvalidPath(InnerPathError::BadComponent)),
        ("owner/repo/.git", ParseSourceError::InvalidPath(InnerPathError::Git)),
        ("owner/repo@", ParseSourceError::InvalidSkillName(prowess_format::NameError::Empty)),
        ("owner/repo@a\u{b8}b", unknown("a\u{b8}b")),
        ("pdf", unknown("pdf")),
        ("example.com", unknown("example.com")),
        ("a\\b/c", unknown("a\\b/c")),
        ("owner/..", unknown("owner/..")),
    ];
    for (text, error) in cases {
        assert!(error.hint().is_some());
        assert_eq!(parse_without_files(text), Err(error), "{text}");
    }
}

/// Generates texts that look like sources.
fn source_texts() -> impl Strategy<Value = String> {
    let step = "[a-zA-Z0-9._@#%~-]{0,6}";
    let start = prop_oneof![
        Just(""),
        Just("https://github.com/"),
        Just("https://gitlab.com/"),
        Just("https://example.com/"),
        Just("git+https://example.com/"),
        Just("git+https://github.com/"),
        Just("git+HTTPS://e/"),
        Just("ssh://git@example.com/"),
        Just("git@example.com:"),
        Just("file:///"),
        Just("gitlab:"),
    ];
    let rest = proptest::collection::vec(
        prop_oneof![
            Just("-".to_owned()),
            Just("tree".to_owned()),
            Just("blob".to_owned()),
            step,
            Just("a.zip".into())
        ],
        0..7,
    );
    (start, rest).prop_map(|(start, rest)| format!("{start}{}", rest.join("/")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A displayed source parses again to the same source.
    #[test]
    fn display_and_parse_round_trip(text in prop_oneof![source_texts(), any::<String>()]) {
        if let Ok(parsed) = parse_without_files(&text) {
            let shown = parsed.to_string();
            prop_assert_eq!(parse_without_files(&shown), Ok(parsed), "{} is displayed as {}", text, shown);
        }
    }

    #[test]
    fn no_source_is_an_option_or_a_program(text in source_texts()) {
        if let Ok(Source::Git { url, reference, .. }) = parse_without_files(&text) {
            prop_assert!(!url.starts_with('-') && !url.contains("::"));
            prop_assert!(!reference.is_some_and(|reference| reference.starts_with('-')));
        }
    }
}
