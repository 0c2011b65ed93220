//! Diagnostics for toolsets that cannot be loaded.

use prowess::format::{Code, Diagnostic, Location, Span};
use prowess::{FileDiagnostic, Skill};
use prowess_toolset::ToolsetError;

/// Returns the diagnostic for a toolset that cannot be loaded.
pub(super) fn toolset_diagnostic(skill: &Skill, error: &ToolsetError) -> FileDiagnostic {
    let default_hint = "fix the toolset; docs/toolsets.md describes the available features";
    let diagnostic =
        Diagnostic::error(Code::ToolsetLoad, error.message()).help(error.hint().unwrap_or(default_hint));
    match (error.location(), error.program()) {
        (Some(location), _) => {
            let path = skill.dir().join(&location.file);
            let bytes = prowess::resources::read_bytes(skill, &location.file)
                .map(|file| file.bytes)
                .unwrap_or_default();
            let start = offset(&bytes, location.line, location.column);
            let location =
                Location { line: location.line, column: location.column, span: Span { start, end: start } };
            FileDiagnostic::new(path, diagnostic.at(location))
        }
        (None, Some(program)) => FileDiagnostic::new(skill.dir().join(program), diagnostic),
        (None, None) => FileDiagnostic::new(skill.dir().join("SKILL.md"), diagnostic),
    }
}

fn offset(bytes: &[u8], line: u32, column: u32) -> u32 {
    let text = String::from_utf8_lossy(bytes);
    let line_start: usize =
        text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let line_and_rest = text.get(line_start..).unwrap_or_default().chars();
    let in_line: usize = line_and_rest.take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    u32::try_from(line_start + in_line).unwrap_or_default()
}
