//! The rules, compiled once, and how they go over a text.
//!
//! One pass looks for the words of all patterns, but for those that mean something only beside another: they get a pass of
//! their own where the other was found. Only where a word of a pattern occurs is the pattern tried, on that line and no more
//! than once: whatever the text is, the work grows with its length and not faster.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Captures, Regex};

use super::checks;
use super::finding::Finding;
use super::rule::{EDGE, Pattern, Rule, Scope, Test, compile};
use super::rules::rules;
use super::text::{Kind, Part, Text, texts};
use super::wording::{self, EACH_MAX, Raw};

/// After so many bytes the large automaton is worth making: what it saves by then is what making it takes.
const LARGE_FROM: usize = 1024 * 1024;

/// The compiled rules.
pub(super) struct Engine {
    /// Each pattern once, however many rules use it.
    patterns: Vec<Compiled>,
    uses: Vec<Use>,
    /// The words of the patterns that mean something alone.
    alone: Words,
    /// The words of the others, made when they are first wanted: most texts want none of them.
    paired: OnceLock<Words>,
}

/// Words, and the patterns that want them.
struct Words {
    words: Vec<&'static str>,
    /// The automaton that is made fast. `None` only where the words could not be compiled, which a test rules out.
    small: Option<AhoCorasick>,
    /// The one that is fast, and takes longer to make than many skills to audit.
    large: OnceLock<Option<AhoCorasick>>,
    /// How many bytes were looked through.
    bytes: AtomicUsize,
    /// For each word the patterns that want it.
    wanted: Vec<Vec<Wish>>,
}

/// That a pattern is tried where a word occurs.
struct Wish {
    /// The index of the pattern.
    pattern: usize,
    /// Whether the word has to begin and to end where it occurs, and not be a part of a longer one.
    edges: (bool, bool),
}

struct Compiled {
    pattern: &'static Pattern,
    /// Where the rules look that use it.
    scopes: Vec<Scope>,
    /// The patterns without which it means nothing; none where it means something alone.
    needs: Option<Vec<usize>>,
    /// Whether a rule wants the group of it.
    has_key: bool,
    regex: OnceLock<Option<(Regex, Option<Regex>)>>,
}

/// A rule and its patterns.
struct Use {
    rule: &'static Rule,
    first: usize,
    second: Option<usize>,
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

impl Engine {
    pub(super) fn get() -> &'static Self {
        static ENGINE: OnceLock<Engine> = OnceLock::new();
        ENGINE.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut patterns: Vec<Compiled> = Vec::new();
        let mut place = |pattern: &'static Pattern, rule: &Rule, first: Option<usize>| {
            let at = patterns.iter().position(|known| known.pattern == pattern).unwrap_or_else(|| {
                let (scopes, regex) = (Vec::new(), OnceLock::new());
                patterns.push(Compiled { pattern, scopes, needs: Some(Vec::new()), has_key: false, regex });
                patterns.len() - 1
            });
            if let Some(compiled) = patterns.get_mut(at) {
                compiled.scopes.push(rule.scope);
                compiled.has_key |= matches!(rule.test, Test::Key(..));
                match (first, &mut compiled.needs) {
                    (Some(first), Some(needs)) => needs.push(first),
                    (Some(_), None) => {}
                    (None, needs) => *needs = None,
                }
            }
            at
        };
        let mut uses = Vec::new();
        for rule in rules() {
            match &rule.test {
                Test::Line(pattern) | Test::Key(pattern, _) => {
                    uses.push(Use { rule, first: place(pattern, rule, None), second: None });
                }
                Test::Both(first, other, _) => {
                    let first = place(first, rule, None);
                    uses.push(Use { rule, first, second: Some(place(other, rule, Some(first))) });
                }
                Test::Own => {}
            }
        }
        let alone = Words::of(&patterns, |compiled| compiled.needs.is_none());
        Self { patterns, uses, alone, paired: OnceLock::new() }
    }

    fn paired(&self) -> &Words {
        self.paired.get_or_init(|| Words::of(&self.patterns, |compiled| compiled.needs.is_some()))
    }

    /// Whether every pattern compiles, for the tests.
    #[cfg(test)]
    pub(super) fn broken(&self) -> Vec<&'static str> {
        let broken = |at: usize| self.patterns.get(at).is_none_or(|compiled| compiled.get().is_none());
        let broken = self.uses.iter().filter(|one| broken(one.first) || one.second.is_some_and(broken));
        let mut ids: Vec<_> = broken.map(|one| one.rule.id).collect();
        let words = [&self.alone, self.paired()];
        let is_broken =
            |words: &&Words| words.small.is_none() || automaton(&words.words, AhoCorasickKind::DFA).is_none();
        ids.extend(words.iter().any(is_broken).then_some("words"));
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
        let mut raw: Vec<Raw> = Vec::new();
        for one in &self.uses {
            let own = hits.iter().filter(|hit| hit.pattern == one.first);
            let own = own.filter(|hit| covers(one.rule.scope, text.part(hit.line)));
            match one.second {
                None => raw.extend(own.filter_map(|hit| single(one.rule, hit, text))),
                Some(second) => pairs(one.rule, own, second, &hits, text, &mut raw),
            }
        }
        checks::text(text, &mut raw);
        wording::findings(raw, text)
    }

    fn hits(&self, text: &Text<'_>) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut tried = vec![0; self.patterns.len()];
        self.pass(&self.alone, text, &mut tried, &mut hits, &|compiled| compiled.needs.is_none());
        if hits.is_empty() {
            return hits;
        }
        // What means nothing alone is looked for only where there is the other half of it.
        let mut there = vec![false; self.patterns.len()];
        hits.iter().for_each(|hit| there[hit.pattern] = true);
        let is_wanted = |compiled: &Compiled| {
            let needs = compiled.needs.as_deref().unwrap_or_default();
            needs.iter().any(|first| there.get(*first).is_some_and(|there| *there))
        };
        if self.patterns.iter().any(is_wanted) {
            self.pass(self.paired(), text, &mut tried, &mut hits, &is_wanted);
        }
        hits
    }

    /// Goes over a text with some of the patterns.
    fn pass(
        &self,
        words: &Words,
        text: &Text<'_>,
        tried: &mut [usize],
        hits: &mut Vec<Hit>,
        is_wanted: &dyn Fn(&Compiled) -> bool,
    ) {
        let Some(automaton) = words.automaton(text.bytes.len()) else { return };
        for word in automaton.find_overlapping_iter(&*text.bytes) {
            for wish in words.wanted.get(word.pattern().as_usize()).into_iter().flatten() {
                let (index, at) = (wish.pattern, word.start());
                if tried.get(index).is_none_or(|until| at < *until)
                    || !wish.is_met(&text.bytes, at, word.end())
                {
                    continue;
                }
                let is_in =
                    |compiled: &&Compiled| compiled.scopes.iter().any(|scope| is_in(*scope, text.kind));
                if !self.patterns.get(index).filter(is_in).is_some_and(is_wanted) {
                    continue;
                }
                let (start, window) = text.window(at);
                tried[index] = start + window.len().max(1);
                if self.is_covered(index, text, start, window.len()) {
                    self.matches(index, text, start, window, hits);
                }
            }
        }
    }

    /// Whether a rule that uses the pattern looks at any of the lines of a window.
    fn is_covered(&self, index: usize, text: &Text<'_>, start: usize, length: usize) -> bool {
        let scopes = self.patterns.get(index).map_or(&[][..], |compiled| &compiled.scopes);
        let (first, last) = (text.line_of(start), text.line_of(start + length));
        (first..=last).any(|line| scopes.iter().any(|scope| covers(*scope, text.part(line))))
    }

    fn matches(&self, index: usize, text: &Text<'_>, start: usize, window: &[u8], hits: &mut Vec<Hit>) {
        let Some(compiled) = self.patterns.get(index) else { return };
        let Some((regex, unless)) = compiled.get() else { return };
        if !regex.is_match(window) || unless.as_ref().is_some_and(|unless| unless.is_match(window)) {
            return;
        }
        let mut push = |at: usize, key| {
            let line = text.line_of(start + at);
            hits.push(Hit { pattern: index, start: start + at, line, key });
        };
        match compiled.has_key {
            true => {
                for found in regex.captures_iter(window) {
                    if let Some(whole) = found.get(0) {
                        push(whole.start(), key(&found, start));
                    }
                }
            }
            false => regex.find_iter(window).for_each(|found| push(found.start(), None)),
        }
    }
}

impl Words {
    /// The words of some of the patterns.
    fn of(patterns: &[Compiled], is_meant: impl Fn(&Compiled) -> bool) -> Self {
        let mut words: Vec<(&'static str, Wish)> = Vec::new();
        for (index, compiled) in patterns.iter().enumerate().filter(|(_, compiled)| is_meant(compiled)) {
            words.extend(compiled.pattern.words.iter().map(|word| Wish::of(index, word)));
        }
        words.sort_by_key(|(word, wish)| (*word, wish.pattern));
        let mut wanted: Vec<Vec<Wish>> = Vec::new();
        let mut distinct: Vec<&'static str> = Vec::new();
        for (word, wish) in words {
            match wanted.last_mut() {
                Some(last) if distinct.last() == Some(&word) => last.push(wish),
                _ => {
                    distinct.push(word);
                    wanted.push(vec![wish]);
                }
            }
        }
        let small = automaton(&distinct, AhoCorasickKind::ContiguousNFA);
        Self { words: distinct, small, large: OnceLock::new(), bytes: AtomicUsize::new(0), wanted }
    }

    /// The automaton for so many more bytes.
    fn automaton(&self, bytes: usize) -> Option<&AhoCorasick> {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) < LARGE_FROM {
            return self.small.as_ref();
        }
        let large = self.large.get_or_init(|| automaton(&self.words, AhoCorasickKind::DFA));
        large.as_ref().or(self.small.as_ref())
    }
}

fn automaton(words: &[&str], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    AhoCorasick::builder().kind(Some(kind)).ascii_case_insensitive(true).build(words).ok()
}

impl Wish {
    /// The wish of a pattern for one of its words, and the word itself.
    fn of(pattern: usize, word: &'static str) -> (&'static str, Self) {
        let begun = word.strip_prefix(EDGE);
        let word = begun.unwrap_or(word);
        let ended = word.strip_suffix(EDGE);
        (ended.unwrap_or(word), Self { pattern, edges: (begun.is_some(), ended.is_some()) })
    }

    fn is_met(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let goes_on = |at: Option<usize>| {
            let byte = at.and_then(|at| bytes.get(at));
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        let (begins, ends) = self.edges;
        let is_part = (begins && goes_on(start.checked_sub(1))) || (ends && goes_on(Some(end)));
        !is_part
    }
}

fn single(rule: &'static Rule, hit: &Hit, text: &Text<'_>) -> Option<Raw> {
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

/// Two things near each other; in a script everything is near.
fn pairs<'h>(
    rule: &'static Rule,
    own: impl Iterator<Item = &'h Hit>,
    second: usize,
    hits: &[Hit],
    text: &Text<'_>,
    raw: &mut Vec<Raw>,
) {
    let Test::Both(_, _, within) = rule.test else { return };
    let within = match text.kind == Kind::Script && rule.scope == Scope::Code {
        true => usize::MAX,
        false => within as usize,
    };
    let others = hits.iter().filter(|hit| hit.pattern == second).map(|hit| hit.line);
    let mut others: Vec<_> = others.filter(|line| covers(rule.scope, text.part(*line))).collect();
    others.sort_unstable();
    let near = |hit: &&Hit| {
        let first = others.partition_point(|line| *line < hit.line.saturating_sub(within));
        others.get(first).is_some_and(|line| line.abs_diff(hit.line) <= within)
    };
    // One is enough where the whole script counts.
    let most = if within == usize::MAX { 1 } else { EACH_MAX };
    raw.extend(own.filter(near).take(most).map(|hit| Raw { rule, at: hit.start, key: None, note: None }));
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

/// Whether a rule can find anything in a text of this kind.
fn is_in(scope: Scope, kind: Kind) -> bool {
    match kind {
        Kind::Markdown => scope != Scope::File,
        Kind::Script => matches!(scope, Scope::Any | Scope::Code),
        Kind::Plain => matches!(scope, Scope::Any | Scope::Prose),
        Kind::Data => scope == Scope::Any,
    }
}

fn covers(scope: Scope, part: Part) -> bool {
    match scope {
        Scope::Any => true,
        Scope::Code => part == Part::Code,
        Scope::Prose => matches!(part, Part::Prose | Part::Frontmatter),
        Scope::File => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_edges_is_no_part_of_a_longer_one() {
        let met = |word: &'static str, text: &str| {
            let (word, wish) = Wish::of(0, word);
            let start = text.find(word).unwrap();
            wish.is_met(text.as_bytes(), start, start + word.len())
        };
        assert!(met(r"\brev\b", "echo x |rev| sh") && met(r"\brev\b", "rev"));
        assert!(!met(r"\brev\b", "review") && !met(r"\brev\b", "a_rev"));
        assert!(met("rev", "preview") && met(r"rev\b", "xrev") && !met(r"\brev", "xrev"));
    }

    #[test]
    fn both_automata_find_the_same() {
        let text = "Print `base64 -d`, then ask the USER; 忽略 it, pip install x, ![](y)";
        let found = |kind| {
            let automaton = automaton(&Engine::get().alone.words, kind).unwrap();
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
