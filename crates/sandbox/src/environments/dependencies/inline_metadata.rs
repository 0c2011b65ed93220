//! Inline script metadata: a TOML block in comments at any place of a Python file.
//!
//! ```python
//! # /// script
//! # requires-python = ">=3.11"
//! # dependencies = ["requests<3"]
//! # ///
//! ```

use super::error::DependencyError;
use super::pyproject::read_dependency_table;
use super::python_version::PythonSpecifier;
use super::requirement::Requirement;

/// The requirements of a declaration: accepted Python versions, and packages.
pub(super) type Declaration = (Option<PythonSpecifier>, Vec<Requirement>);

/// Reads the block of a script; `None` if there is none.
pub(super) fn read_inline_metadata(path: &str, source: &str) -> Result<Option<Declaration>, DependencyError> {
    let Some((line, text)) = find_block(source).map_err(|line| DependencyError::Metadata {
        path: path.to_owned(),
        line,
        reason: "the file has two blocks with script metadata".to_owned(),
    })?
    else {
        return Ok(None);
    };
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| DependencyError::Metadata {
        path: path.to_owned(),
        line: line
            + 1
            + error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count()),
        reason: error.message().to_owned(),
    })?;
    let (python, packages) = read_dependency_table(&table).map_err(|reason| DependencyError::Metadata {
        path: path.to_owned(),
        line,
        reason,
    })?;
    Ok(Some((python, packages.unwrap_or_default())))
}

/// Returns the TOML text of the block and the line on which the block starts. The error is the line of a second block.
pub(super) fn find_block(source: &str) -> Result<Option<(usize, String)>, usize> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = None;
    let mut at = 0;
    while at < lines.len() {
        if lines[at].trim_end() != "# /// script" {
            at += 1;
            continue;
        }
        let is_part = |line: &&str| **line == *"#" || line.starts_with("# ");
        let length = lines[at + 1..].iter().take_while(|line| is_part(line)).count();
        let block = &lines[at + 1..at + 1 + length];
        // The last such line ends the block: TOML text may contain the same characters.
        if let Some(end) = block.iter().rposition(|line| line.trim_end() == "# ///") {
            if found.is_some() {
                return Err(at + 1);
            }
            let text: Vec<&str> = block[..end].iter().map(|line| line.get(2..).unwrap_or_default()).collect();
            found = Some((at + 1, text.join("\n")));
            at += end + 1;
        } else {
            // No block that starts in these lines is closed, either.
            at += length;
        }
        at += 1;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(source: &str) -> String {
        match read_inline_metadata("scripts/x.py", source) {
            Ok(None) => "none".to_owned(),
            Ok(Some((python, packages))) => {
                let packages: Vec<_> = packages.iter().map(ToString::to_string).collect();
                format!(
                    "{} {}",
                    python.map(|python| python.to_string()).unwrap_or_default(),
                    packages.join(" ")
                )
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_block_is_read() {
        let source = "#!/usr/bin/env python3\n# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\n#   \"openpyxl>=3\",\n#   \"rich\",\n# ]\n# ///\nimport openpyxl\n";
        assert_eq!(read(source), ">=3.9 openpyxl>=3 rich");
        assert_eq!(read("# /// script\n# dependencies = []\n# ///\n"), " ");
        assert_eq!(read("# /// script\n#\n# ///\n"), " ");
        assert_eq!(read("# /// script\n# dependencies = []\n"), "none", "the block is not closed");
        assert_eq!(read("# /// pyproject\n# ///\n"), "none");
        assert_eq!(read("  # /// script\n  # ///\n"), "none");
    }

    #[test]
    fn errors_name_the_line() {
        let errors = [
            "\n# /// script\n# dependencies = [\n# ///\n",
            "# /// script\n# dependencies = \"a\"\n# ///\n",
            "# /// script\n# dependencies = [\"a @ https://x.example/a.whl\"]\n# ///\n",
            "# /// script\n# requires-python = \"three\"\n# ///\n",
            "# /// script\n# ///\n\n# /// script\n# ///\n",
        ]
        .map(read);
        insta::assert_snapshot!(errors.join("\n"), @r#"
        scripts/x.py:3: unclosed array, expected `]`
        scripts/x.py:1: dependencies is not a list
        scripts/x.py:1: "a @ https://x.example/a.whl": only packages of the index are installed, no URLs and no paths
        scripts/x.py:1: invalid requires-python "three"
        scripts/x.py:4: the file has two blocks with script metadata
        "#);
    }

    /// A file of unclosed blocks is read once, not once for each block.
    #[test]
    fn many_unclosed_blocks_are_read_in_one_pass() {
        assert_eq!(read(&"# /// script\n".repeat(150_000)), "none");
        assert_eq!(read("# /// script\n# x\n\n# /// script\n# dependencies = [\"a\"]\n# ///\n"), " a");
        assert!(read("# /// script\n# /// script\n# ///\n").starts_with("scripts/x.py:2: "));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(source in "(# /// script|# ///|#|# a = 1|# dependencies = \\[\"b\"\\]|x|\n){0,24}") {
            read(&source);
        }
    }
}
