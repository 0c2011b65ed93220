//! `requirements.txt`: a subset of pip's syntax.
//!
//! Packages with versions, conditions and hashes, comments, line continuations, and `-r` for files inside the skill.
//! Everything else is refused with its line: other indexes, URLs, paths and editable packages would install something that
//! the user's index does not have.

use super::error::DependencyError;
use super::requirement::{PACKAGES_MAX, Requirement, RequirementError};
use super::sources::ScriptSources;

/// The maximum number of files that include each other.
const FILES_MAX: usize = 16;

/// Options that only affect how pip chooses files. They are ignored because a stricter rule always applies.
const IGNORED_OPTIONS: &[&str] =
    &["--require-hashes", "--only-binary", "--prefer-binary", "--no-binary=:none:"];

/// Reads a requirements file of a skill and the files that it includes.
pub(super) fn read_requirements_file(
    files: &ScriptSources<'_>,
    path: &str,
) -> Result<Vec<Requirement>, DependencyError> {
    let mut requirements = Vec::new();
    let mut open = vec![path.to_owned()];
    let mut seen: Vec<String> = Vec::new();
    while let Some(path) = open.pop() {
        if seen.contains(&path) {
            continue;
        }
        if seen.len() >= FILES_MAX {
            return Err(DependencyError::line(&path, 1, "", "too many files include each other"));
        }
        let too_large = || DependencyError::line(&path, 1, "", "the file is too large");
        let text = files.text(&path).ok_or_else(too_large)?;
        for line in parse_requirements(&text).map_err(|error| error.in_file(&path))? {
            match line {
                RequirementLine::Package(requirement) => requirements.push(requirement),
                // Files that include each other many times are read once.
                RequirementLine::Include { .. } if open.len() > FILES_MAX => {
                    return Err(DependencyError::line(&path, 1, "", "too many files include each other"));
                }
                RequirementLine::Include { line, path: inner } => {
                    let missing = || DependencyError::line(&path, line, &inner, "no such file in the skill");
                    let inner = join_inner(&path, &inner)
                        .filter(|inner| files.contains(inner))
                        .ok_or_else(missing)?;
                    open.push(inner);
                }
            }
        }
        seen.push(path);
    }
    Ok(requirements)
}

/// A line of a requirements file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequirementLine {
    Package(Requirement),
    /// Another file.
    Include {
        line: usize,
        path: String,
    },
}

/// Parses the text of a requirements file.
pub(super) fn parse_requirements(text: &str) -> Result<Vec<RequirementLine>, DependencyError> {
    let mut lines = Vec::new();
    for (number, line) in joined_lines(text) {
        let line = strip_comment(&line).trim();
        if line.is_empty() {
            continue;
        }
        let refused = |reason: &str| DependencyError::line("", number, line, reason);
        if lines.len() >= PACKAGES_MAX {
            return Err(refused(&format!("the file lists more than {PACKAGES_MAX} packages")));
        }
        if line.starts_with('-') {
            let (option, value) = line.split_once([' ', '=']).unwrap_or((line, ""));
            match option {
                "-r" | "--requirement" => {
                    lines.push(RequirementLine::Include { line: number, path: value.trim().to_owned() })
                }
                _ if IGNORED_OPTIONS.contains(&option) || IGNORED_OPTIONS.contains(&line) => {}
                "-i" | "--index-url" | "--extra-index-url" | "--find-links" | "-f" | "--trusted-host"
                | "--no-index" => {
                    return Err(refused("a skill cannot choose the package index"));
                }
                "-e" | "--editable" => return Err(refused(&RequirementError::NotInIndex.to_string())),
                _ => return Err(refused("this option is not supported")),
            }
            continue;
        }
        let (package, hashes) = split_hashes(line).ok_or_else(|| refused("not a sha256 hash"))?;
        let requirement = Requirement::parse(package).map_err(|error| refused(&error.to_string()))?;
        lines.push(RequirementLine::Package(Requirement { hashes, ..requirement }));
    }
    Ok(lines)
}

/// Joins lines that end in a backslash. Returns each with the number of its first line.
fn joined_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut continues = false;
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (part, goes_on) = match line.trim_end().strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match lines.last_mut().filter(|_| continues) {
            Some((_, last)) => last.push_str(part),
            None => lines.push((index + 1, part.to_owned())),
        }
        continues = goes_on;
    }
    lines
}

/// Removes a comment: `#` at the start or after a space.
fn strip_comment(line: &str) -> &str {
    let comment = line
        .char_indices()
        .find(|(at, c)| *c == '#' && line[..*at].chars().next_back().is_none_or(char::is_whitespace));
    comment.map_or(line, |(at, _)| &line[..at])
}

/// Splits `PACKAGE --hash=sha256:… --hash=sha256:…`.
fn split_hashes(line: &str) -> Option<(&str, Vec<String>)> {
    let Some(at) = line.find(" --hash") else { return Some((line, Vec::new())) };
    let mut words = line[at..].split_whitespace();
    let mut hashes = Vec::new();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--hash")? {
            "" => words.next()?,
            value => value.strip_prefix('=')?,
        };
        let digits = value.strip_prefix("sha256:")?;
        if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        hashes.push(value.to_ascii_lowercase());
    }
    Some((&line[..at], hashes))
}

/// Returns a path relative to the directory of a file, if it stays inside the skill.
fn join_inner(file: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    if path.starts_with('/') || path.contains(['\\', '\0']) {
        return None;
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let files: ScriptSources<'_> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        read_requirements_file(&files, "requirements.txt")
            .map(|requirements| requirements.iter().map(ToString::to_string).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn packages_comments_and_included_files_are_read() {
        let hash = "a".repeat(64);
        let text = format!(
            "# tools\nopenpyxl>=3.1  # sheets\n\npypdf==4.0 \\\n  --hash=sha256:{hash}\n-r more/extra.txt\n--only-binary :all:\n"
        );
        let files =
            [("requirements.txt", text.as_str()), ("more/extra.txt", "-r ../requirements.txt\nlxml\n")];
        assert_eq!(read(&files).unwrap(), ["openpyxl>=3.1", "pypdf==4.0", "lxml"]);
    }

    #[test]
    fn everything_else_is_refused_with_its_line() {
        let error = |text: &str| read(&[("requirements.txt", text)]).unwrap_err();
        let errors: Vec<String> = [
            "a\n-e .\n",
            "--index-url https://example.com/simple\n",
            "a\n\nb @ file:///etc/passwd\n",
            "./local\n",
            "-r ../../outside.txt\n",
            "-r missing.txt\n",
            "a --hash=md5:1\n",
            "--frobnicate\n",
            "a b\u{202e}\u{1b}[31m\n",
        ]
        .iter()
        .map(|text| error(text))
        .collect();
        insta::assert_snapshot!(errors.join("\n"), @r#"
        requirements.txt:2: cannot use "-e .": only packages of the index are installed, no URLs and no paths
        requirements.txt:1: cannot use "--index-url https://example.com/simple": a skill cannot choose the package index
        requirements.txt:3: cannot use "b @ file:///etc/passwd": only packages of the index are installed, no URLs and no paths
        requirements.txt:1: cannot use "./local": only packages of the index are installed, no URLs and no paths
        requirements.txt:1: cannot use "../../outside.txt": no such file in the skill
        requirements.txt:1: cannot use "missing.txt": no such file in the skill
        requirements.txt:1: cannot use "a --hash=md5:1": not a sha256 hash
        requirements.txt:1: cannot use "--frobnicate": this option is not supported
        requirements.txt:1: cannot use "a b\u{202e}\u{1b}[31m": not a package name with versions
        "#);
    }

    #[test]
    fn large_files_are_refused() {
        let error = |text: &str| read(&[("requirements.txt", text)]).unwrap_err();
        let errors = [error(&"a\n".repeat(100_000)), error(&"#".repeat(3 * 1024 * 1024))];
        insta::assert_snapshot!(errors.join("\n"), @r#"
        requirements.txt:1001: cannot use "a": the file lists more than 1000 packages
        requirements.txt:1: cannot use "": the file is too large
        "#);
        let many = "-r b.txt\n".repeat(100);
        let files = [("requirements.txt", many.as_str()), ("b.txt", &many)];
        assert!(read(&files).unwrap_err().contains("too many files include each other"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "[a-z=<>.;#\\\\ \n@/:-]{0,80}") {
            if let Ok(lines) = parse_requirements(&text) {
                for line in lines {
                    if let RequirementLine::Package(requirement) = line {
                        prop_assert!(Requirement::parse(&requirement.to_string()).is_ok());
                    }
                }
            }
        }

        #[test]
        fn included_paths_stay_inside(file in "[a-c/]{1,8}", path in "[a-c./]{0,12}") {
            if let Some(inner) = join_inner(&file, &path) {
                prop_assert!(!inner.split('/').any(|part| part == ".."), "{inner}");
            }
        }
    }
}
