//! The files of a skill, as the audit sees them.

use prowess_format::hidden;
use prowess_package::audit::{AuditFile, Suppressions, audit as verdict, capabilities};

/// Nothing panics, the same bytes give the same verdict, every place lies inside the file, nothing hidden is shown, and
/// what is found alone is found beside other files, too. The same bytes are tried under several names, and as suppressions.
pub fn audit(bytes: &[u8]) {
    let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
    for path in ["SKILL.md", "scripts/run.sh", "scripts/run.py", "data.json", "notes.txt"] {
        let file = AuditFile::new(path, false, bytes);
        let alone = verdict([file].into_iter());
        let other = AuditFile::new("zzz.md", false, b"# Nothing\n");
        assert_eq!(alone, verdict([other, file].into_iter()), "the other file has nothing in it");
        for finding in &alone.findings {
            // UTF-16 has line breaks that are no such bytes.
            assert!(
                finding.line as usize <= lines
                    || bytes.starts_with(b"\xff\xfe")
                    || bytes.starts_with(b"\xfe\xff")
            );
            assert_eq!(finding.line == 0, finding.column == 0, "{finding:?}");
            assert_eq!(hidden::find_hidden(&finding.excerpt), None, "{finding:?}");
            assert_eq!(hidden::find_hidden(&finding.message), None, "{finding:?}");
        }
        let known = capabilities([file].into_iter());
        assert!(known.difference(&known).is_empty());
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Suppressions::parse(text);
    }
}
