//! Applying the edits that diagnostics suggest.
//!
//! Every edit is checked by parsing the result. It is kept only if its problem is gone, no other problem appeared, and
//! the body is the same, byte for byte. Comments and the order of keys stay, because edits replace single values.

use crate::diagnostic::{Code, Diagnostic, Fix, Severity};
use crate::document::parse_with_limit;
use crate::fence::{Extent, FenceSearch, find_fences};
use crate::rules::{Repair, Rules};

/// The maximum number of times a file is parsed, so that a malicious file cannot keep a check busy.
const PARSES_MAX: usize = 512;

/// A file after its fixes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FixedSource {
    /// The new content; the same as before if nothing could be fixed.
    pub bytes: Vec<u8>,
    /// The fixed diagnostics. Those that appear only after another fix are located in the file after that fix.
    pub fixed: Vec<Diagnostic>,
}

/// Applies the fixes of all diagnostics for which `is_selected` returns `true`, until none is left. Applying the fixes
/// of the result again changes nothing.
///
/// ```
/// use prowess_format::{apply_fixes, Rules};
///
/// let source = b"---\nname: pdf\ndescription: Fill forms: fast\n---\nDo it.\n";
/// let fixed = apply_fixes(source, Some("pdf"), &Rules::strict(), |_| true);
/// assert_eq!(fixed.bytes, b"---\nname: pdf\ndescription: \"Fill forms: fast\"\n---\nDo it.\n");
/// ```
pub fn apply_fixes(
    source: &[u8],
    dir_name: Option<&str>,
    rules: &Rules,
    is_selected: impl Fn(&Diagnostic) -> bool,
) -> FixedSource {
    let mut fixer = Fixer {
        dir_name,
        rules,
        // Without repairs, invalid YAML would hide all other problems, and its fix would seem to add them.
        complete_rules: Rules { repair: Repair::On, ..rules.clone() },
        parses: 0,
    };
    let mut current = FixedSource { bytes: source.to_vec(), fixed: Vec::new() };
    while fixer.parses < PARSES_MAX {
        let edits = fixer.find_edits(&current.bytes, &is_selected);
        let before = current.fixed.len();
        current = fixer.apply(current, &edits);
        if current.fixed.len() == before {
            break;
        }
    }
    current
}

/// An edit and the diagnostics that it fixes.
struct Edit {
    fix: Fix,
    diagnostics: Vec<Diagnostic>,
}

struct Fixer<'a> {
    dir_name: Option<&'a str>,
    rules: &'a Rules,
    complete_rules: Rules,
    parses: usize,
}

impl Fixer<'_> {
    fn parse(&mut self, source: &[u8], rules: &Rules) -> Vec<Diagnostic> {
        self.parses += 1;
        parse_with_limit(source, self.dir_name, rules, usize::MAX).diagnostics
    }

    /// Returns the edits that do not overlap, in the order of the file. Identical edits are one.
    fn find_edits(&mut self, source: &[u8], is_selected: &impl Fn(&Diagnostic) -> bool) -> Vec<Edit> {
        let diagnostics = self.parse(source, self.rules);
        let with_fix = diagnostics.into_iter().filter(is_selected).filter_map(|diagnostic| {
            let fix = diagnostic.fix.as_deref()?.clone();
            source.get(fix.span.range()).map(|_| (fix, diagnostic))
        });
        let mut with_fix: Vec<_> = with_fix.collect();
        with_fix.sort_by_key(|(fix, _)| (fix.span.start, fix.span.end));
        let mut edits: Vec<Edit> = Vec::new();
        for (fix, diagnostic) in with_fix {
            match edits.last_mut() {
                Some(last) if last.fix == fix => last.diagnostics.push(diagnostic),
                Some(last) if fix.span.start < last.fix.span.end || fix.span == last.fix.span => {}
                Some(_) | None => edits.push(Edit { fix, diagnostics: vec![diagnostic] }),
            }
        }
        edits
    }

    /// Applies the edits that improve the file. If they do not do so together, finds those that do by halving.
    fn apply(&mut self, current: FixedSource, edits: &[Edit]) -> FixedSource {
        if edits.is_empty() || self.parses >= PARSES_MAX {
            return current;
        }
        let bytes = with_edits(&current.bytes, edits);
        if self.is_improved(&current.bytes, &bytes) {
            let fixed = edits.iter().flat_map(|edit| edit.diagnostics.iter().cloned());
            return FixedSource { bytes, fixed: current.fixed.into_iter().chain(fixed).collect() };
        }
        if edits.len() == 1 {
            return current;
        }
        let (first, second) = edits.split_at(edits.len() / 2);
        // The edits at the end come first, so that the others keep their positions.
        let fixed_before = current.fixed.len();
        let after = self.apply(current, second);
        let mut after = self.apply(after, first);
        if let Some(fixed) = after.fixed.get_mut(fixed_before..) {
            fixed.sort_by_key(|diagnostic| diagnostic.location.map_or(0, |location| location.span.start));
        }
        after
    }

    /// Returns `true` if a change removes problems, adds none, and leaves the body alone.
    fn is_improved(&mut self, before: &[u8], after: &[u8]) -> bool {
        if body(before) != body(after) {
            return false;
        }
        let rules = self.complete_rules.clone();
        let old = kinds(self.parse(before, &rules));
        let new = kinds(self.parse(after, &rules));
        let mut known = old.iter();
        // Each remaining problem was there before.
        new.len() < old.len() && new.iter().all(|problem| known.by_ref().any(|known| known == problem))
    }
}

/// Returns the kinds of the diagnostics, sorted. Messages may contain the value that was fixed.
fn kinds(diagnostics: Vec<Diagnostic>) -> Vec<(Code, Severity)> {
    let mut kinds: Vec<_> =
        diagnostics.into_iter().map(|diagnostic| (diagnostic.code, diagnostic.severity)).collect();
    kinds.sort_unstable();
    kinds
}

fn body(source: &[u8]) -> Option<&[u8]> {
    match find_fences(source, Extent::Whole) {
        FenceSearch::Found(fences) => source.get(fences.body..),
        FenceSearch::Missing
        | FenceSearch::Unclosed { .. }
        | FenceSearch::TooLong { .. }
        | FenceSearch::NeedMore => None,
    }
}

fn with_edits(source: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(source.len() + 64);
    let mut copied_until = 0;
    for Edit { fix, .. } in edits {
        let range = fix.span.range();
        bytes.extend_from_slice(source.get(copied_until..range.start).unwrap_or_default());
        bytes.extend_from_slice(fix.text.as_bytes());
        copied_until = range.end;
    }
    bytes.extend_from_slice(source.get(copied_until..).unwrap_or_default());
    bytes
}

#[cfg(test)]
mod tests;
