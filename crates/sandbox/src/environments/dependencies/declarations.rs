//! What the files of a skill declare for its scripts.

use std::collections::HashMap;
use std::rc::Rc;

use super::error::DependencyError;
use super::inline_metadata::{self, Declaration};
use super::sources::ScriptSources;
use super::{RequirementSource, Requirements, ScriptLanguage, package_json, pyproject, requirements_file};

/// Reads the declarations for scripts. A file that many scripts share is read once.
pub(super) struct Declarations<'f> {
    files: &'f ScriptSources<'f>,
    /// What files declare; `None` for those that list no packages.
    read: HashMap<String, Option<Rc<Requirements>>>,
}

impl<'f> Declarations<'f> {
    pub(super) fn new(files: &'f ScriptSources<'f>) -> Self {
        Self { files, read: HashMap::new() }
    }

    /// Returns what is declared for a script. Scripts that share a declaration get the same one.
    pub(super) fn of_script(
        &mut self,
        script: &str,
        language: ScriptLanguage,
    ) -> Result<Option<Rc<Requirements>>, DependencyError> {
        if language == ScriptLanguage::JavaScript {
            return self.nearest(script, "package.json", read_package_json);
        }
        if let Some(text) = self.files.text(script)
            && let Some(found) = inline_metadata::read_inline_metadata(script, &text)?
        {
            return Ok(Some(Rc::new(python(RequirementSource::InlineMetadata, script, found))));
        }
        // An empty file says nothing that the imports do not say better.
        match self.nearest(script, "requirements.txt", read_requirements)? {
            Some(found) => Ok(Some(found)),
            None => self.nearest(script, "pyproject.toml", read_pyproject),
        }
    }

    fn nearest(
        &mut self,
        script: &str,
        name: &str,
        read: fn(&ScriptSources<'_>, &str) -> Result<Option<Requirements>, DependencyError>,
    ) -> Result<Option<Rc<Requirements>>, DependencyError> {
        let Some(path) = self.files.nearest(script, name) else { return Ok(None) };
        if let Some(found) = self.read.get(&path) {
            return Ok(found.clone());
        }
        let found = read(self.files, &path)?.map(Rc::new);
        self.read.insert(path, found.clone());
        Ok(found)
    }
}

fn python(source: RequirementSource, file: &str, (python, packages): Declaration) -> Requirements {
    Requirements { source, file: file.to_owned(), python, packages, unknown: Vec::new(), node: None }
}

fn read_requirements(files: &ScriptSources<'_>, path: &str) -> Result<Option<Requirements>, DependencyError> {
    let packages = requirements_file::read_requirements_file(files, path)?;
    Ok((!packages.is_empty()).then(|| python(RequirementSource::RequirementsFile, path, (None, packages))))
}

fn read_pyproject(files: &ScriptSources<'_>, path: &str) -> Result<Option<Requirements>, DependencyError> {
    let Some(text) = files.text(path) else { return Ok(None) };
    let found = pyproject::read_pyproject(path, &text)?.filter(|(_, packages)| !packages.is_empty());
    Ok(found.map(|found| python(RequirementSource::Pyproject, path, found)))
}

fn read_package_json(files: &ScriptSources<'_>, path: &str) -> Result<Option<Requirements>, DependencyError> {
    Ok(package_json::read_node_dependencies(files, path)?.map(|(packages, node)| Requirements {
        source: RequirementSource::PackageJson,
        file: path.to_owned(),
        python: None,
        packages,
        unknown: Vec::new(),
        node: Some(node),
    }))
}
