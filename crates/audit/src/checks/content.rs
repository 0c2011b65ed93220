//! PA7xx: what a file is, by its first bytes.

use super::push;
use crate::finding::Finding;
use crate::rules::rule;
use crate::text::{self, Kind, Text};
use crate::unpack::Format;
use crate::wording::Raw;
use crate::{AuditFile, AuditKind, LOOKED_AT};

/// A NUL byte where instructions or code are read: some programs stop at it, others pass over it.
pub(super) fn nul(text: &Text<'_>, raw: &mut Vec<Raw>) {
    if let (Some(at), Kind::Markdown | Kind::Script) = (text.nul, text.kind) {
        push(raw, "PA710", at.min(text.bytes.len().saturating_sub(1)), None);
    }
}

/// What there is to say about a file as a whole; `format` is what kind of archive it is.
pub(crate) fn of(file: &AuditFile<'_>, kept: &[u8], format: Option<Format>) -> Option<Finding> {
    match file.kind {
        AuditKind::Link(target) => {
            let id = if target.is_none_or(|target| leads_out(file.path, target)) { "PA701" } else { "PA702" };
            whole(id, file.path, Some(target.unwrap_or("it is not known where it leads")))
        }
        AuditKind::Unread(why) => whole("PA709", file.path, Some(why)),
        AuditKind::File => match program(kept) {
            Some(what) if is_disguised(file.path) => whole("PA704", file.path, Some(what)),
            Some(what) => whole("PA703", file.path, Some(what)),
            None if is_locked(kept) => whole("PA706", file.path, None),
            None => match format {
                Some(Format::Zip | Format::Gzip | Format::Tar | Format::Foreign(_))
                    if poses_as_text(file.path) =>
                {
                    whole("PA711", file.path, None)
                }
                Some(Format::Appended(_))
                    if text::kind(file.path, kept) == Kind::Script && !is_app(file.path) =>
                {
                    whole("PA711", file.path, Some("it is behind the text"))
                }
                Some(Format::Zip | Format::Gzip | Format::Tar) if !is_document(file.path) => {
                    whole("PA705", file.path, None)
                }
                Some(_) => None,
                None if has_extension(file.path, "pyc pyo") => whole("PA707", file.path, None),
                None if file.bytes.len() > LOOKED_AT => whole("PA708", file.path, None),
                None => None,
            },
        },
    }
}

/// What there is to say about an archive that was not opened.
pub(crate) fn unopened(path: &str, bytes: &[u8], why: &str) -> Option<Finding> {
    // That it is locked was said before.
    (!is_locked(bytes))
        .then(|| whole("PA709", path, Some(&format!("an archive that was not opened: {why}"))))?
}

/// What there is to say about a file because of the archive it lies in.
pub(crate) fn packed(archive: &str, file: &AuditFile<'_>) -> Option<Finding> {
    let macros = file.path.ends_with("/vbaProject.bin");
    let script = file.bytes.starts_with(b"#!") || text::kind(file.path, b"") == Kind::Script;
    (is_office(archive) && (macros || script)).then(|| whole("PA712", file.path, None))?
}

fn program(bytes: &[u8]) -> Option<&'static str> {
    let what = match bytes {
        [0x7F, b'E', b'L', b'F', ..] => "ELF, for Linux",
        [0xFE, 0xED, 0xFA, 0xCE | 0xCF, ..] | [0xCE | 0xCF, 0xFA, 0xED, 0xFE, ..] => "Mach-O, for macOS",
        // A universal Mach-O begins like a Java class, whose version is larger than any number of processors.
        [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, count, ..] if *count < 20 => "Mach-O, for macOS",
        [b'M', b'Z', ..] if is_windows(bytes) => "PE, for Windows",
        _ => return None,
    };
    Some(what)
}

/// Two letters are not enough: the header says where the real one begins.
fn is_windows(bytes: &[u8]) -> bool {
    let at = bytes.get(0x3C..0x40).and_then(|at| at.try_into().ok()).map(u32::from_le_bytes);
    at.and_then(|at| bytes.get(usize::try_from(at).ok()?..)).is_some_and(|rest| rest.starts_with(b"PE\0\0"))
}

/// The lowest bit of the flags of a zip archive says that the first file is encrypted.
fn is_locked(bytes: &[u8]) -> bool {
    matches!(bytes, [b'P', b'K', 3, 4, _, _, flags, ..] if flags & 1 == 1)
}

/// Whether its name says that it is text or a picture.
fn poses_as_text(path: &str) -> bool {
    let other = "png jpg jpeg gif svg webp pdf json yaml yml toml csv css xml mp3 mp4";
    let readable = matches!(text::kind(path, b""), Kind::Script | Kind::Markdown | Kind::Plain);
    (readable && !is_app(path)) || has_extension(path, other)
}

/// Python programs in one file, which are archives behind a first line.
fn is_app(path: &str) -> bool {
    has_extension(path, "pyz")
}

/// Documents that hold no code.
fn is_office(path: &str) -> bool {
    has_extension(path, "docx xlsx pptx dotx xltx potx odt ods odp vsdx xlsm pptm docm key pages numbers")
}

/// Documents and fonts that are archives inside.
fn is_document(path: &str) -> bool {
    let known = "docx xlsx pptx dotx xltx potx odt ods odp epub jar whl sketch key pages \
                 numbers vsdx svgz xlsm pptm docm";
    has_extension(path, known)
}

fn is_disguised(path: &str) -> bool {
    let harmless = "md txt png jpg jpeg gif svg webp pdf json yaml yml toml csv py js \
                    ts sh html css xml docx xlsx pptx zip mp3 mp4 ttf woff woff2";
    has_extension(path, harmless)
}

fn has_extension(path: &str, known: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| known.split(' ').any(|it| extension.eq_ignore_ascii_case(it)))
}

/// Whether a link leads above the skill.
fn leads_out(path: &str, target: &str) -> bool {
    if target.starts_with(['/', '~', '\\']) || target.contains(':') {
        return true;
    }
    let mut depth = path.matches('/').count();
    for step in target.split('/') {
        match step {
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
    }
    false
}

fn whole(id: &str, path: &str, note: Option<&str>) -> Option<Finding> {
    let rule = rule(id)?;
    let note = note.map(|note| format!(" ({})", prowess_format::hidden::shown(note))).unwrap_or_default();
    Some(Finding {
        rule: rule.id,
        family: rule.family,
        severity: rule.severity,
        path: path.to_owned(),
        line: 0,
        column: 0,
        message: format!("{}: {}{note}", rule.title, rule.why),
        excerpt: String::new(),
        help: rule.help,
        suppressed: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_link_leads() {
        assert!(leads_out("a", "../b") && leads_out("a/b", "../../c") && leads_out("a", "/etc"));
        assert!(!leads_out("a/b", "../c") && !leads_out("a", "b/../c") && !leads_out("a/b", "./c"));
        assert!(leads_out("a", "b/../../c"));
    }
}
