//! What is said of a toolset that cannot be loaded, and where.

use prowess::format::{Code, Diagnostic, Place, Span};
use prowess::{Located, Skill};
use prowess_toolset::ToolsetError;

/// What a diagnostic says of a toolset that cannot be loaded.
pub(super) fn located(skill: &Skill, error: &ToolsetError) -> Located {
    let mend = "mend the toolset; docs/toolsets.md tells what it can use";
    let said = Diagnostic::error(Code::ToolsetLoad, error.message()).help(error.hint().unwrap_or(mend));
    match (error.place(), error.program()) {
        (Some(place), _) => {
            let path = skill.folder().join(&place.file);
            let bytes =
                prowess::resource::read_bytes(skill, &place.file).map(|file| file.bytes).unwrap_or_default();
            let start = offset(&bytes, place.line, place.column);
            let at = Place { line: place.line, column: place.column, span: Span { start, end: start } };
            Located::new(path, said.at(at))
        }
        (None, Some(program)) => Located::new(skill.folder().join(program), said),
        (None, None) => Located::new(skill.folder().join("SKILL.md"), said),
    }
}

/// The byte of a line and a column.
fn offset(bytes: &[u8], line: u32, column: u32) -> u32 {
    let text = String::from_utf8_lossy(bytes);
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let rest = text.get(before..).unwrap_or_default().chars();
    let inside: usize = rest.take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    u32::try_from(before + inside).unwrap_or_default()
}
