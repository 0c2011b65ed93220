//! Diagnostics in the form of the protocol.

use gen_lsp_types::{Code, Diagnostic, DiagnosticSeverity, Message};
use prowess_format::Severity;

use crate::document::SkillView;

/// The source that clients show next to a diagnostic.
const SOURCE: &str = "prowess";

/// Converts a diagnostic about the text of a view. One about the whole file is shown on its first line.
pub(crate) fn to_protocol(diagnostic: &prowess_format::Diagnostic, view: &SkillView<'_>) -> Diagnostic {
    let bytes = match diagnostic.location {
        Some(location) => location.span.range(),
        None => view.lines.line(view.text, 0),
    };
    let message = match &diagnostic.help {
        Some(help) => format!("{}\nhelp: {help}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    Diagnostic {
        range: view.range(bytes),
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            Severity::Info => DiagnosticSeverity::Information,
        }),
        code: Some(Code::String(diagnostic.code.as_str().to_owned())),
        code_description: None,
        source: Some(SOURCE.to_owned()),
        message: Message::String(message),
        tags: None,
        related_information: None,
        data: None,
    }
}
