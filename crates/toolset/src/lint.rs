//! Static checks of toolsets, without running them.
//!
//! For authors, who check directories that are not yet skills of a registry. Files are read beneath the directory, symlinks
//! are refused, and nothing is executed.

use std::collections::BTreeSet;
use std::path::Path;

use prowess_fs::{Dir, Errno, read_whole};

use super::error::{SourceLocation, ToolsetError};
use super::host::is_module;
use super::limits::ToolsetLimits;
use super::resolve::{self, ModuleFiles};
use super::sources::{ModuleCode, location_at, location_of_import};
use super::strip::{ModuleSyntaxError, module_interface};

/// The maximum number of bytes to read of a program, to detect its interpreter.
const PROGRAM_MAX: u64 = 16 * 1024 * 1024;

/// Returns all errors in these toolsets of a skill directory: missing files, syntax errors, unresolved imports, missing
/// exports, and programs without a known interpreter.
///
/// ```
/// let dir = tempfile::tempdir().unwrap();
/// std::fs::write(dir.path().join("index.ts"), "export const Other = [];\n").unwrap();
/// let errors = prowess_toolset::lint(dir.path(), &["index:Tools", "tools.py"]);
/// assert_eq!(errors[0].to_string(), "index.ts:1:1: the module does not export Tools; it exports Other");
/// assert_eq!(errors[1].to_string(), "file tools.py not found");
/// ```
pub fn lint(dir: &Path, toolsets: &[impl AsRef<str>]) -> Vec<ToolsetError> {
    let files = match Dir::open(dir) {
        Ok(dir) => SkillDirFiles { dir, limits: ToolsetLimits::default() },
        Err(error) => return vec![ToolsetError::load(format!("cannot open the directory: {error}"))],
    };
    let mut errors = Vec::new();
    for toolset in toolsets.iter().map(AsRef::as_ref) {
        let errors_found = match toolset.split_once(':').filter(|_| is_module(toolset)) {
            Some((path, export)) => files.check_toolset(path, export),
            None => files.check_program(toolset).err().into_iter().collect(),
        };
        // Two toolsets may share modules.
        for error in errors_found {
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    errors
}

struct SkillDirFiles {
    dir: Dir,
    limits: ToolsetLimits,
}

impl SkillDirFiles {
    fn read(&self, path: &str, max: u64) -> Result<Vec<u8>, ToolsetError> {
        let missing = || ToolsetError::load(format!("file {path} not found"));
        let (file, stat) = self.dir.open_file(Path::new(path)).map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR => missing(),
            error => ToolsetError::load(format!("cannot read {path}: {}", prowess_fs::describe_errno(error))),
        })?;
        read_whole(&file, &stat, max)
            .map_err(|error| ToolsetError::load(format!("cannot read {path}: {error}")))
    }

    fn check_program(&self, path: &str) -> Result<(), ToolsetError> {
        let path = path.trim_start_matches("./");
        let bytes = self.read(path, PROGRAM_MAX)?;
        prowess_sandbox::detect_runner(path, &bytes)
            .map(drop)
            .map_err(|error| ToolsetError::load(format!("{error}; {}", error.hint())))
    }

    /// Checks a module and everything that it imports.
    fn check_toolset(&self, path: &str, export: &str) -> Vec<ToolsetError> {
        let Some(entry) = resolve::find_file(self, path) else {
            return vec![ToolsetError::load(format!("module {path} not found"))];
        };
        let (mut visited, mut errors) = (BTreeSet::from([entry.clone()]), Vec::new());
        let mut pending = vec![entry.clone()];
        while let Some(name) = pending.pop() {
            match self.check_module(&name, (name == entry).then_some(export), &mut errors) {
                Ok(imported) => {
                    pending.extend(imported.into_iter().filter(|name| visited.insert(name.clone())))
                }
                Err(error) => errors.push(error),
            }
            if visited.len() > self.limits.modules {
                let max = self.limits.modules;
                errors.push(ToolsetError::load(format!("the toolset has more than {max} modules")));
                break;
            }
        }
        errors
    }

    /// Checks one module and returns the files it imports.
    fn check_module(
        &self,
        name: &str,
        export: Option<&str>,
        errors: &mut Vec<ToolsetError>,
    ) -> Result<Vec<String>, ToolsetError> {
        let bytes = self.read(name, self.limits.module_bytes as u64)?;
        let ModuleCode { source, code, source_map: origins } = ModuleCode::new(name, bytes, &self.limits)?;
        let interface = module_interface(&code).map_err(|ModuleSyntaxError { message, offset }| {
            // Stripped TypeScript is valid; only JavaScript sources can have errors here.
            let offset_in_source = offset.filter(|_| origins.is_none()).unwrap_or_default();
            ToolsetError::Load { message, location: Some(location_at(name, &source, offset_in_source)) }
        })?;
        if let Some(export) = export.filter(|export| !interface.exports.iter().any(|name| name == export))
            && !interface.reexports_all
        {
            let exports = interface.exports.join(", ");
            let exports = if exports.is_empty() { exports } else { format!("; it exports {exports}") };
            let location = Some(SourceLocation { file: name.to_owned(), line: 1, column: 1 });
            errors.push(ToolsetError::Load {
                message: format!("the module does not export {export}{exports}"),
                location,
            });
        }
        let mut imported = Vec::new();
        for specifier in &interface.imports {
            match resolve::resolve(self, name, specifier) {
                // Dependencies are not the author's to fix.
                Ok(path) if resolve::built_in(&path).is_some() || path.contains("node_modules/") => {}
                Ok(path) => imported.push(path),
                Err(message) => {
                    errors.push(ToolsetError::Load {
                        message,
                        location: location_of_import(name, &source, specifier),
                    });
                }
            }
        }
        Ok(imported)
    }
}

impl ModuleFiles for SkillDirFiles {
    fn has(&self, path: &str) -> bool {
        self.dir.open_file(Path::new(path)).is_ok_and(|(_, stat)| stat.is_file())
    }

    fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.read(path, self.limits.module_bytes as u64).ok()?).ok()
    }
}
