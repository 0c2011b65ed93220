//! Every alternative of a pattern contains one of its keywords; otherwise it is never tried.

use std::fmt::Write;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::*;
use rule::{Matcher, Pattern};

/// The maximum number of texts that an expression is expanded to.
const EXPANDED_MAX: usize = 512;

/// Returns the patterns of a rule.
pub(super) fn patterns_of(rule: &'static Rule) -> Vec<&'static Pattern> {
    match &rule.matcher {
        Matcher::Line(pattern) | Matcher::LineWithSecret(pattern, _) => vec![pattern],
        Matcher::AnyLine(patterns) => patterns.iter().collect(),
        Matcher::Pair { first, second, .. } => vec![first, second],
        Matcher::Custom => vec![],
    }
}

/// Returns all texts that an expression matches, in lower case; `None` if there are too many. White space is one space.
fn expand(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(vec![Vec::new()]),
        HirKind::Literal(literal) => Some(vec![literal.0.to_ascii_lowercase()]),
        HirKind::Class(Class::Bytes(class)) => {
            let bytes: Vec<u8> = class.iter().flat_map(|range| range.start()..=range.end()).collect();
            match bytes.contains(&b' ') && bytes.iter().all(u8::is_ascii_whitespace)
                || bytes.contains(&0x0b) && bytes.len() < 8
            {
                true => Some(vec![b" ".to_vec()]),
                false => (bytes.len() <= 8)
                    .then(|| bytes.iter().map(|byte| vec![byte.to_ascii_lowercase()]).collect()),
            }
        }
        HirKind::Class(Class::Unicode(_)) => None,
        HirKind::Capture(capture) => expand(&capture.sub),
        HirKind::Repetition(repetition) => {
            let once = expand(&repetition.sub)?;
            match (repetition.min, repetition.max) {
                (0, Some(1)) => Some([vec![Vec::new()], once].concat()),
                (1, _) if once == [b" "] => Some(once),
                (0, _) if once == [b" "] => Some(vec![Vec::new(), b" ".to_vec()]),
                _ => None,
            }
        }
        HirKind::Concat(parts) => {
            parts.iter().try_fold(vec![Vec::new()], |texts, part| join(&texts, &expand(part)?))
        }
        HirKind::Alternation(branches) => {
            let texts: Vec<_> = branches.iter().map(expand).collect::<Option<Vec<_>>>()?.concat();
            (texts.len() <= EXPANDED_MAX).then_some(texts)
        }
    }
}

/// Returns each of the first texts followed by each of the second.
fn join(first: &[Vec<u8>], second: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let pairs = first.iter().flat_map(|start| second.iter().map(move |end| [start.as_slice(), end].concat()));
    (first.len() * second.len() <= EXPANDED_MAX).then(|| pairs.collect())
}

/// Returns the first text that contains no keyword, from a part that every match contains; `None` if there is none.
fn without_keyword(hir: &Hir, words: &[&[u8]]) -> Option<String> {
    let has_word = |text: &Vec<u8>| words.iter().any(|word| memchr::memmem::find(text, word).is_some());
    let show = |text: &Vec<u8>| String::from_utf8_lossy(text).into_owned();
    if let Some(texts) = expand(hir) {
        return texts.iter().find(|text| !has_word(text)).map(show);
    }
    let branches = alternatives(hir.clone());
    if branches.len() > 1 {
        return branches.iter().find_map(|branch| without_keyword(branch, words));
    }
    match hir.kind() {
        HirKind::Capture(capture) => without_keyword(&capture.sub, words),
        HirKind::Repetition(repetition) if repetition.min > 0 => without_keyword(&repetition.sub, words),
        HirKind::Alternation(branches) => branches.iter().find_map(|branch| without_keyword(branch, words)),
        HirKind::Concat(parts) => {
            let missing: Vec<_> = parts.iter().map(|part| without_keyword(part, words)).collect();
            if missing.iter().any(Option::is_none) {
                return None;
            }
            // A keyword may consist of several parts.
            let mut run = vec![Vec::new()];
            for part in parts {
                let expanded = expand(part);
                run = expanded
                    .as_ref()
                    .and_then(|texts| join(&run, texts))
                    .or(expanded)
                    .unwrap_or(vec![Vec::new()]);
                if run.iter().all(has_word) {
                    return None;
                }
            }
            Some(
                missing
                    .into_iter()
                    .flatten()
                    .filter(|part| !part.trim().is_empty())
                    .collect::<Vec<_>>()
                    .join("…"),
            )
        }
        _ => Some(String::new()),
    }
}

/// Splits an expression into its alternatives, also where they are in the middle.
fn alternatives(hir: Hir) -> Vec<Hir> {
    match hir.into_kind() {
        HirKind::Alternation(branches) => branches.into_iter().flat_map(alternatives).collect(),
        HirKind::Capture(capture) => alternatives(*capture.sub),
        HirKind::Concat(parts) => {
            let split = parts.iter().position(|part| {
                matches!(part.kind(), HirKind::Capture(_)) && expand(part).is_none_or(|texts| texts.len() > 1)
            });
            match split {
                Some(at) if alternatives(parts[at].clone()).len() > 1 && parts.len() < 40 => {
                    let with = |branch: Hir| {
                        let mut parts = parts.clone();
                        parts[at] = branch;
                        Hir::concat(parts)
                    };
                    alternatives(parts[at].clone()).into_iter().map(with).collect()
                }
                _ => vec![Hir::concat(parts)],
            }
        }
        HirKind::Empty => vec![Hir::empty()],
        HirKind::Literal(literal) => vec![Hir::literal(literal.0)],
        HirKind::Class(class) => vec![Hir::class(class)],
        HirKind::Look(look) => vec![Hir::look(look)],
        HirKind::Repetition(repetition) => vec![Hir::repetition(repetition)],
    }
}

/// Alternatives of common words, which count only if a keyword is in the same line.
const ACCEPTED: &[(&str, &str)] = &[
    ("PA113", "run"),
    ("PA201", "atomic"),
    ("PA203", "atomic"),
    ("PA221", "storage"),
    ("PA222", "storage"),
    ("PA228", ".connect"),
];

fn is_accepted(rule: &Rule, part: &str) -> bool {
    ACCEPTED.iter().any(|(id, word)| *id == rule.id && part.contains(word))
}

#[test]
fn every_alternative_has_a_keyword() {
    let mut dead = String::new();
    // In prose, a keyword is often a further condition, because the verbs of a phrase are common words.
    for rule in rules().filter(|rule| rule.family != Family::Prose) {
        for pattern in patterns_of(rule) {
            let boundary =
                |word: &'static str| word.trim_start_matches(r"\b").trim_end_matches(r"\b").as_bytes();
            let words: Vec<_> = pattern.keywords.split(',').map(boundary).collect();
            for regex in pattern.regexes {
                let mut parser = regex_syntax::ParserBuilder::new()
                    .unicode(false)
                    .utf8(false)
                    .dot_matches_new_line(true)
                    .build();
                for alternative in alternatives(parser.parse(regex).unwrap()) {
                    if let Some(part) =
                        without_keyword(&alternative, &words).filter(|part| !is_accepted(rule, part))
                    {
                        writeln!(dead, "{}: {part}", rule.id).unwrap();
                    }
                }
            }
        }
    }
    assert!(dead.is_empty(), "\n{dead}");
}
