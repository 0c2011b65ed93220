//! The toolsets of all skills: loaded on first use, cached, and reloaded after changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use prowess::{Skill, SkillStatus, resources};

use super::engine::ToolsetEngine;
use super::error::ToolsetError;
use super::limits::ToolsetLimits;
use super::loads;
use super::response::{ToolCall, ToolDescriptor, ToolResult};
use super::sources::are_unchanged;
use prowess_sandbox::Cancel;

/// Runs the toolsets of skills.
///
/// Toolsets are loaded on first use. An engine is kept while its sources are unchanged, which is checked by content, and
/// while it is among the most recently used. The state of a toolset is lost with its engine.
#[derive(Debug, Default)]
pub struct Toolsets {
    limits: ToolsetLimits,
    engines: Mutex<Vec<CachedEngine>>,
}

#[derive(Debug)]
struct CachedEngine {
    dir: PathBuf,
    toolsets: Vec<(String, String)>,
    engine: Arc<ToolsetEngine>,
    used: Instant,
}

/// The tools of a skill, and the toolsets that could not be loaded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadedTools {
    /// The tools, in the order of the manifest.
    pub tools: Vec<ToolDescriptor>,
    /// The toolsets that could not be loaded.
    pub failures: Vec<ToolsetError>,
    /// The memory of the engine after loading, in bytes.
    pub memory: u64,
}

/// Returns `true` if an entry of `toolsets` is a module with an export, `false` if it is a program.
///
/// ```
/// assert!(prowess_toolset::is_module("toolsets/index:HelloToolset"));
/// assert!(!prowess_toolset::is_module("toolsets/tools.py"));
/// ```
pub fn is_module(toolset: &str) -> bool {
    toolset.contains(':')
}

impl Toolsets {
    /// Creates toolsets with custom limits.
    pub fn with_limits(limits: ToolsetLimits) -> Self {
        Self { limits, engines: Mutex::default() }
    }

    /// Returns the tools of a skill. A skill without toolsets has none, and nothing is loaded.
    pub fn tools(&self, skill: &Skill) -> Result<LoadedTools, ToolsetError> {
        let toolsets = module_toolsets(skill);
        // Nothing of a remote skill is run; listing toolsets is not an error.
        if toolsets.is_empty() || skill.remote().is_some() {
            return Ok(LoadedTools::default());
        }
        let inventory = self.get_engine(skill, &toolsets)?.inventory.clone();
        Ok(LoadedTools { tools: inventory.tools, failures: inventory.failures, memory: inventory.memory })
    }

    /// Calls a tool of a skill and waits for its result. Arguments are validated first.
    pub fn call(&self, skill: &Skill, call: ToolCall, cancel: Cancel) -> Result<ToolResult, ToolsetError> {
        let engine = self.get_engine(skill, &module_toolsets(skill))?;
        if !engine.inventory.tools.iter().any(|tool| tool.id == call.id) {
            return Err(ToolsetError::UnknownTool(
                prowess::format::hidden::escape_for_display(&call.id).into_owned(),
            ));
        }
        engine.call(call, cancel)
    }

    /// Returns the number of engines.
    pub fn running(&self) -> usize {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn get_engine(
        &self,
        skill: &Skill,
        toolsets: &[(String, String)],
    ) -> Result<Arc<ToolsetEngine>, ToolsetError> {
        check_allowed(skill)?;
        let dir = skill.dir();
        if let Some(engine) = self.cached_engine(skill, &dir, toolsets)? {
            return Ok(engine);
        }
        loads::one_at_a_time(&dir, || match self.cached_engine(skill, &dir, toolsets)? {
            Some(engine) => Ok(engine),
            None => self.load(skill, &dir, toolsets),
        })
    }

    /// Starts an engine, unless a load of the same files was abandoned before.
    fn load(
        &self,
        skill: &Skill,
        dir: &Path,
        toolsets: &[(String, String)],
    ) -> Result<Arc<ToolsetEngine>, ToolsetError> {
        if let Some(error) = loads::abandoned_error(skill, dir, toolsets) {
            return Err(error);
        }
        let started = ToolsetEngine::start(skill, toolsets, &self.limits);
        let engine = Arc::new(started.map_err(|failed| loads::remember(dir, toolsets, *failed))?);
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        engines.retain(|cached| cached.dir != dir);
        while engines.len() >= self.limits.engines.max(1) {
            let oldest =
                engines.iter().enumerate().min_by_key(|(_, cached)| cached.used).map(|(index, _)| index);
            drop(oldest.map(|index| engines.swap_remove(index)));
        }
        let (dir, toolsets, used) = (dir.to_owned(), toolsets.to_vec(), Instant::now());
        engines.push(CachedEngine { dir, toolsets, engine: Arc::clone(&engine), used });
        Ok(engine)
    }

    /// Returns the cached engine if it matches the files of the skill.
    fn cached_engine(
        &self,
        skill: &Skill,
        dir: &Path,
        toolsets: &[(String, String)],
    ) -> Result<Option<Arc<ToolsetEngine>>, ToolsetError> {
        let now = Instant::now();
        let engine = {
            let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
            // An engine that cannot be stopped stays in the list, so that there is never more than one per skill.
            engines.retain(|cached| match cached.engine.has_ended() {
                true => cached.engine.is_running(),
                false => now.duration_since(cached.used) < self.limits.idle,
            });
            let Some(cached) = engines.iter_mut().find(|cached| cached.dir == dir) else { return Ok(None) };
            // Its thread may end at any time; it was running when the list was filtered above.
            if cached.engine.has_ended() {
                return Err(ToolsetError::Busy);
            }
            if cached.toolsets != toolsets {
                return Ok(None);
            }
            cached.used = now;
            Arc::clone(&cached.engine)
        };
        // A toolset that could not be loaded may be fixed by a new file.
        let valid = engine.inventory.failures.is_empty() && are_unchanged(&engine.inventory.digests, skill);
        Ok(valid.then_some(engine))
    }
}

/// Checks that the skill may run: it is available, and its files match the lock file.
fn check_allowed(skill: &Skill) -> Result<(), ToolsetError> {
    if let SkillStatus::Unavailable(missing) = skill.status() {
        return Err(ToolsetError::Unavailable(missing.join(", ")));
    }
    if let Some(remote) = skill.remote() {
        let name = prowess::format::hidden::escape_for_display(&skill.name()).into_owned();
        let refused = prowess::remote::RemoteFileError::NotRunnable { name, origin: remote.origin() };
        return Err(resources::ReadResourceError::from(refused).into());
    }
    resources::read_bytes(skill, "SKILL.md")?;
    Ok(())
}

/// Returns the path and export of the toolsets that are modules.
fn module_toolsets(skill: &Skill) -> Vec<(String, String)> {
    let toolsets = skill.manifest().map_or(&[][..], |manifest| manifest.toolsets());
    let split =
        |toolset: &str| toolset.split_once(':').map(|(path, export)| (path.to_owned(), export.to_owned()));
    toolsets.iter().filter_map(|toolset| split(toolset)).collect()
}
