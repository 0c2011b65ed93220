//! The tools of a registry: which there are, and who answers.

#[cfg(feature = "toolsets")]
mod toolsets;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use prowess::activate::WarnedOnce;
use prowess::disclose::{Visibility, visibility};
use prowess::format::{hidden, suggest};
use prowess::policy::Refresh;
use prowess::resource::Truncation;
use prowess::{ErrorCode, Located, Registry, Skill, Snapshot};
use prowess_routing::Router;
use prowess_routing::semantic::Semantic;
use serde_json::Value;

use crate::catalogs::Catalogs;
use crate::definition::{Tool, ToolDefinition, callable};
use crate::envelope::{Envelope, ToolError};
use crate::run::Runner;
use crate::session::Session;

/// The tools of a registry.
#[derive(Debug)]
pub struct Toolbox {
    registry: Arc<Registry>,
    /// The router of the latest snapshot: built once for each.
    router: Mutex<Option<(Arc<Snapshot>, Arc<Router>)>>,
    /// The catalogs that were rendered for the latest snapshot.
    pub(crate) catalogs: Catalogs,
    /// What says how close a message is in meaning, if anything does.
    semantic: Option<Arc<Semantic>>,
    /// What was warned about already, in this process.
    warned: WarnedOnce,
    notices: Mutex<Vec<String>>,
    diagnostics: Mutex<Vec<Located>>,
    #[cfg(feature = "toolsets")]
    pub(crate) toolsets: prowess_toolset::Toolsets,
    #[cfg(feature = "toolsets")]
    pub(crate) programs: prowess_toolset::Programs,
    pub(crate) runner: Runner,
    pub(crate) uses: crate::uses::Uses,
    /// Whether somebody watches the skills, so that they need not be looked at with each call.
    watched: bool,
}

impl Toolbox {
    /// The tools of a registry's policy over its skills.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self {
            uses: crate::uses::Uses::of(Arc::clone(&registry)),
            registry,
            router: Mutex::default(),
            catalogs: Catalogs::default(),
            semantic: None,
            warned: WarnedOnce::new(),
            notices: Mutex::default(),
            diagnostics: Mutex::default(),
            #[cfg(feature = "toolsets")]
            toolsets: prowess_toolset::Toolsets::default(),
            #[cfg(feature = "toolsets")]
            programs: prowess_toolset::Programs::default(),
            runner: Runner::default(),
            watched: false,
        }
    }

    /// For processes that stay: somebody else refreshes the registry whenever something changes, so that calls need not
    /// look.
    #[must_use]
    pub fn watched(self, watched: bool) -> Self {
        Self { watched, ..self }
    }

    /// With a stage that says how close a message is in meaning, beside words.
    #[must_use]
    pub fn with_semantic(self, semantic: Option<Arc<Semantic>>) -> Self {
        Self { semantic, ..self }
    }

    /// With what scripts and programs are run with.
    #[must_use]
    pub fn with_runner(self, runner: Runner) -> Self {
        Self { runner, ..self }
    }

    /// The same, with limits of your own for toolsets.
    #[cfg(feature = "toolsets")]
    #[must_use]
    pub fn toolset_limits(mut self, limits: prowess_toolset::Limits) -> Self {
        self.toolsets = prowess_toolset::Toolsets::with_limits(limits);
        self
    }

    /// The same for programs that bring tools.
    #[cfg(feature = "toolsets")]
    #[must_use]
    pub fn program_limits(mut self, limits: prowess_toolset::ProgramLimits) -> Self {
        self.programs = prowess_toolset::Programs::with_limits(limits);
        self
    }

    /// How many programs of skills run.
    #[cfg(feature = "toolsets")]
    pub fn running_programs(&self) -> usize {
        self.programs.running()
    }

    /// What is wrong with the toolsets that were asked for since this was last asked, with places in their sources.
    pub fn take_diagnostics(&self) -> Vec<Located> {
        std::mem::take(&mut *self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[cfg(feature = "toolsets")]
    pub(crate) fn diagnose(&self, said: Located) {
        let mut diagnostics = self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner);
        if !diagnostics.contains(&said) {
            diagnostics.push(said);
        }
    }

    /// What the user should hear of since this was last asked: files that are too long to be shown whole, and why meaning
    /// had no say in a choice. Each is told once, however often it happens.
    pub fn take_notices(&self) -> Vec<String> {
        let mut notices = std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner));
        notices.extend(self.semantic.iter().flat_map(|semantic| semantic.take_troubles()));
        notices
    }

    pub(crate) fn note_cut(&self, skill: &str, path: &str, cut: Option<Truncation>) {
        if let Some(notice) = self.warned.truncation(skill, path, cut) {
            self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
        }
    }

    /// The registry.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The registry, to be shared.
    pub fn registry_arc(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    /// The skills as they are now, or as they were at the start, as the policy says.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        match self.registry.policy().refresh {
            Refresh::Fingerprint | Refresh::DirectoryTime if !self.watched => self.registry.refresh(),
            _ => self.registry.snapshot(),
        }
    }

    /// The router of a snapshot.
    pub fn router(&self, snapshot: &Arc<Snapshot>) -> Arc<Router> {
        let mut kept = self.router.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((of, router)) if Arc::ptr_eq(of, snapshot) => Arc::clone(router),
            _ => {
                let policy = self.registry.policy();
                let offers = |skill: &Skill| visibility(skill, policy) != Visibility::Manual;
                let folder = self.registry.surroundings().state().map(|state| state.join("index"));
                let router = Router::offering(Arc::clone(snapshot), offers).keeping(folder);
                let router = Arc::new(router.with_semantic(self.semantic.clone()));
                *kept = Some((Arc::clone(snapshot), Arc::clone(&router)));
                router
            }
        }
    }

    /// The tools on offer: none where skills are off, or where there are none.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.definitions_in(&Session::default())
    }

    /// The same in a conversation: a skill that the user called is among the names, even if the model is not told of it,
    /// and with the feature `toolsets` the tools of active skills are there.
    pub fn definitions_in(&self, session: &Session) -> Vec<ToolDefinition> {
        let (snapshot, policy) = (self.snapshot(), self.registry.policy());
        if callable(&snapshot, policy, session).next().is_none() {
            return Vec::new();
        }
        let definition = |tool: &Tool| ToolDefinition::of(*tool, &snapshot, policy, session);
        let own = Tool::offered(policy).iter().map(definition);
        #[cfg(feature = "toolsets")]
        let own = own.chain(toolsets::Bound::all(self, &snapshot, session).into_iter().map(Into::into));
        own.collect()
    }

    /// Answers a call of a tool, in either spelling of its name.
    pub fn call(&self, session: &mut Session, name: &str, params: Value) -> Envelope {
        let start = Instant::now();
        let envelope = match self.offered(name) {
            Ok(tool) => self.dispatch(tool, session, &params),
            Err(failure) => self.brought(session, name, &params, failure),
        };
        let envelope = envelope.unwrap_or_else(Envelope::error);
        let time = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let cwd = self.registry.surroundings().project.to_string_lossy().into_owned();
        envelope.in_context(cwd, params, time)
    }

    /// The answer of a tool that a skill brought, or the failure where there is none of this name.
    #[cfg(feature = "toolsets")]
    fn brought(
        &self,
        session: &Session,
        name: &str,
        params: &Value,
        failure: ToolError,
    ) -> Result<Envelope, ToolError> {
        if !self.registry.policy().enabled {
            return Err(failure);
        }
        toolsets::call(self, &self.snapshot(), session, name, params, failure)
    }

    #[cfg(not(feature = "toolsets"))]
    #[allow(clippy::unused_self)]
    fn brought(&self, _: &Session, _: &str, _: &Value, failure: ToolError) -> Result<Envelope, ToolError> {
        Err(failure)
    }

    fn offered(&self, name: &str) -> Result<Tool, ToolError> {
        let policy = self.registry.policy();
        let shown = hidden::brief(name);
        let offered = Tool::offered(policy);
        if !policy.enabled {
            return Err(ToolError::new(ErrorCode::Disabled, "skills are switched off"));
        }
        match Tool::named(name) {
            Some(tool) if offered.contains(&tool) => Ok(tool),
            Some(Tool::Run) if offered.contains(&Tool::Activate) => {
                let message = "scripts are not allowed to run; the user can allow them with run.allowed-skills, \
                    run.scripts or PROWESS_ALLOW_SCRIPTS=1";
                Err(ToolError::new(ErrorCode::AccessDenied, message))
            }
            Some(_) => {
                let message = format!("{shown} is not offered in preset {}", policy.preset);
                Err(ToolError::new(ErrorCode::NotFound, message))
            }
            None => {
                let near = suggest::nearest(name, offered.iter().map(|tool| tool.name()));
                let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
                Err(ToolError::new(ErrorCode::NotFound, format!("there is no tool named {shown}{near}")))
            }
        }
    }
}
