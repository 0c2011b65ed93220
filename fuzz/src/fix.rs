//! Fixes of a `SKILL.md`.

use prowess_format::fence::{Extent, FenceSearch, find_fences};
use prowess_format::{Code, Diagnostic, Repair, Rules, Severity, apply_fixes, parse};

const DIRECTORY: Option<&str> = Some("pdf");

/// The maximum number of diagnostics of a file. Beyond it, fixing one reveals another.
const DIAGNOSTICS_MAX: usize = 50;

/// Checks that fixes remove problems and add none, that the body and the description stay, that a repair is not needed
/// afterwards, and that fixing again changes nothing.
pub fn fix(bytes: &[u8]) {
    for rules in [Rules::standard(), Rules::strict()] {
        let fixed = apply_fixes(bytes, DIRECTORY, &rules, |_| true);
        assert_eq!(fixed.fixed.is_empty(), fixed.bytes == bytes, "{:?}", fixed.fixed);
        let again = apply_fixes(&fixed.bytes, DIRECTORY, &rules, |_| true);
        assert_eq!(again.fixed, [], "{:?}", String::from_utf8_lossy(&fixed.bytes));
        if fixed.fixed.is_empty() {
            continue;
        }
        assert_eq!(body(&fixed.bytes), body(bytes), "the body");

        // Invalid YAML hides all other problems, unless it is repaired.
        let complete_rules = Rules { repair: Repair::On, ..rules.clone() };
        let before = parse(bytes, DIRECTORY, &complete_rules);
        let after = parse(&fixed.bytes, DIRECTORY, &complete_rules);
        if let (Some(before), Some(after)) = (&before.document, &after.document) {
            assert_eq!(before.manifest.description(), after.manifest.description());
        }
        if before.diagnostics.len() < DIAGNOSTICS_MAX {
            let (before, after) = (kinds(&before.diagnostics), kinds(&after.diagnostics));
            assert!(after.len() < before.len(), "{before:?} became {after:?}");
            let mut known = before.iter();
            assert!(after.iter().all(|kind| known.by_ref().any(|known| known == kind)), "{after:?}");
        }
    }
}

fn kinds(diagnostics: &[Diagnostic]) -> Vec<(Code, Severity)> {
    let mut kinds: Vec<_> =
        diagnostics.iter().map(|diagnostic| (diagnostic.code, diagnostic.severity)).collect();
    kinds.sort_unstable();
    kinds
}

fn body(source: &[u8]) -> Option<&[u8]> {
    match find_fences(source, Extent::Whole) {
        FenceSearch::Found(fences) => source.get(fences.body..),
        _ => None,
    }
}
