//! Diagnostics for toolsets that cannot be loaded.

use prowess::format::{Code, Diagnostic};
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
            FileDiagnostic::new(path, diagnostic.at(location.locate(&bytes)))
        }
        (None, Some(program)) => FileDiagnostic::new(skill.dir().join(program), diagnostic),
        (None, None) => FileDiagnostic::new(skill.dir().join("SKILL.md"), diagnostic),
    }
}
