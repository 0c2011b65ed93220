//! The headers of downloaded files, which are untrusted: a browser must never run code from them in the origin of the page.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use prowess_chat::store::ChatFile;

/// Whether a browser displays a file or saves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentDisplay {
    /// The browser displays the file if its type is safe.
    Inline,
    /// The browser saves the file.
    Attachment,
}

/// The policy for files: nothing is loaded or run, and the document has an opaque origin.
const SANDBOX: &str = "sandbox; default-src 'none'; frame-ancestors 'self'";

/// The policy for displayed PDF files. Viewers of browsers do not work in a sandbox. They are separate programs without access to
/// the origin, and the policy allows them nothing but their own styles.
const PDF_VIEWER: &str =
    "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'";

/// The types of images that a browser may display.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The type of displayed text, which need not be its real type.
const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

/// Returns the headers of a file.
pub(super) fn file_headers(file: &ChatFile, display: ContentDisplay) -> HeaderMap {
    let inline = match display {
        ContentDisplay::Inline => inline_type(&file.media_type),
        ContentDisplay::Attachment => None,
    };
    let policy = if inline == Some(PDF) { PDF_VIEWER } else { SANDBOX };
    let (kind, media_type) = match inline {
        Some(media_type) => ("inline", media_type.to_owned()),
        None => ("attachment", saved_type(&file.media_type).to_owned()),
    };
    let mut headers = HeaderMap::new();
    let mut insert = |name: HeaderName, value: &str, fallback: &'static str| {
        headers.insert(name, HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static(fallback)));
    };
    insert(header::CONTENT_TYPE, &media_type, "application/octet-stream");
    insert(header::CONTENT_DISPOSITION, &format!("{kind}; {}", file_name(&file.path)), "attachment");
    insert(header::CONTENT_SECURITY_POLICY, policy, SANDBOX);
    insert(header::X_CONTENT_TYPE_OPTIONS, "nosniff", "nosniff");
    // The page shows PDF files in a frame.
    insert(header::X_FRAME_OPTIONS, "SAMEORIGIN", "DENY");
    insert(header::CACHE_CONTROL, "private, no-cache", "no-store");
    insert(header::ETAG, &etag(file), "\"\"");
    headers
}

const PDF: &str = "application/pdf";

/// Returns the type with which a file may be displayed, if it may.
fn inline_type(media_type: &str) -> Option<&'static str> {
    const TEXTS: [&str; 8] = [
        "text/plain",
        "text/csv",
        "text/tab-separated-values",
        "text/markdown",
        "application/json",
        "application/jsonl",
        "application/yaml",
        "application/toml",
    ];
    match media_type {
        PDF => Some(PDF),
        other if TEXTS.contains(&other) => Some(PLAIN_TEXT),
        other => IMAGES.into_iter().find(|image| *image == other),
    }
}

/// Returns the type of a file that is saved. Types that a page can load as code or as a style sheet are not sent: the policy of
/// the page allows scripts of its own origin, and a file must never be one of them. The name of the file tells programs its type.
fn saved_type(media_type: &str) -> &str {
    const BINARY: &str = "application/octet-stream";
    match inline_type(media_type) {
        // Text is UTF-8: other content is not detected as text.
        Some(PLAIN_TEXT) => PLAIN_TEXT,
        Some(_) => media_type,
        None if media_type.starts_with("audio/") || media_type.starts_with("video/") => media_type,
        None => BINARY,
    }
}

/// Returns the parameters with the last component of the path, as in RFC 6266.
fn file_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ');
    let ascii: String = name.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    if ascii == name {
        return format!("filename=\"{ascii}\"");
    }
    let encode = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    let encoded: String = name.bytes().map(encode).collect();
    format!("filename=\"{ascii}\"; filename*=UTF-8''{encoded}")
}

fn etag(file: &ChatFile) -> String {
    format!("\"{}\"", file.digest.replace(':', "-"))
}

/// Returns `true` if the client has the current content.
pub(super) fn is_known_etag(request_headers: &HeaderMap, file: &ChatFile) -> bool {
    let known = request_headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    known.is_some_and(|tags| tags.split(',').any(|tag| tag.trim().trim_start_matches("W/") == etag(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess_chat::store::FileOrigin;

    fn file(path: &str, media_type: &str) -> ChatFile {
        ChatFile {
            path: path.to_owned(),
            size: 1,
            media_type: media_type.to_owned(),
            digest: "sha256:00".to_owned(),
            origin: FileOrigin::Script,
            created: 1,
            changed: 1,
        }
    }

    #[test]
    fn headers_of_displayed_files() {
        let types = [
            "image/png",
            "image/svg+xml",
            "text/html",
            "application/xhtml+xml",
            "application/xml",
            "text/csv",
            "application/json",
            "text/javascript",
            "text/css",
            "application/wasm",
            "video/mp4",
            "application/pdf",
            "application/octet-stream",
            "broken\r\nX: y",
        ];
        let lines = types.map(|media_type| {
            let headers = file_headers(&file("a", media_type), ContentDisplay::Inline);
            let value =
                |name| headers.get(name).map_or("", |value| value.to_str().unwrap_or_default()).to_owned();
            let kind = value(header::CONTENT_DISPOSITION);
            let kind = kind.split(';').next().unwrap_or_default().to_owned();
            let policy = value(header::CONTENT_SECURITY_POLICY);
            assert_eq!(value(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
            format!("{}: {kind} {} | {policy}", media_type.escape_debug(), value(header::CONTENT_TYPE))
        });
        insta::assert_snapshot!(lines.join("\n"), @r"
        image/png: inline image/png | sandbox; default-src 'none'; frame-ancestors 'self'
        image/svg+xml: attachment application/octet-stream | sandbox; default-src 'none'; frame-ancestors 'self'
        text/html: attachment application/octet-stream | sandbox; default-src 'none'; frame-ancestors 'self'
        application/xhtml+xml: attachment application/octet-stream | sandbox; default-src 'none'; frame-ancestors 'self'
        application/xml: attachment application/octet-stream | sandbox; default-src 'none'; frame-ancestors 'self'
        text/csv: inline text/plain; charset=utf-8 | sandbox; default-src 'none'; frame-ancestors 'self'
        application/json: inline text/plain; charset=utf-8 | sandbox; default-src 'none'; frame-ancestors 'self'
        text/javascript: attachment application/octet-stream | sandbox; default-src 'none'; frame-ancestors 'self'
        text/css: attachment application/octet-stream | sandbox; default-src 'none'; frame-ancestors 'self'
        application/wasm: attachment application/octet-stream | sandbox; default-src 'none'; frame-ancestors 'self'
        video/mp4: attachment video/mp4 | sandbox; default-src 'none'; frame-ancestors 'self'
        application/pdf: inline application/pdf | default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'
        application/octet-stream: attachment application/octet-stream | sandbox; default-src 'none'; frame-ancestors 'self'
        broken\r\nX: y: attachment application/octet-stream | sandbox; default-src 'none'; frame-ancestors 'self'
        ");
    }

    #[test]
    fn names_of_downloads() {
        let names = ["a.csv", "dir/a b.csv", "Übersicht.csv", "it's \"x\";\\.txt", "100%.txt", "a\r\nX: y"];
        insta::assert_snapshot!(names.map(file_name).join("\n"), @r#"
        filename="a.csv"
        filename="a b.csv"
        filename="_bersicht.csv"; filename*=UTF-8''%C3%9Cbersicht.csv
        filename="it_s _x___.txt"; filename*=UTF-8''it%27s%20%22x%22%3B%5C.txt
        filename="100_.txt"; filename*=UTF-8''100%25.txt
        filename="a__X_ y"; filename*=UTF-8''a%0D%0AX%3A%20y
        "#);
    }

    #[test]
    fn etags_name_the_content() {
        let known = |tags: &'static str| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static(tags))]);
            is_known_etag(&headers, &file("a", "text/csv"))
        };
        assert!(known("\"sha256-00\"") && known("\"x\", W/\"sha256-00\""));
        assert!(!known("\"sha256-01\"") && !known("") && !known("*"));
    }
}
