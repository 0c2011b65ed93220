//! The modules of a skill, read as they are imported: contained, bounded, and remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use prowess::{Skill, digest, resource};

use super::error::{Place, ToolsetError};
use super::limits::Limits;
use super::resolve::{self, Files};
use super::strip::{Origins, strip};

/// A module that was read.
#[derive(Debug)]
struct Module {
    /// As it stands in the file.
    source: String,
    /// Where the JavaScript came from, if the source is something else.
    origins: Option<Origins>,
}

/// The files that an engine has read so far, with their digests. Clones share one record, so that it can be read while
/// the engine is still loading.
#[derive(Debug, Clone, Default)]
pub(super) struct Stamps(Arc<Mutex<BTreeMap<String, String>>>);

impl Stamps {
    fn add(&self, name: &str, digest: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), digest);
    }

    /// Returns each file with its digest, sorted by path.
    pub(super) fn to_vec(&self) -> Vec<(String, String)> {
        let stamps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stamps.iter().map(|(name, digest)| (name.clone(), digest.clone())).collect()
    }
}

/// Whether the files of a skill still have these digests. A file that can no longer be read has changed.
pub(super) fn are_unchanged(stamps: &[(String, String)], skill: &Skill) -> bool {
    stamps
        .iter()
        .all(|(path, was)| resource::read_bytes(skill, path).is_ok_and(|file| digest(&file.bytes) == *was))
}

/// What a file of a skill means to the engine.
pub(super) struct Code {
    /// As it stands in the file.
    pub(super) source: String,
    /// The JavaScript.
    pub(super) code: String,
    /// Where the JavaScript came from, if the source is something else.
    pub(super) origins: Option<Origins>,
}

impl Code {
    pub(super) fn of(name: &str, bytes: Vec<u8>, limits: &Limits) -> Result<Self, ToolsetError> {
        let wrong = |message: String| ToolsetError::Load {
            message,
            place: Some(Place { file: name.to_owned(), line: 1, column: 1 }),
        };
        let typescript = name.ends_with(".ts") || name.ends_with(".mts");
        let limit = if typescript { limits.typescript_bytes } else { limits.module_bytes };
        if bytes.len() > limit {
            return Err(wrong(format!("the module has {} bytes; at most {limit} are read", bytes.len())));
        }
        let source =
            String::from_utf8(bytes).map_err(|_| wrong("the module is not UTF-8 text".to_owned()))?;
        if source.contains('\0') {
            return Err(wrong("the module has a NUL character".to_owned()));
        }
        let (code, origins) = match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("cjs") => {
                return Err(wrong("CommonJS modules are not loaded; write import and export".to_owned()));
            }
            Some("json") => {
                let value: serde_json::Value = serde_json::from_str(&source)
                    .map_err(|error| wrong(format!("this is not JSON: {error}")))?;
                (format!("export default {value};"), None)
            }
            Some("ts" | "mts") => {
                let stripped = strip(name, &source).map_err(|wrong| ToolsetError::Load {
                    message: wrong.message,
                    place: Some(place_at(name, &source, wrong.offset.unwrap_or_default())),
                })?;
                (stripped.code, Some(stripped.origins))
            }
            _ => (source.clone(), None),
        };
        Ok(Self { source, code, origins })
    }
}

/// The sources of one skill.
#[derive(Debug)]
pub(super) struct Sources {
    skill: Skill,
    limits: Limits,
    /// The skill's files; nothing where there are too many to list.
    listed: Option<BTreeSet<String>>,
    modules: BTreeMap<String, Module>,
    stamps: Stamps,
    /// What the engine could not be told in its own words.
    failure: Option<ToolsetError>,
}

impl Sources {
    /// Lists the files of a skill; what is read of them is recorded in `stamps`.
    pub(super) fn new(skill: Skill, limits: Limits, stamps: Stamps) -> Result<Self, ToolsetError> {
        let contents = resource::list(&skill, None)?;
        let listed = (!contents.cut).then(|| contents.files.into_iter().map(|file| file.path).collect());
        Ok(Self { skill, limits, listed, modules: BTreeMap::new(), stamps, failure: None })
    }

    /// The file of a toolset's path.
    pub(super) fn entry(&self, path: &str) -> Result<String, ToolsetError> {
        resolve::file(self, path).ok_or_else(|| {
            // Reading what is not there says best what is wrong: a link, a folder, a name that is nearly right.
            match resource::read_bytes(&self.skill, &format!("{path}.ts")) {
                Err(error) => error.into(),
                Ok(_) => ToolsetError::load(format!("there is no module {path}")),
            }
        })
    }

    /// What an import means.
    pub(super) fn resolve(&mut self, base: &str, specifier: &str) -> Result<String, String> {
        let resolved = resolve::resolve(self, base, specifier);
        resolved.inspect_err(|message| {
            let place = self.place_of_import(base, specifier);
            self.failure.get_or_insert(ToolsetError::Load { message: message.clone(), place });
        })
    }

    /// The zod that the skill ships, if a module has imported it.
    pub(super) fn shipped_zod(&self, entry: &str) -> Option<String> {
        resolve::resolve(self, entry, "zod").ok().filter(|zod| self.modules.contains_key(zod))
    }

    /// The JavaScript of a module.
    pub(super) fn load(&mut self, name: &str) -> Result<String, String> {
        if let Some(source) = resolve::built_in(name) {
            return Ok(source.to_owned());
        }
        let loaded = self.read(name);
        loaded.map_err(|error| {
            let message = error.to_string();
            self.failure.get_or_insert(error);
            message
        })
    }

    fn read(&mut self, name: &str) -> Result<String, ToolsetError> {
        if self.modules.len() >= self.limits.modules {
            return Err(ToolsetError::load(format!(
                "the toolset has more than {} modules",
                self.limits.modules
            )));
        }
        let bytes = resource::read_bytes(&self.skill, name)?.bytes;
        self.stamps.add(name, digest(&bytes));
        let Code { source, code, origins } = Code::of(name, bytes, &self.limits)?;
        self.modules.insert(name.to_owned(), Module { source, origins });
        Ok(code)
    }

    /// What went wrong beneath the engine, once.
    pub(super) fn take_failure(&mut self) -> Option<ToolsetError> {
        self.failure.take()
    }

    /// The first place in the skill's own sources that a stack trace names.
    pub(super) fn place_in(&self, stack: &str) -> Option<Place> {
        stack.lines().find_map(|frame| {
            let frame = frame.trim().trim_end_matches(')');
            let (rest, column) = frame.rsplit_once(':')?;
            let (rest, line) = rest.rsplit_once(':')?;
            let (line, column) = (line.parse().ok()?, column.parse().ok()?);
            let named = |name: &&String| {
                rest.strip_suffix(name.as_str())
                    .is_some_and(|before| before.is_empty() || before.ends_with([' ', '(']))
            };
            let (name, module) =
                self.modules.keys().find(named).and_then(|name| self.modules.get_key_value(name))?;
            let (line, column) = match &module.origins {
                Some(origins) => origins.of(line, column)?,
                None => (line, column),
            };
            Some(onto_text(&module.source, Place { file: name.clone(), line, column }))
        })
    }

    /// Where a module imports a name that the other does not export.
    pub(super) fn place_of_name(&self, name: &str) -> Option<Place> {
        self.modules.iter().find_map(|(file, module)| {
            let mut imports =
                module.source.match_indices("import").chain(module.source.match_indices("export"));
            let at = imports.find_map(|(at, _)| {
                let statement = module.source.get(at..)?.split(';').next()?;
                statement.contains("from").then(|| word(statement, name).map(|inner| at + inner)).flatten()
            })?;
            Some(place_at(file, &module.source, at))
        })
    }

    fn place_of_import(&self, base: &str, specifier: &str) -> Option<Place> {
        place_of_import(base, &self.modules.get(base)?.source, specifier)
    }
}

impl Files for Sources {
    fn has(&self, path: &str) -> bool {
        match &self.listed {
            Some(listed) => listed.contains(path),
            None => resource::read_bytes(&self.skill, path).is_ok(),
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(resource::read_bytes(&self.skill, path).ok()?.bytes).ok()
    }
}

/// The place, or that of the next text where there is only space: the origin of a dot is the end of what is before it.
fn onto_text(source: &str, place: Place) -> Place {
    let start =
        source.split_inclusive('\n').take(place.line.saturating_sub(1) as usize).map(str::len).sum::<usize>();
    let line = source.get(start..).unwrap_or_default();
    let before: usize = line.chars().take(place.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    let rest = line.get(before..).unwrap_or_default();
    let skipped = rest.len() - rest.trim_start().len();
    if skipped == 0 || skipped == rest.len() {
        place
    } else {
        place_at(&place.file, source, start + before + skipped)
    }
}

/// Where a module imports another.
pub(super) fn place_of_import(file: &str, source: &str, specifier: &str) -> Option<Place> {
    let texts = [format!("\"{specifier}\""), format!("'{specifier}'")];
    Some(place_at(file, source, texts.iter().find_map(|text| source.find(text.as_str()))?))
}

/// The place of a byte.
pub(super) fn place_at(file: &str, source: &str, offset: usize) -> Place {
    let at = u32::try_from(offset.min(source.len())).unwrap_or_default();
    let place = prowess::format::Place::of(source.as_bytes(), prowess::format::Span { start: at, end: at });
    Place { file: file.to_owned(), line: place.line, column: place.column }
}

/// Where a whole word stands in a text.
fn word(text: &str, word: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let (before, after) =
            (text.get(..*at).unwrap_or_default(), text.get(at + word.len()..).unwrap_or_default());
        !before.ends_with(part) && !after.starts_with(part)
    })
}
