//! What is wrong with the toolsets of a skill, as far as that can be told without running anything of it.
//!
//! It is for authors, who check folders that are no skills of any registry yet: files are read beneath the folder, links
//! refused, and nothing is executed.

use std::collections::BTreeSet;
use std::path::Path;

use prowess_fs::{Errno, Folder, read_whole};

use super::error::{Place, ToolsetError};
use super::host::is_module;
use super::limits::Limits;
use super::resolve::{self, Files};
use super::sources::{Code, place_at, place_of_import};
use super::strip::{Wrong, trade};

/// The most that is read of a program, to see what runs it.
const PROGRAM_MAX: u64 = 16 * 1024 * 1024;

/// Everything that is wrong with these toolsets of a skill in this folder: files that are not there, modules that cannot
/// be parsed, imports that lead nowhere, exports that are missing, programs that nothing runs.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// std::fs::write(folder.path().join("index.ts"), "export const Other = [];\n").unwrap();
/// let wrong = prowess_toolset::lint(folder.path(), &["index:Tools", "tools.py"]);
/// assert_eq!(wrong[0].to_string(), "index.ts:1:1: the module has no export Tools; it has Other");
/// assert_eq!(wrong[1].to_string(), "there is no file tools.py");
/// ```
pub fn lint(folder: &Path, toolsets: &[impl AsRef<str>]) -> Vec<ToolsetError> {
    let files = match Folder::open(folder) {
        Ok(folder) => Beneath { folder, limits: Limits::default() },
        Err(error) => return vec![ToolsetError::load(format!("the folder cannot be opened: {error}"))],
    };
    let mut wrong = Vec::new();
    for toolset in toolsets.iter().map(AsRef::as_ref) {
        let found = match toolset.split_once(':').filter(|_| is_module(toolset)) {
            Some((path, export)) => files.module(path, export),
            None => files.program(toolset).err().into_iter().collect(),
        };
        // Two toolsets may share modules.
        for error in found {
            if !wrong.contains(&error) {
                wrong.push(error);
            }
        }
    }
    wrong
}

struct Beneath {
    folder: Folder,
    limits: Limits,
}

impl Beneath {
    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, ToolsetError> {
        let none = || ToolsetError::load(format!("there is no file {path}"));
        let (file, stat) = self.folder.file(Path::new(path)).map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR => none(),
            error => ToolsetError::load(format!("{path} cannot be read: {}", prowess_fs::words(error))),
        })?;
        read_whole(&file, &stat, most)
            .map_err(|error| ToolsetError::load(format!("{path} cannot be read: {error}")))
    }

    fn program(&self, path: &str) -> Result<(), ToolsetError> {
        let path = path.trim_start_matches("./");
        let bytes = self.read(path, PROGRAM_MAX)?;
        prowess_sandbox::runner(path, &bytes).map(drop).map_err(|error| {
            let hint = error.hint().map_or_else(String::new, |hint| format!("; {hint}"));
            ToolsetError::load(format!("{error}{hint}"))
        })
    }

    /// Looks at a module and at everything that it imports.
    fn module(&self, path: &str, export: &str) -> Vec<ToolsetError> {
        let Some(entry) = resolve::file(self, path) else {
            return vec![ToolsetError::load(format!("there is no module {path}"))];
        };
        let (mut seen, mut wrong) = (BTreeSet::from([entry.clone()]), Vec::new());
        let mut open = vec![entry.clone()];
        while let Some(name) = open.pop() {
            match self.judge(&name, (name == entry).then_some(export), &mut wrong) {
                Ok(imported) => open.extend(imported.into_iter().filter(|name| seen.insert(name.clone()))),
                Err(error) => wrong.push(error),
            }
            if seen.len() > self.limits.modules {
                let most = self.limits.modules;
                wrong.push(ToolsetError::load(format!("the toolset has more than {most} modules")));
                break;
            }
        }
        wrong
    }

    /// What is wrong with one module, and which files it imports.
    fn judge(
        &self,
        name: &str,
        export: Option<&str>,
        wrong: &mut Vec<ToolsetError>,
    ) -> Result<Vec<String>, ToolsetError> {
        let bytes = self.read(name, self.limits.module_bytes as u64)?;
        let Code { source, code, origins } = Code::of(name, bytes, &self.limits)?;
        let trade = trade(&code).map_err(|Wrong { message, offset }| {
            // What was stripped is sound; only what was written as JavaScript can be wrong here.
            let at = offset.filter(|_| origins.is_none()).unwrap_or_default();
            ToolsetError::Load { message, place: Some(place_at(name, &source, at)) }
        })?;
        if let Some(export) = export.filter(|export| !trade.exports.iter().any(|name| name == export))
            && !trade.passes_on
        {
            let has = trade.exports.join(", ");
            let has = if has.is_empty() { has } else { format!("; it has {has}") };
            let place = Some(Place { file: name.to_owned(), line: 1, column: 1 });
            wrong.push(ToolsetError::Load {
                message: format!("the module has no export {export}{has}"),
                place,
            });
        }
        let mut imported = Vec::new();
        for specifier in &trade.imports {
            match resolve::resolve(self, name, specifier) {
                // What others wrote is not the author's to mend.
                Ok(path) if resolve::built_in(&path).is_some() || path.contains("node_modules/") => {}
                Ok(path) => imported.push(path),
                Err(message) => {
                    wrong.push(ToolsetError::Load {
                        message,
                        place: place_of_import(name, &source, specifier),
                    });
                }
            }
        }
        Ok(imported)
    }
}

impl Files for Beneath {
    fn has(&self, path: &str) -> bool {
        self.folder.file(Path::new(path)).is_ok_and(|(_, stat)| stat.is_file())
    }

    fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.read(path, self.limits.module_bytes as u64).ok()?).ok()
    }
}
