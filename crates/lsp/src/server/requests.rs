//! Requests of the client.

use std::path::Path;
use std::sync::Arc;

use gen_lsp_types::{
    CodeActionParams, CodeLensParams, CompletionParams, DefinitionParams, DocumentLinkParams,
    ExecuteCommandParams, HoverParams, MessageType, PrepareRenameParams, RenameFilesParams, RenameParams,
};
use lsp_server::{ErrorCode, RequestId};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::lifecycle::{folder_path, to_json};
use super::{Answer, RequestError, Server};
use crate::background::DocumentTask;
use crate::document::{DocumentKind, DocumentText, OpenDocument, SkillView};
use crate::edits::workspace_edit;
use crate::lens::SHOW_COMMAND;
use crate::rename::{RenameError, edits_before_rename, prepare_rename, rename};
use crate::skill_files::skill_dir_of;
use crate::{actions, completion, hover, references};

impl From<RenameError> for RequestError {
    fn from(error: RenameError) -> Self {
        Self::new(ErrorCode::RequestFailed, error.to_string())
    }
}

impl Server {
    pub(super) fn dispatch(
        &mut self,
        id: &RequestId,
        method: &str,
        params: Value,
    ) -> Result<Answer, RequestError> {
        let value = match method {
            "textDocument/completion" => self.complete(parse(params)?)?,
            "textDocument/hover" => self.hover(parse(params)?)?,
            "textDocument/definition" => self.define(parse(params)?)?,
            "textDocument/documentLink" => self.links(&parse(params)?)?,
            "textDocument/codeAction" => self.actions(&parse(params)?)?,
            "textDocument/codeLens" => return self.lenses(id, &parse(params)?),
            "textDocument/prepareRename" => self.prepare_rename(parse(params)?)?,
            "textDocument/rename" => self.rename(parse(params)?)?,
            "workspace/willRenameFiles" => self.will_rename(&parse(params)?)?,
            "workspace/executeCommand" => self.execute(&parse(params)?)?,
            _ => {
                let message =
                    format!("unknown method {}", prowess_format::hidden::escape_for_display(method));
                return Err(RequestError::new(ErrorCode::MethodNotFound, message));
            }
        };
        Ok(Answer::Now(value))
    }

    /// Returns an open skill.
    fn skill(&self, uri: &Url) -> Option<&OpenDocument> {
        self.documents.get(uri).filter(|document| document.is_skill())
    }

    fn view(&self, uri: &Url) -> Option<SkillView<'_>> {
        self.skill(uri).map(|document| document.view(self.client.encoding))
    }

    fn complete(&self, params: CompletionParams) -> Result<Value, RequestError> {
        let at = params.text_document_position_params;
        let list = self
            .view(&at.text_document.uri)
            .map(|view| completion::completions(&view, at.position, &self.index, &self.client));
        to_json(&list)
    }

    fn hover(&self, params: HoverParams) -> Result<Value, RequestError> {
        let at = params.text_document_position_params;
        let view = self.view(&at.text_document.uri);
        to_json(&view.and_then(|view| hover::hover(&view, at.position, &self.index, &self.client)))
    }

    fn define(&self, params: DefinitionParams) -> Result<Value, RequestError> {
        let at = params.text_document_position_params;
        let view = self.view(&at.text_document.uri);
        to_json(&view.and_then(|view| references::definition(&view, at.position)))
    }

    fn links(&self, params: &DocumentLinkParams) -> Result<Value, RequestError> {
        let view = self.view(&params.text_document.uri);
        to_json(&view.map(|view| references::document_links(&view)))
    }

    fn actions(&mut self, params: &CodeActionParams) -> Result<Value, RequestError> {
        let encoding = self.client.encoding;
        let Some(document) = self.documents.get_mut(&params.text_document.uri) else {
            return Ok(Value::Null);
        };
        let Some(checked) = document.check(&self.options.rules, &self.settings) else {
            return Ok(Value::Null);
        };
        let only = params.context.only.as_deref();
        to_json(&actions::code_actions(&document.view(encoding), &checked, params.range, only, &self.client))
    }

    fn lenses(&mut self, id: &RequestId, params: &CodeLensParams) -> Result<Answer, RequestError> {
        let (Some(document), Some(background)) = (self.skill(&params.text_document.uri), &self.background)
        else {
            return Ok(Answer::Now(Value::Null));
        };
        let path = match &document.kind {
            DocumentKind::SkillFile(path) => Some(path.clone()),
            DocumentKind::LooseSkill | DocumentKind::Other(_) => None,
        };
        let (content, index) = (Arc::clone(&document.content), self.neighbours.clone());
        let task = DocumentTask::Lenses { id: id.clone(), content, path, index };
        if background.documents.send(task).is_err() {
            return Err(RequestError::new(ErrorCode::InternalError, "the background thread has ended"));
        }
        self.pending.insert(id.clone());
        Ok(Answer::Later)
    }

    fn prepare_rename(&self, params: PrepareRenameParams) -> Result<Value, RequestError> {
        let at = params.text_document_position_params;
        let view = self.view(&at.text_document.uri).ok_or(RenameError::NoReference)?;
        match prepare_rename(&view, at.position, &self.client) {
            // A position without a file is not an error: the editor says that nothing can be renamed.
            Err(RenameError::NoReference) => Ok(Value::Null),
            result => to_json(&result?),
        }
    }

    fn rename(&self, params: RenameParams) -> Result<Value, RequestError> {
        let at = params.text_document_position_params;
        let view = self.view(&at.text_document.uri).ok_or(RenameError::NoReference)?;
        let open = |path: &Path| self.open_text(path);
        to_json(&rename(&view, at.position, &params.new_name, &self.client, &open)?)
    }

    fn will_rename(&self, params: &RenameFilesParams) -> Result<Value, RequestError> {
        let open = |path: &Path| self.open_text(path);
        let mut documents = Vec::new();
        for file in &params.files {
            let (Some(old), Some(new)) = (folder_path(&file.old_uri), folder_path(&file.new_uri)) else {
                continue;
            };
            let Some(dir) = skill_dir_of(&old) else { continue };
            let (Ok(old), Ok(new)) = (old.strip_prefix(&dir), new.strip_prefix(&dir)) else { continue };
            let empty = DocumentText::new(String::new());
            let view = SkillView {
                uri: &file.old_uri,
                version: 0,
                text: &empty.text,
                lines: &empty.lines,
                dir: Some(&dir),
                encoding: self.client.encoding,
            };
            documents.extend(edits_before_rename(&dir, old, new, &view, &open));
        }
        match documents.is_empty() {
            true => Ok(Value::Null),
            false => to_json(&workspace_edit(documents, Vec::new(), &self.client)),
        }
    }

    /// Returns the text of an open document.
    fn open_text(&self, path: &Path) -> Option<(Url, i32, Arc<DocumentText>)> {
        let uri = Url::from_file_path(path).ok()?;
        let document = self.documents.get(&uri)?;
        Some((uri, document.version, Arc::clone(&document.content)))
    }

    /// Runs a command of a code lens, which only shows a message.
    fn execute(&self, params: &ExecuteCommandParams) -> Result<Value, RequestError> {
        let arguments = params.arguments.as_deref().unwrap_or_default();
        match (params.command.as_str(), arguments) {
            (SHOW_COMMAND, [Value::String(details)]) => {
                self.show_message(MessageType::Info, details);
                Ok(Value::Null)
            }
            (SHOW_COMMAND, _) => {
                Err(RequestError::new(ErrorCode::InvalidParams, "the command takes one text"))
            }
            _ => Err(RequestError::new(ErrorCode::InvalidParams, "unknown command")),
        }
    }
}

/// Returns the request that a notification cancels.
pub(super) fn cancelled_id(params: &Value) -> Option<RequestId> {
    serde_json::from_value(params.get("id")?.clone()).ok()
}

fn parse<P: DeserializeOwned>(params: Value) -> Result<P, RequestError> {
    serde_json::from_value(params)
        .map_err(|error| RequestError::new(ErrorCode::InvalidParams, format!("invalid parameters: {error}")))
}
