//! Trigger patterns: validated at once, compiled on first use, and limited in running time.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::text::{fold_case, fold_to_one, truncate};

/// The maximum length of a pattern, in characters.
pub const PATTERN_MAX: usize = 1_000;

/// The maximum size of a compiled pattern, in bytes.
const SIZE_MAX: usize = 1024 * 1024;

/// A pattern with a lower weight is far below [`SIZE_MAX`], so it need not be compiled to check that.
const SMALL_WEIGHT: u64 = 2_000;

/// The maximum number of steps of one pattern: an expensive one is matched against less of a long message.
const STEPS_MAX: u64 = 1 << 26;

/// The maximum number of required literals.
const LITERALS_MAX: usize = 32;

/// A pattern of one skill.
#[derive(Debug)]
pub(super) struct TriggerPattern {
    source: Box<str>,
    weight: u64,
    compiled: OnceLock<Option<Regex>>,
}

impl TriggerPattern {
    /// Validates a pattern. Returns it with folded literals of which at least one occurs in every match; the
    /// list is empty if none are known. Returns a one-line error otherwise.
    pub(super) fn new(source: &str) -> Result<(Self, Vec<String>), String> {
        let length = source.chars().count();
        if length > PATTERN_MAX {
            return Err(format!("it has {length} characters; at most {PATTERN_MAX} are allowed"));
        }
        let hir = ParserBuilder::new()
            .case_insensitive(true)
            .build()
            .parse(source)
            .map_err(|error| error_line(&error))?;
        let weight = weight(&hir);
        let compiled = OnceLock::new();
        if weight > SMALL_WEIGHT {
            let regex = compile(source).map_err(|error| error_line(&error))?;
            // The cell was empty until now.
            let _ = compiled.set(Some(regex));
        }
        let literals =
            if may_match_empty(&hir) { Vec::new() } else { required_literals(&hir).unwrap_or_default() };
        Ok((Self { source: source.into(), weight, compiled }, literals))
    }

    /// Returns the pattern as written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the maximum number of steps of [`TriggerPattern::matches`] for a text of this length.
    pub(super) fn steps(&self, length: usize) -> u64 {
        self.weight.saturating_mul(length as u64).clamp(1, STEPS_MAX)
    }

    /// Returns `true` if the pattern matches the part of the message that the step limit allows.
    pub(super) fn matches(&self, query: &str) -> bool {
        let max = usize::try_from(STEPS_MAX / self.weight.max(1)).unwrap_or(usize::MAX);
        self.compiled
            .get_or_init(|| compile(&self.source).ok())
            .as_ref()
            .is_some_and(|regex| regex.is_match(truncate(query, max)))
    }
}

fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).case_insensitive(true).size_limit(SIZE_MAX).dfa_size_limit(SIZE_MAX).build()
}

/// Returns the line of an error that describes the problem; the lines before it show the position.
fn error_line(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    let line = text.lines().rev().find_map(|line| line.strip_prefix("error: "));
    line.or(text.lines().next()).unwrap_or("it is not a regular expression").to_owned()
}

fn may_match_empty(hir: &Hir) -> bool {
    hir.properties().minimum_len().is_none_or(|length| length == 0)
}

/// Estimates the number of states of the pattern, with repetitions written out.
fn weight(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() as u64,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(repetition.min).max(1);
            weight(&repetition.sub).saturating_mul(u64::from(times))
        }
        HirKind::Capture(capture) => weight(&capture.sub).saturating_add(1),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(weight).fold(1, u64::saturating_add)
        }
    }
}

/// Returns folded literals of which at least one occurs in every match.
fn required_literals(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(_) | HirKind::Class(_) => {
            literal_runs(std::slice::from_ref(hir)).into_iter().max_by_key(|set| specificity(set))
        }
        HirKind::Capture(capture) => required_literals(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required_literals(&repetition.sub),
        HirKind::Concat(parts) => {
            let inner =
                parts.iter().filter(|part| single_literal(part).is_none()).filter_map(required_literals);
            literal_runs(parts).into_iter().chain(inner).max_by_key(|set| specificity(set))
        }
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(required_literals(part)?);
            }
            all.sort_unstable();
            all.dedup();
            (all.len() <= LITERALS_MAX).then_some(all)
        }
        HirKind::Repetition(_) | HirKind::Empty | HirKind::Look(_) => None,
    }
}

/// Ranks a set of literals: by the length of the shortest, then by how few there are.
fn specificity(set: &[String]) -> (usize, usize) {
    (set.iter().map(String::len).min().unwrap_or(0), LITERALS_MAX - set.len().min(LITERALS_MAX))
}

/// Returns the literals that adjacent parts spell, split at white space, because the searched text has
/// normalized white space.
fn literal_runs(parts: &[Hir]) -> Vec<Vec<String>> {
    let mut runs = vec![String::new()];
    for part in parts {
        // Optional and variable parts end a run.
        let text = single_literal(part).unwrap_or_else(|| " ".to_owned());
        for c in text.chars() {
            match runs.last_mut() {
                Some(run) if !c.is_whitespace() => run.push(c),
                _ => runs.push(String::new()),
            }
        }
    }
    runs.into_iter().filter(|run| !run.is_empty()).map(|run| vec![run]).collect()
}

/// Returns the folded text that a part always matches, if there is exactly one.
fn single_literal(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(fold_case(std::str::from_utf8(&literal.0).ok()?).collect()),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            if ranges.is_empty() || ranges.iter().map(|range| range.len()).sum::<usize>() > 8 {
                return None;
            }
            let characters = ranges.iter().flat_map(|range| range.start()..=range.end());
            fold_to_one(characters).map(String::from)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn literals(source: &str) -> Vec<String> {
        TriggerPattern::new(source).unwrap().1
    }

    #[test]
    fn required_literals_are_found() {
        assert_eq!(literals(r"greet\s+\w+"), ["greet"]);
        assert_eq!(literals(r"(?i)\bmerge (two|three) PDFs?\b"), ["merge"]);
        assert_eq!(literals(r"(convert|turn) .* into"), ["into"]);
        assert_eq!(literals(r"pdf|docx"), ["docx", "pdf"]);
        assert_eq!(literals(r"帮我.*翻译成"), ["翻译成"]);
        assert_eq!(literals(r"\d+|pdf"), [] as [&str; 0]);
        assert_eq!(literals(r"(pdf)?"), [] as [&str; 0]);
        assert_eq!(literals(r"prüfen"), ["prüfen"]);
    }

    #[test]
    fn errors_are_one_line() {
        assert_eq!(TriggerPattern::new("(").unwrap_err(), "unclosed group");
        assert_eq!(
            TriggerPattern::new(&"a".repeat(1_001)).unwrap_err(),
            "it has 1001 characters; at most 1000 are allowed"
        );
        assert_eq!(
            TriggerPattern::new(r"(?=x)").unwrap_err(),
            "look-around, including look-ahead and look-behind, is not supported"
        );
        assert!(TriggerPattern::new(r"(\w{500}){500}").unwrap_err().contains("size limit"));
        assert!(TriggerPattern::new("x{4294967295}").is_err());
    }

    #[test]
    fn small_patterns_compile() {
        for source in
            [r"\w\W", r"[\w&&\pL]{2}", r"\pL{3}", r"(a+)+$", r"[^a]", r".{900}", &"[a-c]".repeat(200)]
        {
            let (pattern, _) = TriggerPattern::new(source).unwrap();
            assert!(pattern.weight > SMALL_WEIGHT || compile(source).is_ok(), "{source}");
        }
    }

    proptest! {
        #[test]
        fn a_match_contains_one_of_the_literals(
            source in "[abkKsß]{1,3}(\\(b\\|K\\)|\\[sz\\]|\\\\s|s\\?|x\\+|é)[abks]{0,2}",
            query in "[abkKsSzxßé \u{212a}\u{17f}]{0,24}",
        ) {
            let (pattern, literals) = TriggerPattern::new(&source).unwrap();
            let folded: String = fold_case(&query).collect();
            if pattern.matches(&query) && !literals.is_empty() {
                prop_assert!(literals.iter().any(|literal| folded.contains(literal)), "{source} {query} {literals:?}");
            }
        }
    }
}
