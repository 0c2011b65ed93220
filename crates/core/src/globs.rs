//! Globs of files, as skills list them under `paths`: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of directories.
//!
//! Skills are untrusted, so the number of patterns and the time for comparing them are bounded: what exceeds the bounds does
//! not match.

/// The maximum number of patterns that the braces of one glob expand to.
const EXPANSIONS_MAX: usize = 64;

/// The maximum number of patterns of a set.
const PATTERNS_MAX: usize = 256;

/// How many comparisons of characters a search may still make.
#[derive(Debug)]
pub(crate) struct SearchBudget(usize);

impl Default for SearchBudget {
    fn default() -> Self {
        Self(1_000_000)
    }
}

impl SearchBudget {
    /// Returns `false` if the budget is spent.
    fn spend(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

/// The globs of a skill.
#[derive(Debug)]
pub(crate) struct GlobSet {
    patterns: Vec<Pattern>,
}

/// A glob without braces: its parts between slashes.
#[derive(Debug)]
struct Pattern(Vec<PatternPart>);

#[derive(Debug)]
enum PatternPart {
    /// `**`.
    AnyDirectories,
    /// Anything else.
    Name(Vec<Element>),
}

impl GlobSet {
    /// Parses globs.
    pub(crate) fn new<'g>(globs: impl IntoIterator<Item = &'g str>) -> Self {
        let patterns = globs.into_iter().flat_map(expand_braces).take(PATTERNS_MAX);
        Self { patterns: patterns.map(|pattern| Pattern::parse(&pattern)).collect() }
    }

    /// Returns `true` if a glob matches the path of a file, relative to the project and with `/`.
    ///
    /// A glob without `/` matches the name of a file in any directory. A path without `/` is only a name: it is compared
    /// with the last part of the glob, because its directory is not known.
    pub(crate) fn matches(&self, path: &str, budget: &mut SearchBudget) -> bool {
        let segments: Vec<Vec<char>> =
            path.split('/').filter(|part| !part.is_empty()).map(|part| part.chars().collect()).collect();
        self.patterns.iter().any(|pattern| pattern.matches(&segments, budget))
    }
}

/// Returns `true` if a glob matches the path of a file, relative to the project and with `/`. A glob without `/` matches the
/// name of a file in any directory.
pub fn glob_matches(glob: &str, path: &str) -> bool {
    GlobSet::new([glob]).matches(path, &mut SearchBudget::default())
}

/// Returns `true` if the last part of a glob is this name, without wildcards: `Dockerfile`, `docker/Dockerfile`.
pub(crate) fn names_file(glob: &str, name: &str) -> bool {
    let last = glob.rsplit('/').next().unwrap_or(glob);
    last == name
}

impl Pattern {
    fn parse(pattern: &str) -> Self {
        let pattern = pattern.trim_start_matches("./").trim_start_matches('/');
        // `src/` means everything in it.
        let directory = pattern.ends_with('/').then_some("**");
        let parts = pattern.split('/').filter(|part| !part.is_empty()).chain(directory);
        let parse = |part: &str| match part {
            "**" => PatternPart::AnyDirectories,
            name => PatternPart::Name(elements(name)),
        };
        Self(parts.map(parse).collect())
    }

    fn matches(&self, segments: &[Vec<char>], budget: &mut SearchBudget) -> bool {
        match (self.0.as_slice(), segments) {
            ([], _) | (_, []) => false,
            ([PatternPart::AnyDirectories], _) => true,
            ([PatternPart::Name(name)], [.., last]) => name_matches(name, last, budget),
            ([.., PatternPart::Name(last)], [name]) if *last != [Element::AnyText] => {
                name_matches(last, name, budget)
            }
            (parts, segments) => parts_match(parts, segments, budget),
        }
    }
}

/// Matches all parts, one after the other.
fn parts_match(parts: &[PatternPart], segments: &[Vec<char>], budget: &mut SearchBudget) -> bool {
    // Whether the parts so far match the first n segments.
    let mut reached = vec![false; segments.len() + 1];
    reached[0] = true;
    for part in parts {
        let PatternPart::Name(name) = part else {
            let mut any = false;
            for is_reached in &mut reached {
                any |= *is_reached;
                *is_reached = any;
            }
            continue;
        };
        for (index, segment) in segments.iter().enumerate().rev() {
            reached[index + 1] = reached[index] && name_matches(name, segment, budget);
        }
        reached[0] = false;
    }
    reached[segments.len()]
}

/// One element of a part of a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Element {
    /// `*`.
    AnyText,
    /// `?`.
    AnyCharacter,
    /// `[a-z]` or `[!a-z]`.
    Class { ranges: Vec<(char, char)>, negated: bool },
    /// Anything else.
    Literal(char),
}

impl Element {
    fn matches(&self, c: char) -> bool {
        match self {
            Self::AnyText | Self::AnyCharacter => true,
            Self::Class { ranges, negated } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) != *negated
            }
            Self::Literal(literal) => *literal == c,
        }
    }
}

fn name_matches(elements: &[Element], text: &[char], budget: &mut SearchBudget) -> bool {
    let (mut element, mut position) = (0, 0);
    // Where to continue if the rest does not match: after the last `*`, one character further.
    let mut retry: Option<(usize, usize)> = None;
    while position < text.len() {
        if !budget.spend() {
            return false;
        }
        match elements.get(element) {
            Some(Element::AnyText) => {
                retry = Some((element + 1, position));
                element += 1;
            }
            Some(other) if other.matches(text[position]) => (element, position) = (element + 1, position + 1),
            _ => match &mut retry {
                Some((after, start)) => {
                    *start += 1;
                    (element, position) = (*after, *start);
                }
                None => return false,
            },
        }
    }
    budget.spend() && elements.iter().skip(element).all(|element| *element == Element::AnyText)
}

fn elements(part: &str) -> Vec<Element> {
    let mut elements = Vec::new();
    let mut rest = part;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let element = match c {
            // Several stars are one.
            '*' if elements.last() == Some(&Element::AnyText) => continue,
            '*' => Element::AnyText,
            '?' => Element::AnyCharacter,
            '[' => match class(rest) {
                Some((class, after)) => {
                    rest = after;
                    class
                }
                None => Element::Literal('['),
            },
            '\\' => {
                let next = rest.chars().next().unwrap_or('\\');
                rest = rest.get(next.len_utf8()..).unwrap_or_default();
                Element::Literal(next)
            }
            literal => Element::Literal(literal),
        };
        elements.push(element);
    }
    elements
}

/// Parses a class after its `[`. Returns it and the text after its `]`.
fn class(text: &str) -> Option<(Element, &str)> {
    let negated = text.starts_with(['!', '^']);
    let text = if negated { &text[1..] } else { text };
    // `]` as the first character is part of the class.
    let first = text.chars().next()?;
    let end = first.len_utf8() + text[first.len_utf8()..].find(']')?;
    let members: Vec<char> = text[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut index = 0;
    while index < members.len() {
        match members.get(index..index + 3) {
            Some([first, '-', last]) => {
                ranges.push((*first, *last));
                index += 3;
            }
            _ => {
                ranges.push((members[index], members[index]));
                index += 1;
            }
        }
    }
    Some((Element::Class { ranges, negated }, &text[end + 1..]))
}

/// Expands `{a,b}`. Braces that are not closed, and those beyond the maximum, stay text.
fn expand_braces(glob: &str) -> Vec<String> {
    let mut patterns = vec![glob.to_owned()];
    let mut index = 0;
    while let Some(pattern) = patterns.get(index) {
        match expand_first(pattern) {
            Some(expanded) if patterns.len() - 1 + expanded.len() <= EXPANSIONS_MAX => {
                patterns.splice(index..=index, expanded);
            }
            _ => index += 1,
        }
    }
    patterns
}

/// Replaces the first braces by each of their alternatives; `None` if there are none.
fn expand_first(pattern: &str) -> Option<Vec<String>> {
    let start = pattern.find('{')?;
    let mut depth = 0;
    let mut cuts = vec![start];
    let end = pattern[start..].char_indices().find_map(|(offset, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => cuts.push(start + offset),
            _ => {}
        }
        (depth == 0).then_some(start + offset)
    })?;
    cuts.push(end);
    let (before, after) = (&pattern[..start], &pattern[end + 1..]);
    let alternatives = cuts.windows(2).map(|cut| &pattern[cut[0] + 1..cut[1]]);
    Some(alternatives.map(|alternative| format!("{before}{alternative}{after}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob_matches(glob: &str, path: &str) -> bool {
        GlobSet::new([glob]).matches(path, &mut SearchBudget::default())
    }

    #[test]
    fn globs_match_files() {
        for (glob, path) in [
            ("*.ts", "a.ts"),
            ("*.ts", "src/deep/a.ts"),
            ("src/**/*.ts", "src/a.ts"),
            ("src/**/*.ts", "src/deep/er/a.ts"),
            ("src/**/*.ts", "a.ts"),
            ("./src/*.{ts,tsx}", "src/a.tsx"),
            ("/src/*.ts", "src/a.ts"),
            ("docs/", "docs/a/b.md"),
            ("docs/**", "docs"),
            ("docs/**", "docs/a.md"),
            ("**", "a.md"),
            ("**/*", "x/a.md"),
            ("**/test/**", "a/test/b"),
            ("Dockerfile", "deploy/Dockerfile"),
            ("[a-c]?[!x].md", "b12.md"),
            ("{a,b{c,d}}/x", "bd/x"),
            ("a{b", "a{b"),
            ("a[b", "a[b"),
            ("a\\*", "a*"),
            ("größe/*.txt", "größe/ä.txt"),
        ] {
            assert!(glob_matches(glob, path), "{glob} {path}");
        }
        for (glob, path) in [
            ("*.ts", "a.tsx"),
            ("src/*.ts", "src/deep/a.ts"),
            ("src/**/*.ts", "lib/a.ts"),
            ("docs/**", "a.md"),
            ("docs/*", "a.md"),
            ("**/test/**", "a/tests/b"),
            ("[!b].md", "b.md"),
            ("a\\*", "ab"),
            ("", "a"),
            ("a", ""),
            ("Dockerfile", "dockerfile"),
        ] {
            assert!(!glob_matches(glob, path), "{glob} {path}");
        }
        assert!(names_file("docker/Dockerfile", "Dockerfile") && !names_file("docker/*", "Dockerfile"));
    }

    #[test]
    fn hostile_globs_end() {
        let path = "a".repeat(4_000);
        assert!(!glob_matches(&format!("{}c", "a*".repeat(120)), &path));
        assert!(!glob_matches(&format!("{}c", "**/a*/".repeat(40)), &"a/".repeat(2_000)));
        let braces = "{a,b}".repeat(50);
        assert_eq!(expand_braces(&braces).len(), EXPANSIONS_MAX);
        glob_matches(&"{".repeat(256), "a");
        glob_matches(&"[".repeat(256), &"[".repeat(256));
        assert!(glob_matches("{,}a", "a"));
    }
}
