//! PA7xx: the type of a file, by its first bytes.

use super::push_finding;
use crate::finding::Finding;
use crate::report::RawFinding;
use crate::rules::rule;
use crate::text::{self, SourceText, TextKind};
use crate::unpack::ArchiveFormat;
use crate::{AuditFile, AuditKind, SCAN_MAX};

/// Checks for NUL bytes in instructions or code: some programs stop there, others ignore them.
pub(super) fn check_nul(text: &SourceText<'_>, findings: &mut Vec<RawFinding>) {
    if let (Some(offset), TextKind::Markdown | TextKind::Script) = (text.nul, text.kind) {
        push_finding(findings, "PA710", offset.min(text.bytes.len().saturating_sub(1)), None);
    }
}

/// Checks a file as a whole; `format` is its archive format.
pub(crate) fn check_file(
    file: &AuditFile<'_>,
    scanned: &[u8],
    format: Option<ArchiveFormat>,
) -> Option<Finding> {
    match file.kind {
        AuditKind::Symlink(target) => {
            let id =
                if target.is_none_or(|target| escapes_skill(file.path, target)) { "PA701" } else { "PA702" };
            file_finding(id, file.path, Some(target.unwrap_or("its target is unknown")))
        }
        AuditKind::Unread(reason) => file_finding("PA709", file.path, Some(reason)),
        AuditKind::File => match program_format(scanned) {
            Some(format_name) if has_harmless_extension(file.path) => {
                file_finding("PA704", file.path, Some(format_name))
            }
            Some(format_name) => file_finding("PA703", file.path, Some(format_name)),
            None if is_encrypted_zip(scanned) => file_finding("PA706", file.path, None),
            None => match format {
                Some(
                    ArchiveFormat::Zip
                    | ArchiveFormat::Gzip
                    | ArchiveFormat::Tar
                    | ArchiveFormat::Unsupported(_),
                ) if poses_as_text(file.path) => file_finding("PA711", file.path, None),
                Some(ArchiveFormat::Appended(_))
                    if text::text_kind(file.path, scanned) == TextKind::Script && !is_zipapp(file.path) =>
                {
                    file_finding("PA711", file.path, Some("appended to the text"))
                }
                Some(ArchiveFormat::Zip | ArchiveFormat::Gzip | ArchiveFormat::Tar)
                    if !is_document(file.path) =>
                {
                    file_finding("PA705", file.path, None)
                }
                Some(_) => None,
                None if has_extension(file.path, "pyc pyo") => file_finding("PA707", file.path, None),
                None if file.bytes.len() > SCAN_MAX => file_finding("PA708", file.path, None),
                None => None,
            },
        },
    }
}

/// Reports an archive that was not unpacked.
pub(crate) fn report_not_unpacked(path: &str, bytes: &[u8], reason: &str) -> Option<Finding> {
    // An encrypted archive was reported before.
    (!is_encrypted_zip(bytes))
        .then(|| file_finding("PA709", path, Some(&format!("an archive that was not unpacked: {reason}"))))?
}

/// Checks a file from an archive.
pub(crate) fn check_packed(archive: &str, file: &AuditFile<'_>) -> Option<Finding> {
    let has_macros = file.path.ends_with("/vbaProject.bin");
    let is_script = file.bytes.starts_with(b"#!") || text::text_kind(file.path, b"") == TextKind::Script;
    (is_office(archive) && (has_macros || is_script)).then(|| file_finding("PA712", file.path, None))?
}

fn program_format(bytes: &[u8]) -> Option<&'static str> {
    let format_name = match bytes {
        [0x7F, b'E', b'L', b'F', ..] => "ELF, for Linux",
        [0xFE, 0xED, 0xFA, 0xCE | 0xCF, ..] | [0xCE | 0xCF, 0xFA, 0xED, 0xFE, ..] => "Mach-O, for macOS",
        // A universal Mach-O starts like a Java class, whose version is larger than any number of architectures.
        [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, count, ..] if *count < 20 => "Mach-O, for macOS",
        [b'M', b'Z', ..] if is_windows_program(bytes) => "PE, for Windows",
        _ => return None,
    };
    Some(format_name)
}

/// Returns `true` for a Windows program. Two letters are not enough: the header points to the real one.
fn is_windows_program(bytes: &[u8]) -> bool {
    let offset = bytes.get(0x3C..0x40).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    offset
        .and_then(|offset| bytes.get(usize::try_from(offset).ok()?..))
        .is_some_and(|header| header.starts_with(b"PE\0\0"))
}

/// Returns `true` for a zip archive whose first file is encrypted, which is the lowest bit of the flags.
fn is_encrypted_zip(bytes: &[u8]) -> bool {
    matches!(bytes, [b'P', b'K', 3, 4, _, _, flags, ..] if flags & 1 == 1)
}

/// Returns `true` if the name is that of a text, an image or another file that is not an archive.
fn poses_as_text(path: &str) -> bool {
    let other_extensions = "png jpg jpeg gif svg webp pdf json yaml yml toml csv css xml mp3 mp4";
    let is_text =
        matches!(text::text_kind(path, b""), TextKind::Script | TextKind::Markdown | TextKind::Plain);
    (is_text && !is_zipapp(path)) || has_extension(path, other_extensions)
}

/// Returns `true` for Python programs in one file, which are archives after a first line.
fn is_zipapp(path: &str) -> bool {
    has_extension(path, "pyz")
}

/// Returns `true` for office documents.
fn is_office(path: &str) -> bool {
    has_extension(path, "docx xlsx pptx dotx xltx potx odt ods odp vsdx xlsm pptm docm key pages numbers")
}

/// Returns `true` for documents and packages that are archives by design.
fn is_document(path: &str) -> bool {
    let extensions = "docx xlsx pptx dotx xltx potx odt ods odp epub jar whl sketch key pages \
                 numbers vsdx svgz xlsm pptm docm";
    has_extension(path, extensions)
}

fn has_harmless_extension(path: &str) -> bool {
    let extensions = "md txt png jpg jpeg gif svg webp pdf json yaml yml toml csv py js \
                    ts sh html css xml docx xlsx pptx zip mp3 mp4 ttf woff woff2";
    has_extension(path, extensions)
}

fn has_extension(path: &str, extensions: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| extensions.split(' ').any(|name| extension.eq_ignore_ascii_case(name)))
}

/// Returns `true` if a symlink points outside the skill.
fn escapes_skill(path: &str, target: &str) -> bool {
    if target.starts_with(['/', '~', '\\']) || target.contains(':') {
        return true;
    }
    let mut depth = path.matches('/').count();
    for component in target.split('/') {
        match component {
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
    }
    false
}

fn file_finding(id: &str, path: &str, note: Option<&str>) -> Option<Finding> {
    let rule = rule(id)?;
    let note = note
        .map(|note| format!(" ({})", prowess_format::hidden::escape_for_display(note)))
        .unwrap_or_default();
    Some(Finding {
        rule: rule.id,
        family: rule.family,
        severity: rule.severity,
        path: path.to_owned(),
        line: 0,
        column: 0,
        message: format!("{}: {}{note}", rule.title, rule.reason),
        excerpt: String::new(),
        help: rule.help,
        suppressed: None,
        covered: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symlink_targets_outside_the_skill_are_detected() {
        assert!(escapes_skill("a", "../b") && escapes_skill("a/b", "../../c") && escapes_skill("a", "/etc"));
        assert!(
            !escapes_skill("a/b", "../c") && !escapes_skill("a", "b/../c") && !escapes_skill("a/b", "./c")
        );
        assert!(escapes_skill("a", "b/../../c"));
    }
}
