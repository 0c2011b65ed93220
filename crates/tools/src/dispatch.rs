//! The implementations of the tools.

use std::path::Path;
use std::sync::Arc;

use prowess::activation::{ActivatedSkill, activate};
use prowess::catalog::{Visibility, visibility};
use prowess::format::{hidden, suggest};
use prowess::known_files::KnownFiles;
use prowess::ledger::LoadOutcome;
use prowess::policy::{ActivationMode, Policy};
use prowess::resources::{self, ReadFileTool};
use prowess::usage::{self, SkillUsage};
use prowess::{ErrorCode, Skill, SkillStatus, Snapshot};
use prowess_routing::RouteOptions;
use serde_json::{Value, json};

use crate::definition::{BuiltinTool, callable_names, may_call};
use crate::envelope::{Envelope, ToolError};
use crate::inputs;
use crate::params::ToolParams;
use crate::remote_guard::{check_loaded_files, check_run_allowed};
use crate::run::ScriptCall;
use crate::session::Session;
use crate::toolbox::Toolbox;

/// The default number of search results.
const DEFAULT_RESULTS: usize = 5;

/// The maximum number of search results.
const RESULTS_MAX: usize = 50;

impl Toolbox {
    /// Executes a call of an available tool.
    pub(crate) fn dispatch(
        &self,
        tool: BuiltinTool,
        session: &mut Session,
        params: &Value,
    ) -> Result<Envelope, ToolError> {
        let (snapshot, policy) = (self.snapshot(), self.registry().policy());
        match tool {
            BuiltinTool::Activate | BuiltinTool::Skill => {
                let params = ToolParams::new(params, &["name", "args"])?;
                let skill = find_skill(&snapshot, policy, session, params.required_text("name")?)?;
                self.activate(skill, params.optional_text("args")?, tool, session)
            }
            BuiltinTool::ReadResource => {
                let params = ToolParams::new(params, &["name", "path"])?;
                let skill = find_skill(&snapshot, policy, session, params.required_text("name")?)?;
                check_loaded_files(skill, session)?;
                if skill.remote().is_some() {
                    session.remote_reads.insert(skill.key().into());
                }
                self.read_resource(skill, params.required_text("path")?, policy)
            }
            BuiltinTool::ListResources => {
                let params = ToolParams::new(params, &["name"])?;
                let skill = find_skill(&snapshot, policy, session, params.required_text("name")?)?;
                check_loaded_files(skill, session)?;
                list_resources(skill)
            }
            BuiltinTool::Search => {
                let params = ToolParams::new(params, &["query", "k"])?;
                let k = params.number("k", DEFAULT_RESULTS, RESULTS_MAX)?;
                Ok(self.search(&snapshot, params.required_text("query")?, k, &session.files))
            }
            BuiltinTool::Run => {
                let params = ToolParams::new(params, &["name", "script", "args", "inputs"])?;
                let skill = find_skill(&snapshot, policy, session, params.required_text("name")?)?;
                check_run_allowed(&snapshot, session)?;
                let (script, args) = (params.required_text("script")?, params.text_list("args")?);
                let inputs = inputs::parse(params.value("inputs"), &session.call_options.shared_dirs)?;
                let call = ScriptCall { skill, script, args: &args, inputs };
                self.runner.run(self.registry(), call, &session.call_options)
            }
            BuiltinTool::ReadFile => {
                // Document 000 does not define the name of the parameter.
                let params = ToolParams::new(params, &["path", "relativePath"])?;
                let path = params.optional_text("relativePath")?;
                self.read_file(path.map_or_else(|| params.required_text("path"), Ok)?, &snapshot, session)
            }
        }
    }

    pub(crate) fn activate(
        &self,
        skill: &Skill,
        args: Option<&str>,
        tool: BuiltinTool,
        session: &mut Session,
    ) -> Result<Envelope, ToolError> {
        let policy = self.registry().policy();
        let mut activated =
            activate(skill, args, policy).map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        // With arguments, the text differs, so it is returned again.
        let name = skill.key();
        let outcome = session.ledger.record_activation(name, activated.digest());
        session.ledger.pin_file_set(name, activated.origin.as_ref().map(|origin| origin.file_set.as_str()));
        if !session.call_options.is_preview {
            self.uses.record(name);
        }
        let is_known = outcome == LoadOutcome::Unchanged && activated.args.is_empty();
        if is_known
            && !session.call_options.repeat_instructions
            && let Some(reminder) = outcome.reminder(&activated.name)
        {
            let mut data = json!({"name": activated.name, "already_active": true});
            if tool == BuiltinTool::Skill {
                data["base_dir"] = json!(activated.base_dir);
                data["content"] = json!(reminder);
            }
            return Ok(Envelope::success(data, reminder));
        }
        self.runner.insert_command_outputs(self.registry(), &self.snapshot(), skill, &mut activated, session);
        let content = activated.content();
        let mut data = match tool {
            BuiltinTool::Skill => {
                json!({"name": activated.name, "base_dir": activated.base_dir, "content": content})
            }
            _ if session.call_options.text_only => {
                json!({"name": activated.name, "digest": activated.digest()})
            }
            _ => activation_data(&activated),
        };
        if is_known {
            data["already_active"] = true.into();
        }
        if !activated.command_outputs().is_empty() {
            data["commands"] = command_data(&activated);
        }
        self.note_truncation(&activated.name, "SKILL.md", activated.truncated);
        Ok(match activated.truncated {
            Some(_) => Envelope::partial(with_truncated(data), content),
            None => Envelope::success(data, content),
        })
    }

    fn search(&self, snapshot: &Arc<Snapshot>, query: &str, k: usize, files: &[String]) -> Envelope {
        let host = self.registry().host();
        let mut known_files = KnownFiles::in_message(query, &host.project);
        files.iter().for_each(|path| known_files.add_path(path, &host.project));
        let usage = SkillUsage::load(host);
        let policy = self.registry().policy();
        let options =
            RouteOptions { k, max_skills: k, usage: &usage, now: usage::now(), mention: policy.mention };
        let routing = self.router(snapshot).route_for_files(query, &known_files, &options);
        let matches: Vec<_> = routing
            .matches
            .iter()
            .filter_map(|matched| {
                let skill = snapshot
                    .get(&matched.name)
                    .filter(|skill| visibility(skill, policy) != Visibility::Manual)?;
                let description =
                    prowess::catalog::escape::one_line(&skill.full_description(), 1024).into_owned();
                Some((matched, description, skill.remote().map(|remote| remote.origin())))
            })
            .collect();
        let text = match matches.is_empty() {
            true => "No matching skill found.\n".to_owned(),
            false => matches
                .iter()
                .map(|(matched, description, origin)| {
                    let suffix =
                        origin.as_ref().map_or_else(String::new, |origin| format!(" (from {origin})"));
                    format!("- {}{suffix}: {description}\n", matched.name)
                })
                .collect(),
        };
        let data: Vec<_> = matches
            .iter()
            .map(|(matched, description, origin)| {
                let mut data = json!({
                    "name": matched.name, "description": description, "score": matched.score, "reasons": matched.reasons
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
        let resource = resources::read_text(skill, path, &policy.limits)
            .map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        let mut data = json!({"name": resource.name, "path": resource.path, "content": resource.content, "bytes": resource.bytes});
        self.note_truncation(&resource.name, &resource.path, resource.truncated);
        let text = match skill.remote() {
            None => resource.content,
            Some(remote) => {
                data["origin"] = remote.origin().into();
                let path = hidden::escape_for_display(&resource.path);
                format!("[{path} of {}, from the {}]\n\n{}", resource.name, remote.origin(), resource.content)
            }
        };
        Ok(match resource.truncated {
            Some(_) => Envelope::partial(with_truncated(data), text),
            None => Envelope::success(data, text),
        })
    }

    /// Reads a file of the project. If the policy activates skills by reading their `SKILL.md`, this is an
    /// activation.
    fn read_file(
        &self,
        path: &str,
        snapshot: &Snapshot,
        session: &mut Session,
    ) -> Result<Envelope, ToolError> {
        let (project, policy) = (&self.registry().host().project, self.registry().policy());
        let file = ReadFileTool::with_policy(project, policy)
            .read(path)
            .map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        let mut data = json!({"path": file.path, "content": file.content, "bytes": file.bytes});
        let text = file.content;
        if policy.activation == ActivationMode::ReadFile
            && let Some(skill) = skill_at(snapshot, &project.join(&file.path))
            && let Ok(activated) = activate(skill, None, policy)
        {
            let name = skill.key();
            let outcome = session.ledger.record_activation(name, activated.digest());
            if !session.call_options.is_preview {
                self.uses.record(name);
            }
            data["name"] = json!(name);
            if outcome == LoadOutcome::Unchanged {
                data["already_active"] = true.into();
            }
            if let Some(reminder) =
                outcome.reminder(name).filter(|_| !session.call_options.repeat_instructions)
            {
                data["content"] = json!(reminder);
                return Ok(Envelope::success(data, reminder));
            }
        }
        Ok(match file.truncated {
            Some(_) => Envelope::partial(with_truncated(data), text),
            None => Envelope::success(data, text),
        })
    }
}

/// Returns the enabled skill whose `SKILL.md` is at this path.
fn skill_at<'s>(snapshot: &'s Snapshot, path: &Path) -> Option<&'s Skill> {
    let path = std::fs::canonicalize(path).ok()?;
    let (dir, file) = (path.parent()?, path.file_name()?);
    snapshot
        .enabled()
        .find(|skill| skill.canonical_dir() == dir && skill.skill_md_path().file_name() == Some(file))
}

/// Returns the skill of this name that the model may load: one in the catalog, or one that the user requested.
/// Also finds a skill that cannot be loaded, so that loading it returns the reason.
pub(crate) fn find_skill<'s>(
    snapshot: &'s Snapshot,
    policy: &Policy,
    session: &Session,
    name: &str,
) -> Result<&'s Skill, ToolError> {
    let has_name =
        |skill: &&Skill| skill.name() == name && !matches!(skill.status(), SkillStatus::Shadowed(_));
    let skill = snapshot.get(name).or_else(|| snapshot.all().iter().find(has_name));
    skill.filter(|skill| may_call(skill, policy, session)).ok_or_else(|| {
        let names: Vec<_> = callable_names(snapshot, policy, session).collect();
        let similar = suggest::nearest(name, names.iter().map(AsRef::as_ref));
        let similar = similar.map_or_else(String::new, |similar| {
            format!("; did you mean {}?", hidden::escape_and_truncate(similar))
        });
        ToolError::new(
            ErrorCode::NotFound,
            format!("skill {} not found{similar}", hidden::escape_and_truncate(name)),
        )
    })
}

fn activation_data(activated: &ActivatedSkill) -> Value {
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

/// Returns the commands of the instructions that were run, with their output.
fn command_data(activated: &ActivatedSkill) -> Value {
    let outputs = activated.command_outputs().iter();
    outputs.map(|output| json!({"command": output.command, "output": output.output})).collect()
}

fn with_truncated(mut data: Value) -> Value {
    if let Value::Object(data) = &mut data {
        data.insert("truncated".to_owned(), true.into());
    }
    data
}

fn list_resources(skill: &Skill) -> Result<Envelope, ToolError> {
    let listing = resources::list_files(skill, None)
        .map_err(|error| ToolError::new(error.code(), error.to_string()))?;
    let files: Vec<_> =
        listing.files.iter().map(|file| json!({"path": file.path, "bytes": file.bytes})).collect();
    let mut text: String =
        listing.files.iter().map(|file| format!("{} ({} bytes)\n", file.path, file.bytes)).collect();
    let data = json!({"name": skill.name(), "files": files});
    if listing.truncated {
        text.push_str("[not all files are listed]\n");
        return Ok(Envelope::partial(with_truncated(data), text));
    }
    Ok(Envelope::success(data, text))
}
