//! Tools for the files of a conversation: list, read and write them. They are offered only if the caller enables them.

use prowess::ErrorCode;
use serde_json::{Value, json};

use crate::definition::ToolDefinition;
use crate::envelope::{Envelope, ToolError};
use crate::params::ToolParams;
use crate::session::Session;
use crate::workspace::{ConversationWorkspace, WorkspaceChanges, WorkspaceFiles};

/// The maximum number of bytes of a file that is returned.
const READ_MAX: usize = 200 * 1024;

/// A tool for the files of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkspaceTool {
    List,
    Read,
    Write,
}

impl WorkspaceTool {
    const ALL: [Self; 3] = [Self::List, Self::Read, Self::Write];

    fn name(self) -> &'static str {
        match self {
            Self::List => "workspace.list",
            Self::Read => "workspace.read",
            Self::Write => "workspace.write",
        }
    }

    /// Returns the tool of this name, with or without dots, if the conversation offers it.
    pub(crate) fn find(name: &str, session: &Session) -> Option<Self> {
        let named = |tool: &Self| tool.name() == name || tool.name().replace('.', "_") == name;
        Self::ALL.into_iter().find(named).filter(|_| files(session).is_some())
    }

    /// Returns the definitions of the tools that the conversation offers.
    pub(crate) fn definitions(session: &Session) -> Vec<ToolDefinition> {
        if files(session).is_none() {
            return Vec::new();
        }
        Self::ALL.map(Self::definition).to_vec()
    }

    fn definition(self) -> ToolDefinition {
        let path =
            json!({"type": "string", "description": "Path in the workspace, such as reports/june.csv"});
        let (description, properties, required) = match self {
            Self::List => ("Lists the files of the workspace with their sizes.", json!({}), json!([])),
            Self::Read => {
                ("Returns the text of a file of the workspace.", json!({"path": path}), json!(["path"]))
            }
            Self::Write => (
                "Writes a text file of the workspace. An existing file is replaced.",
                json!({"path": path, "content": {"type": "string", "description": "The whole text"}}),
                json!(["path", "content"]),
            ),
        };
        let input_schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        });
        ToolDefinition { name: self.name().to_owned(), description: description.to_owned(), input_schema }
    }

    /// Calls the tool.
    pub(crate) fn call(self, session: &Session, params: &Value) -> Result<Envelope, ToolError> {
        let unavailable = || ToolError::new(ErrorCode::NotFound, "this conversation has no workspace");
        let files = files(session).ok_or_else(unavailable)?;
        let failed =
            |error: crate::workspace::WorkspaceError| ToolError::new(error.code(), error.to_string());
        match self {
            Self::List => {
                ToolParams::new(params, &[])?;
                let listed = files.list().map_err(failed)?;
                let lines: Vec<String> =
                    listed.iter().map(|file| format!("{} ({} bytes)", file.path, file.size)).collect();
                let entries: Vec<Value> =
                    listed.iter().map(|file| json!({"path": file.path, "bytes": file.size})).collect();
                Ok(Envelope::success(json!({"files": entries}), lines.join("\n")))
            }
            Self::Read => {
                let params = ToolParams::new(params, &["path"])?;
                let path = params.required_text("path")?;
                let bytes = files.read(path).map_err(failed)?;
                let text = String::from_utf8(bytes).map_err(|_| {
                    ToolError::new(ErrorCode::InvalidParam, format!("{path} is not a text file"))
                })?;
                if text.len() <= READ_MAX {
                    return Ok(Envelope::success(json!({"path": path}), text));
                }
                let shown = text.get(..text.floor_char_boundary(READ_MAX)).unwrap_or_default();
                let note = format!("{shown}\n[truncated: the file has {} bytes]", text.len());
                Ok(Envelope::partial(json!({"path": path, "bytes": text.len()}), note))
            }
            Self::Write => {
                let params = ToolParams::new(params, &["path", "content"])?;
                let path = params.required_text("path")?;
                let content = params.optional_text("content")?.unwrap_or_default();
                files.apply(WorkspaceChanges::write(path, content.as_bytes(), "")).map_err(failed)?;
                let data = json!({"path": path, "bytes": content.len()});
                Ok(Envelope::success(data, format!("wrote {} bytes to {path}", content.len())))
            }
        }
    }
}

/// Returns the files of a conversation in which the tools are enabled.
fn files(session: &Session) -> Option<&dyn WorkspaceFiles> {
    match &session.call_options.workspace {
        Some(ConversationWorkspace::Files(files)) if session.call_options.workspace_tools => Some(&**files),
        _ => None,
    }
}
