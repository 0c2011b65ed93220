use super::*;
use proptest::prelude::*;

fn parse_to_text(raw: &str) -> String {
    GitUrl::parse(raw, LocalRepositories::Allowed)
        .map_or_else(|error| format!("{error:?}"), |url| url.to_string())
}

#[test]
fn valid_urls_are_accepted() {
    for (raw, shown) in [
        ("https://example.com/owner/repo", "https://example.com/owner/repo"),
        ("HTTPS://Example.com:8443/owner/repo.git/", "https://example.com:8443/owner/repo.git"),
        ("git@example.com:owner/repo.git", "git@example.com:owner/repo.git"),
        // A host may be an alias in the configuration of ssh, which is case-sensitive.
        ("Work:/srv/repo", "ssh://Work/srv/repo"),
        ("example.com:/srv/repo", "ssh://example.com/srv/repo"),
        ("ssh://me@example.com:2222/srv/re%20po", "ssh://me@example.com:2222/srv/re%20po"),
        ("ssh://example.com/~me/repo", "ssh://example.com/~me/repo"),
        ("me@[::1]:repo", "me@[::1]:repo"),
        ("https://[::1]:1/x", "https://[::1]:1/x"),
        ("file:///srv/my%20repo", "file:///srv/my%20repo"),
        ("file:///srv/my repo", "file:///srv/my%20repo"),
        ("file://localhost/srv", "file:///srv"),
    ] {
        assert_eq!(parse_to_text(raw), shown, "{raw}");
    }
}

#[test]
fn malicious_and_mistyped_urls_are_rejected() {
    for (raw, error) in [
        ("", "Empty"),
        ("--upload-pack=touch x", "LooksLikeOption"),
        ("ssh://-oProxyCommand=id/x", "LooksLikeOption"),
        ("ssh://-oProxyCommand=id@host/x", "LooksLikeOption"),
        ("-oProxyCommand=id:x", "LooksLikeOption"),
        ("me@-oProxyCommand=id:x", "LooksLikeOption"),
        ("host:-x", "LooksLikeOption"),
        ("ssh://host/-x", "LooksLikeOption"),
        ("ssh://host/%2dx", "LooksLikeOption"),
        ("https://-x/y", "LooksLikeOption"),
        ("ext::sh -c id", "Scheme"),
        ("fd::7", "Scheme"),
        ("http://example.com/x", "Http"),
        ("git://example.com/x", "Scheme"),
        ("ftp://example.com/x", "Scheme"),
        ("git+ssh://example.com/x", "Scheme"),
        ("javascript:x y", "Character"),
        ("C:\\repo", "Scheme"),
        ("C:/repo", "Scheme"),
        ("./a:b", "Scheme"),
        ("owner/repo", "Scheme"),
        ("/srv/repo", "Scheme"),
        ("https://me:token@example.com/x", "Credentials"),
        ("https://token@example.com/x", "Credentials"),
        ("ssh://me:secret@example.com/x", "Credentials"),
        ("me:secret@example.com:x", "Credentials"),
        ("https://example.com/x y", "Character"),
        ("https://example.com/x\n", "Character"),
        ("https://example.com/\u{202e}x", "Character"),
        ("https://ex\u{e4}mple.com/x", "Character"),
        ("ssh://host/a%0ab", "Character"),
        ("ssh://ho$st/x", "Host"),
        ("https:///x", "Host"),
        ("https://[::1/x", "Host"),
        ("https://host:0/x", "Port"),
        ("https://host:99999/x", "Port"),
        ("https://host:+1/x", "Port"),
        ("https://host", "Path"),
        ("https://host/", "Path"),
        ("https://host/x?service=git-receive-pack", "Path"),
        ("https://host/x#y", "Path"),
        ("ssh://host", "Path"),
        ("host:", "Path"),
        ("file://srv/x", "Path"),
        ("file:///a%", "Path"),
    ] {
        assert_eq!(parse_to_text(raw), error, "{raw}");
    }
    assert_eq!(GitUrl::parse("file:///srv", LocalRepositories::Refused), Err(ParseGitUrlError::Local));
}

proptest! {
    /// A displayed URL parses again to the same URL, and contains nothing that a program reads as an option.
    #[test]
    fn parsed_urls_are_safe(raw in "(https://|ssh://|file://|[a-z]{1,3}@|)[-a-z0-9@:/.%~ \\[\\]]{0,24}") {
        if let Ok(url) = GitUrl::parse(&raw, LocalRepositories::Allowed) {
            let shown = url.to_string();
            let reparsed = GitUrl::parse(&shown, LocalRepositories::Allowed);
            prop_assert_eq!(reparsed.as_ref().map(ToString::to_string), Ok(shown));
            if let GitLocation::Ssh(ssh) = &url.0 {
                prop_assert!(!ssh.host.starts_with('-') && !ssh.path.starts_with('-'));
                prop_assert!(!ssh.user.as_ref().is_some_and(|user| user.starts_with('-')));
                prop_assert!(!ssh.host.contains(char::is_whitespace));
            }
        }
    }

    #[test]
    fn arbitrary_input_does_not_panic(raw in "\\PC{0,40}") {
        let _ = GitUrl::parse(&raw, LocalRepositories::Allowed);
    }
}
