//! PA102, PA103, PA104, PA111: what is fetched to be run, judged by where it comes from.

use std::sync::OnceLock;

use memchr::memmem;
use regex::bytes::Regex;

use super::hosts::{Address, Host, addresses, judge};
use super::push;
use crate::rule::compile;
use crate::text::{Part, Text};
use crate::wording::Raw;

/// A download that goes into an interpreter.
const RUNS: &str = concat!(
    r"\b(curl|wget|fetch)\b[^|;]*\|\s*(sudo\s+(-\S+\s+)*)?(env\s+)?(\w+=\S+\s+)*(\S*/)?((ba|z|da|k|fi)?sh\b|(python[\d.]*|node|perl|ruby|php|bun|deno)\s*(-\s|-?\s*($|[\x22'\x60)])))",
    r"|((ba|z|da|k)?sh|source|(^|[\s;&|(])\.|python[\d.]*|node|eval)\s+(-\w+\s+)*[\\\x22']*(<\(|\$\(|\x60)\s*(curl|wget)\b",
    r"|\b(irm|iwr|invoke-restmethod|invoke-webrequest)\b[^|;]*\|\s*(iex|invoke-expression)\b",
    r"|\b(iex|invoke-expression)\b[\s(\x22'&$]*(\(?new-object\s+(system\.)?net\.webclient|irm|iwr|invoke-restmethod|invoke-webrequest|curl|wget)\b",
);

/// A program or a library call that fetches.
const FETCHES: &str = r"\b(curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|downloadfile|downloadstring|urlretrieve|requests\.get|urlopen|start-bitstransfer)\b";

/// Both, compiled once.
fn patterns() -> Option<&'static (Regex, Regex)> {
    static PATTERNS: OnceLock<Option<(Regex, Regex)>> = OnceLock::new();
    PATTERNS.get_or_init(|| Some((compile(RUNS)?, compile(FETCHES)?))).as_ref()
}

/// Whether a short text fetches something from where nobody answers for it, and runs it.
pub(super) fn is_dropper(text: &[u8]) -> bool {
    let Some((runs, _)) = patterns() else { return false };
    let judged = |found: regex::bytes::Match<'_>| {
        rule_of(addresses(text.get(found.start()..).unwrap_or_default()).next().as_ref())
    };
    runs.find_iter(text).any(|found| judged(found) == "PA102")
}

pub(super) fn check(text: &Text<'_>, raw: &mut Vec<Raw>) {
    // Without an address there is nothing to judge, but for a variable that holds one.
    let fetch = [&b"curl"[..], b"wget", b"http", b"irm ", b"iwr "];
    if !fetch.iter().any(|word| memmem::find(&text.bytes, word).is_some()) {
        return;
    }
    let Some((runs, fetches)) = patterns() else { return };
    run(text, runs, raw);
    bare(text, fetches, raw);
}

/// What goes into an interpreter.
fn run(text: &Text<'_>, runs: &Regex, raw: &mut Vec<Raw>) {
    let mut until = 0;
    let words = [&b"curl"[..], b"wget", b"irm", b"iwr", b"nvoke-", b"WebClient", b"webclient", b"fetch"];
    let mut starts: Vec<_> = words.iter().flat_map(|word| memmem::find_iter(&text.bytes, word)).collect();
    starts.sort_unstable();
    for at in starts {
        if at < until {
            continue;
        }
        let (start, window) = text.window(at);
        until = start + window.len().max(1);
        for found in runs.find_iter(window) {
            // The address may stand behind what the pattern needs to see.
            let judged = window.get(found.start()..).unwrap_or_default();
            let first = addresses(judged).next();
            push(raw, rule_of(first.as_ref()), start + found.start(), None);
        }
    }
}

fn rule_of(address: Option<&Address<'_>>) -> &'static str {
    let Some(address) = address else { return "PA103" };
    match (judge(address.rest), address.encrypted) {
        (Host::Bare | Host::Nameless, _) => "PA102",
        (Host::Local, _) => "PA104",
        (Host::Installer, true) => "PA104",
        (Host::Named, false) => "PA102",
        // Whoever leaves out a letter of a known address is careless and no more.
        (Host::Installer, false) | (Host::Named, true) => "PA103",
    }
}

/// Whatever is fetched from an address without a name.
fn bare(text: &Text<'_>, fetches: &Regex, raw: &mut Vec<Raw>) {
    for address in addresses(&text.bytes) {
        if !address.rest.starts_with(|c: char| c.is_ascii_digit() || c == '[')
            || judge(address.rest) != Host::Bare
        {
            continue;
        }
        let line = text.line_of(address.at);
        if text.part(line) == Part::Code && fetches.is_match(text.line(line).1) {
            push(raw, "PA111", address.at, None);
        }
    }
}
