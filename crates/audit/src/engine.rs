//! The compiled rules, and matching them against a text.
//!
//! One pass searches for the keywords of all patterns. The second patterns of pairs are searched in a second pass,
//! and only if the first one matched. A pattern is tried only on the lines around one of its keywords, and at most
//! twice on each, so that the work is linear in the length of any text.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Captures, Match, Regex};

use super::checks;
use super::context;
use super::finding::{Finding, FindingSeverity};
use super::report::{self, FINDINGS_PER_RULE_MAX, RawFinding};
use super::rule::{Matcher, Pattern, Rule, RuleScope, WORD_BOUNDARY, compile};
use super::rules::rules;
use super::text::{LineKind, SourceText, TextKind, decode_texts, join_lines};

/// The number of scanned bytes from which building the large automaton pays off.
const LARGE_AUTOMATON_FROM: usize = 1024 * 1024;

/// The number of alternatives of a pattern from which each is a regex of its own: together, they are too large for a
/// fast automaton.
const SEPARATE_FROM: usize = 6;

/// The maximum number of matches of a regex in a window that are tested for an exception. Further ones are reported
/// without the test.
const EXCEPTED_MAX: usize = 64;

/// The compiled rules.
pub(super) struct Engine {
    /// Each pattern once, even if several rules use it.
    patterns: Vec<CompiledPattern>,
    uses: Vec<RuleUse>,
    /// The keywords of patterns that matter on their own.
    primary: KeywordSet,
    /// The keywords of the other patterns, built on first use, because most texts do not need them.
    secondary: OnceLock<KeywordSet>,
}

/// Keywords, and the patterns they belong to.
struct KeywordSet {
    keywords: Vec<&'static str>,
    /// The automaton that is fast to build. `None` only if the keywords could not be compiled, which a test
    /// rules out.
    small: Option<AhoCorasick>,
    /// The automaton that is fast to run, but takes longer to build than many skills take to audit.
    large: OnceLock<Option<AhoCorasick>>,
    /// The number of bytes scanned so far.
    scanned_bytes: AtomicUsize,
    /// The patterns to try for each keyword.
    triggers: Vec<Vec<KeywordTrigger>>,
}

/// A pattern to try at an occurrence of a keyword.
struct KeywordTrigger {
    /// The index of the pattern.
    pattern: usize,
    /// Whether the keyword must start and end at a word boundary.
    boundaries: (bool, bool),
}

struct CompiledPattern {
    pattern: &'static Pattern,
    /// The scopes of the rules that use the pattern.
    scopes: Vec<RuleScope>,
    /// The patterns of which one must match, too; `None` if the pattern matters on its own.
    needs: Option<Vec<usize>>,
    /// Whether a rule also covers code spans in prose.
    in_spans: bool,
    /// Whether a rule needs the secret in the first group.
    captures_secret: bool,
    /// The regexes and the exception, compiled on first use.
    regexes: OnceLock<Option<(Vec<Regex>, Option<Regex>)>>,
}

/// A rule and the indexes of its patterns.
struct RuleUse {
    rule: &'static Rule,
    first: usize,
    second: Option<usize>,
}

/// A match of a pattern.
#[derive(Debug, Clone, Copy)]
struct Hit {
    pattern: usize,
    start: usize,
    line: usize,
    /// The start and end of the secret in it.
    secret: Option<(usize, usize)>,
}

impl Engine {
    pub(super) fn get() -> &'static Self {
        static ENGINE: OnceLock<Engine> = OnceLock::new();
        ENGINE.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut patterns: Vec<CompiledPattern> = Vec::new();
        let mut index_of = |pattern: &'static Pattern, rule: &Rule, first: Option<usize>| {
            let index =
                patterns.iter().position(|existing| existing.pattern == pattern).unwrap_or_else(|| {
                    let (scopes, regexes) = (Vec::new(), OnceLock::new());
                    patterns.push(CompiledPattern {
                        pattern,
                        scopes,
                        needs: Some(Vec::new()),
                        in_spans: false,
                        captures_secret: false,
                        regexes,
                    });
                    patterns.len() - 1
                });
            if let Some(compiled) = patterns.get_mut(index) {
                compiled.scopes.push(rule.scope);
                compiled.in_spans |= covers_spans(rule);
                compiled.captures_secret |= matches!(rule.matcher, Matcher::LineWithSecret(..));
                match (first, &mut compiled.needs) {
                    (Some(first), Some(needs)) => needs.push(first),
                    (Some(_), None) => {}
                    (None, needs) => *needs = None,
                }
            }
            index
        };
        let mut uses = Vec::new();
        for rule in rules() {
            match &rule.matcher {
                Matcher::Line(pattern) | Matcher::LineWithSecret(pattern, _) => {
                    uses.push(RuleUse { rule, first: index_of(pattern, rule, None), second: None });
                }
                Matcher::AnyLine(patterns) => {
                    let use_of =
                        |pattern| RuleUse { rule, first: index_of(pattern, rule, None), second: None };
                    uses.extend(patterns.iter().map(use_of));
                }
                Matcher::Pair { first, second, .. } => {
                    let first = index_of(first, rule, None);
                    uses.push(RuleUse { rule, first, second: Some(index_of(second, rule, Some(first))) });
                }
                Matcher::Custom => {}
            }
        }
        let primary = KeywordSet::new(&patterns, |compiled| compiled.needs.is_none());
        Self { patterns, uses, primary, secondary: OnceLock::new() }
    }

    fn secondary_keywords(&self) -> &KeywordSet {
        self.secondary.get_or_init(|| KeywordSet::new(&self.patterns, |compiled| compiled.needs.is_some()))
    }

    /// Returns the rules whose patterns do not compile.
    #[cfg(test)]
    pub(super) fn invalid(&self) -> Vec<&'static str> {
        let is_invalid =
            |index: usize| self.patterns.get(index).is_none_or(|compiled| compiled.get().is_none());
        let invalid = self
            .uses
            .iter()
            .filter(|rule_use| is_invalid(rule_use.first) || rule_use.second.is_some_and(is_invalid));
        let mut ids: Vec<_> = invalid.map(|rule_use| rule_use.rule.id).collect();
        let sets = [&self.primary, self.secondary_keywords()];
        let is_invalid_set = |set: &&KeywordSet| {
            set.small.is_none() || automaton(&set.keywords, AhoCorasickKind::DFA).is_none()
        };
        ids.extend(sets.iter().any(is_invalid_set).then_some("keywords"));
        ids.extend(super::context::patterns().is_none().then_some("context"));
        ids
    }

    /// Returns all findings in a file, unsorted.
    pub(super) fn audit_file(&self, path: &str, bytes: &[u8]) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for text in decode_texts(path, bytes) {
            for finding in self.audit_text(&text) {
                let is_same =
                    |existing: &Finding| existing.rule == finding.rule && existing.line == finding.line;
                if !findings.iter().any(is_same) {
                    findings.push(finding);
                }
            }
        }
        findings
    }

    fn audit_text(&self, text: &SourceText<'_>) -> Vec<Finding> {
        let hits = self.find_matches(text);
        let mut findings: Vec<RawFinding> = Vec::new();
        for rule_use in &self.uses {
            let first = hits.iter().filter(|hit| hit.pattern == rule_use.first);
            let first = first.filter(|hit| rule_covers(rule_use.rule, hit, text));
            match rule_use.second {
                None => findings.extend(first.filter_map(|hit| single_finding(rule_use.rule, hit, text))),
                Some(second) => pair_findings(rule_use.rule, first, second, &hits, text, &mut findings),
            }
        }
        checks::check_text(text, &mut findings);
        report::build_findings(findings, text)
    }

    fn find_matches(&self, text: &SourceText<'_>) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut tried = vec![0; self.patterns.len()];
        self.scan(&self.primary, text, &mut tried, &mut hits, &|compiled| compiled.needs.is_none());
        if hits.is_empty() {
            return hits;
        }
        // Patterns that matter only in a pair are searched only if their counterpart matched.
        let mut matched = vec![false; self.patterns.len()];
        hits.iter().for_each(|hit| matched[hit.pattern] = true);
        let is_needed = |compiled: &CompiledPattern| {
            let needs = compiled.needs.as_deref().unwrap_or_default();
            needs.iter().any(|first| matched.get(*first).is_some_and(|matched| *matched))
        };
        if self.patterns.iter().any(is_needed) {
            self.scan(self.secondary_keywords(), text, &mut tried, &mut hits, &is_needed);
        }
        hits
    }

    /// Searches a text for some of the patterns.
    fn scan(
        &self,
        set: &KeywordSet,
        text: &SourceText<'_>,
        tried: &mut [usize],
        hits: &mut Vec<Hit>,
        is_needed: &dyn Fn(&CompiledPattern) -> bool,
    ) {
        let Some(automaton) = set.automaton(text.bytes.len()) else { return };
        for keyword in automaton.find_overlapping_iter(&*text.bytes) {
            for trigger in set.triggers.get(keyword.pattern().as_usize()).into_iter().flatten() {
                let (index, offset) = (trigger.pattern, keyword.start());
                if tried.get(index).is_none_or(|tried_until| offset < *tried_until)
                    || !trigger.matches(&text.bytes, offset, keyword.end())
                {
                    continue;
                }
                let applies = |compiled: &&CompiledPattern| {
                    compiled.scopes.iter().any(|scope| scope.applies_to(text.kind))
                };
                if !self.patterns.get(index).filter(applies).is_some_and(is_needed) {
                    continue;
                }
                let (start, window) = text.window(offset);
                let end = start + window.len().max(1);
                tried[index] = end;
                // Further keywords in this window are skipped. Their matches may cross its end.
                let (next_start, next_window) = text.window(end - 1);
                for (start, window, searched) in [(start, window, 0), (next_start, next_window, end)] {
                    if start + window.len() > searched && self.is_covered(index, text, start, window.len()) {
                        self.match_window(index, text, start, window, searched, hits);
                    }
                }
            }
        }
    }

    /// Returns `true` if a rule that uses the pattern covers any line of the window.
    fn is_covered(&self, index: usize, text: &SourceText<'_>, start: usize, length: usize) -> bool {
        let Some(compiled) = self.patterns.get(index) else { return false };
        let (first, last) = (text.line_of(start), text.line_of(start + length));
        (first..=last).any(|line| {
            let kind = text.line_kind(line);
            compiled.scopes.iter().any(|scope| scope.covers(kind))
                || (compiled.in_spans && kind == LineKind::Prose && text.line(line).1.contains(&b'`'))
        })
    }

    /// Adds the matches in a window that end after the text that was `searched` before.
    fn match_window(
        &self,
        index: usize,
        text: &SourceText<'_>,
        start: usize,
        window: &[u8],
        searched: usize,
        hits: &mut Vec<Hit>,
    ) {
        let Some(compiled) = self.patterns.get(index) else { return };
        let Some((regexes, except)) = compiled.get() else { return };
        let is_excepted = |found: &Match<'_>| {
            let kind = text.line_kind(text.line_of(start + found.start()));
            let exception = compiled.pattern.except.as_ref().zip(except.as_ref());
            exception.is_some_and(|(exception, regex)| exception.applies(regex, window, found.range(), kind))
        };
        let joined = join_lines(window);
        for regex in regexes {
            let (mut offset, mut excepted) = (0, 0);
            while let Some(found) = joined.get(offset..).and_then(|_| regex.find_at(&joined, offset)) {
                if start + found.end() <= searched {
                    offset = found.end().max(found.start() + 1);
                    continue;
                }
                // A match with an exception may contain another one without.
                if excepted < EXCEPTED_MAX && is_excepted(&found) {
                    (offset, excepted) = (found.start() + 1, excepted + 1);
                    continue;
                }
                let captures = compiled.captures_secret.then(|| regex.captures_at(&joined, found.start()));
                let secret = captures.flatten().and_then(|captures| secret_span(&captures, start));
                let start = start + found.start();
                hits.push(Hit { pattern: index, start, line: text.line_of(start), secret });
                offset = found.end().max(found.start() + 1);
            }
        }
    }
}

impl KeywordSet {
    /// Builds the set of the keywords of some patterns.
    fn new(patterns: &[CompiledPattern], is_included: impl Fn(&CompiledPattern) -> bool) -> Self {
        let mut pairs: Vec<(&'static str, KeywordTrigger)> = Vec::new();
        for (index, compiled) in patterns.iter().enumerate().filter(|(_, compiled)| is_included(compiled)) {
            let words = compiled.pattern.keywords.split(',');
            pairs.extend(words.map(|word| KeywordTrigger::parse(index, word)));
        }
        pairs.sort_by_key(|(word, trigger)| (*word, trigger.pattern));
        let mut triggers: Vec<Vec<KeywordTrigger>> = Vec::new();
        let mut keywords: Vec<&'static str> = Vec::new();
        for (word, trigger) in pairs {
            match triggers.last_mut() {
                Some(last) if keywords.last() == Some(&word) => last.push(trigger),
                _ => {
                    keywords.push(word);
                    triggers.push(vec![trigger]);
                }
            }
        }
        let small = automaton(&keywords, AhoCorasickKind::ContiguousNFA);
        Self { keywords, small, large: OnceLock::new(), scanned_bytes: AtomicUsize::new(0), triggers }
    }

    /// Returns the automaton to use for this many more bytes.
    fn automaton(&self, bytes: usize) -> Option<&AhoCorasick> {
        if self.scanned_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) < LARGE_AUTOMATON_FROM
        {
            return self.small.as_ref();
        }
        let large = self.large.get_or_init(|| automaton(&self.keywords, AhoCorasickKind::DFA));
        large.as_ref().or(self.small.as_ref())
    }
}

fn automaton(words: &[&str], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    AhoCorasick::builder().kind(Some(kind)).ascii_case_insensitive(true).build(words).ok()
}

impl KeywordTrigger {
    /// Creates the trigger of a pattern for one of its keywords, and returns the keyword without boundaries.
    fn parse(pattern: usize, word: &'static str) -> (&'static str, Self) {
        let without_start = word.strip_prefix(WORD_BOUNDARY);
        let word = without_start.unwrap_or(word);
        let without_end = word.strip_suffix(WORD_BOUNDARY);
        (
            without_end.unwrap_or(word),
            Self { pattern, boundaries: (without_start.is_some(), without_end.is_some()) },
        )
    }

    fn matches(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let is_word = |offset: Option<usize>| {
            let byte = offset.and_then(|offset| bytes.get(offset));
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        let (at_start, at_end) = self.boundaries;
        let is_part = (at_start && is_word(start.checked_sub(1))) || (at_end && is_word(Some(end)));
        !is_part
    }
}

fn single_finding(rule: &'static Rule, hit: &Hit, text: &SourceText<'_>) -> Option<RawFinding> {
    let secret = match &rule.matcher {
        Matcher::Line(_) | Matcher::AnyLine(_) => None,
        Matcher::LineWithSecret(_, weight) => {
            let (start, end) = hit.secret?;
            checks::secret::is_real(text.bytes.get(start..end)?, *weight).then_some(hit.secret)?
        }
        Matcher::Pair { .. } | Matcher::Custom => return None,
    };
    Some(RawFinding { rule, offset: secret.map_or(hit.start, |(start, _)| start), secret, note: None })
}

/// Adds findings for two patterns close to each other. In a script, everything is close.
fn pair_findings<'h>(
    rule: &'static Rule,
    first: impl Iterator<Item = &'h Hit>,
    second: usize,
    hits: &[Hit],
    text: &SourceText<'_>,
    findings: &mut Vec<RawFinding>,
) {
    let Matcher::Pair { max_lines, .. } = rule.matcher else { return };
    let max_distance = match text.kind == TextKind::Script && rule.scope == RuleScope::Code {
        true => usize::MAX,
        false => max_lines as usize,
    };
    let second_lines = hits.iter().filter(|hit| hit.pattern == second && rule_covers(rule, hit, text));
    let mut second_lines: Vec<_> = second_lines.map(|hit| hit.line).collect();
    second_lines.sort_unstable();
    let is_near = |hit: &&Hit| {
        let is_span = rule.scope == RuleScope::Code && text.line_kind(hit.line) == LineKind::Prose;
        let max_distance = if is_span { 0 } else { max_distance };
        let start = second_lines.partition_point(|line| *line < hit.line.saturating_sub(max_distance));
        second_lines.get(start).is_some_and(|line| line.abs_diff(hit.line) <= max_distance)
    };
    // One finding is enough if the whole script counts.
    let max = if max_distance == usize::MAX { 1 } else { FINDINGS_PER_RULE_MAX };
    findings.extend(first.filter(is_near).take(max).map(|hit| RawFinding {
        rule,
        offset: hit.start,
        secret: None,
        note: None,
    }));
}

impl CompiledPattern {
    /// Returns the regexes of the pattern and its exception, compiled on first use, because most texts need few of them.
    fn get(&self) -> Option<&(Vec<Regex>, Option<Regex>)> {
        self.regexes
            .get_or_init(|| {
                let except = match self.pattern.except {
                    Some(except) => Some(compile(except.regex)?),
                    None => None,
                };
                let sources = self.pattern.regexes;
                let regexes = match sources.len() < SEPARATE_FROM {
                    true => {
                        let any: Vec<_> = sources.iter().map(|source| format!("(?:{source})")).collect();
                        vec![compile(&any.join("|"))?]
                    }
                    false => sources.iter().map(|source| compile(source)).collect::<Option<_>>()?,
                };
                Some((regexes, except))
            })
            .as_ref()
    }
}

/// Returns the span of the first group that matched.
fn secret_span(captures: &Captures<'_>, start: usize) -> Option<(usize, usize)> {
    let group = captures.iter().skip(1).flatten().next()?;
    Some((start + group.start(), start + group.end()))
}

/// Returns `true` if a rule for code also covers code spans in prose. A span may name a file or a command in passing, so
/// only those count that contain both parts of something serious.
fn covers_spans(rule: &Rule) -> bool {
    rule.scope == RuleScope::Code
        && rule.severity >= FindingSeverity::High
        && matches!(rule.matcher, Matcher::Pair { .. })
}

fn rule_covers(rule: &Rule, hit: &Hit, text: &SourceText<'_>) -> bool {
    let kind = text.line_kind(hit.line);
    rule.scope.covers(kind)
        || (covers_spans(rule) && kind == LineKind::Prose && context::is_in_code_span(hit.start, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_boundaries_are_respected() {
        let matches = |word: &'static str, text: &str| {
            let (word, trigger) = KeywordTrigger::parse(0, word);
            let start = text.find(word).unwrap();
            trigger.matches(text.as_bytes(), start, start + word.len())
        };
        assert!(matches(r"\brev\b", "echo x |rev| sh") && matches(r"\brev\b", "rev"));
        assert!(!matches(r"\brev\b", "review") && !matches(r"\brev\b", "a_rev"));
        assert!(matches("rev", "preview") && matches(r"rev\b", "xrev") && !matches(r"\brev", "xrev"));
    }

    #[test]
    fn both_automata_find_the_same_matches() {
        let text = "Print `base64 -d`, then ask the USER; 忽略 it, pip install x, ![](y)";
        let found = |kind| {
            let automaton = automaton(&Engine::get().primary.keywords, kind).unwrap();
            let found = automaton.find_overlapping_iter(text);
            let mut found: Vec<_> = found.map(|found| (found.start(), found.pattern())).collect();
            found.sort();
            found
        };
        let small = found(AhoCorasickKind::ContiguousNFA);
        assert!(small.len() > 3);
        assert_eq!(small, found(AhoCorasickKind::DFA));
    }
}
