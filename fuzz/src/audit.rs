//! The audit of the files of a skill.

use prowess_format::hidden;
use prowess_package::audit::{AuditFile, Suppressions, audit as run_audit, capabilities};

/// Checks that nothing panics, that every location is inside the file, that findings contain no hidden characters, and that
/// another file does not change the result. The bytes are audited under several names, and parsed as suppressions.
pub fn audit(bytes: &[u8]) {
    let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
    for path in ["SKILL.md", "scripts/run.sh", "scripts/run.py", "data.json", "notes.txt"] {
        let file = AuditFile::new(path, false, bytes);
        let alone = run_audit([file].into_iter());
        let other = AuditFile::new("zzz.md", false, b"# Nothing\n");
        assert_eq!(alone, run_audit([other, file].into_iter()), "another file changes the result");
        for finding in &alone.findings {
            // In UTF-16, line breaks are other bytes.
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
        assert!(known.added_in(&known).is_empty());
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Suppressions::parse(text);
    }
}
