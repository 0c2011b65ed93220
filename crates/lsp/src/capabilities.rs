//! What the server offers to a client.

use gen_lsp_types::{
    ChangeNotifications, CodeActionKind, CodeActionOptions, CodeActionProvider, CodeLensOptions,
    CompletionOptions, DefinitionProvider, DocumentLinkOptions, ExecuteCommandOptions, FileOperationFilter,
    FileOperationOptions, FileOperationPattern, FileOperationPatternKind, FileOperationRegistrationOptions,
    HoverProvider, RenameOptions, RenameProvider, Save, ServerCapabilities, TextDocumentSync,
    TextDocumentSyncKind, TextDocumentSyncOptions, WorkspaceFoldersServerCapabilities, WorkspaceOptions,
};

use crate::lens::SHOW_COMMAND;
use crate::position::PositionEncoding;

/// The characters after which completion helps: a value, a path, a link, a code span, a mention.
const TRIGGERS: [&str; 6] = [":", "/", "(", "`", "$", "-"];

/// Returns the capabilities of the server.
pub(crate) fn server_capabilities(encoding: PositionEncoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            save: Some(Save::Bool(true)),
            ..TextDocumentSyncOptions::default()
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(TRIGGERS.map(ToOwned::to_owned).into()),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProvider::Bool(true)),
        definition_provider: Some(DefinitionProvider::Bool(true)),
        document_link_provider: Some(DocumentLinkOptions::default()),
        code_lens_provider: Some(CodeLensOptions::default()),
        code_action_provider: Some(CodeActionProvider::CodeActionOptions(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QuickFix, CodeActionKind::SourceFixAll]),
            ..CodeActionOptions::default()
        })),
        rename_provider: Some(RenameProvider::RenameOptions(RenameOptions {
            prepare_provider: Some(true),
            ..RenameOptions::default()
        })),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![SHOW_COMMAND.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceOptions {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(ChangeNotifications::Bool(true)),
            }),
            file_operations: Some(FileOperationOptions {
                will_rename: Some(FileOperationRegistrationOptions { filters: vec![renamed_files()] }),
                ..FileOperationOptions::default()
            }),
            ..WorkspaceOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

fn renamed_files() -> FileOperationFilter {
    let pattern = FileOperationPattern {
        glob: "**/*".to_owned(),
        matches: Some(FileOperationPatternKind::File),
        options: None,
    };
    FileOperationFilter { scheme: Some("file".to_owned()), pattern }
}
