//! What a client supports. A client that declares nothing is served with the basics.

use gen_lsp_types::{MarkupContent, MarkupKind, PositionEncodingKind};
use serde_json::Value;

use crate::position::PositionEncoding;

/// What a client supports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClientSupport {
    pub(crate) encoding: PositionEncoding,
    /// Versioned edits, and operations on files.
    pub(crate) document_changes: bool,
    pub(crate) create_file: bool,
    pub(crate) rename_file: bool,
    pub(crate) code_action_literals: bool,
    pub(crate) markdown_hover: bool,
    pub(crate) markdown_documentation: bool,
    pub(crate) watched_files: bool,
    pub(crate) progress: bool,
    pub(crate) lens_refresh: bool,
}

impl ClientSupport {
    /// Reads the capabilities of an `initialize` request. What has another form than expected counts as not supported,
    /// so that an unusual client is not refused.
    pub(crate) fn from_capabilities(capabilities: &Value) -> Self {
        let is_set = |path: &str| capabilities.pointer(path).and_then(Value::as_bool).unwrap_or_default();
        let lists = |path: &str, wanted: &str| {
            let items = capabilities.pointer(path).and_then(Value::as_array);
            items.is_some_and(|items| items.iter().any(|item| item == wanted))
        };
        let encodings = capabilities.pointer("/general/positionEncodings").cloned().unwrap_or_default();
        let encodings: Vec<PositionEncodingKind> = serde_json::from_value(encodings).unwrap_or_default();
        let operations = "/workspace/workspaceEdit/resourceOperations";
        // Neovim declares only the operations, which no other form of an edit can contain.
        let document_changes = is_set("/workspace/workspaceEdit/documentChanges")
            || capabilities
                .pointer(operations)
                .and_then(Value::as_array)
                .is_some_and(|list| !list.is_empty());
        Self {
            encoding: PositionEncoding::choose(&encodings),
            document_changes,
            create_file: lists(operations, "create"),
            rename_file: lists(operations, "rename"),
            code_action_literals: capabilities
                .pointer("/textDocument/codeAction/codeActionLiteralSupport")
                .is_some_and(Value::is_object),
            markdown_hover: lists("/textDocument/hover/contentFormat", "markdown"),
            markdown_documentation: lists(
                "/textDocument/completion/completionItem/documentationFormat",
                "markdown",
            ),
            watched_files: is_set("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            progress: is_set("/window/workDoneProgress"),
            lens_refresh: is_set("/workspace/codeLens/refreshSupport"),
        }
    }

    /// Returns text in the format for hovers.
    pub(crate) fn hover_text(&self, markdown: String) -> MarkupContent {
        markup(markdown, self.markdown_hover)
    }

    /// Returns text in the format for completions.
    pub(crate) fn documentation(&self, markdown: String) -> MarkupContent {
        markup(markdown, self.markdown_documentation)
    }
}

fn markup(markdown: String, is_supported: bool) -> MarkupContent {
    match is_supported {
        true => MarkupContent { kind: MarkupKind::Markdown, value: markdown },
        false => MarkupContent { kind: MarkupKind::PlainText, value: markdown.replace(['`', '\\'], "") },
    }
}

/// Escapes untrusted text for Markdown, so that it cannot load images, contain links or hide characters.
///
/// Only the ASCII punctuation has a meaning in Markdown.
pub(crate) fn escape_markdown(text: &str) -> String {
    let visible = prowess_format::hidden::escape_for_display(text);
    let mut escaped = String::with_capacity(visible.len());
    for c in visible.chars() {
        // Full stops and commas begin nothing inside of a line.
        if c.is_ascii_punctuation() && !matches!(c, '.' | ',' | ':' | ';' | '\'' | '"' | '/' | '?' | '%') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_client_without_capabilities_supports_the_basics() {
        for capabilities in [json!(null), json!({}), json!({"general": 7, "workspace": []})] {
            assert_eq!(ClientSupport::from_capabilities(&capabilities), ClientSupport::default());
        }
    }

    #[test]
    fn markdown_of_skills_is_escaped() {
        assert_eq!(escape_markdown("![x](http://a.b)<b>\u{202e}"), r"\!\[x\]\(http://a.b\)\<b\>\\u\{202e\}");
    }
}
