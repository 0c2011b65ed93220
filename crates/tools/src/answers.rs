//! What each tool of ours does.

use std::path::Path;
use std::sync::Arc;

use prowess::activate::{Activated, activate};
use prowess::disclose::{Visibility, visibility};
use prowess::format::{hidden, suggest};
use prowess::ledger::Loaded;
use prowess::policy::{Activation, Policy};
use prowess::resource::{self, ReadFile};
use prowess::usage::{self, Usage};
use prowess::{ErrorCode, Skill, Snapshot, Status};
use prowess_routing::Options;
use serde_json::{Value, json};

use crate::definition::{Tool, callable, key, may_call};
use crate::envelope::{Envelope, ToolError};
use crate::params::Params;
use crate::served::{admit, may_run};
use crate::session::Session;
use crate::toolbox::Toolbox;

/// How many results a search gives unless told.
const RESULTS: usize = 5;

/// The most results of a search.
const RESULTS_MAX: usize = 50;

impl Toolbox {
    /// Answers a call of a tool that is offered.
    pub(crate) fn dispatch(
        &self,
        tool: Tool,
        session: &mut Session,
        params: &Value,
    ) -> Result<Envelope, ToolError> {
        let (snapshot, policy) = (self.snapshot(), self.registry().policy());
        match tool {
            Tool::Activate | Tool::Skill => {
                let params = Params::new(params, &["name", "args"])?;
                let skill = find(&snapshot, policy, session, params.text("name")?)?;
                self.activate(skill, params.optional("args")?, tool, session)
            }
            Tool::ReadResource => {
                let params = Params::new(params, &["name", "path"])?;
                let skill = find(&snapshot, policy, session, params.text("name")?)?;
                admit(skill, policy, session)?;
                self.read_resource(skill, params.text("path")?, policy)
            }
            Tool::ListResources => {
                let params = Params::new(params, &["name"])?;
                let skill = find(&snapshot, policy, session, params.text("name")?)?;
                admit(skill, policy, session)?;
                list_resources(skill)
            }
            Tool::Search => {
                let params = Params::new(params, &["query", "k"])?;
                let k = params.number("k", RESULTS, RESULTS_MAX)?;
                Ok(self.search(&snapshot, params.text("query")?, k))
            }
            Tool::Run => {
                let params = Params::new(params, &["name", "script", "args"])?;
                let skill = find(&snapshot, policy, session, params.text("name")?)?;
                may_run(&snapshot, session)?;
                let (script, args) = (params.text("script")?, params.texts("args")?);
                self.runner.run(self.registry(), skill, script, &args, &session.waiting)
            }
            Tool::ReadFile => {
                // Document 000 leaves the parameter's name open.
                let params = Params::new(params, &["path", "relativePath"])?;
                let path = params.optional("relativePath")?;
                self.read_file(path.map_or_else(|| params.text("path"), Ok)?, &snapshot, session)
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
        let policy = self.registry().policy();
        let activated =
            activate(skill, args, policy).map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        // Arguments make another text of the same skill: it is handed out again.
        let called = key(skill, policy);
        let again = session.ledger.activated(&called, activated.digest());
        session.ledger.hold(&called, activated.origin.as_ref().map(|origin| origin.set.as_str()));
        if !session.waiting.only_looks {
            self.uses.note(&called);
        }
        let is_known = again == Loaded::Again && activated.args.is_empty();
        if is_known
            && !session.waiting.repeat_instructions
            && let Some(reminder) = again.reminder(&activated.name)
        {
            let mut data = json!({"name": activated.name, "already_active": true});
            if tool == Tool::Skill {
                data["base_dir"] = json!(activated.base_dir);
                data["content"] = json!(reminder);
            }
            return Ok(Envelope::success(data, reminder));
        }
        let content = activated.content();
        let mut data = match tool {
            Tool::Skill => {
                json!({"name": activated.name, "base_dir": activated.base_dir, "content": content})
            }
            _ if session.waiting.text_only => json!({"name": activated.name, "digest": activated.digest()}),
            _ => data_of(&activated),
        };
        if is_known {
            data["already_active"] = true.into();
        }
        self.note_cut(&activated.name, "SKILL.md", activated.truncated);
        Ok(match activated.truncated {
            Some(_) => Envelope::partial(with_truncated(data), content),
            None => Envelope::success(data, content),
        })
    }

    fn search(&self, snapshot: &Arc<Snapshot>, query: &str, k: usize) -> Envelope {
        let world = self.registry().surroundings();
        let usage = Usage::load(world);
        let policy = self.registry().policy();
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
                Some((found, description, skill.supplied().map(|supplied| supplied.origin())))
            })
            .collect();
        let text = match matches.is_empty() {
            true => "No skill fits.\n".to_owned(),
            false => matches
                .iter()
                .map(|(found, description, origin)| {
                    let from = origin.as_ref().map_or_else(String::new, |origin| format!(" (from {origin})"));
                    format!("- {}{from}: {description}\n", found.name)
                })
                .collect(),
        };
        let data: Vec<_> = matches
            .iter()
            .map(|(found, description, origin)| {
                let mut data = json!({
                    "name": found.name, "description": description, "score": found.score, "reasons": found.reasons
                });
                if let Some(origin) = origin {
                    data["origin"] = origin.as_str().into();
                }
                data
            })
            .collect();
        Envelope::success(json!({"matches": data}), text)
    }

    fn read_resource(&self, skill: &Skill, path: &str, policy: &Policy) -> Result<Envelope, ToolError> {
        let read = resource::read(skill, path, &policy.limits)
            .map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        let mut data =
            json!({"name": read.name, "path": read.path, "content": read.content, "bytes": read.bytes});
        self.note_cut(&read.name, &read.path, read.truncated);
        let text = match skill.supplied() {
            None => read.content,
            Some(supplied) => {
                data["origin"] = supplied.origin().into();
                let path = hidden::shown(&read.path);
                format!("[{path} of {}, from the {}]\n\n{}", read.name, supplied.origin(), read.content)
            }
        };
        Ok(match read.truncated {
            Some(_) => Envelope::partial(with_truncated(data), text),
            None => Envelope::success(data, text),
        })
    }

    /// Reads a file of the project. Where skills are activated by reading their `SKILL.md`, that is an activation.
    fn read_file(
        &self,
        path: &str,
        snapshot: &Snapshot,
        session: &mut Session,
    ) -> Result<Envelope, ToolError> {
        let (project, policy) = (&self.registry().surroundings().project, self.registry().policy());
        let read = ReadFile::with_policy(project, policy)
            .read(path)
            .map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        let mut data = json!({"path": read.path, "content": read.content, "bytes": read.bytes});
        let text = read.content;
        if policy.activation == Activation::ReadFile
            && let Some(skill) = skill_at(snapshot, &project.join(&read.path))
            && let Ok(activated) = activate(skill, None, policy)
        {
            let called = key(skill, policy);
            let again = session.ledger.activated(&called, activated.digest());
            if !session.waiting.only_looks {
                self.uses.note(&called);
            }
            data["name"] = json!(called);
            if again == Loaded::Again {
                data["already_active"] = true.into();
            }
            if let Some(reminder) = again.reminder(&called).filter(|_| !session.waiting.repeat_instructions) {
                data["content"] = json!(reminder);
                return Ok(Envelope::success(data, reminder));
            }
        }
        Ok(match read.truncated {
            Some(_) => Envelope::partial(with_truncated(data), text),
            None => Envelope::success(data, text),
        })
    }
}

/// The skill that is offered whose `SKILL.md` is at this path.
fn skill_at<'s>(snapshot: &'s Snapshot, path: &Path) -> Option<&'s Skill> {
    let path = std::fs::canonicalize(path).ok()?;
    let (folder, file) = (path.parent()?, path.file_name()?);
    snapshot
        .enabled()
        .find(|skill| skill.canonical_folder() == folder && skill.location().file_name() == Some(file))
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
        let near = near.map_or_else(String::new, |near| format!("; did you mean {}?", hidden::brief(near)));
        ToolError::new(ErrorCode::NotFound, format!("there is no skill named {}{near}", hidden::brief(name)))
    })
}

fn data_of(activated: &Activated) -> Value {
    let mut data = json!({
        "name": activated.name,
        "base_dir": activated.base_dir,
        "frontmatter": activated.frontmatter(),
        "body": activated.body(),
        "resources": activated.resources(),
        "allowed_tools": activated.allowed_tools,
        "digest": activated.digest(),
    });
    if let Some(origin) = &activated.origin {
        data["origin"] = origin.title.as_str().into();
        data["uri"] = origin.uri.as_str().into();
    }
    data
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
