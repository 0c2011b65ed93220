//! What the scripts of a skill depend on.
//!
//! Pure: takes the files of a skill and returns requirements. The first of these sources that exists is used:
//!
//! 1. inline metadata of the script;
//! 2. the nearest `requirements.txt`, from the script's directory up to the skill's;
//! 3. the nearest `pyproject.toml` that lists dependencies;
//! 4. the imports of all scripts of the skill that have none of these, so that they share one environment.
//!
//! JavaScript dependencies come from the nearest `package.json` with its lock file.

mod declarations;
mod error;
mod imports;
mod inline_metadata;
mod modules;
mod package_json;
mod packages;
mod pyproject;
mod python_version;
mod requirement;
mod requirements_file;
mod sources;
mod standard_library;
mod statements;

pub use error::DependencyError;
pub(crate) use error::escape;
pub use package_json::{LockedNodePackage, NodeDependencies};
pub use python_version::{PythonSpecifier, PythonVersion};
pub use requirement::{Requirement, RequirementError};
pub use sources::ScriptSources;

use std::rc::Rc;

use declarations::Declarations;
use modules::{ModuleNeeds, ModuleSearch};
use sources::parent;

prowess::format::named_enum! {
    /// Where requirements come from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RequirementSource {
        /// The inline metadata of the script.
        InlineMetadata = "inline-metadata",
        /// A `requirements.txt`.
        RequirementsFile = "requirements-file",
        /// A `pyproject.toml`.
        Pyproject = "pyproject",
        /// The imports of the scripts.
        Imports = "imports",
        /// A `package.json`.
        PackageJson = "package-json",
    }
}

/// What scripts need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirements {
    /// Where they come from.
    pub source: RequirementSource,
    /// The file that declares them; empty for imports.
    pub file: String,
    /// The accepted versions of Python, if declared.
    pub python: Option<PythonSpecifier>,
    /// The packages.
    pub packages: Vec<Requirement>,
    /// Imported modules that no known package provides.
    pub unknown: Vec<String>,
    /// The npm packages, if the source is a `package.json`.
    pub node: Option<NodeDependencies>,
}

impl Requirements {
    /// Returns the packages in the order and notation in which they are compared and resolved.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .packages
            .iter()
            .map(|package| {
                let hashes: String = package.hashes.iter().map(|hash| format!(" --hash={hash}")).collect();
                format!("{package}{hashes}")
            })
            .collect();
        lines.sort();
        lines.dedup();
        lines
    }

    /// Returns the tag of an environment with these packages for an interpreter. That of npm packages contains their lock
    /// file.
    pub(crate) fn environment_tag(&self, interpreter: &str) -> String {
        match &self.node {
            Some(node) => {
                let digest = node.digest();
                let digits = digest.trim_start_matches("sha256:").get(..16).unwrap_or_default();
                format!("{interpreter}-lock.{digits}")
            }
            None => interpreter.to_owned(),
        }
    }

    /// Returns a digest that is equal for equal packages, also on other machines.
    pub fn digest(&self) -> String {
        let mut text = format!("prowess requirements 1\n{}\n", self.lines().join("\n"));
        // Their packages differ by interpreter.
        text.extend(self.unknown.iter().map(|module| format!("module {module}\n")));
        if let Some(node) = &self.node {
            text.push_str(&node.digest());
        }
        prowess_fs::digest(text.as_bytes())
    }
}

/// The language of a script, as far as dependencies are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptLanguage {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
}

/// Returns the language of a script; `None` for others.
pub fn script_language(path: &str, bytes: &[u8]) -> Option<ScriptLanguage> {
    let crate::interpreter::Runner::Interpreter { names, .. } =
        crate::interpreter::detect_runner(path, bytes).ok()?
    else {
        return None;
    };
    let name = names.first()?;
    match name.as_str() {
        name if name.starts_with("python") => Some(ScriptLanguage::Python),
        "node" | "nodejs" | "bun" => Some(ScriptLanguage::JavaScript),
        _ => None,
    }
}

/// Returns what a script needs; `None` if it needs nothing.
///
/// If the requirements are inferred, they are those of the script itself and of the modules of the skill that it reaches.
///
/// ```
/// use prowess_sandbox::environments::{PythonVersion, RequirementSource, ScriptSources, requirements_of_script};
///
/// let files: ScriptSources<'_> = [("scripts/fill.py", &b"import sys, openpyxl"[..])].into_iter().collect();
/// let version = PythonVersion::parse("3.11.2").unwrap();
/// let found = requirements_of_script(&files, "scripts/fill.py", &version)?.unwrap();
/// assert_eq!(found.source, RequirementSource::Imports);
/// assert_eq!(found.lines(), ["openpyxl"]);
/// # Ok::<(), prowess_sandbox::environments::DependencyError>(())
/// ```
pub fn requirements_of_script(
    files: &ScriptSources<'_>,
    script: &str,
    version: &PythonVersion,
) -> Result<Option<Requirements>, DependencyError> {
    let Some(language) = script_language(script, files.bytes(script).unwrap_or_default()) else {
        return Ok(None);
    };
    let declared = Declarations::new(files).of_script(script, language)?;
    match (declared, language) {
        (Some(declared), _) => Ok(Some(Rc::unwrap_or_clone(declared))),
        (None, ScriptLanguage::Python) => inferred(files, &[script], version),
        (None, ScriptLanguage::JavaScript) => Ok(None),
    }
}

/// Scripts of a skill that share requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptGroup {
    /// What they need.
    pub requirements: Requirements,
    /// Their paths.
    pub scripts: Vec<String>,
}

/// Returns what the scripts of a skill need, in groups that share an environment. Tests of the skill are left out.
pub fn requirements_of_skill(
    files: &ScriptSources<'_>,
    version: &PythonVersion,
) -> Result<Vec<ScriptGroup>, DependencyError> {
    let mut groups: Vec<(Rc<Requirements>, Vec<String>)> = Vec::new();
    let mut inferred_scripts = Vec::new();
    let mut declarations = Declarations::new(files);
    for script in scripts(files) {
        let Some(language) = script_language(script, files.bytes(script).unwrap_or_default()) else {
            continue;
        };
        match declarations.of_script(script, language)? {
            Some(declared) if declared.packages.is_empty() => {}
            Some(declared) => match groups.iter_mut().find(|(other, _)| Rc::ptr_eq(other, &declared)) {
                Some((_, scripts)) => scripts.push(script.to_owned()),
                None => groups.push((declared, vec![script.to_owned()])),
            },
            None if language == ScriptLanguage::Python => inferred_scripts.push(script),
            None => {}
        }
    }
    drop(declarations);
    let mut groups: Vec<ScriptGroup> = groups
        .into_iter()
        .map(|(declared, scripts)| ScriptGroup { requirements: Rc::unwrap_or_clone(declared), scripts })
        .collect();
    if let Some(requirements) = inferred(files, &inferred_scripts, version)? {
        let scripts = inferred_scripts.into_iter().map(str::to_owned).collect();
        groups.push(ScriptGroup { requirements, scripts });
    }
    Ok(groups)
}

/// Reads the packages of a requirements file that includes no other file.
pub(crate) fn parse_requirement_lines(text: &str) -> Result<Vec<Requirement>, DependencyError> {
    let lines = requirements_file::parse_requirements(text)?;
    let packages = lines.into_iter().filter_map(|line| match line {
        requirements_file::RequirementLine::Package(requirement) => Some(requirement),
        requirements_file::RequirementLine::Include { .. } => None,
    });
    Ok(packages.collect())
}

/// Returns what the scripts of a skill import that declare nothing.
pub(crate) fn shared_imports(
    files: &ScriptSources<'_>,
    version: &PythonVersion,
) -> Result<Option<Requirements>, DependencyError> {
    let mut undeclared = Vec::new();
    let mut declarations = Declarations::new(files);
    for script in scripts(files) {
        let language = script_language(script, files.bytes(script).unwrap_or_default());
        if language == Some(ScriptLanguage::Python)
            && declarations.of_script(script, ScriptLanguage::Python)?.is_none()
        {
            undeclared.push(script);
        }
    }
    inferred(files, &undeclared, version)
}

/// Returns the scripts of a skill. Tests are not run by skills, and would need their own tools.
fn scripts<'f>(files: &ScriptSources<'f>) -> Vec<&'f str> {
    let is_test = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        parent(path).split('/').any(|dir| matches!(dir, "test" | "tests" | "__tests__" | "node_modules"))
            || name.starts_with("test_")
            || name == "conftest.py"
    };
    files.paths().filter(|path| !is_test(path)).collect()
}

fn inferred(
    files: &ScriptSources<'_>,
    scripts: &[&str],
    version: &PythonVersion,
) -> Result<Option<Requirements>, DependencyError> {
    let mut needs = ModuleNeeds::default();
    let mut search = ModuleSearch::new(files, version);
    for script in scripts {
        search.add_script(script, &mut needs)?;
    }
    let packages = needs.requirements();
    let unknown: Vec<String> = needs.unknown.into_iter().collect();
    Ok((!packages.is_empty() || !unknown.is_empty()).then(|| Requirements {
        source: RequirementSource::Imports,
        file: String::new(),
        python: None,
        packages,
        unknown,
        node: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(files: &[(&str, &str)]) -> String {
        let files: ScriptSources<'_> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        let version = PythonVersion::parse("3.11.2").unwrap();
        let groups = requirements_of_skill(&files, &version).unwrap();
        let groups: Vec<String> = groups
            .iter()
            .map(|group| {
                let needs = &group.requirements;
                format!(
                    "{} {}: {} unknown {:?} for {}",
                    needs.source,
                    needs.file,
                    needs.lines().join(" "),
                    needs.unknown,
                    group.scripts.join(" ")
                )
            })
            .collect();
        groups.join("\n")
    }

    #[test]
    fn declarations_come_before_imports() {
        let files = [
            ("SKILL.md", "# x"),
            ("scripts/inline.py", "# /// script\n# dependencies = [\"rich\"]\n# ///\nimport rich"),
            ("scripts/a.py", "import openpyxl, b"),
            ("scripts/b.py", "import yaml, in_house"),
            ("scripts/run", "#!/usr/bin/env python3\nimport docx\n"),
            ("scripts/tests/test_a.py", "import pytest"),
            ("tools/requirements.txt", "lxml==5.0\n"),
            ("tools/x.py", "import numpy"),
            ("tools/y.py", "import numpy"),
            ("scripts/x.sh", "#!/bin/sh\nimport x\n"),
        ];
        insta::assert_snapshot!(describe(&files), @r#"
        inline-metadata scripts/inline.py: rich unknown [] for scripts/inline.py
        requirements-file tools/requirements.txt: lxml==5.0 unknown [] for tools/x.py tools/y.py
        imports : PyYAML openpyxl python-docx unknown ["in_house"] for scripts/a.py scripts/b.py scripts/run
        "#);
    }

    #[test]
    fn a_project_file_without_dependencies_says_nothing() {
        let files =
            [("pyproject.toml", "[tool.black]\n"), ("requirements.txt", "# none\n"), ("x.py", "import rich")];
        assert_eq!(describe(&files), "imports : rich unknown [] for x.py");
        let files = [("x.py", "import os, sys"), ("y.js", "require('fs')")];
        assert_eq!(describe(&files), "");
    }
}
