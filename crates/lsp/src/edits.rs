//! Edits in the form that a client supports.

use std::collections::HashMap;

use gen_lsp_types::{
    DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextDocumentIdentifier,
    TextEdit, WorkspaceEdit,
};
use url::Url;

use crate::client::ClientSupport;

/// The edits of one document. The version is known if it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentEdits {
    pub(crate) uri: Url,
    pub(crate) version: Option<i32>,
    pub(crate) edits: Vec<TextEdit>,
}

/// Combines edits of documents, and operations on files that follow them.
pub(crate) fn workspace_edit(
    documents: Vec<DocumentEdits>,
    operations: Vec<DocumentChange>,
    client: &ClientSupport,
) -> WorkspaceEdit {
    let documents = documents.into_iter().filter(|document| !document.edits.is_empty());
    if !client.document_changes {
        let mut changes: HashMap<Url, Vec<TextEdit>> = HashMap::new();
        documents.for_each(|document| changes.entry(document.uri).or_default().extend(document.edits));
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let change = |document: DocumentEdits| {
        DocumentChange::TextDocumentEdit(TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier {
                version: document.version,
                text_document_identifier: TextDocumentIdentifier { uri: document.uri },
            },
            edits: document.edits.into_iter().map(Edit::TextEdit).collect(),
        })
    };
    let document_changes = documents.map(change).chain(operations).collect();
    WorkspaceEdit { document_changes: Some(document_changes), ..WorkspaceEdit::default() }
}
