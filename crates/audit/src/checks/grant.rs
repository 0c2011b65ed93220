//! PA601 to PA604: permissions that the frontmatter requests.

use memchr::memmem;
use prowess_format::{Rules, parse};

use super::push_finding;
use crate::report::RawFinding;
use crate::text::SourceText;

pub(super) fn check(text: &SourceText<'_>, findings: &mut Vec<RawFinding>) {
    let has_key =
        || [&b"allowed-tools"[..], b"hooks:"].iter().any(|key| memmem::find(&text.bytes, key).is_some());
    if !is_skill_md(text.path) || !has_key() {
        return;
    }
    let Some(document) = parse(&text.bytes, Some(UNNAMED), &Rules::standard()).document else { return };
    let end = (document.frontmatter.end as usize).min(text.bytes.len());
    let frontmatter = text.bytes.get(..end).unwrap_or_default();
    let key = memmem::find(frontmatter, b"allowed-tools").unwrap_or(0);
    for tool in document.manifest.allowed_tools().unwrap_or_default() {
        let Some(id) = rule_for_tool(tool) else { continue };
        let offset = memmem::find(frontmatter.get(key..).unwrap_or_default(), tool.as_bytes()).unwrap_or(0);
        push_finding(findings, id, key + offset, Some(format!("allowed-tools: {tool}")));
    }
    if document.manifest.unknown_fields().any(|(key, _)| key == "hooks")
        && let Some(offset) = memmem::find(frontmatter, b"hooks:")
    {
        push_finding(findings, "PA604", offset, None);
    }
}

/// The name of the directory for skills without a name, which load, too. The name itself is not used.
pub(crate) const UNNAMED: &str = "skill";

/// Returns `true` if the file is a `SKILL.md`.
pub(crate) fn is_skill_md(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
}

fn rule_for_tool(tool: &str) -> Option<&'static str> {
    let (name, inner) = match tool.split_once('(') {
        Some((name, inner)) => (name, Some(inner.trim_end_matches(')').trim())),
        None => (tool, None),
    };
    let is_shell =
        ["bash", "shell", "terminal", "powershell"].iter().any(|shell| name.eq_ignore_ascii_case(shell));
    match (name, inner) {
        ("*", _) => Some("PA602"),
        (_, Some(inner)) if is_shell && (inner.starts_with("sudo") || inner.starts_with("su ")) => {
            Some("PA601")
        }
        (_, Some("*" | ":*" | "*:*")) if is_shell => Some("PA602"),
        (_, None) if is_shell => Some("PA603"),
        _ => None,
    }
}
