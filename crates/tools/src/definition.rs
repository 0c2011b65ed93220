//! The tools and their parameters.

use prowess::catalog::{CatalogRequest, Visibility, render_catalog, visibility};
use prowess::policy::{ActivationMode, CatalogFormat, Policy, ScriptPolicy};
use prowess::{Skill, SkillKey, Snapshot};
use serde::Serialize;
use serde_json::{Value, json};

use crate::inputs;
use crate::session::Session;

/// The maximum number of names in a schema; beyond that, any string is allowed.
const ENUM_MAX: usize = 256;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltinTool {
    /// `skills.activate`: loads a skill.
    Activate,
    /// `skills.readResource`: reads a file of a skill.
    ReadResource,
    /// `skills.listResources`: lists the files of a skill.
    ListResources,
    /// `skills.search`: finds skills for a task.
    Search,
    /// `skills.run`: runs a script of a skill in the sandbox.
    Run,
    /// `Skill`: loads a skill, as in document 001.
    Skill,
    /// `ReadFile`: reads a file below the run directory, as in document 000.
    ReadFile,
}

impl BuiltinTool {
    /// All tools.
    pub const ALL: [Self; 7] = [
        Self::Activate,
        Self::ReadResource,
        Self::ListResources,
        Self::Search,
        Self::Run,
        Self::Skill,
        Self::ReadFile,
    ];

    /// Returns the name of the tool.
    pub fn name(self) -> &'static str {
        match self {
            Self::Activate => "skills.activate",
            Self::ReadResource => "skills.readResource",
            Self::ListResources => "skills.listResources",
            Self::Search => "skills.search",
            Self::Run => "skills.run",
            Self::Skill => "Skill",
            Self::ReadFile => "ReadFile",
        }
    }

    /// Returns the name without dots, for APIs that forbid them.
    ///
    /// ```
    /// assert_eq!(prowess_tools::BuiltinTool::Activate.dotless_name(), "skills_activate");
    /// ```
    pub fn dotless_name(self) -> String {
        self.name().replace('.', "_")
    }

    /// Returns the tool of this name, with or without dots.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name || tool.dotless_name() == name)
    }

    /// Returns the tools for a policy's activation mode, which is the way a model loads skills. The tool for scripts is
    /// only included if skills are loaded through a tool, and the user allows some scripts to run without confirmation or
    /// can be asked.
    pub fn for_policy(policy: &Policy, can_ask: bool) -> &'static [Self] {
        let may_ask = can_ask && policy.run.scripts == ScriptPolicy::Ask;
        let scripts = may_ask || prowess_sandbox::is_any_allowed(policy);
        match (policy.activation, scripts) {
            (ActivationMode::ReadFile, _) => &[Self::ReadFile],
            (ActivationMode::SkillTool, _) => &[Self::Skill],
            (ActivationMode::FrontmatterAndBody, false) => &[Self::Activate, Self::ReadResource],
            (ActivationMode::FrontmatterAndBody, true) => &[Self::Activate, Self::ReadResource, Self::Run],
            (ActivationMode::Wrapped | ActivationMode::FullFile | ActivationMode::Pushed { .. }, false) => {
                &[Self::Activate, Self::ReadResource, Self::ListResources, Self::Search]
            }
            (ActivationMode::Wrapped | ActivationMode::FullFile | ActivationMode::Pushed { .. }, true) => {
                &[Self::Activate, Self::ReadResource, Self::ListResources, Self::Search, Self::Run]
            }
        }
    }

    /// Returns `true` if a policy offers this tool without asking the user.
    pub fn is_offered(self, policy: &Policy) -> bool {
        Self::for_policy(policy, false).contains(&self)
    }
}

/// A tool definition for a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// The description: what it does and when to call it.
    pub description: String,
    /// The JSON Schema of its parameters.
    pub input_schema: Value,
}

impl ToolDefinition {
    /// Returns the definition of a tool for the skills of a snapshot.
    pub(crate) fn for_tool(
        tool: BuiltinTool,
        snapshot: &Snapshot,
        policy: &Policy,
        session: &Session,
    ) -> Self {
        // Some clients show their models no other instructions, and others only the first 150 characters of a description.
        let description = match tool {
            BuiltinTool::Activate => {
                let text = "Loads a skill and returns its instructions. Call it before you start a task that matches the \
                    skill's name or description, then follow the instructions.";
                match BuiltinTool::Search.is_offered(policy) {
                    true => format!("{text} If you know no skill for the task, call skills.search first."),
                    false => text.to_owned(),
                }
            }
            BuiltinTool::ReadResource => {
                "Reads one file of a skill, by its path inside the skill's directory. Call it only \
                when the skill's instructions, which skills.activate returns, refer to the file."
                    .to_owned()
            }
            BuiltinTool::ListResources => {
                "Lists the files of a skill with their sizes. Call it when the skill's instructions refer to files without \
                their paths."
                    .to_owned()
            }
            BuiltinTool::Search => {
                "Finds skills for a task. Call it before you start a task for which you know no skill. Returns the best \
                first, with the reason for each; skills.activate loads one. A skill is a set of instructions for a \
                particular kind of task."
                    .to_owned()
            }
            BuiltinTool::Run => {
                "Runs a script of a skill in a sandbox, without network access. Its current directory is a workspace: it \
                reads the inputs there, and the files that it writes there are kept. Returns its exit code, output and the \
                written files. Call it only when the skill's instructions, which skills.activate returns, say so."
                    .to_owned()
            }
            // In document 001, the list of skills is part of the tool's description.
            BuiltinTool::Skill => {
                let request = CatalogRequest { format: CatalogFormat::Tool, ..CatalogRequest::from_policy(policy) };
                render_catalog(snapshot, policy, &request).text
            }
            BuiltinTool::ReadFile => {
                let extensions = policy.read_extensions.join(" ");
                format!(
                    "Reads a text file below the run directory. Allowed extensions: {extensions}. Never executes anything."
                )
            }
        };
        Self {
            name: tool.name().to_owned(),
            description,
            input_schema: schema(tool, snapshot, policy, session),
        }
    }
}

fn schema(tool: BuiltinTool, snapshot: &Snapshot, policy: &Policy, session: &Session) -> Value {
    let name = || name_schema(snapshot, policy, session);
    let text = |description: &str| json!({"type": "string", "description": description});
    let (properties, required) = match tool {
        BuiltinTool::Activate | BuiltinTool::Skill => (
            json!({"name": name(), "args": text("Arguments for the skill, as one string.")}),
            json!(["name"]),
        ),
        BuiltinTool::ReadResource => {
            let path =
                text("The path of the file inside the skill's directory, such as references/guide.md.");
            (json!({"name": name(), "path": path}), json!(["name", "path"]))
        }
        BuiltinTool::ListResources => (json!({"name": name()}), json!(["name"])),
        BuiltinTool::Search => {
            let k = json!({"type": "integer", "minimum": 1, "maximum": 50, "description": "The maximum number of results. The default is 5."});
            (
                json!({"query": text("A description of the task, with the names of its files."), "k": k}),
                json!(["query"]),
            )
        }
        BuiltinTool::Run => {
            let script =
                text("The path of the script inside the skill's directory, such as scripts/check.py.");
            let args = json!({
                "type": "array", "items": {"type": "string"}, "maxItems": 100,
                "description": "The arguments, passed without a shell.",
            });
            let properties =
                json!({"name": name(), "script": script, "args": args, "inputs": inputs::schema()});
            (properties, json!(["name", "script"]))
        }
        BuiltinTool::ReadFile => {
            (json!({"path": text("The path, relative to the run directory.")}), json!(["path"]))
        }
    };
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn name_schema(snapshot: &Snapshot, policy: &Policy, session: &Session) -> Value {
    let names: Vec<_> = callable_names(snapshot, policy, session).take(ENUM_MAX + 1).collect();
    match names.len() {
        0..=ENUM_MAX => json!({"type": "string", "enum": names, "description": "The skill's name."}),
        _ => json!({"type": "string", "description": "The skill's name."}),
    }
}

/// Returns the names that a model may use: those in the catalog, and those that the user requested.
pub(crate) fn callable_names<'s>(
    snapshot: &'s Snapshot,
    policy: &Policy,
    session: &Session,
) -> impl Iterator<Item = &'s SkillKey> {
    snapshot.enabled().filter(|skill| may_call(skill, policy, session)).map(Skill::key)
}

/// Returns `true` if a model may use a skill: it is in the catalog, or the user requested it.
pub(crate) fn may_call(skill: &Skill, policy: &Policy, session: &Session) -> bool {
    visibility(skill, policy) != Visibility::Manual || session.was_invoked(skill.key())
}
