//! The tools of a registry, and the dispatch of calls.

#[cfg(feature = "toolsets")]
mod toolsets;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use prowess::activation::ShownWarnings;
use prowess::catalog::{Visibility, visibility};
use prowess::format::{hidden, suggest};
use prowess::policy::RefreshPolicy;
use prowess::resources::Truncation;
use prowess::{ErrorCode, FileDiagnostic, Registry, Skill, Snapshot};
use prowess_routing::Router;
use prowess_routing::semantic::SemanticStage;
use serde_json::Value;

use crate::catalog_cache::CatalogCache;
use crate::definition::{BuiltinTool, ToolDefinition, callable_names};
use crate::envelope::{Envelope, ToolError};
use crate::run::ScriptRunner;
use crate::session::Session;
use crate::workspace_tools::WorkspaceTool;

/// The tools of a registry.
#[derive(Debug)]
pub struct Toolbox {
    registry: Arc<Registry>,
    /// The router of the latest snapshot, built once per snapshot.
    router: Mutex<Option<(Arc<Snapshot>, Arc<Router>)>>,
    /// The catalogs that were rendered for the latest snapshot.
    pub(crate) catalogs: CatalogCache,
    /// The semantic stage of routing, if one is configured.
    semantic: Option<Arc<SemanticStage>>,
    /// The warnings that were already shown by this process.
    warned: ShownWarnings,
    notices: Mutex<Vec<String>>,
    diagnostics: Mutex<Vec<FileDiagnostic>>,
    #[cfg(feature = "toolsets")]
    pub(crate) toolsets: prowess_toolset::Toolsets,
    #[cfg(feature = "toolsets")]
    pub(crate) programs: prowess_toolset::Programs,
    pub(crate) runner: ScriptRunner,
    pub(crate) uses: crate::usage_recorder::UsageRecorder,
    /// Whether the skills are watched, so that calls need not refresh them.
    watched: bool,
}

impl Toolbox {
    /// Creates the tools of a registry.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self {
            uses: crate::usage_recorder::UsageRecorder::new(Arc::clone(&registry)),
            registry,
            router: Mutex::default(),
            catalogs: CatalogCache::default(),
            semantic: None,
            warned: ShownWarnings::new(),
            notices: Mutex::default(),
            diagnostics: Mutex::default(),
            #[cfg(feature = "toolsets")]
            toolsets: prowess_toolset::Toolsets::default(),
            #[cfg(feature = "toolsets")]
            programs: prowess_toolset::Programs::default(),
            runner: ScriptRunner::default(),
            watched: false,
        }
    }

    /// Disables the refresh on each call, for processes that refresh the registry whenever something changes.
    #[must_use]
    pub fn with_watched(self, watched: bool) -> Self {
        Self { watched, ..self }
    }

    /// Adds a semantic stage to routing.
    #[must_use]
    pub fn with_semantic(self, semantic: Option<Arc<SemanticStage>>) -> Self {
        Self { semantic, ..self }
    }

    /// Sets the configuration for running scripts and programs.
    #[must_use]
    pub fn with_runner(self, runner: ScriptRunner) -> Self {
        Self { runner, ..self }
    }

    /// Sets the limits of tool programs.
    #[cfg(feature = "toolsets")]
    #[must_use]
    pub fn with_program_limits(mut self, limits: prowess_toolset::ProgramLimits) -> Self {
        self.programs = prowess_toolset::Programs::with_limits(limits);
        self
    }

    /// Returns the number of running tool programs.
    #[cfg(feature = "toolsets")]
    pub fn running_programs(&self) -> usize {
        self.programs.running()
    }

    /// Returns the problems of toolsets since the last call, with locations in their sources.
    pub fn take_diagnostics(&self) -> Vec<FileDiagnostic> {
        std::mem::take(&mut *self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[cfg(feature = "toolsets")]
    pub(crate) fn add_diagnostic(&self, diagnostic: FileDiagnostic) {
        let mut diagnostics = self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner);
        if !diagnostics.contains(&diagnostic) {
            diagnostics.push(diagnostic);
        }
    }

    /// Returns the notices for the user since the last call: truncated files, and problems of the semantic
    /// stage. Each notice is returned once.
    pub fn take_notices(&self) -> Vec<String> {
        let mut notices = std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner));
        notices.extend(self.semantic.iter().flat_map(|semantic| semantic.take_warnings()));
        notices
    }

    pub(crate) fn note_truncation(&self, skill: &str, path: &str, truncation: Option<Truncation>) {
        if let Some(notice) = self.warned.truncation_warning(skill, path, truncation) {
            self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
        }
    }

    /// Returns the registry.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns a shared handle to the registry.
    pub fn shared_registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    /// Returns the current skills, refreshed according to the policy.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        match self.registry.policy().refresh {
            RefreshPolicy::Fingerprint | RefreshPolicy::DirectoryTime if !self.watched => {
                self.registry.refresh()
            }
            _ => self.registry.snapshot(),
        }
    }

    /// Returns the router of a snapshot.
    pub fn router(&self, snapshot: &Arc<Snapshot>) -> Arc<Router> {
        let mut cached = self.router.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some((cached_snapshot, router)) if Arc::ptr_eq(cached_snapshot, snapshot) => Arc::clone(router),
            _ => {
                let policy = self.registry.policy();
                let is_offered = |skill: &Skill| visibility(skill, policy) != Visibility::Manual;
                let index_dir = self.registry.host().state_dir().map(|state| state.join("index"));
                let router = Router::with_filter(Arc::clone(snapshot), is_offered).with_cache_dir(index_dir);
                let router = Arc::new(router.with_semantic(self.semantic.clone()));
                *cached = Some((Arc::clone(snapshot), Arc::clone(&router)));
                router
            }
        }
    }

    /// Returns the available tools; none if skills are disabled or there are none.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.definitions_in(&Session::default())
    }

    /// Returns the tools that are available in a conversation. Includes skills that the user requested even if
    /// they are not in the catalog, the tools for its workspace if they are enabled and, with the feature `toolsets`,
    /// the tools of active skills.
    pub fn definitions_in(&self, session: &Session) -> Vec<ToolDefinition> {
        let (snapshot, policy) = (self.snapshot(), self.registry.policy());
        let workspace_tools = WorkspaceTool::definitions(session);
        if callable_names(&snapshot, policy, session).next().is_none() {
            return workspace_tools;
        }
        let definition = |tool: &BuiltinTool| ToolDefinition::for_tool(*tool, &snapshot, policy, session);
        let tools = BuiltinTool::for_policy(policy, session.call_options.ask_consent.is_some())
            .iter()
            .map(definition);
        #[cfg(feature = "toolsets")]
        let tools =
            tools.chain(toolsets::SkillTool::all(self, &snapshot, session).into_iter().map(Into::into));
        tools.chain(workspace_tools).collect()
    }

    /// Executes a call of a tool, with or without dots in its name.
    pub fn call(&self, session: &mut Session, name: &str, params: Value) -> Envelope {
        let start = Instant::now();
        let envelope = match (WorkspaceTool::find(name, session), self.resolve_tool(name, session)) {
            (Some(tool), _) => tool.call(session, &params),
            (None, Ok(tool)) => self.dispatch(tool, session, &params),
            (None, Err(error)) => self.call_skill_tool(session, name, &params, error),
        };
        let envelope = envelope.unwrap_or_else(Envelope::error);
        let time = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let cwd = self.registry.host().project.to_string_lossy().into_owned();
        envelope.in_context(cwd, params, time)
    }

    /// Calls a tool of a skill; returns the given error if there is none of this name.
    #[cfg(feature = "toolsets")]
    fn call_skill_tool(
        &self,
        session: &Session,
        name: &str,
        params: &Value,
        error: ToolError,
    ) -> Result<Envelope, ToolError> {
        if !self.registry.policy().enabled {
            return Err(error);
        }
        toolsets::call(self, &self.snapshot(), session, name, params, error)
    }

    #[cfg(not(feature = "toolsets"))]
    #[allow(clippy::unused_self)]
    fn call_skill_tool(
        &self,
        _: &Session,
        _: &str,
        _: &Value,
        error: ToolError,
    ) -> Result<Envelope, ToolError> {
        Err(error)
    }

    fn resolve_tool(&self, name: &str, session: &Session) -> Result<BuiltinTool, ToolError> {
        let policy = self.registry.policy();
        let display_name = hidden::escape_and_truncate(name);
        let offered = BuiltinTool::for_policy(policy, session.call_options.ask_consent.is_some());
        if !policy.enabled {
            return Err(ToolError::new(ErrorCode::Disabled, "skills are disabled"));
        }
        match BuiltinTool::from_name(name) {
            Some(tool) if offered.contains(&tool) => Ok(tool),
            Some(BuiltinTool::Run) if offered.contains(&BuiltinTool::Activate) => {
                let message = "scripts are not allowed to run; the user can allow them with run.allowed-skills, \
                    run.scripts or PROWESS_ALLOW_SCRIPTS=1";
                Err(ToolError::new(ErrorCode::AccessDenied, message))
            }
            Some(_) => {
                let message = format!("{display_name} is not available in preset {}", policy.preset);
                Err(ToolError::new(ErrorCode::NotFound, message))
            }
            None => {
                let similar = suggest::nearest(name, offered.iter().map(|tool| tool.name()));
                let similar =
                    similar.map_or_else(String::new, |similar| format!("; did you mean {similar}?"));
                Err(ToolError::new(ErrorCode::NotFound, format!("no tool named {display_name}{similar}")))
            }
        }
    }
}
