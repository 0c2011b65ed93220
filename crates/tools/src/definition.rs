//! Which tools there are, and what each takes.

use std::borrow::Cow;

use prowess::disclose::{Request, Visibility, catalog, visibility};
use prowess::policy::{Activation, CatalogFormat, Identity, Policy};
use prowess::{Skill, Snapshot};
use serde::Serialize;
use serde_json::{Value, json};

use crate::session::Session;

/// The most names that are listed in a schema; above that, any text is allowed.
const ENUM_MAX: usize = 256;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `skills.activate`: load a skill.
    Activate,
    /// `skills.readResource`: read one of its files.
    ReadResource,
    /// `skills.listResources`: list its files.
    ListResources,
    /// `skills.search`: find skills for a task.
    Search,
    /// `skills.run`: run one of its scripts in the sandbox.
    Run,
    /// `Skill`: load a skill, as document 001 has it.
    Skill,
    /// `ReadFile`: read a file below the run directory, as document 000 has it.
    ReadFile,
}

impl Tool {
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

    /// Its name.
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

    /// Its name where a model's interface forbids dots.
    ///
    /// ```
    /// assert_eq!(prowess_tools::Tool::Activate.dotless(), "skills_activate");
    /// ```
    pub fn dotless(self) -> String {
        self.name().replace('.', "_")
    }

    /// The tool of this name, in either spelling.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name || tool.dotless() == name)
    }

    /// The tools that go with a form of activation. Scripts run through a tool only where the user allows some to run
    /// without being asked, and skills are activated through a tool of the same kind.
    pub fn offered(policy: &Policy) -> &'static [Self] {
        let scripts = prowess_sandbox::is_any_allowed(policy);
        match (policy.activation, scripts) {
            (Activation::ReadFile, _) => &[Self::ReadFile],
            (Activation::SkillTool, _) => &[Self::Skill],
            (Activation::FrontmatterAndBody, false) => &[Self::Activate, Self::ReadResource],
            (Activation::FrontmatterAndBody, true) => &[Self::Activate, Self::ReadResource, Self::Run],
            (Activation::Wrapped | Activation::FullFile | Activation::Pushed { .. }, false) => {
                &[Self::Activate, Self::ReadResource, Self::ListResources, Self::Search]
            }
            (Activation::Wrapped | Activation::FullFile | Activation::Pushed { .. }, true) => {
                &[Self::Activate, Self::ReadResource, Self::ListResources, Self::Search, Self::Run]
            }
        }
    }
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does and when to call it.
    pub description: String,
    /// What it takes, as JSON Schema.
    pub input_schema: Value,
}

impl ToolDefinition {
    /// The definition of a tool for the skills of a snapshot.
    pub(crate) fn of(tool: Tool, snapshot: &Snapshot, policy: &Policy, session: &Session) -> Self {
        let description = match tool {
            Tool::Activate => {
                "Loads a skill: returns its instructions, which you then follow. Call it before you \
                work on a task that matches the skill's description."
                    .to_owned()
            }
            Tool::ReadResource => {
                "Reads one file of a skill, by its path inside the skill's folder. Call it only \
                when the skill's instructions refer to the file."
                    .to_owned()
            }
            Tool::ListResources => "Lists the files of a skill with their sizes.".to_owned(),
            Tool::Search => {
                "Finds skills for a task, the best first, with the reason for each. Call it when no \
                skill that you know of fits and there may be others."
                    .to_owned()
            }
            Tool::Run => {
                "Runs a script of a skill in a sandbox, without network and in a folder of its own: \
                returns its exit code and what it wrote. Call it only when the skill's instructions say so."
                    .to_owned()
            }
            // Document 001 keeps the list of skills in the tool's own text.
            Tool::Skill => {
                let request = Request { format: CatalogFormat::Tool, ..Request::of(policy) };
                catalog(snapshot, policy, &request).text
            }
            Tool::ReadFile => {
                let endings = policy.read_extensions.join(" ");
                format!(
                    "Reads a text file below the run directory. Allowed extensions: {endings}. Never runs anything."
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

fn schema(tool: Tool, snapshot: &Snapshot, policy: &Policy, session: &Session) -> Value {
    let name = || name_schema(snapshot, policy, session);
    let text = |about: &str| json!({"type": "string", "description": about});
    let (properties, required) = match tool {
        Tool::Activate | Tool::Skill => {
            (json!({"name": name(), "args": text("Arguments for the skill, as one text.")}), json!(["name"]))
        }
        Tool::ReadResource => {
            let path = text("The file's path inside the skill's folder, such as references/guide.md.");
            (json!({"name": name(), "path": path}), json!(["name", "path"]))
        }
        Tool::ListResources => (json!({"name": name()}), json!(["name"])),
        Tool::Search => {
            let k = json!({"type": "integer", "minimum": 1, "maximum": 50, "description": "How many; 5 unless told."});
            (json!({"query": text("What the task is about."), "k": k}), json!(["query"]))
        }
        Tool::Run => {
            let script = text("The script's path inside the skill's folder, such as scripts/check.py.");
            let args = json!({
                "type": "array", "items": {"type": "string"}, "maxItems": 100,
                "description": "Its arguments, each as it is: no shell reads them.",
            });
            (json!({"name": name(), "script": script, "args": args}), json!(["name", "script"]))
        }
        Tool::ReadFile => {
            (json!({"path": text("The path, relative to the run directory.")}), json!(["path"]))
        }
    };
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn name_schema(snapshot: &Snapshot, policy: &Policy, session: &Session) -> Value {
    let names: Vec<_> = callable(snapshot, policy, session).take(ENUM_MAX + 1).collect();
    match names.len() {
        0..=ENUM_MAX => json!({"type": "string", "enum": names, "description": "The skill's name."}),
        _ => json!({"type": "string", "description": "The skill's name."}),
    }
}

/// The names that a model may call: those it is told of, and those the user called.
pub(crate) fn callable<'s>(
    snapshot: &'s Snapshot,
    policy: &Policy,
    session: &Session,
) -> impl Iterator<Item = Cow<'s, str>> {
    snapshot.enabled().filter(|skill| may_call(skill, policy, session)).map(|skill| key(skill, policy))
}

/// Whether a model may know of a skill: it is told of it, or the user called it.
pub(crate) fn may_call(skill: &Skill, policy: &Policy, session: &Session) -> bool {
    visibility(skill, policy) != Visibility::Manual || session.was_called(&key(skill, policy))
}

/// What a skill is called by: its name, or its folder's where that is what makes two skills the same.
pub fn key<'s>(skill: &'s Skill, policy: &Policy) -> Cow<'s, str> {
    match policy.scan.identity {
        Identity::Id => skill.id(),
        Identity::Name => skill.name(),
    }
}
