//! PA102, PA103, PA104, PA111: downloads that are run, rated by their source.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::Regex;

use super::hosts::{HostKind, UrlMatch, classify_host, find_urls};
use super::push_finding;
use crate::report::RawFinding;
use crate::rule::compile;
use crate::text::{LineKind, SourceText};

/// A download piped into an interpreter.
const RUNS: &str = concat!(
    r"\b(curl|wget|fetch)\b[^|;]*\|\s*(sudo\s+(-\S+\s+)*)?(env\s+)?(\w+=\S+\s+)*(\S*/)?((ba|z|da|k|fi)?sh\b|(python[\d.]*|node|perl|ruby|php|bun|deno)\s*(-\s|-?\s*($|[\x22'\x60)])))",
    r"|((ba|z|da|k)?sh|source|(^|[\s;&|(])\.|python[\d.]*|node|eval)\s+(-\w+\s+)*[\\\x22']*(<\(|\$\(|\x60)\s*(curl|wget)\b",
    r"|\b(irm|iwr|invoke-restmethod|invoke-webrequest)\b[^|;]*\|\s*(iex|invoke-expression)\b",
    r"|\b(iex|invoke-expression)\b[\s(\x22'&$]*(\(?new-object\s+(system\.)?net\.webclient|irm|iwr|invoke-restmethod|invoke-webrequest|curl|wget)\b",
);

/// A program or a library call that downloads something.
const FETCHES: &str = r"\b(curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|downloadfile|downloadstring|urlretrieve|requests\.get|urlopen|start-bitstransfer)\b";

/// Returns both patterns, compiled once.
fn patterns() -> Option<&'static (Regex, Regex)> {
    static PATTERNS: OnceLock<Option<(Regex, Regex)>> = OnceLock::new();
    PATTERNS.get_or_init(|| Some((compile(RUNS)?, compile(FETCHES)?))).as_ref()
}

/// Returns `true` if a short text downloads something from an untrustworthy source and runs it.
pub(super) fn is_dropper(text: &[u8]) -> bool {
    let Some((runs, _)) = patterns() else { return false };
    let rule = |run: regex::bytes::Match<'_>| {
        rule_for(find_urls(text.get(run.start()..).unwrap_or_default()).next().as_ref())
    };
    runs.find_iter(text).any(|run| rule(run) == "PA102")
}

/// Words of which every download that [`RUNS`] matches contains one.
const KEYWORDS: [&str; 7] = ["curl", "wget", "irm", "iwr", "invoke-", "webclient", "fetch"];

/// Returns the automaton that finds [`KEYWORDS`]. Case is ignored, as PowerShell does.
fn keywords() -> Option<&'static AhoCorasick> {
    static AUTOMATON: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    AUTOMATON
        .get_or_init(|| {
            let mut builder = AhoCorasick::builder();
            builder.kind(Some(AhoCorasickKind::DFA)).ascii_case_insensitive(true).build(KEYWORDS).ok()
        })
        .as_ref()
}

pub(super) fn check(text: &SourceText<'_>, findings: &mut Vec<RawFinding>) {
    let Some((runs, fetches)) = patterns() else { return };
    check_piped(text, runs, findings);
    check_bare_ips(text, fetches, findings);
}

/// Checks downloads that are piped into an interpreter.
fn check_piped(text: &SourceText<'_>, runs: &Regex, findings: &mut Vec<RawFinding>) {
    let Some(keywords) = keywords() else { return };
    let mut checked_until = 0;
    for keyword in keywords.find_iter(&text.bytes) {
        if keyword.start() < checked_until {
            continue;
        }
        let (start, window) = text.window(keyword.start());
        checked_until = start + window.len().max(1);
        for run in runs.find_iter(window) {
            // The URL may follow the part that the pattern matches.
            let rest = window.get(run.start()..).unwrap_or_default();
            let first = find_urls(rest).next();
            push_finding(findings, rule_for(first.as_ref()), start + run.start(), None);
        }
    }
}

fn rule_for(url: Option<&UrlMatch<'_>>) -> &'static str {
    let Some(url) = url else { return "PA103" };
    match (classify_host(url.rest), url.encrypted) {
        (HostKind::IpAddress | HostKind::Anonymous, _) => "PA102",
        (HostKind::Local, _) => "PA104",
        (HostKind::Installer, true) => "PA104",
        (HostKind::Other, false) => "PA102",
        // `http` instead of `https` for a well-known installer is careless, but not suspicious.
        (HostKind::Installer, false) | (HostKind::Other, true) => "PA103",
    }
}

/// Checks downloads from a bare IP address.
fn check_bare_ips(text: &SourceText<'_>, fetches: &Regex, findings: &mut Vec<RawFinding>) {
    for url in find_urls(&text.bytes) {
        if !url.rest.starts_with(|c: char| c.is_ascii_digit() || c == '[')
            || classify_host(url.rest) != HostKind::IpAddress
        {
            continue;
        }
        let line = text.line_of(url.offset);
        if text.line_kind(line) == LineKind::Code && fetches.is_match(text.line(line).1) {
            push_finding(findings, "PA111", url.offset, None);
        }
    }
}
