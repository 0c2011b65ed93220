//! Checks a text while it is edited, and previews what a model sees of it.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::catalog::escape::one_line;
use prowess::check::{check_edited, check_source};
use prowess::format::{Diagnostic, Rules, Span, parse};
use prowess::{Policy, Skill};
use prowess_tools::tokens;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{blocking, find_editable};
use crate::app::App;
use crate::extract::JsonBody;
use crate::guard::Admin;
use crate::problem::{ApiResult, Problem};

/// The name of a manifest.
const SKILL_MD: &str = "SKILL.md";

/// The maximum length of a description in the preview, in characters.
const DESCRIPTION_MAX: usize = 4096;

/// A text to check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TextToCheck)]
pub(crate) struct CheckRequest {
    /// The whole text.
    text: String,
    /// The id of the skill that the file belongs to. Without one, the text is checked as a `SKILL.md` on its own.
    skill: Option<String>,
    /// The path in the skill. The default is `SKILL.md`; in other files only the tokens are counted.
    path: Option<String>,
}

/// What `prowess check` reports about a text, and what a model sees of it. Offsets are UTF-16 code units from the start of the text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CheckedText)]
pub(crate) struct CheckResponse {
    schema: u32,
    diagnostics: Vec<TextDiagnosticJson>,
    /// Null if the text is not a manifest that loads.
    preview: Option<PreviewJson>,
    /// The number of tokens of the whole text.
    tokens: usize,
    /// The token encoding.
    encoding: &'static str,
}

/// A diagnostic about a text.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = TextDiagnostic)]
pub(crate) struct TextDiagnosticJson {
    code: &'static str,
    /// `error`, `warning` or `info`.
    severity: &'static str,
    message: String,
    /// How to fix it.
    help: Option<String>,
    start: usize,
    end: usize,
    /// The line, starting at 1.
    line: u32,
    /// The column in characters, starting at 1.
    column: u32,
    /// An edit that fixes it.
    fix: Option<FixJson>,
}

/// An edit that fixes a diagnostic.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = TextFix)]
pub(crate) struct FixJson {
    start: usize,
    end: usize,
    text: String,
}

/// What a model sees of a skill.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SkillPreview)]
pub(crate) struct PreviewJson {
    /// What every conversation has: the name and the description.
    catalog: CountedTextJson,
    /// What a conversation has once the skill is active: the instructions.
    instructions: CountedTextJson,
}

/// A text and its size.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CountedText)]
pub(crate) struct CountedTextJson {
    text: String,
    tokens: usize,
}

impl CountedTextJson {
    fn new(text: String) -> Self {
        Self { tokens: tokens::count(&text), text }
    }
}

/// Checks a text as `prowess check` would once it is saved, and previews what a model would see. Changes nothing.
#[utoipa::path(post, path = "/api/check", tag = "skills", request_body = CheckRequest,
    responses((status = 200, body = CheckResponse), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn check(
    State(app): State<App>,
    _: Admin,
    JsonBody(request): JsonBody<CheckRequest>,
) -> ApiResult<Json<CheckResponse>> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let work = Arc::clone(&loaded);
    let checked = blocking(move || -> ApiResult<CheckResponse> {
        let (policy, host) = (work.registry.policy(), work.registry.host());
        let skill =
            request.skill.as_deref().map(|id| find_editable(&snapshot, id, policy, host)).transpose()?;
        Ok(check_text(&request.text, skill, request.path.as_deref(), policy))
    });
    checked.await?.map(Json)
}

fn check_text(text: &str, skill: Option<&Skill>, path: Option<&str>, policy: &Policy) -> CheckResponse {
    let rules = &policy.manifest;
    let location = skill.map(|skill| skill.skill_md_path());
    let is_name = |name: &str| location.as_ref().is_some_and(|path| path.file_name() == Some(name.as_ref()));
    let is_manifest = path.is_none_or(|path| path == SKILL_MD || is_name(path));
    let (mut diagnostics, mut preview) = (Vec::new(), None);
    if is_manifest {
        let checked = match &location {
            Some(location) => check_edited(location, text.as_bytes(), rules, &[]),
            None => check_source(Path::new(SKILL_MD), text.as_bytes(), rules, &[]),
        };
        let mut offsets = Utf16Offsets { text, byte: 0, units: 0 };
        diagnostics.extend(checked.diagnostics.iter().map(|diagnostic| to_json(diagnostic, &mut offsets)));
        preview = preview_text(text, skill, rules);
    }
    CheckResponse { schema: 1, diagnostics, preview, tokens: tokens::count(text), encoding: tokens::ENCODING }
}

/// Converts a diagnostic. One about the whole file is shown at its start.
fn to_json(diagnostic: &Diagnostic, offsets: &mut Utf16Offsets<'_>) -> TextDiagnosticJson {
    let (start, end) = diagnostic.location.map_or((0, 0), |location| offsets.range(location.span));
    let fix = diagnostic.fix.as_deref().map(|fix| {
        let (start, end) = offsets.range(fix.span);
        FixJson { start, end, text: fix.text.clone() }
    });
    TextDiagnosticJson {
        code: diagnostic.code.as_str(),
        severity: diagnostic.severity.as_str(),
        message: diagnostic.message.clone(),
        help: diagnostic.help.clone(),
        start,
        end,
        line: diagnostic.location.map_or(1, |location| location.line),
        column: diagnostic.location.map_or(1, |location| location.column),
        fix,
    }
}

fn preview_text(text: &str, skill: Option<&Skill>, rules: &Rules) -> Option<PreviewJson> {
    let dir_name = skill.map(|skill| skill.id());
    let document = parse(text.as_bytes(), dir_name.as_deref(), rules).document?;
    let manifest = &document.manifest;
    let description = manifest.full_description();
    let entry = format!("{}: {}", manifest.name(), one_line(&description, DESCRIPTION_MAX));
    let body = text.get(document.body as usize..).unwrap_or_default().trim();
    Some(PreviewJson {
        catalog: CountedTextJson::new(entry),
        instructions: CountedTextJson::new(body.to_owned()),
    })
}

/// Converts byte offsets of a text to UTF-16 code units. Offsets in increasing order take one pass.
struct Utf16Offsets<'t> {
    text: &'t str,
    byte: usize,
    units: usize,
}

impl Utf16Offsets<'_> {
    fn range(&mut self, span: Span) -> (usize, usize) {
        let range = span.range();
        (self.offset(range.start), self.offset(range.end))
    }

    /// Returns the offset in code units. An offset inside of a character is moved to its beginning.
    fn offset(&mut self, byte: usize) -> usize {
        let byte = self.text.floor_char_boundary(byte.min(self.text.len()));
        if byte < self.byte {
            (self.byte, self.units) = (0, 0);
        }
        self.units += self.text.get(self.byte..byte).unwrap_or_default().encode_utf16().count();
        self.byte = byte;
        self.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_utf16_code_units() {
        let text = "aä𝄞z";
        let mut offsets = Utf16Offsets { text, byte: 0, units: 0 };
        let units: Vec<_> = [0, 1, 3, 4, 7, 8, 99, 1].map(|byte| offsets.offset(byte)).to_vec();
        assert_eq!(units, [0, 1, 2, 2, 4, 5, 5, 1]);
    }

    #[test]
    fn a_fix_applies_to_the_text_as_browsers_count_it() {
        let text = "---\nname: 𝄞\ndescription: Fill forms: fast\n---\nDo it.\n";
        let checked = check_text(text, None, None, &Policy::default());
        let fix = checked
            .diagnostics
            .iter()
            .find_map(|diagnostic| diagnostic.fix.as_ref().filter(|fix| fix.text.contains("Fill forms")));
        let fix = fix.unwrap();
        let units: Vec<u16> = text.encode_utf16().collect();
        let replaced = String::from_utf16(&units[fix.start..fix.end]).unwrap();
        assert_eq!((replaced.as_str(), fix.text.as_str()), ("Fill forms: fast", "\"Fill forms: fast\""));
    }

    #[test]
    fn other_files_are_only_counted() {
        let checked = check_text("hello world", None, Some("notes.md"), &Policy::default());
        assert!(checked.diagnostics.is_empty() && checked.preview.is_none());
        assert_eq!(checked.tokens, 2);
    }
}
