use super::*;
use proptest::prelude::*;

fn parsed(raw: &str) -> String {
    GitUrl::parse(raw, Local::Allowed).map_or_else(|error| format!("{error:?}"), |url| url.to_string())
}

#[test]
fn what_people_write_is_taken() {
    for (raw, shown) in [
        ("https://example.com/owner/repo", "https://example.com/owner/repo"),
        ("HTTPS://Example.com:8443/owner/repo.git/", "https://example.com:8443/owner/repo.git"),
        ("git@example.com:owner/repo.git", "git@example.com:owner/repo.git"),
        // A host may be a name in the configuration of ssh, where small and large letters differ.
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
        assert_eq!(parsed(raw), shown, "{raw}");
    }
}

#[test]
fn what_is_a_trick_or_a_slip_is_refused() {
    for (raw, error) in [
        ("", "Empty"),
        ("--upload-pack=touch x", "Option"),
        ("ssh://-oProxyCommand=id/x", "Option"),
        ("ssh://-oProxyCommand=id@host/x", "Option"),
        ("-oProxyCommand=id:x", "Option"),
        ("me@-oProxyCommand=id:x", "Option"),
        ("host:-x", "Option"),
        ("ssh://host/-x", "Option"),
        ("ssh://host/%2dx", "Option"),
        ("https://-x/y", "Option"),
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
        assert_eq!(parsed(raw), error, "{raw}");
    }
    assert_eq!(GitUrl::parse("file:///srv", Local::Refused), Err(UrlError::Local));
}

proptest! {
    /// Whatever is taken is taken again in the form in which it is shown, and gives a program no option.
    #[test]
    fn what_is_taken_is_safe(raw in "(https://|ssh://|file://|[a-z]{1,3}@|)[-a-z0-9@:/.%~ \\[\\]]{0,24}") {
        if let Ok(url) = GitUrl::parse(&raw, Local::Allowed) {
            let shown = url.to_string();
            let again = GitUrl::parse(&shown, Local::Allowed);
            prop_assert_eq!(again.as_ref().map(ToString::to_string), Ok(shown));
            if let Place::Ssh(ssh) = &url.0 {
                prop_assert!(!ssh.host.starts_with('-') && !ssh.path.starts_with('-'));
                prop_assert!(!ssh.user.as_ref().is_some_and(|user| user.starts_with('-')));
                prop_assert!(!ssh.host.contains(char::is_whitespace));
            }
        }
    }

    #[test]
    fn nothing_makes_it_panic(raw in "\\PC{0,40}") {
        let _ = GitUrl::parse(&raw, Local::Allowed);
    }
}
