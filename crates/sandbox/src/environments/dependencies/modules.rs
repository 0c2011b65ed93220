//! The third-party modules of a script and of the modules of the skill that it reaches.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::error::DependencyError;
use super::imports::{Import, ImportNeed, scan_imports};
use super::packages::{is_namespace, package_of};
use super::python_version::PythonVersion;
use super::requirement::Requirement;
use super::sources::{ScriptSources, join, parent};
use super::standard_library::is_standard;

/// What the imports of scripts need.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ModuleNeeds {
    /// The packages, with the modules that they provide.
    packages: BTreeMap<&'static str, BTreeSet<String>>,
    /// Modules that no known package provides.
    pub(super) unknown: BTreeSet<String>,
}

impl ModuleNeeds {
    pub(super) fn requirements(&self) -> Vec<Requirement> {
        let requirement = |(package, modules): (&&'static str, &BTreeSet<String>)| Requirement {
            modules: modules.iter().cloned().collect(),
            ..Requirement::any_version(package)
        };
        self.packages.iter().map(requirement).collect()
    }
}

/// Where an imported module comes from.
enum ModuleOrigin {
    /// Files of the skill.
    Skill(Vec<String>),
    Standard,
    Package(&'static str, String),
    Unknown(String),
}

/// The maximum number of steps of a search: imports, imported names and directories in which they are searched. The best
/// known collections of skills need less than a hundredth of it.
const STEPS_MAX: usize = 500_000;

/// Finds what scripts import, directly and through modules of the skill. Remembers the imports of each file.
pub(super) struct ModuleSearch<'f> {
    files: &'f ScriptSources<'f>,
    version: &'f PythonVersion,
    directories: Vec<&'f str>,
    /// Directories with Python files in them or below.
    python_directories: HashSet<&'f str>,
    imports: HashMap<String, Rc<Vec<Import>>>,
    /// The files that were searched, by the directory of the script, which decides where modules are found.
    seen: HashMap<String, BTreeSet<String>>,
    remaining_steps: usize,
}

impl<'f> ModuleSearch<'f> {
    pub(super) fn new(files: &'f ScriptSources<'f>, version: &'f PythonVersion) -> Self {
        Self {
            files,
            version,
            directories: files.directories(|_| true),
            python_directories: files.directories(|path| path.ends_with(".py")).into_iter().collect(),
            imports: HashMap::new(),
            seen: HashMap::new(),
            remaining_steps: STEPS_MAX,
        }
    }

    /// Adds what a script needs, together with what was added before.
    pub(super) fn add_script(
        &mut self,
        script: &str,
        needs: &mut ModuleNeeds,
    ) -> Result<(), DependencyError> {
        let mut seen = self.seen.remove(parent(script)).unwrap_or_default();
        let mut open: Vec<String> =
            Some(script.to_owned()).into_iter().filter(|script| seen.insert(script.clone())).collect();
        while let Some(file) = open.pop() {
            let imports = self.imports_of(&file);
            let mut origins: Vec<Vec<ModuleOrigin>> = Vec::new();
            for import in imports.iter() {
                self.take_steps(1 + import.names.len() + import.level)?;
                origins.push(self.origins(script, &file, import)?);
            }
            let fails = failing_tries(&imports, &origins);
            for (import, origins) in imports.iter().zip(origins) {
                let need = match import.need {
                    // The fallback runs only if something before it is missing.
                    ImportNeed::Fallback(id) if fails.get(&id) == Some(&false) => continue,
                    need => need,
                };
                for origin in origins {
                    match origin {
                        ModuleOrigin::Standard => {}
                        ModuleOrigin::Skill(files) => {
                            open.extend(files.into_iter().filter(|file| seen.insert(file.clone())));
                        }
                        ModuleOrigin::Package(package, module) => {
                            needs.packages.entry(package).or_default().insert(module);
                        }
                        ModuleOrigin::Unknown(module) if need == ImportNeed::Required => {
                            needs.unknown.insert(module);
                        }
                        ModuleOrigin::Unknown(_) => {}
                    }
                }
            }
        }
        self.seen.insert(parent(script).to_owned(), seen);
        Ok(())
    }

    fn take_steps(&mut self, steps: usize) -> Result<(), DependencyError> {
        self.remaining_steps =
            self.remaining_steps.checked_sub(steps).ok_or(DependencyError::TooManyImports)?;
        Ok(())
    }

    fn imports_of(&mut self, file: &str) -> Rc<Vec<Import>> {
        if let Some(imports) = self.imports.get(file) {
            return Rc::clone(imports);
        }
        let text = self.files.text(file);
        let imports = Rc::new(text.map(|text| scan_imports(&text, self.version)).unwrap_or_default());
        self.imports.insert(file.to_owned(), Rc::clone(&imports));
        imports
    }

    fn origins(
        &mut self,
        script: &str,
        file: &str,
        import: &Import,
    ) -> Result<Vec<ModuleOrigin>, DependencyError> {
        let module: Vec<&str> = import.module.iter().map(String::as_str).collect();
        if import.level > 0 {
            return Ok(vec![ModuleOrigin::Skill(self.relative_files(file, import, &module))]);
        }
        let Some(first) = module.first() else { return Ok(Vec::new()) };
        // The directory of the script is the first in which Python searches.
        let script_dir = parent(script);
        if self.is_own(script_dir, first) {
            return Ok(self.in_skill(script_dir, &module, import));
        }
        if is_standard(first, self.version) {
            return Ok(vec![ModuleOrigin::Standard]);
        }
        for dir in [parent(file), ""] {
            if self.is_own(dir, first) {
                return Ok(self.in_skill(dir, &module, import));
            }
        }
        // `from google import genai` names a package after `import`.
        let candidates: Vec<Vec<&str>> = match is_namespace(first) && !import.names.is_empty() {
            true => import.names.iter().map(|name| [&module[..], &[name.as_str()]].concat()).collect(),
            false => vec![module.clone()],
        };
        let found: Vec<_> = candidates.iter().map(|candidate| package_of(candidate)).collect();
        if found.iter().all(Option::is_none) {
            self.take_steps(self.directories.len())?;
            if let Some(dir) = self.directories.iter().find(|dir| self.is_own(dir, first)) {
                return Ok(self.in_skill(dir, &module, import));
            }
        }
        let origins = found.into_iter().zip(candidates).map(|(found, candidate)| match found {
            Some((package, module)) => ModuleOrigin::Package(package, module),
            None if is_namespace(first) => ModuleOrigin::Unknown(candidate.join(".")),
            None => ModuleOrigin::Unknown((*first).to_owned()),
        });
        Ok(origins.collect())
    }

    /// Returns `true` if a directory of the skill has a module of this name.
    fn is_own(&self, dir: &str, name: &str) -> bool {
        self.files.contains(&join(dir, &format!("{name}.py")))
            || self.python_directories.contains(join(dir, name).as_str())
    }

    fn in_skill(&self, dir: &str, module: &[&str], import: &Import) -> Vec<ModuleOrigin> {
        vec![ModuleOrigin::Skill(self.files_of(dir, module, &import.names))]
    }

    /// Returns the files of a module in a directory: those of its parents, its own, and those of the names imported from it.
    fn files_of(&self, dir: &str, module: &[&str], names: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        let mut add = |path: &str| {
            for candidate in [format!("{path}.py"), format!("{path}/__init__.py")] {
                if self.files.contains(&candidate) {
                    found.push(candidate);
                }
            }
        };
        for length in 1..=module.len() {
            add(&join(dir, &module[..length].join("/")));
        }
        for name in names {
            let path = [module, &[name.as_str()]].concat().join("/");
            add(&join(dir, &path));
        }
        found
    }

    fn relative_files(&self, file: &str, import: &Import, module: &[&str]) -> Vec<String> {
        let mut dir = parent(file);
        for _ in 1..import.level {
            dir = parent(dir);
        }
        let mut files = self.files_of(dir, module, &import.names);
        let package = join(dir, "__init__.py");
        files.extend(Some(package).filter(|package| self.files.contains(package)));
        files
    }
}

/// Returns for each `try` with imports in its body whether one of them is of an unknown module.
fn failing_tries(imports: &[Import], origins: &[Vec<ModuleOrigin>]) -> HashMap<usize, bool> {
    let mut fails = HashMap::new();
    for (import, origins) in imports.iter().zip(origins) {
        if let Some(id) = import.in_try {
            let is_unknown = origins.iter().any(|origin| matches!(origin, ModuleOrigin::Unknown(_)));
            *fails.entry(id).or_default() |= is_unknown;
        }
    }
    fails
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(files: &[(&str, &str)], script: &str) -> String {
        let files: ScriptSources<'_> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        let version = PythonVersion::parse("3.11.2").unwrap();
        let mut needs = ModuleNeeds::default();
        ModuleSearch::new(&files, &version).add_script(script, &mut needs).unwrap();
        let packages: Vec<_> = needs.packages.keys().copied().collect();
        let unknown: Vec<_> = needs.unknown.iter().map(String::as_str).collect();
        format!("{} | {}", packages.join(" "), unknown.join(" "))
    }

    #[test]
    fn modules_of_the_skill_are_followed() {
        let files = [
            ("scripts/main.py", "import os, helper\nfrom lib.tools import x\nimport missing_module"),
            ("scripts/helper.py", "import yaml\nfrom . import sibling"),
            ("scripts/sibling.py", "import docx"),
            ("lib/__init__.py", "import PIL"),
            ("lib/tools/__init__.py", ""),
            ("lib/tools/x.py", "from ..more import y\nimport main"),
            ("lib/more.py", "import lxml.etree"),
            ("scripts/unrelated.py", "import numpy"),
        ];
        assert_eq!(needs(&files, "scripts/main.py"), "Pillow PyYAML lxml python-docx | missing_module");
    }

    /// Modules that all import each other, in many directories.
    #[test]
    fn a_search_has_an_end() {
        let paths: Vec<String> = (0..400).map(|n| format!("d{n}/m{n}.py")).collect();
        let text: String = (0..400).map(|n| format!("from d{n} import m{n}\nimport unknown_{n}\n")).collect();
        let files: ScriptSources<'_> = paths.iter().map(|path| (path.as_str(), text.as_bytes())).collect();
        let version = PythonVersion::parse("3.11.2").unwrap();
        let mut search = ModuleSearch::new(&files, &version);
        let mut needs = ModuleNeeds::default();
        let result = paths.iter().try_for_each(|path| search.add_script(path, &mut needs));
        assert_eq!(result, Err(DependencyError::TooManyImports));
        insta::assert_snapshot!(format!("{}\nhint: {}", DependencyError::TooManyImports, DependencyError::TooManyImports.hint().unwrap()), @r"
        the scripts of the skill import too many modules to determine which packages they need
        hint: list the packages in requirements.txt of the skill
        ");
    }

    #[test]
    fn known_packages_win_over_distant_directories() {
        let files = [
            ("scripts/main.py", "import requests\nimport validators_own"),
            ("examples/requests/x.py", "import never"),
            ("office/validators_own/__init__.py", "import defusedxml"),
        ];
        assert_eq!(needs(&files, "scripts/main.py"), "defusedxml requests | ");
        let files = [("main.py", "import requests"), ("requests.py", "import json")];
        assert_eq!(needs(&files, "main.py"), " | ", "the directory of the script comes first");
    }

    #[test]
    fn optional_modules_are_installed_if_known() {
        let source = "
try:
    import pypdf
except ImportError:
    import PyPDF2 as pypdf
try:
    import tomllib
except ImportError:
    import tomli as tomllib
try:
    import in_house_module
except ImportError:
    import requests
try:
    import other_in_house_module
except ImportError:
    pass
from google import genai, nothing_known
import google.cloud.storage
";
        assert_eq!(
            needs(&[("x.py", source)], "x.py"),
            "google-cloud-storage google-genai pypdf requests | google.nothing_known"
        );
    }
}
