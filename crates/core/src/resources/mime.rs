//! Guesses the media type of a file, first from its contents, then from its extension.

/// Guesses the media type of a file.
///
/// ```
/// assert_eq!(prowess::resources::guess_mime_type("report.txt", b"%PDF-1.7"), "application/pdf");
/// ```
pub fn guess_mime_type(path: &str, bytes: &[u8]) -> &'static str {
    if let Some((_, mime)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        // Office documents are zip archives.
        let in_zip = mime_type_for_path(path).filter(|mime| mime.starts_with("application/vnd."));
        return if *mime == ZIP { in_zip.unwrap_or(mime) } else { mime };
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    let is_text = !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let from_extension =
        TEXT_EXTENSIONS.iter().find(|(listed, _)| *listed == extension).map(|(_, mime)| *mime);
    match from_extension {
        Some(mime) if is_text => mime,
        // A text extension on binary data says nothing about its type.
        Some(_) | None if !is_text => "application/octet-stream",
        _ => "text/plain",
    }
}

/// Returns the media type for the extension of a path, if it is known.
///
/// ```
/// assert_eq!(prowess::resources::mime_type_for_path("references/guide.md"), Some("text/markdown"));
/// assert_eq!(prowess::resources::mime_type_for_path("LICENSE"), None);
/// ```
pub fn mime_type_for_path(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let mut types = TEXT_EXTENSIONS.iter().chain(BINARY_EXTENSIONS);
    types.find(|(listed, _)| extension.eq_ignore_ascii_case(listed)).map(|(_, mime)| *mime)
}

const ZIP: &str = "application/zip";

/// The magic numbers of binary files.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xFF\xD8\xFF", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", ZIP),
    (b"\x1F\x8B", "application/gzip"),
];

/// The extensions of text files.
const TEXT_EXTENSIONS: &[(&str, &str)] = &[
    ("md", "text/markdown"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("svg", "image/svg+xml"),
    ("xml", "application/xml"),
    ("js", "text/javascript"),
    ("py", "text/x-python"),
    ("sh", "text/x-shellscript"),
];

/// Other extensions. The contents of these files are not checked.
const BINARY_EXTENSIONS: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("zip", ZIP),
    ("gz", "application/gzip"),
    ("txt", "text/plain"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_take_precedence_over_the_extension() {
        for (path, bytes, mime) in [
            ("a.md", &b"\x89PNG\r\n\x1a\n..."[..], "image/png"),
            ("a.webp", b"RIFF....WEBPVP8 ", "image/webp"),
            ("assets/a.JSON", b"{}", "application/json"),
            ("logo.svg", b"<svg/>", "image/svg+xml"),
            ("LICENSE", b"MIT", "text/plain"),
            ("a.md", b"\0\0", "application/octet-stream"),
            ("a.bin", b"\xFF\xFE", "application/octet-stream"),
            ("a", b"", "text/plain"),
            ("a.TSV", b"a\tb", "text/tab-separated-values"),
            ("a.png", b"<script>", "text/plain"),
            ("dir.csv/README", b"x", "text/plain"),
            ("a.xlsx", b"text", "text/plain"),
            ("a.xlsx", b"PK\x03\x04", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            ("a.png", b"PK\x03\x04", "application/zip"),
        ] {
            assert_eq!(guess_mime_type(path, bytes), mime, "{path}");
        }
    }
}
