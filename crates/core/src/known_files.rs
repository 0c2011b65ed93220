//! The files that a conversation is about. A skill with `paths` is offered only for some files.

use std::path::Path;

use crate::globs::{GlobSet, SearchBudget, names_file};
use crate::registry::Skill;

/// The maximum number of words of a message that are examined, and of bytes in each.
const WORDS_MAX: usize = 2_000;
const WORD_BYTES_MAX: usize = 1_024;

/// The maximum number of files.
const FILES_MAX: usize = 2_000;

/// The files that are named in a message, or known otherwise.
///
/// ```
/// use prowess::known_files::KnownFiles;
///
/// let files = KnownFiles::in_message("Please fix `src/app.ts:12`, it fails.", "/work".as_ref());
/// assert_eq!(files.find(&["src/**/*.ts".into()]), Some("src/app.ts"));
/// assert_eq!(files.find(&["*.md".into()]), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownFiles {
    /// Paths relative to the project, with `/`.
    paths: Vec<String>,
    /// Other words, which may be names such as `Dockerfile`.
    words: Vec<String>,
}

impl KnownFiles {
    /// Returns the files that a message names. Whether they exist is not checked.
    pub fn in_message(message: &str, project: &Path) -> Self {
        let mut files = Self::default();
        files.add_message(message, project);
        files
    }

    /// Adds the files that a message names.
    pub fn add_message(&mut self, message: &str, project: &Path) {
        let ends_word = |c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',' | ';' | '|')
        };
        let words = message.split(ends_word).filter(|word| !word.is_empty() && word.len() <= WORD_BYTES_MAX);
        for word in words.take(WORDS_MAX) {
            let word = trim_word(word);
            if word.is_empty() || word.contains("://") {
                continue;
            }
            match looks_like_path(word) {
                true => self.add_path(word, project),
                false if self.words.len() < FILES_MAX => self.words.push(word.to_owned()),
                false => {}
            }
        }
    }

    /// Adds the path of a file: absolute, or relative to the project.
    pub fn add_path(&mut self, path: &str, project: &Path) {
        let inner = Path::new(path).strip_prefix(project).ok().and_then(Path::to_str).unwrap_or(path);
        let path = inner.replace('\\', "/");
        let path = path.trim_start_matches("./");
        if !path.is_empty() && self.paths.len() < FILES_MAX {
            self.paths.push(path.to_owned());
        }
    }

    /// Returns the paths, relative to the project.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Returns the first file that one of the globs matches.
    pub fn find(&self, globs: &[Box<str>]) -> Option<&str> {
        let set = GlobSet::new(globs.iter().map(AsRef::as_ref));
        let mut budget = SearchBudget::default();
        let is_matched = |path: &&String| set.matches(path, &mut budget);
        let is_named = |word: &&String| globs.iter().any(|glob| names_file(glob, word));
        self.paths.iter().find(is_matched).or_else(|| self.words.iter().find(is_named)).map(String::as_str)
    }

    /// Returns `true` if a skill may be offered: it has no `paths`, or one of them matches a file.
    pub fn allow(&self, skill: &Skill) -> bool {
        let globs = skill.manifest().map_or(&[][..], |manifest| manifest.paths());
        globs.is_empty() || self.find(globs).is_some()
    }
}

/// Removes punctuation around a word, `@` before a path, and a line number after it.
fn trim_word(word: &str) -> &str {
    let word =
        word.trim_start_matches(['[', '{', '*', '@']).trim_end_matches([']', '}', '*', '.', ':', '!', '?']);
    let mut path = word;
    while let Some((before, number)) = path.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        path = before;
    }
    path
}

/// Returns `true` for a word with a directory, or with an extension.
fn looks_like_path(word: &str) -> bool {
    let is_extension = |text: &str| {
        (1..=10).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && text.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    word.contains(['/', '\\']) || word.rsplit_once('.').is_some_and(|(_, extension)| is_extension(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_prose() {
        let message = "See @src/a.ts, (lib/b.rs:10:2) and \"/work/docs/c.md\"; the Dockerfile, https://x.org/d.ts, e.g. .env!";
        let files = KnownFiles::in_message(message, Path::new("/work"));
        assert_eq!(files.paths, ["src/a.ts", "lib/b.rs", "docs/c.md", "e.g", ".env"]);
        let find = |glob: &str| files.find(&[glob.into()]);
        assert_eq!(find("deploy/Dockerfile"), Some("Dockerfile"));
        assert_eq!(find("docs/*.md"), Some("docs/c.md"));
        assert_eq!(find(".env"), Some(".env"));
        assert_eq!(find("*.ts"), Some("src/a.ts"));
        assert_eq!(find("*.toml"), None);
        assert_eq!(KnownFiles::in_message("what can you do?", Path::new("/work")).find(&["**".into()]), None);
    }

    /// Without a bound, this takes minutes.
    #[test]
    fn hostile_globs_are_bounded() {
        let part = format!("{{a,b,c,d,e,f,g,h}}{{a,b,c,d,e,f,g,h}}{}x", "*a".repeat(200));
        let globs: Vec<Box<str>> = (0..64).map(|number| format!("{part}{number}").into()).collect();
        let mut files = KnownFiles::default();
        for number in 0..FILES_MAX {
            files.add_path(&format!("{}/{number}", "a".repeat(1_000)), Path::new("/"));
        }
        files.add_path("aax0", Path::new("/"));
        assert_eq!(files.find(&globs), None);
        assert_eq!(files.find(&["*/7".into()]), Some(files.paths[7].as_str()));
    }

    #[test]
    fn long_messages_are_bounded() {
        let message = "a/b ".repeat(100_000);
        assert_eq!(KnownFiles::in_message(&message, Path::new("/")).paths.len(), WORDS_MAX);
        assert_eq!(KnownFiles::in_message(&"x".repeat(100_000), Path::new("/")), KnownFiles::default());
    }
}
