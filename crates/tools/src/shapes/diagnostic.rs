//! A diagnostic, as it stands in every answer.

use std::borrow::Cow;
use std::path::Path;

use prowess::format::Diagnostic;
use serde::Serialize;

/// One diagnostic as it stands in `list --json` and in `check --format json`.
#[derive(Debug, Serialize)]
pub struct DiagnosticJson<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    path: Cow<'a, str>,
    line: Option<u32>,
    column: Option<u32>,
    help: Option<&'a str>,
}

impl<'a> DiagnosticJson<'a> {
    /// A diagnostic of the file at `path`.
    pub fn new(path: &'a Path, diagnostic: &'a Diagnostic) -> Self {
        Self {
            code: diagnostic.code.as_str(),
            severity: diagnostic.severity.as_str(),
            message: &diagnostic.message,
            path: path.to_string_lossy(),
            line: diagnostic.at.map(|at| at.line),
            column: diagnostic.at.map(|at| at.column),
            help: diagnostic.help.as_deref(),
        }
    }
}
