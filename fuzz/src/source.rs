//! The argument of `install`.

use prowess_package::source::{DiskEntryKind, Source, parse_source};

/// Checks that nothing panics, that a displayed source is parsed to the same source, and that no part of a repository URL can be
/// interpreted as an option or make git run a program.
pub fn source(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for kind in [DiskEntryKind::Directory, DiskEntryKind::File] {
        let _ = parse_source(&text, |_| Some(kind));
    }
    match parse_source(&text, |_| None) {
        Ok(source) => {
            let shown = source.to_string();
            assert_eq!(
                parse_source(&shown, |_| None).as_ref(),
                Ok(&source),
                "{text:?} is shown as {shown:?}"
            );
            check_safe(&source);
        }
        Err(error) => assert!(error.hint().is_some() && !error.to_string().is_empty()),
    }
}

fn check_safe(source: &Source) {
    match source {
        Source::Git { url, reference, .. } => {
            assert!(
                !url.starts_with('-') && !url.contains("::") && !url.contains(char::is_whitespace),
                "{url:?}"
            );
            assert!(!url.starts_with("http://") && !url.starts_with("git://"), "{url:?}");
            let option = |reference: &String| reference.starts_with('-') || reference.is_empty();
            assert!(!reference.as_ref().is_some_and(option), "{reference:?}");
        }
        Source::ArchiveUrl(url) | Source::Site(url) => {
            assert!(
                url.scheme() == "https" && url.username().is_empty() && url.password().is_none(),
                "{url}"
            );
        }
        Source::Directory(path) | Source::Archive(path) => panic!("{} does not exist", path.display()),
    }
}
