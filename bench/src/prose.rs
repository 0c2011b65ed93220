//! Texts of generated skills: varied, realistic, valid by the strict rules, and the same on every machine.

use std::fmt::Write;

/// Occurs exactly once in every generated name and nowhere else, so that the names in the output of a command can be counted.
pub const NAME_MARKER: &str = "-n0";

/// The line of every body that refers to other files.
pub const FILES: &str = "Read `references/guide.md` first; `scripts/run.sh` does the counting.\n";

#[rustfmt::skip]
const VERBS: &[&str] = &[
    "analyze", "audit", "build", "clean", "compare", "convert", "debug", "deploy", "design", "extract",
    "format", "generate", "import", "lint", "merge", "migrate", "monitor", "parse", "plan", "profile",
    "publish", "refactor", "review", "schedule", "summarize", "test", "translate", "validate",
];
#[rustfmt::skip]
const THINGS: &[&str] = &[
    "accounts", "apis", "audio", "budgets", "calendars", "charts", "commits", "containers", "contracts",
    "dashboards", "databases", "emails", "fonts", "forms", "images", "invoices", "issues", "logs", "maps",
    "meetings", "metrics", "papers", "pdfs", "pipelines", "queries", "receipts", "releases", "schemas",
    "slides", "spreadsheets", "styles", "tables", "tickets", "videos",
];
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "the", "a", "file", "output", "before", "after", "each", "step", "value", "column", "user", "asks",
    "then", "check", "result", "against", "template", "with", "and", "or", "when", "field", "missing", "keep",
    "original", "layout", "write", "report", "short", "summary", "every", "change", "run", "script", "again",
    "if", "fails", "read", "reference", "for", "details", "never", "overwrite", "input", "use", "default",
    "style", "unless", "told", "otherwise", "naïve", "façade", "größer", "→", "日本語",
];
const TOOLS: &[&str] = &["Read", "Write", "Edit", "Bash(git:*)", "Bash(jq:*)", "Grep", "Glob", "WebFetch"];
const LICENSES: &[&str] = &["MIT", "Apache-2.0", "Proprietary. LICENSE.txt has complete terms"];

/// A deterministic random number generator (SplitMix64).
pub struct Rng(u64);

impl Rng {
    /// Creates a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from.get(self.below(from.len())).copied().unwrap_or_default()
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A generated skill.
pub struct Skill {
    /// The name of the skill and its directory.
    pub name: String,
    /// The text of `SKILL.md`.
    pub text: String,
}

/// Generates the skill with this number, which does not depend on the size of the tree.
pub fn skill(index: usize, rng: &mut Rng) -> Skill {
    let name = format!("{}-{}-n{index:06}", rng.pick(VERBS), rng.pick(THINGS));
    let mut text = String::with_capacity(13 * 1024);
    frontmatter(&mut text, &name, rng);
    let length = rng.between(2 * 1024, 12 * 1024);
    body(&mut text, &name, length, rng);
    Skill { name, text }
}

/// Generates a Markdown file for `references/`, one to three KiB.
pub fn reference(rng: &mut Rng) -> String {
    let mut text = String::from("# Reference\n");
    let length = rng.between(1024, 3 * 1024);
    sections(&mut text, length, rng);
    text
}

/// Generates a short shell script for `scripts/`.
pub fn script(rng: &mut Rng) -> String {
    format!("#!/bin/sh\n# {} {}\nset -eu\nwc -c \"$@\"\n", rng.pick(VERBS), rng.pick(THINGS))
}

fn frontmatter(out: &mut String, name: &str, rng: &mut Rng) {
    let _ = writeln!(out, "---\nname: {name}");
    let description = description(rng);
    match rng.below(8) {
        0..=3 => {
            let _ = writeln!(out, "description: {description}");
        }
        4 => {
            let _ = writeln!(out, "description: \"Handles \\\"{}\\\": {description}\"", rng.pick(THINGS));
        }
        5 => {
            let _ = writeln!(out, "description: 'The team''s way: {description}'");
        }
        _ => folded(out, &description),
    }
    if rng.one_in(3) {
        let _ = writeln!(out, "license: {}", rng.pick(LICENSES));
    }
    if rng.one_in(6) {
        let _ = writeln!(out, "compatibility: Requires git, jq and access to the internet");
    }
    if rng.one_in(3) {
        let (major, minor) = (rng.below(4), rng.below(10));
        let _ = writeln!(out, "metadata:\n  author: example-org\n  version: \"{major}.{minor}\"");
        if rng.one_in(2) {
            let _ = writeln!(out, "  category: {}", rng.pick(THINGS));
        }
    }
    if rng.one_in(4) {
        let _ = writeln!(out, "allowed-tools: {} {}", rng.pick(TOOLS), rng.pick(TOOLS));
    }
    out.push_str("---\n");
}

/// Writes `description: >-` with the text wrapped to lines of about 80 characters.
fn folded(out: &mut String, description: &str) {
    out.push_str("description: >-\n ");
    let mut column = 1;
    for word in description.split(' ') {
        if column + word.len() > 80 {
            out.push_str("\n ");
            column = 1;
        }
        out.push(' ');
        out.push_str(word);
        column += word.len() + 1;
    }
    out.push('\n');
}

/// Generates one to four sentences that are a valid plain YAML scalar, far below 1,024 characters.
fn description(rng: &mut Rng) -> String {
    let verb = rng.pick(VERBS);
    let mut text = format!("{}{} {}", verb[..1].to_uppercase(), &verb[1..], rng.pick(THINGS));
    let _ = write!(text, " and {} {} for the user.", rng.pick(VERBS), rng.pick(THINGS));
    for _ in 0..rng.below(3) {
        let _ = write!(text, " Can {} {} from {}", rng.pick(VERBS), rng.pick(THINGS), rng.pick(THINGS));
        let _ = write!(text, ", {} {}, and keep the original layout.", rng.pick(VERBS), rng.pick(THINGS));
    }
    let (first, second, third) = (rng.pick(THINGS), rng.pick(THINGS), rng.pick(THINGS));
    let _ = write!(text, " Use when the user mentions {first}, {second} or {third} – even in passing.");
    text
}

fn body(out: &mut String, name: &str, length: usize, rng: &mut Rng) {
    let _ = writeln!(out, "\n# How to {}\n", name.split('-').next().unwrap_or_default());
    out.push_str(FILES);
    sections(out, length, rng);
}

/// Adds sections of prose, lists and code until `length` bytes were added.
fn sections(out: &mut String, length: usize, rng: &mut Rng) {
    let end = out.len() + length;
    while out.len() < end {
        let _ = writeln!(out, "\n## {} {}\n", rng.pick(VERBS), rng.pick(THINGS));
        match rng.below(4) {
            0 => {
                for step in 1..=rng.between(3, 7) {
                    let _ = write!(out, "{step}. ");
                    sentence(out, rng);
                    out.push('\n');
                }
            }
            1 => {
                let (verb, thing) = (rng.pick(VERBS), rng.pick(THINGS));
                let _ = writeln!(out, "```sh\nscripts/run.sh --{verb} \"$1\" | jq '.{thing}[]'\n```");
            }
            _ => {
                for _ in 0..rng.between(2, 6) {
                    sentence(out, rng);
                    out.push(if rng.one_in(3) { '\n' } else { ' ' });
                }
                out.push('\n');
            }
        }
    }
}

fn sentence(out: &mut String, rng: &mut Rng) {
    let _ = write!(out, "When you {} {},", rng.pick(VERBS), rng.pick(THINGS));
    for _ in 0..rng.between(5, 16) {
        out.push(' ');
        out.push_str(rng.pick(WORDS));
    }
    out.push('.');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_depends_only_on_its_number() {
        let first = skill(7, &mut Rng::new(7));
        let again = skill(7, &mut Rng::new(7));
        assert_eq!((first.name, first.text), (again.name, again.text));
    }

    #[test]
    fn the_marker_occurs_only_once_in_the_name() {
        for index in 0..500 {
            let skill = skill(index, &mut Rng::new(index as u64));
            assert_eq!(skill.name.matches(NAME_MARKER).count(), 1, "{}", skill.name);
            assert_eq!(skill.text.matches(NAME_MARKER).count(), 1, "{}", skill.text);
            assert!((2 * 1024..14 * 1024).contains(&skill.text.len()));
        }
    }

    #[test]
    fn folded_descriptions_lose_no_word() {
        let mut out = String::new();
        let text = "one two three ".repeat(20);
        folded(&mut out, text.trim_end());
        let read: Vec<&str> = out.lines().skip(1).flat_map(|line| line.split_whitespace()).collect();
        assert_eq!(read.join(" "), text.trim_end());
    }
}
