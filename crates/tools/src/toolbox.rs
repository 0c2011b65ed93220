//! Answering calls.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use prowess::activate::{Activated, WarnedOnce, activate};
use prowess::disclose::{Visibility, visibility};
use prowess::format::{hidden, suggest};
use prowess::ledger::Loaded;
use prowess::policy::{Policy, Refresh};
use prowess::resource::{self, ReadFile, Truncation};
use prowess::route::{Options, Router};
use prowess::usage::{self, Usage};
use prowess::{ErrorCode, Located, Registry, Skill, Snapshot, Status};
use serde_json::{Value, json};

use crate::definition::{Tool, ToolDefinition, callable, key, may_call};
use crate::envelope::{Envelope, ToolError};
use crate::params::Params;
use crate::run::Runner;
use crate::session::Session;

/// How many results a search gives unless told.
const RESULTS: usize = 5;

/// The most results of a search.
const RESULTS_MAX: usize = 50;

/// The tools of a registry.
#[derive(Debug)]
pub struct Toolbox {
    registry: Arc<Registry>,
    /// The router of the latest snapshot: built once for each.
    router: Mutex<Option<(Arc<Snapshot>, Arc<Router>)>>,
    /// What was warned about already, in this process.
    warned: WarnedOnce,
    notices: Mutex<Vec<String>>,
    diagnostics: Mutex<Vec<Located>>,
    #[cfg(feature = "toolsets")]
    pub(crate) toolsets: prowess_run::toolset::Toolsets,
    runner: Runner,
    /// Whether somebody watches the skills, so that they need not be looked at with each call.
    watched: bool,
}

impl Toolbox {
    /// The tools of a registry's policy over its skills.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self {
            registry,
            router: Mutex::default(),
            warned: WarnedOnce::new(),
            notices: Mutex::default(),
            diagnostics: Mutex::default(),
            #[cfg(feature = "toolsets")]
            toolsets: prowess_run::toolset::Toolsets::default(),
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

    /// With what scripts are run with.
    #[must_use]
    pub fn with_runner(self, runner: Runner) -> Self {
        Self { runner, ..self }
    }

    /// The same, with limits of your own for toolsets.
    #[cfg(feature = "toolsets")]
    #[must_use]
    pub fn toolset_limits(mut self, limits: prowess_run::toolset::Limits) -> Self {
        self.toolsets = prowess_run::toolset::Toolsets::with_limits(limits);
        self
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

    /// What the user should hear of since this was last asked: files that are too long to be shown whole. Each is told
    /// once, however often it is loaded.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note_cut(&self, skill: &str, path: &str, cut: Option<Truncation>) {
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
                let router = Arc::new(Router::offering(Arc::clone(snapshot), offers));
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
        let own =
            own.chain(crate::toolsets::Bound::all(self, &snapshot, session).into_iter().map(Into::into));
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
        crate::toolsets::call(self, &self.snapshot(), session, name, params, failure)
    }

    #[cfg(not(feature = "toolsets"))]
    #[allow(clippy::unused_self)]
    fn brought(&self, _: &Session, _: &str, _: &Value, failure: ToolError) -> Result<Envelope, ToolError> {
        Err(failure)
    }

    fn offered(&self, name: &str) -> Result<Tool, ToolError> {
        let policy = self.registry.policy();
        let shown = hidden::shown(name);
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

    fn dispatch(&self, tool: Tool, session: &mut Session, params: &Value) -> Result<Envelope, ToolError> {
        let (snapshot, policy) = (self.snapshot(), self.registry.policy());
        match tool {
            Tool::Activate | Tool::Skill => {
                let params = Params::new(params, &["name", "args"])?;
                let skill = find(&snapshot, policy, session, params.text("name")?)?;
                self.activate(skill, params.optional("args")?, tool, session)
            }
            Tool::ReadResource => {
                let params = Params::new(params, &["name", "path"])?;
                let skill = find(&snapshot, policy, session, params.text("name")?)?;
                self.read_resource(skill, params.text("path")?, policy)
            }
            Tool::ListResources => {
                let params = Params::new(params, &["name"])?;
                list_resources(find(&snapshot, policy, session, params.text("name")?)?)
            }
            Tool::Search => {
                let params = Params::new(params, &["query", "k"])?;
                let k = params.number("k", RESULTS, RESULTS_MAX)?;
                Ok(self.search(&snapshot, params.text("query")?, k))
            }
            Tool::Run => {
                let params = Params::new(params, &["name", "script", "args"])?;
                let skill = find(&snapshot, policy, session, params.text("name")?)?;
                let (script, args) = (params.text("script")?, params.texts("args")?);
                self.runner.run(&self.registry, skill, script, &args, &session.waiting)
            }
            Tool::ReadFile => {
                // Document 000 leaves the parameter's name open.
                let params = Params::new(params, &["path", "relativePath"])?;
                let path = params.optional("relativePath")?;
                self.read_file(path.map_or_else(|| params.text("path"), Ok)?)
            }
        }
    }

    pub(crate) fn activate(
        &self,
        skill: &Skill,
        args: Option<&str>,
        tool: Tool,
        session: &mut Session,
    ) -> Result<Envelope, ToolError> {
        let policy = self.registry.policy();
        let activated =
            activate(skill, args, policy).map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        // Arguments make another text of the same skill: it is handed out again.
        let called = key(skill, policy);
        let again = session.ledger.activated(&called, activated.digest());
        // What is remembered across runs is a convenience; that it cannot be written fails nothing.
        let _ = Usage::record(self.registry.surroundings(), &called);
        if let (Loaded::Again, true, Some(reminder)) =
            (again, activated.args.is_empty(), again.reminder(&activated.name))
        {
            let mut data = json!({"name": activated.name, "already_active": true});
            if tool == Tool::Skill {
                data["base_dir"] = json!(activated.base_dir);
                data["content"] = json!(reminder);
            }
            return Ok(Envelope::success(data, reminder));
        }
        let content = activated.content();
        let data = match tool {
            Tool::Skill => {
                json!({"name": activated.name, "base_dir": activated.base_dir, "content": content})
            }
            _ => data_of(&activated),
        };
        self.note_cut(&activated.name, "SKILL.md", activated.truncated);
        Ok(match activated.truncated {
            Some(_) => Envelope::partial(with_truncated(data), content),
            None => Envelope::success(data, content),
        })
    }

    fn search(&self, snapshot: &Arc<Snapshot>, query: &str, k: usize) -> Envelope {
        let world = self.registry.surroundings();
        let usage = Usage::load(world);
        let policy = self.registry.policy();
        let options = Options { k, max_skills: k, usage: &usage, now: usage::now(), mention: policy.mention };
        let routing = self.router(snapshot).route(query, &options);
        let matches: Vec<_> = routing
            .matches
            .iter()
            .filter_map(|found| {
                let skill = snapshot
                    .get(&found.name)
                    .filter(|skill| visibility(skill, policy) != Visibility::Manual)?;
                let description = prowess::disclose::escape::one_line(skill.description(), 1024).into_owned();
                Some((found, description))
            })
            .collect();
        let text = match matches.is_empty() {
            true => "No skill fits.\n".to_owned(),
            false => matches
                .iter()
                .map(|(found, description)| format!("- {}: {description}\n", found.name))
                .collect(),
        };
        let data: Vec<_> = matches
            .iter()
            .map(|(found, description)| {
                json!({"name": found.name, "description": description, "score": found.score, "reasons": found.reasons})
            })
            .collect();
        Envelope::success(json!({"matches": data}), text)
    }

    fn read_resource(&self, skill: &Skill, path: &str, policy: &Policy) -> Result<Envelope, ToolError> {
        let read = resource::read(skill, path, &policy.limits)
            .map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        let data =
            json!({"name": read.name, "path": read.path, "content": read.content, "bytes": read.bytes});
        self.note_cut(&read.name, &read.path, read.truncated);
        Ok(match read.truncated {
            Some(_) => Envelope::partial(with_truncated(data), read.content),
            None => Envelope::success(data, read.content),
        })
    }

    fn read_file(&self, path: &str) -> Result<Envelope, ToolError> {
        let reader = ReadFile::with_policy(&self.registry.surroundings().project, self.registry.policy());
        let read = reader.read(path).map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        let data = json!({"path": read.path, "content": read.content, "bytes": read.bytes});
        Ok(match read.truncated {
            Some(_) => Envelope::partial(with_truncated(data), read.content),
            None => Envelope::success(data, read.content),
        })
    }
}

/// The skill of this name that the model may load: one it is told of, or one the user called. One that is there and
/// cannot be loaded is found, too: loading it says why.
pub(crate) fn find<'s>(
    snapshot: &'s Snapshot,
    policy: &Policy,
    session: &Session,
    name: &str,
) -> Result<&'s Skill, ToolError> {
    let is_meant = |skill: &&Skill| skill.name() == name && !matches!(skill.status(), Status::Shadowed(_));
    let skill = snapshot.get(name).or_else(|| snapshot.all().iter().find(is_meant));
    skill.filter(|skill| may_call(skill, policy, session)).ok_or_else(|| {
        let names: Vec<_> = callable(snapshot, policy, session).collect();
        let near = suggest::nearest(name, names.iter().map(AsRef::as_ref));
        let near = near.map_or_else(String::new, |near| format!("; did you mean {}?", hidden::shown(near)));
        ToolError::new(ErrorCode::NotFound, format!("there is no skill named {}{near}", hidden::shown(name)))
    })
}

fn data_of(activated: &Activated) -> Value {
    json!({
        "name": activated.name,
        "base_dir": activated.base_dir,
        "frontmatter": activated.frontmatter(),
        "body": activated.body(),
        "resources": activated.resources(),
        "allowed_tools": activated.allowed_tools,
        "digest": activated.digest(),
    })
}

fn with_truncated(mut data: Value) -> Value {
    if let Value::Object(data) = &mut data {
        data.insert("truncated".to_owned(), true.into());
    }
    data
}

fn list_resources(skill: &Skill) -> Result<Envelope, ToolError> {
    let contents =
        resource::list(skill, None).map_err(|error| ToolError::new(error.code(), error.to_string()))?;
    let files: Vec<_> =
        contents.files.iter().map(|file| json!({"path": file.path, "bytes": file.bytes})).collect();
    let mut text: String =
        contents.files.iter().map(|file| format!("{} ({} bytes)\n", file.path, file.bytes)).collect();
    let data = json!({"name": skill.name(), "files": files});
    if contents.cut {
        text.push_str("[more files than are listed]\n");
        return Ok(Envelope::partial(with_truncated(data), text));
    }
    Ok(Envelope::success(data, text))
}
