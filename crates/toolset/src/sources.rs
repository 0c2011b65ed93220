//! The modules of a skill, read as they are imported, with limits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use prowess::{Skill, digest, resources};

use super::error::{SourceLocation, ToolsetError};
use super::limits::ToolsetLimits;
use super::resolve::{self, ModuleFiles};
use super::strip::{SourceMap, strip};

/// A module that was read.
#[derive(Debug)]
struct SourceModule {
    /// The content of the file.
    source: String,
    /// The source map, if the source is not JavaScript.
    source_map: Option<SourceMap>,
}

/// The files that an engine has read so far, with their digests. Clones share the record, so that it can be read while the
/// engine is still loading.
#[derive(Debug, Clone, Default)]
pub(super) struct FileDigests(Arc<Mutex<BTreeMap<String, String>>>);

impl FileDigests {
    fn add(&self, name: &str, digest: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), digest);
    }

    /// Returns each file with its digest, sorted by path.
    pub(super) fn to_vec(&self) -> Vec<(String, String)> {
        let digests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        digests.iter().map(|(name, digest)| (name.clone(), digest.clone())).collect()
    }
}

/// Returns `true` if the files of a skill still have these digests. An unreadable file counts as changed.
pub(super) fn are_unchanged(digests: &[(String, String)], skill: &Skill) -> bool {
    digests.iter().all(|(path, expected)| {
        resources::read_bytes(skill, path).is_ok_and(|file| digest(&file.bytes) == *expected)
    })
}

/// The JavaScript of a file.
pub(super) struct ModuleCode {
    /// The content of the file.
    pub(super) source: String,
    /// The JavaScript.
    pub(super) code: String,
    /// The source map, if the source is not JavaScript.
    pub(super) source_map: Option<SourceMap>,
}

impl ModuleCode {
    pub(super) fn new(name: &str, bytes: Vec<u8>, limits: &ToolsetLimits) -> Result<Self, ToolsetError> {
        let invalid = |message: String| ToolsetError::Load {
            message,
            location: Some(SourceLocation { file: name.to_owned(), line: 1, column: 1 }),
        };
        let is_typescript = name.ends_with(".ts") || name.ends_with(".mts");
        let limit = if is_typescript { limits.typescript_bytes } else { limits.module_bytes };
        if bytes.len() > limit {
            return Err(invalid(format!("the module has {} bytes; the maximum is {limit}", bytes.len())));
        }
        let source =
            String::from_utf8(bytes).map_err(|_| invalid("the module is not UTF-8 text".to_owned()))?;
        if source.contains('\0') {
            return Err(invalid("the module contains a NUL character".to_owned()));
        }
        let (code, source_map) = match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("cjs") => {
                return Err(invalid("CommonJS is not supported; use import and export".to_owned()));
            }
            Some("json") => {
                let value: serde_json::Value = serde_json::from_str(&source)
                    .map_err(|error| invalid(format!("invalid JSON: {error}")))?;
                (format!("export default {value};"), None)
            }
            Some("ts" | "mts") => {
                let stripped = strip(name, &source).map_err(|error| ToolsetError::Load {
                    message: error.message,
                    location: Some(location_at(name, &source, error.offset.unwrap_or_default())),
                })?;
                (stripped.code, Some(stripped.source_map))
            }
            _ => (source.clone(), None),
        };
        Ok(Self { source, code, source_map })
    }
}

/// The sources of one skill.
#[derive(Debug)]
pub(super) struct ModuleSources {
    skill: Skill,
    limits: ToolsetLimits,
    /// The files of the skill; `None` if there are too many to list.
    listed: Option<BTreeSet<String>>,
    modules: BTreeMap<String, SourceModule>,
    digests: FileDigests,
    /// The first error in loading modules, which has more details than the engine's own error.
    failure: Option<ToolsetError>,
}

impl ModuleSources {
    /// Lists the files of a skill. The digests of files that are read are recorded in `digests`.
    pub(super) fn new(
        skill: Skill,
        limits: ToolsetLimits,
        digests: FileDigests,
    ) -> Result<Self, ToolsetError> {
        let contents = resources::list_files(&skill, None)?;
        let listed =
            (!contents.truncated).then(|| contents.files.into_iter().map(|file| file.path).collect());
        Ok(Self { skill, limits, listed, modules: BTreeMap::new(), digests, failure: None })
    }

    /// Returns the file of a toolset's path.
    pub(super) fn entry(&self, path: &str) -> Result<String, ToolsetError> {
        resolve::find_file(self, path).ok_or_else(|| {
            // Reading the missing file gives the best error: a symlink, a directory or a similar name.
            match resources::read_bytes(&self.skill, &format!("{path}.ts")) {
                Err(error) => error.into(),
                Ok(_) => ToolsetError::load(format!("module {path} not found")),
            }
        })
    }

    /// Resolves an import.
    pub(super) fn resolve(&mut self, base: &str, specifier: &str) -> Result<String, String> {
        let resolved = resolve::resolve(self, base, specifier);
        resolved.inspect_err(|message| {
            let location = self.location_of_import(base, specifier);
            self.failure.get_or_insert(ToolsetError::Load { message: message.clone(), location });
        })
    }

    /// Returns the zod that the skill bundles, if a module has imported it.
    pub(super) fn bundled_zod(&self, entry: &str) -> Option<String> {
        resolve::resolve(self, entry, "zod").ok().filter(|zod| self.modules.contains_key(zod))
    }

    /// Returns the JavaScript of a module.
    pub(super) fn load(&mut self, name: &str) -> Result<String, String> {
        if let Some(source) = resolve::built_in(name) {
            return Ok(source.to_owned());
        }
        let loaded = self.read_module(name);
        loaded.map_err(|error| {
            let message = error.to_string();
            self.failure.get_or_insert(error);
            message
        })
    }

    fn read_module(&mut self, name: &str) -> Result<String, ToolsetError> {
        if self.modules.len() >= self.limits.modules {
            return Err(ToolsetError::load(format!(
                "the toolset has more than {} modules",
                self.limits.modules
            )));
        }
        let bytes = resources::read_bytes(&self.skill, name)?.bytes;
        self.digests.add(name, digest(&bytes));
        let ModuleCode { source, code, source_map } = ModuleCode::new(name, bytes, &self.limits)?;
        self.modules.insert(name.to_owned(), SourceModule { source, source_map });
        Ok(code)
    }

    /// Takes the error that occurred in loading modules.
    pub(super) fn take_failure(&mut self) -> Option<ToolsetError> {
        self.failure.take()
    }

    /// Returns the first location in the skill's sources in a stack trace.
    pub(super) fn location_in_stack(&self, stack: &str) -> Option<SourceLocation> {
        stack.lines().find_map(|frame| {
            let frame = frame.trim().trim_end_matches(')');
            let (before_column, column) = frame.rsplit_once(':')?;
            let (before_column, line) = before_column.rsplit_once(':')?;
            let (line, column) = (line.parse().ok()?, column.parse().ok()?);
            let ends_with_name = |name: &&String| {
                before_column
                    .strip_suffix(name.as_str())
                    .is_some_and(|prefix| prefix.is_empty() || prefix.ends_with([' ', '(']))
            };
            let (name, module) =
                self.modules.keys().find(ends_with_name).and_then(|name| self.modules.get_key_value(name))?;
            let (line, column) = match &module.source_map {
                Some(source_map) => source_map.lookup(line, column)?,
                None => (line, column),
            };
            Some(skip_whitespace(&module.source, SourceLocation { file: name.clone(), line, column }))
        })
    }

    /// Returns where a module imports a name that is not exported.
    pub(super) fn location_of_import_name(&self, name: &str) -> Option<SourceLocation> {
        self.modules.iter().find_map(|(file, module)| {
            let mut imports =
                module.source.match_indices("import").chain(module.source.match_indices("export"));
            let index = imports.find_map(|(index, _)| {
                let statement = module.source.get(index..)?.split(';').next()?;
                statement
                    .contains("from")
                    .then(|| find_word(statement, name).map(|inner| index + inner))
                    .flatten()
            })?;
            Some(location_at(file, &module.source, index))
        })
    }

    fn location_of_import(&self, base: &str, specifier: &str) -> Option<SourceLocation> {
        location_of_import(base, &self.modules.get(base)?.source, specifier)
    }
}

impl ModuleFiles for ModuleSources {
    fn has(&self, path: &str) -> bool {
        match &self.listed {
            Some(listed) => listed.contains(path),
            None => resources::read_bytes(&self.skill, path).is_ok(),
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(resources::read_bytes(&self.skill, path).ok()?.bytes).ok()
    }
}

/// Moves a location over white space to the next text: the source map of a dot points to the end of the text before it.
fn skip_whitespace(source: &str, location: SourceLocation) -> SourceLocation {
    let start = source
        .split_inclusive('\n')
        .take(location.line.saturating_sub(1) as usize)
        .map(str::len)
        .sum::<usize>();
    let line = source.get(start..).unwrap_or_default();
    let line_offset: usize =
        line.chars().take(location.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    let line_end = line.get(line_offset..).unwrap_or_default();
    let skipped = line_end.len() - line_end.trim_start().len();
    if skipped == 0 || skipped == line_end.len() {
        location
    } else {
        location_at(&location.file, source, start + line_offset + skipped)
    }
}

/// Returns where a module imports another one.
pub(super) fn location_of_import(file: &str, source: &str, specifier: &str) -> Option<SourceLocation> {
    let texts = [format!("\"{specifier}\""), format!("'{specifier}'")];
    Some(location_at(file, source, texts.iter().find_map(|text| source.find(text.as_str()))?))
}

/// Returns the location of a byte offset.
pub(super) fn location_at(file: &str, source: &str, offset: usize) -> SourceLocation {
    let position = u32::try_from(offset.min(source.len())).unwrap_or_default();
    let location = prowess::format::Location::from_span(
        source.as_bytes(),
        prowess::format::Span { start: position, end: position },
    );
    SourceLocation { file: file.to_owned(), line: location.line, column: location.column }
}

/// Returns the position of a whole word in a text.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_word_char = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.match_indices(word).map(|(index, _)| index).find(|index| {
        let (before, after) =
            (text.get(..*index).unwrap_or_default(), text.get(index + word.len()..).unwrap_or_default());
        !before.ends_with(is_word_char) && !after.starts_with(is_word_char)
    })
}
