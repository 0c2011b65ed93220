//! The rules, compiled once, and how they go over a text.
//!
//! One pass looks for the words of all rules. Only where a word of a pattern occurs is the pattern tried, on that line
//! and no more than once: whatever the text is, the work grows with its length and not faster.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Captures, Regex, RegexBuilder};

use super::checks;
use super::finding::Finding;
use super::rule::{Pattern, Rule, Scope, Test};
use super::rules::rules;
use super::text::{Kind, Part, Text, texts};
use super::wording::{self, EACH_MAX, Raw};

/// The compiled rules.
pub(super) struct Engine {
    patterns: Vec<Compiled>,
    words: Option<AhoCorasick>,
    /// For each word the patterns that want it.
    wanted: Vec<Vec<u16>>,
}

struct Compiled {
    rule: &'static Rule,
    pattern: &'static Pattern,
    /// Whether it is the second of two.
    second: bool,
    regex: OnceLock<Option<(Regex, Option<Regex>)>>,
}

/// Where a pattern matched.
#[derive(Debug, Clone, Copy)]
struct Hit {
    pattern: usize,
    start: usize,
    line: usize,
    /// The secret in it.
    key: Option<(usize, usize)>,
}

pub(super) fn compile(source: &str) -> Option<Regex> {
    RegexBuilder::new(source)
        .case_insensitive(true)
        .dot_matches_new_line(true)
        .unicode(false)
        .size_limit(4 * 1024 * 1024)
        .build()
        .ok()
}

impl Engine {
    pub(super) fn get() -> &'static Self {
        static ENGINE: OnceLock<Engine> = OnceLock::new();
        ENGINE.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut patterns = Vec::new();
        for rule in rules() {
            let mut push = |pattern, second| {
                patterns.push(Compiled { rule, pattern, second, regex: OnceLock::new() });
            };
            match &rule.test {
                Test::Line(pattern) | Test::Key(pattern, _) => push(pattern, false),
                Test::Both(first, other, _) => {
                    push(first, false);
                    push(other, true);
                }
                Test::Own => {}
            }
        }
        let mut words: Vec<&str> =
            patterns.iter().flat_map(|compiled| compiled.pattern.words).copied().collect();
        words.sort_unstable();
        words.dedup();
        let wants = |word: &&str| {
            let wanting =
                patterns.iter().enumerate().filter(|(_, compiled)| compiled.pattern.words.contains(word));
            wanting.filter_map(|(index, _)| u16::try_from(index).ok()).collect()
        };
        let wanted = words.iter().map(wants).collect();
        // The larger of the automata: every byte of every file goes through it.
        let kind = Some(AhoCorasickKind::DFA);
        let words = AhoCorasick::builder().kind(kind).ascii_case_insensitive(true).build(&words).ok();
        Self { patterns, words, wanted }
    }

    /// Whether every pattern compiles, for the tests.
    #[cfg(test)]
    pub(super) fn broken(&self) -> Vec<&'static str> {
        let broken = self.patterns.iter().filter(|compiled| compiled.get().is_none());
        let mut ids: Vec<_> = broken.map(|compiled| compiled.rule.id).collect();
        ids.extend(self.words.is_none().then_some("words"));
        ids.extend(super::context::words().is_none().then_some("context"));
        ids
    }

    /// All findings in a file, in no order.
    pub(super) fn file(&self, path: &str, bytes: &[u8]) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for text in texts(path, bytes) {
            for finding in self.text(&text) {
                let same = |other: &Finding| other.rule == finding.rule && other.line == finding.line;
                if !findings.iter().any(same) {
                    findings.push(finding);
                }
            }
        }
        findings
    }

    fn text(&self, text: &Text<'_>) -> Vec<Finding> {
        let hits = self.hits(text);
        let mut raw: Vec<Raw> = hits.iter().filter_map(|hit| self.single(hit, text)).collect();
        raw.extend(self.pairs(&hits, text));
        checks::text(text, &mut raw);
        wording::findings(raw, text)
    }

    fn hits(&self, text: &Text<'_>) -> Vec<Hit> {
        let mut hits = Vec::new();
        let Some(words) = &self.words else { return hits };
        let mut tried = vec![0; self.patterns.len()];
        for word in words.find_overlapping_iter(&*text.bytes) {
            for index in self.wanted.get(word.pattern().as_usize()).into_iter().flatten() {
                let index = usize::from(*index);
                if tried.get(index).is_none_or(|until| word.start() < *until) {
                    continue;
                }
                let (start, window) = text.window(word.start());
                tried[index] = start + window.len().max(1);
                self.matches(index, text, start, window, &mut hits);
            }
        }
        hits
    }

    fn matches(&self, index: usize, text: &Text<'_>, start: usize, window: &[u8], hits: &mut Vec<Hit>) {
        let Some(compiled) = self.patterns.get(index) else { return };
        let Some((regex, unless)) = compiled.get() else { return };
        if !regex.is_match(window) || unless.as_ref().is_some_and(|unless| unless.is_match(window)) {
            return;
        }
        for found in regex.captures_iter(window) {
            let Some(whole) = found.get(0) else { continue };
            let at = start + whole.start();
            let line = text.line_of(at);
            if covers(compiled.rule.scope, text.part(line)) {
                hits.push(Hit { pattern: index, start: at, line, key: key(&found, start) });
            }
        }
    }

    fn single(&self, hit: &Hit, text: &Text<'_>) -> Option<Raw> {
        let rule = self.patterns.get(hit.pattern)?.rule;
        let key = match &rule.test {
            Test::Line(_) => None,
            Test::Key(_, weight) => {
                let (start, end) = hit.key?;
                checks::secret::is_real(text.bytes.get(start..end)?, *weight).then_some(hit.key)?
            }
            Test::Both(..) | Test::Own => return None,
        };
        Some(Raw { rule, at: key.map_or(hit.start, |key| key.0), key, note: None })
    }

    /// Rules that need two things near each other; in a script everything is near.
    fn pairs(&self, hits: &[Hit], text: &Text<'_>) -> Vec<Raw> {
        let mut raw = Vec::new();
        for (index, compiled) in self.patterns.iter().enumerate() {
            let Test::Both(_, _, within) = compiled.rule.test else { continue };
            if compiled.second {
                continue;
            }
            let within = if text.kind == Kind::Script && compiled.rule.scope == Scope::Code {
                usize::MAX
            } else {
                within as usize
            };
            let mut others: Vec<_> =
                hits.iter().filter(|hit| hit.pattern == index + 1).map(|hit| hit.line).collect();
            others.sort_unstable();
            let near = |hit: &&Hit| {
                let first = others.partition_point(|line| *line < hit.line.saturating_sub(within));
                others.get(first).is_some_and(|line| line.abs_diff(hit.line) <= within)
            };
            // One is enough where the whole script counts.
            let most = if within == usize::MAX { 1 } else { EACH_MAX };
            let found = hits.iter().filter(|hit| hit.pattern == index).filter(near).take(most);
            raw.extend(found.map(|hit| Raw { rule: compiled.rule, at: hit.start, key: None, note: None }));
        }
        raw
    }
}

impl Compiled {
    /// The pattern, and what must not be there. Compiled when it is first wanted: most texts want few of them.
    fn get(&self) -> Option<&(Regex, Option<Regex>)> {
        self.regex
            .get_or_init(|| {
                let any: Vec<_> = self.pattern.regex.iter().map(|one| format!("(?:{one})")).collect();
                let unless = match self.pattern.unless {
                    Some(unless) => Some(compile(unless)?),
                    None => None,
                };
                Some((compile(&any.join("|"))?, unless))
            })
            .as_ref()
    }
}

/// The first group that took part.
fn key(found: &Captures<'_>, start: usize) -> Option<(usize, usize)> {
    let group = found.iter().skip(1).flatten().next()?;
    Some((start + group.start(), start + group.end()))
}

fn covers(scope: Scope, part: Part) -> bool {
    match scope {
        Scope::Any => true,
        Scope::Code => part == Part::Code,
        Scope::Prose => matches!(part, Part::Prose | Part::Frontmatter),
        Scope::File => false,
    }
}
