//! The instructions for models that accompany each catalog format. The snapshots contain all of them.

use super::escape::one_line;
use crate::policy::{ActivationMode, CatalogFormat, Policy};

/// Returns the instructions before the entries.
pub(super) fn preamble(format: CatalogFormat, policy: &Policy) -> String {
    let text = match (format, policy.activation) {
        // Preset `harness` (document 002) shows only the list, without instructions.
        (CatalogFormat::Xml, ActivationMode::FullFile) => return String::new(),
        (CatalogFormat::Tiers, _) => "Available skills:",
        (CatalogFormat::Tool, _) => SKILL_TOOL,
        (CatalogFormat::Bullets, ActivationMode::ReadFile) => READ_FILE,
        (CatalogFormat::Json, ActivationMode::FrontmatterAndBody) => CHAT,
        (CatalogFormat::Xml | CatalogFormat::Json, ActivationMode::ReadFile) => BY_FILE,
        (CatalogFormat::Xml | CatalogFormat::Json | CatalogFormat::Bullets, ActivationMode::SkillTool) => {
            BY_TOOL
        }
        (CatalogFormat::Xml | CatalogFormat::Json | CatalogFormat::Bullets, _) => STANDARD_INSTRUCTIONS,
    };
    match format {
        CatalogFormat::Tiers | CatalogFormat::Tool => format!("{text}\n"),
        CatalogFormat::Xml | CatalogFormat::Json | CatalogFormat::Bullets => format!("{text}\n\n"),
    }
}

/// The instructions for skills that are loaded with `skills.activate`.
pub const STANDARD_INSTRUCTIONS: &str = "\
Skills are instructions for particular tasks. When a task matches a description below, load that skill with \
skills.activate before you begin, and follow its instructions. Read the files it refers to with skills.readResource, \
only when you need them. Do not load skills that the task does not need.";

const BY_FILE: &str = "\
Skills are instructions for particular tasks. When a task matches a description below, read the SKILL.md of that \
skill with ReadFile before you begin (at its location, if one is given, or else at .agents/skills/NAME/SKILL.md), and \
follow its instructions. Read the files it refers to with ReadFile, only when you need them. Do not read skills that \
the task does not need.";

const BY_TOOL: &str = "\
Skills are instructions for particular tasks. When a task matches a description below, load that skill with the tool \
Skill before you begin, and follow its instructions. Do not load skills that the task does not need.";

const READ_FILE: &str = "\
You have access to the following skills. Each has an id and a short description. To use a skill, call the ReadFile tool \
with the path to its SKILL.md or other files under that skill's directory (path is relative to the run directory; \
ReadFile can read any file under it with allowed extensions). A skill's SKILL.md is at .agents/sys.skills/<id>/SKILL.md \
or .agents/skills/<id>/SKILL.md.";

const CHAT: &str = "\
Skills are available; use them when they are relevant. Do not ask for the body of a skill unless you need it. Activate a \
skill by calling skills.activate before you use its instructions. Load further files only through skills.readResource, \
and only when the instructions call for them. If a message begins with /skill-name, the user requests that skill: \
activate it before you answer.";

const SKILL_TOOL: &str = "\
Loads a skill by name and returns its instructions. Load one when the task calls for it; do not load them all.

Parameters:
- name (string, required): the skill's name
- args (string, optional): arguments for the skill

Examples:
- Skill(name: \"code-review\")
- Skill(name: \"code-review\", args: \"src/main.rs\")

Available skills:";

/// The rules that preset `skill-tool` (document 001) adds to the system prompt.
pub const SKILL_TOOL_RULES: &str = "\
- When the user mentions a skill by name (such as $code-review or \"use the code-review skill\"), load it with the Skill \
tool.
- When a task clearly matches a skill's description, consider loading that skill.
- Load skills only when they are needed; never load all of them in advance.";

/// Returns a line that lists the active skills; empty if there are none.
///
/// ```
/// use prowess::catalog::active_skills;
///
/// assert_eq!(active_skills(["pdf", "gh"]), "Skills already active in this conversation: pdf, gh.\n");
/// assert_eq!(active_skills([]), "");
/// ```
pub fn active_skills<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| one_line(name, 256)).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("Skills already active in this conversation: {}.\n", names.join(", ")),
    }
}
