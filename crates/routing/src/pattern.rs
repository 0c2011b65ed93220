//! A trigger's pattern: checked at once, compiled when it is first needed, and never run for longer than it should.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::text::{fold_simply, fold_to_one, head};

/// The most characters of a pattern.
pub const PATTERN_MAX: usize = 1_000;

/// The most memory of a compiled pattern, in bytes.
const SIZE_MAX: usize = 1024 * 1024;

/// A pattern that weighs less than this is far below [`SIZE_MAX`], and need not be compiled to know it.
const SURELY_SMALL: u64 = 2_000;

/// The most steps that one pattern may take: a heavy one sees less of a long message.
const STEPS_MAX: u64 = 1 << 26;

/// The most texts of which one must occur for a pattern to match.
const LITERALS_MAX: usize = 32;

/// A pattern of one skill.
#[derive(Debug)]
pub(super) struct Pattern {
    source: Box<str>,
    weight: u64,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Takes a pattern, with the folded texts of which at least one occurs wherever it matches; none are known if the
    /// list is empty. Otherwise says in one line what is wrong with it.
    pub(super) fn new(source: &str) -> Result<(Self, Vec<String>), String> {
        let length = source.chars().count();
        if length > PATTERN_MAX {
            return Err(format!("it has {length} characters; at most {PATTERN_MAX} are allowed"));
        }
        let hir = ParserBuilder::new()
            .case_insensitive(true)
            .build()
            .parse(source)
            .map_err(|error| words(&error))?;
        let weight = weight(&hir);
        let compiled = OnceLock::new();
        if weight > SURELY_SMALL {
            let regex = compile(source).map_err(|error| words(&error))?;
            // It was empty until now.
            let _ = compiled.set(Some(regex));
        }
        let literals = if matches_nothing(&hir) { Vec::new() } else { required(&hir).unwrap_or_default() };
        Ok((Self { source: source.into(), weight, compiled }, literals))
    }

    /// It, as written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// The most steps that [`Pattern::matches`] takes on a text of this length.
    pub(super) fn steps(&self, length: usize) -> u64 {
        self.weight.saturating_mul(length as u64).clamp(1, STEPS_MAX)
    }

    /// Whether it matches, looking no further than it may.
    pub(super) fn matches(&self, query: &str) -> bool {
        let most = usize::try_from(STEPS_MAX / self.weight.max(1)).unwrap_or(usize::MAX);
        self.compiled
            .get_or_init(|| compile(&self.source).ok())
            .as_ref()
            .is_some_and(|regex| regex.is_match(head(query, most)))
    }
}

fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).case_insensitive(true).size_limit(SIZE_MAX).dfa_size_limit(SIZE_MAX).build()
}

/// The line of an error that says what is wrong; the lines before it show where.
fn words(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    let line = text.lines().rev().find_map(|line| line.strip_prefix("error: "));
    line.or(text.lines().next()).unwrap_or("it is no regular expression").to_owned()
}

fn matches_nothing(hir: &Hir) -> bool {
    hir.properties().minimum_len().is_none_or(|length| length == 0)
}

/// About how many states the pattern has, repetitions written out.
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

/// Folded texts of which at least one occurs in whatever the pattern matches.
fn required(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(_) | HirKind::Class(_) => {
            runs(std::slice::from_ref(hir)).into_iter().max_by_key(|set| rank(set))
        }
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => {
            let inner = parts.iter().filter(|part| plain(part).is_none()).filter_map(required);
            runs(parts).into_iter().chain(inner).max_by_key(|set| rank(set))
        }
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(required(part)?);
            }
            all.sort_unstable();
            all.dedup();
            (all.len() <= LITERALS_MAX).then_some(all)
        }
        HirKind::Repetition(_) | HirKind::Empty | HirKind::Look(_) => None,
    }
}

/// How much a set of texts tells: the length of its shortest, then how few they are.
fn rank(set: &[String]) -> (usize, usize) {
    (set.iter().map(String::len).min().unwrap_or(0), LITERALS_MAX - set.len().min(LITERALS_MAX))
}

/// The texts that neighbours spell, broken at white space: the text that is searched has other white space.
fn runs(parts: &[Hir]) -> Vec<Vec<String>> {
    let mut runs = vec![String::new()];
    for part in parts {
        // What can be left out or varies ends a run.
        let text = plain(part).unwrap_or_else(|| " ".to_owned());
        for c in text.chars() {
            match runs.last_mut() {
                Some(run) if !c.is_whitespace() => run.push(c),
                _ => runs.push(String::new()),
            }
        }
    }
    runs.into_iter().filter(|run| !run.is_empty()).map(|run| vec![run]).collect()
}

/// The folded text that a part always matches, if there is just one.
fn plain(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(fold_simply(std::str::from_utf8(&literal.0).ok()?).collect()),
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
        Pattern::new(source).unwrap().1
    }

    #[test]
    fn what_a_pattern_cannot_do_without() {
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
    fn what_is_wrong_in_one_line() {
        assert_eq!(Pattern::new("(").unwrap_err(), "unclosed group");
        assert_eq!(
            Pattern::new(&"a".repeat(1_001)).unwrap_err(),
            "it has 1001 characters; at most 1000 are allowed"
        );
        assert_eq!(
            Pattern::new(r"(?=x)").unwrap_err(),
            "look-around, including look-ahead and look-behind, is not supported"
        );
        assert!(Pattern::new(r"(\w{500}){500}").unwrap_err().contains("size limit"));
        assert!(Pattern::new("x{4294967295}").is_err());
    }

    #[test]
    fn what_weighs_little_compiles() {
        for source in
            [r"\w\W", r"[\w&&\pL]{2}", r"\pL{3}", r"(a+)+$", r"[^a]", r".{900}", &"[a-c]".repeat(200)]
        {
            let (pattern, _) = Pattern::new(source).unwrap();
            assert!(pattern.weight > SURELY_SMALL || compile(source).is_ok(), "{source}");
        }
    }

    proptest! {
        #[test]
        fn a_match_has_one_of_the_literals(
            source in "[abkKsß]{1,3}(\\(b\\|K\\)|\\[sz\\]|\\\\s|s\\?|x\\+|é)[abks]{0,2}",
            query in "[abkKsSzxßé \u{212a}\u{17f}]{0,24}",
        ) {
            let (pattern, literals) = Pattern::new(&source).unwrap();
            let folded: String = fold_simply(&query).collect();
            if pattern.matches(&query) && !literals.is_empty() {
                prop_assert!(literals.iter().any(|literal| folded.contains(literal)), "{source} {query} {literals:?}");
            }
        }
    }
}
