use super::*;
use crate::PathError;
use proptest::prelude::*;

fn source(text: &str) -> Result<Source, SourceError> {
    parse(text, |_| None)
}

fn git(
    url: &str,
    reference: Option<&str>,
    inner: Option<&str>,
    skill: Option<&str>,
) -> Result<Source, SourceError> {
    Ok(Source::Git {
        url: url.to_owned(),
        reference: reference.map(String::from),
        inner: inner.map(|inner| InnerPath::parse(inner.as_bytes()).unwrap()),
        skill: skill.map(String::from),
    })
}

const HUB: &str = "https://github.com/owner/repo";

#[test]
fn short_names_are_repositories() {
    assert_eq!(source("owner/repo"), git(HUB, None, None, None));
    assert_eq!(source("owner/repo/"), git(HUB, None, None, None));
    assert_eq!(source("owner/repo/skills/pdf"), git(HUB, None, Some("skills/pdf"), None));
    assert_eq!(source("owner/repo@pdf"), git(HUB, None, None, Some("pdf")));
    assert_eq!(source("owner/repo#v1.2"), git(HUB, Some("v1.2"), None, None));
    assert_eq!(
        source("owner/repo/skills/pdf#feature/x"),
        git(HUB, Some("feature/x"), Some("skills/pdf"), None)
    );
    assert_eq!(source("owner/repo@pdf#v1"), git(HUB, Some("v1"), None, Some("pdf")));
    assert_eq!(source("github:owner/repo"), git(HUB, None, None, None));
    assert_eq!(source("gitlab:owner/repo"), git("https://gitlab.com/owner/repo", None, None, None));
    assert_eq!(source("github:owner/repo/a.zip"), git(HUB, None, Some("a.zip"), None));
    assert_eq!(source("github.com/owner/repo/tree/main/x"), git(HUB, Some("main"), Some("x"), None));
}

#[test]
fn addresses_are_repositories_archives_or_sites() {
    assert_eq!(source("https://github.com/owner/repo"), git(HUB, None, None, None));
    assert_eq!(source("https://github.com/owner/repo/?tab=readme"), git(HUB, None, None, None));
    let dot_git = "https://github.com/owner/repo.git";
    assert_eq!(source(dot_git), git(dot_git, None, None, None));
    assert_eq!(source("https://www.github.com/owner/repo#main"), git(HUB, Some("main"), None, None));
    assert_eq!(source("https://git.example.com/a/b"), git("https://git.example.com/a/b", None, None, None));
    assert_eq!(source("https://example.com/a/b#v1"), git("https://example.com/a/b", Some("v1"), None, None));
    assert_eq!(source("git+https://example.com/a.zip"), git("https://example.com/a.zip", None, None, None));
    assert_eq!(source("git+ssh://git@example.com/a"), git("ssh://git@example.com/a", None, None, None));
    assert_eq!(source("ssh://git@example.com:22/a"), git("ssh://git@example.com:22/a", None, None, None));
    assert_eq!(source("git@example.com:a/b.git"), git("git@example.com:a/b.git", None, None, None));
    assert_eq!(source("git@example.com:a/b#v1"), git("git@example.com:a/b", Some("v1"), None, None));
    assert_eq!(source("Git+HTTPS://e/x/../"), git("https://e/x/../", None, None, None));
    assert_eq!(source("file:///srv/repo"), git("file:///srv/repo", None, None, None));
    let url = |text: &str| Url::parse(text).unwrap();
    for text in
        ["https://example.com/a.zip", "https://example.com/x/A.SKILL?v=1", "https://example.com/a.tar.gz"]
    {
        assert_eq!(source(text), Ok(Source::ArchiveUrl(url(text))));
    }
    let index = "https://example.com/.well-known/agent-skills/index.json";
    assert_eq!(source(index), Ok(Source::Site(url(index))));
    assert_eq!(source("https://example.com"), Ok(Source::Site(url("https://example.com/"))));
}

#[test]
fn pages_lead_to_the_folder_they_show() {
    let page = |rest: &str| source(&format!("{HUB}/{rest}"));
    assert_eq!(page("tree/main"), git(HUB, Some("main"), None, None));
    assert_eq!(page("tree/main/skills/pdf"), git(HUB, Some("main"), Some("skills/pdf"), None));
    assert_eq!(page("tree/feature%2Fx/my%20skill"), git(HUB, Some("feature/x"), Some("my skill"), None));
    assert_eq!(page("blob/main/skills/pdf/SKILL.md"), git(HUB, Some("main"), Some("skills/pdf"), None));
    assert_eq!(page("blob/main/SKILL.md"), git(HUB, Some("main"), None, None));
    assert_eq!(page("blob/main/README.md"), Err(SourceError::NotASkill));
    assert_eq!(page("tree/main/a.zip"), git(HUB, Some("main"), Some("a.zip"), None));
    assert!(matches!(page("archive/refs/heads/main.zip"), Ok(Source::ArchiveUrl(_))));
    assert_eq!(page("tree/main#v1"), Err(SourceError::TwoReferences));
    assert_eq!(page("issues"), Err(SourceError::Page));
    assert_eq!(page("tree/main/a%2F..%2F..%2Fb"), Err(SourceError::Inner(PathError::Step)));
    assert_eq!(page("tree/-x/a"), Err(SourceError::Reference("-x".to_owned())));
    let lab = "https://git.example.com/group/sub/repo";
    assert_eq!(source(&format!("{lab}/-/tree/main/a/b")), git(lab, Some("main"), Some("a/b"), None));
    assert_eq!(source(&format!("{lab}/-/blob/main/a/SKILL.md")), git(lab, Some("main"), Some("a"), None));
    assert_eq!(source(&format!("{lab}/-/issues")), Err(SourceError::Page));
}

#[test]
fn what_is_on_disk_comes_first() {
    let here = |text: &str, kind: Kind| parse(text, |_| Some(kind));
    assert_eq!(here("owner/repo", Kind::Folder), Ok(Source::Folder("owner/repo".into())));
    assert_eq!(here("my skills", Kind::Folder), Ok(Source::Folder("my skills".into())));
    assert_eq!(here("~/x", Kind::Folder), Ok(Source::Folder("~/x".into())));
    assert_eq!(here("a.skill", Kind::File), Ok(Source::Archive("a.skill".into())));
    assert_eq!(here("./download", Kind::File), Ok(Source::Archive("./download".into())));
    assert_eq!(here("pdf/SKILL.md", Kind::File), Ok(Source::Folder("pdf".into())));
    assert_eq!(here("SKILL.md", Kind::File), Ok(Source::Folder(".".into())));
    assert_eq!(
        here("https://example.com/a/b", Kind::Folder),
        git("https://example.com/a/b", None, None, None)
    );
    for text in ["./none", "../none", "/none", "~/none", "none.zip", "a/b.skill"] {
        assert_eq!(source(text), Err(SourceError::Missing(text.into())));
    }
}

#[test]
fn what_is_dangerous_or_means_nothing_is_refused() {
    let unknown = |text: &str| SourceError::Unknown(text.to_owned());
    let cases = [
        ("", SourceError::Empty),
        ("-u", SourceError::Option),
        ("--upload-pack=x", SourceError::Option),
        ("ssh://-oProxyCommand=x/y", SourceError::Option),
        ("a@-host:x", SourceError::Option),
        ("git@host:-x", SourceError::Option),
        ("a\nb/c", SourceError::Hidden),
        ("own\u{200b}er/repo", SourceError::Hidden),
        ("owner/my repo", SourceError::Space),
        ("ext::sh", SourceError::Helper),
        ("http://example.com/a/b", SourceError::Plain("http".to_owned())),
        ("git://example.com/a", SourceError::Plain("git".to_owned())),
        ("HTTP://example.com", SourceError::Plain("http".to_owned())),
        ("foo://x", SourceError::Scheme("foo".to_owned())),
        ("https://user:secret@example.com/a", SourceError::Secret),
        ("https://token@github.com/a/b", SourceError::Secret),
        ("ssh://git:secret@example.com/a", SourceError::Secret),
        ("https://", SourceError::Address("it is not a URL")),
        ("owner/repo#", SourceError::Reference(String::new())),
        ("owner/repo#-x", SourceError::Reference("-x".to_owned())),
        ("owner/repo#a..b", SourceError::Reference("a..b".to_owned())),
        ("owner/repo/../x", SourceError::Inner(PathError::Step)),
        ("owner/repo/.git", SourceError::Inner(PathError::Git)),
        ("owner/repo@", SourceError::Skill(prowess_format::NameError::Empty)),
        ("owner/repo@a\u{b8}b", unknown("a\u{b8}b")),
        ("pdf", unknown("pdf")),
        ("example.com", unknown("example.com")),
        ("a\\b/c", unknown("a\\b/c")),
        ("owner/..", unknown("owner/..")),
    ];
    for (text, error) in cases {
        assert!(error.hint().is_some());
        assert_eq!(source(text), Err(error), "{text}");
    }
}

/// Texts that look like sources.
fn texts() -> impl Strategy<Value = String> {
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

    /// Whatever was understood is understood again when it is shown.
    #[test]
    fn what_is_shown_is_the_same_source(text in prop_oneof![texts(), any::<String>()]) {
        if let Ok(parsed) = source(&text) {
            let shown = parsed.to_string();
            prop_assert_eq!(source(&shown), Ok(parsed), "{} is shown as {}", text, shown);
        }
    }

    #[test]
    fn nothing_becomes_an_option_or_a_program(text in texts()) {
        if let Ok(Source::Git { url, reference, .. }) = source(&text) {
            prop_assert!(!url.starts_with('-') && !url.contains("::"));
            prop_assert!(!reference.is_some_and(|reference| reference.starts_with('-')));
        }
    }
}
