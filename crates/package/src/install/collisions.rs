//! Detects paths that are distinct on one file system and equal on another.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::error::PackageError;
use prowess_archive::InnerPath;

/// Rejects paths, including directories, that are equal on some file systems.
pub(crate) fn check_collisions<'p>(paths: impl Iterator<Item = &'p InnerPath>) -> Result<(), PackageError> {
    let mut seen: HashMap<String, (&str, bool)> = HashMap::new();
    for path in paths {
        let path = path.as_str();
        let ends = path.match_indices('/').map(|(slash, _)| (slash, false)).chain([(path.len(), true)]);
        for (end, is_file) in ends {
            let name = &path[..end];
            let folded: String = name.nfkc().flat_map(char::to_lowercase).collect();
            match seen.get(&folded) {
                // The same directory, on the path of another file.
                Some((existing, false)) if !is_file && *existing == name => {}
                Some((existing, true)) if is_file && *existing == name => {
                    return Err(PackageError::DuplicatePath(name.to_owned()));
                }
                Some((existing, _)) if *existing == name => {
                    return Err(PackageError::FileDirConflict(name.to_owned()));
                }
                Some((existing, _)) => {
                    return Err(PackageError::CaseCollision((*existing).to_owned(), name.to_owned()));
                }
                None => {
                    seen.insert(folded, (name, is_file));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collide(paths: &[&str]) -> Option<String> {
        let paths: Vec<_> = paths.iter().map(|path| InnerPath::parse(path.as_bytes()).unwrap()).collect();
        check_collisions(paths.iter()).err().map(|error| error.to_string())
    }

    #[test]
    fn paths_that_are_equal_on_some_systems_are_rejected() {
        assert_eq!(collide(&["a/x", "a/y", "b"]), None);
        assert!(collide(&["SKILL.md", "skill.md"]).is_some());
        assert!(collide(&["A/x", "a/y"]).is_some());
        assert_eq!(collide(&["a", "a/x"]).as_deref(), Some("a is both a file and a directory"));
        assert_eq!(collide(&["a/x", "a"]).as_deref(), Some("a is both a file and a directory"));
        assert_eq!(collide(&["x", "x"]).as_deref(), Some("duplicate path x"));
        assert!(collide(&["\u{e9}", "e\u{301}"]).is_some());
    }
}
