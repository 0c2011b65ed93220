//! What kind of file some bytes are: by how they begin, then by the file's ending.

/// The media type, as well as it can be guessed.
pub(super) fn guess(path: &str, bytes: &[u8]) -> &'static str {
    if let Some((_, mime)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return mime;
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    let text = !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let known = ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, mime)| *mime);
    match known {
        Some(mime) if text => mime,
        // What calls itself text and is not, is nothing that can be shown.
        Some(_) | None if !text => "application/octet-stream",
        _ => "text/plain",
    }
}

/// The media type that a file's name stands for, where it stands for one.
///
/// ```
/// assert_eq!(prowess::resource::mime_of_name("references/guide.md"), Some("text/markdown"));
/// assert_eq!(prowess::resource::mime_of_name("LICENSE"), None);
/// ```
pub fn mime_of_name(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    let mut known = ENDINGS.iter().chain(OTHER_ENDINGS);
    known.find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, mime)| *mime)
}

/// How files that are not text begin.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xFF\xD8\xFF", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1F\x8B", "application/gzip"),
];

/// The endings of text.
const ENDINGS: &[(&str, &str)] = &[
    ("md", "text/markdown"),
    ("json", "application/json"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("html", "text/html"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("svg", "image/svg+xml"),
    ("xml", "application/xml"),
    ("js", "text/javascript"),
    ("py", "text/x-python"),
    ("sh", "text/x-shellscript"),
];

/// The endings of what is not text.
const OTHER_ENDINGS: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
    ("txt", "text/plain"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_counts_more_than_the_ending() {
        for (path, bytes, mime) in [
            ("a.md", &b"\x89PNG\r\n\x1a\n..."[..], "image/png"),
            ("a.webp", b"RIFF....WEBPVP8 ", "image/webp"),
            ("assets/a.JSON", b"{}", "application/json"),
            ("logo.svg", b"<svg/>", "image/svg+xml"),
            ("LICENSE", b"MIT", "text/plain"),
            ("a.md", b"\0\0", "application/octet-stream"),
            ("a.bin", b"\xFF\xFE", "application/octet-stream"),
            ("a", b"", "text/plain"),
        ] {
            assert_eq!(guess(path, bytes), mime, "{path}");
        }
    }
}
