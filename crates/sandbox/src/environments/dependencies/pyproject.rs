//! `pyproject.toml`: the dependencies of `[project]`.

use toml::Value;

use super::error::DependencyError;
use super::inline_metadata::Declaration;
use super::python_version::PythonSpecifier;
use super::requirement::{PACKAGES_MAX, Requirement};

/// Reads the `[project]` table; `None` if it does not list dependencies.
pub(super) fn read_pyproject(path: &str, text: &str) -> Result<Option<Declaration>, DependencyError> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| DependencyError::Metadata {
        path: path.to_owned(),
        line: 1 + error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count()),
        reason: error.message().to_owned(),
    })?;
    let Some(Value::Table(project)) = table.get("project") else { return Ok(None) };
    let line = 1 + text.lines().position(|line| line.trim() == "[project]").unwrap_or(0);
    let (python, packages) = read_dependency_table(project).map_err(|reason| DependencyError::Metadata {
        path: path.to_owned(),
        line,
        reason,
    })?;
    Ok(packages.map(|packages| (python, packages)))
}

/// Reads `requires-python` and `dependencies` of a table.
pub(super) fn read_dependency_table(
    table: &toml::Table,
) -> Result<(Option<PythonSpecifier>, Option<Vec<Requirement>>), String> {
    let python = match table.get("requires-python") {
        None => None,
        Some(Value::String(text)) => {
            Some(PythonSpecifier::parse(text).ok_or_else(|| format!("invalid requires-python {text:?}"))?)
        }
        Some(_) => return Err("requires-python is not a string".to_owned()),
    };
    let items = match table.get("dependencies") {
        None => return Ok((python, None)),
        Some(Value::Array(items)) => items,
        Some(_) => return Err("dependencies is not a list".to_owned()),
    };
    if items.len() > PACKAGES_MAX {
        return Err(format!("dependencies lists more than {PACKAGES_MAX} packages"));
    }
    let mut packages = Vec::new();
    for item in items {
        let Value::String(text) = item else {
            return Err("dependencies contains a value that is not a string".to_owned());
        };
        packages.push(Requirement::parse(text).map_err(|error| format!("{text:?}: {error}"))?);
    }
    Ok((python, Some(packages)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_dependencies_count() {
        let read = |text: &str| {
            read_pyproject("pyproject.toml", text)
                .map(|found| {
                    found.map(|(_, packages)| packages.iter().map(ToString::to_string).collect::<Vec<_>>())
                })
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            read("[project]\nname = 'x'\ndependencies = ['a>=1', 'b']\n"),
            Ok(Some(vec!["a>=1".into(), "b".into()]))
        );
        assert_eq!(read("[project]\nname = 'x'\ndynamic = ['dependencies']\n"), Ok(None));
        assert_eq!(read("[tool.black]\nline-length = 100\n"), Ok(None));
        // Neither nesting nor length is a problem.
        assert!(read(&format!("[project]\ndependencies = {}", "[".repeat(100_000))).is_err());
        assert!(read(&format!("x = {}", "{a = ".repeat(100_000))).is_err());
        let many = format!("[project]\ndependencies = [{}]\n", "'a', ".repeat(PACKAGES_MAX + 1));
        assert_eq!(read(&many).unwrap_err(), "pyproject.toml:1: dependencies lists more than 1000 packages");
        let errors = ["x = \n", "[project]\ndependencies = 'a'\n", "\n[project]\ndependencies = ['a b']\n"]
            .map(|text| read(text).unwrap_err());
        insta::assert_snapshot!(errors.join("\n"), @r#"
        pyproject.toml:1: string values must be quoted, expected literal string
        pyproject.toml:1: dependencies is not a list
        pyproject.toml:2: "a b": not a package name with versions
        "#);
    }
}
