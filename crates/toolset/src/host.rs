//! The toolsets of all skills: loaded when they are asked for, kept while they are used, loaded again when they change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use prowess::{Skill, Status, resource};

use super::answer::{Definition, ToolCall, ToolResult};
use super::engine::Engine;
use super::error::ToolsetError;
use super::limits::{Cancel, Limits};
use super::loads;
use super::sources::are_unchanged;

/// Runs the toolsets of skills.
///
/// Nothing happens until tools are asked for. An engine is kept as long as the sources it was made of are the same,
/// bytes compared each time, and it is among the last used; what a toolset remembers between two calls is gone with it.
#[derive(Debug, Default)]
pub struct Toolsets {
    limits: Limits,
    engines: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    folder: PathBuf,
    toolsets: Vec<(String, String)>,
    engine: Arc<Engine>,
    used: Instant,
}

/// The tools of a skill, and what could not be loaded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// The tools, in the order of the manifest.
    pub tools: Vec<Definition>,
    /// The toolsets that could not be loaded, with the place in their sources.
    pub failures: Vec<ToolsetError>,
    /// The engine's memory after loading, in bytes.
    pub memory: u64,
}

/// Whether an entry of `toolsets` is a module with an export, and not a program.
///
/// ```
/// assert!(prowess_toolset::is_module("toolsets/index:HelloToolset"));
/// assert!(!prowess_toolset::is_module("toolsets/tools.py"));
/// ```
pub fn is_module(toolset: &str) -> bool {
    toolset.contains(':')
}

impl Toolsets {
    /// With limits of your own.
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, engines: Mutex::default() }
    }

    /// The tools of a skill. A skill without toolsets has none and costs nothing.
    pub fn tools(&self, skill: &Skill) -> Result<Loaded, ToolsetError> {
        let toolsets = modules(skill);
        // Nothing of a server's skill is run; that it names toolsets is no mistake of its own.
        if toolsets.is_empty() || skill.supplied().is_some() {
            return Ok(Loaded::default());
        }
        let inventory = self.engine(skill, &toolsets)?.inventory.clone();
        Ok(Loaded { tools: inventory.tools, failures: inventory.failures, memory: inventory.memory })
    }

    /// Calls a tool of a skill and waits for its answer. Arguments are checked first.
    pub fn call(&self, skill: &Skill, call: ToolCall, cancel: Cancel) -> Result<ToolResult, ToolsetError> {
        let engine = self.engine(skill, &modules(skill))?;
        if !engine.inventory.tools.iter().any(|tool| tool.id == call.id) {
            return Err(ToolsetError::NoTool(prowess::format::hidden::shown(&call.id).into_owned()));
        }
        engine.call(call, cancel)
    }

    /// How many engines there are.
    pub fn running(&self) -> usize {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn engine(&self, skill: &Skill, toolsets: &[(String, String)]) -> Result<Arc<Engine>, ToolsetError> {
        admit(skill)?;
        let folder = skill.folder();
        if let Some(engine) = self.kept(skill, &folder, toolsets)? {
            return Ok(engine);
        }
        loads::one_at_a_time(&folder, || match self.kept(skill, &folder, toolsets)? {
            Some(engine) => Ok(engine),
            None => self.load(skill, &folder, toolsets),
        })
    }

    /// Starts an engine, unless the same files already had to be given up.
    fn load(
        &self,
        skill: &Skill,
        folder: &Path,
        toolsets: &[(String, String)],
    ) -> Result<Arc<Engine>, ToolsetError> {
        if let Some(error) = loads::given_up(skill, folder, toolsets) {
            return Err(error);
        }
        let started = Engine::start(skill, toolsets, &self.limits);
        let engine = Arc::new(started.map_err(|failed| loads::remember(folder, toolsets, *failed))?);
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        engines.retain(|kept| kept.folder != folder);
        while engines.len() >= self.limits.engines.max(1) {
            let oldest = engines.iter().enumerate().min_by_key(|(_, kept)| kept.used).map(|(at, _)| at);
            drop(oldest.map(|at| engines.swap_remove(at)));
        }
        let (folder, toolsets, used) = (folder.to_owned(), toolsets.to_vec(), Instant::now());
        engines.push(Kept { folder, toolsets, engine: Arc::clone(&engine), used });
        Ok(engine)
    }

    /// The engine that is there already, if it still is what the skill's files say.
    fn kept(
        &self,
        skill: &Skill,
        folder: &Path,
        toolsets: &[(String, String)],
    ) -> Result<Option<Arc<Engine>>, ToolsetError> {
        let now = Instant::now();
        let engine = {
            let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
            // One that cannot be stopped is remembered, so that there is never more than one for a skill.
            engines.retain(|kept| match kept.engine.has_ended() {
                true => kept.engine.is_running(),
                false => now.duration_since(kept.used) < self.limits.idle,
            });
            let Some(kept) = engines.iter_mut().find(|kept| kept.folder == folder) else { return Ok(None) };
            // Its thread may end at any moment: what counts is that it was still running when it was kept above.
            if kept.engine.has_ended() {
                return Err(ToolsetError::Busy);
            }
            if kept.toolsets != toolsets {
                return Ok(None);
            }
            kept.used = now;
            Arc::clone(&kept.engine)
        };
        // What could not be loaded may have been mended in a file that was not there before.
        let sound = engine.inventory.failures.is_empty() && are_unchanged(&engine.inventory.stamps, skill);
        Ok(sound.then_some(engine))
    }
}

/// Whether anything of a skill may run: it is on offer, and its own file is the one that was locked.
fn admit(skill: &Skill) -> Result<(), ToolsetError> {
    if let Status::Unavailable(missing) = skill.status() {
        return Err(ToolsetError::Unavailable(missing.join(", ")));
    }
    if let Some(supplied) = skill.supplied() {
        let name = prowess::format::hidden::shown(&skill.name()).into_owned();
        let refused = prowess::supply::Unverified::Run { name, origin: supplied.origin() };
        return Err(resource::AccessError::from(refused).into());
    }
    resource::read_bytes(skill, "SKILL.md")?;
    Ok(())
}

/// The toolsets of a skill that are modules: path and export.
fn modules(skill: &Skill) -> Vec<(String, String)> {
    let toolsets = skill.manifest().map_or(&[][..], |manifest| manifest.toolsets());
    let split =
        |toolset: &str| toolset.split_once(':').map(|(path, export)| (path.to_owned(), export.to_owned()));
    toolsets.iter().filter_map(|toolset| split(toolset)).collect()
}
