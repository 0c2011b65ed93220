//! Reading the fields of a custom command, all of which are optional.

use super::read::{key_text, read_description};
use super::{DiagnosticSink, Manifest, OptionalFields, fields};
use crate::diagnostic::{Code, Diagnostic};
use crate::hidden::escape_for_display;
use crate::name::SkillName;
use crate::rules::{RuleLevel, Rules};
use crate::yaml::{Node, NodeKind};

/// The keys that have an effect on commands, besides `description`.
const COMMAND_KEYS: [&str; 6] =
    ["argument-hint", "arguments", "allowed-tools", "context", "disable-model-invocation", "when_to_use"];

/// The description of a command without one.
const NO_DESCRIPTION: &str = "A custom command.";

/// What is known about a command besides its frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandHead {
    pub(crate) name: SkillName,
    /// The first line of the body; may be empty.
    pub(crate) summary: String,
}

impl CommandHead {
    /// Returns the manifest of a command without frontmatter.
    pub(crate) fn into_manifest(self) -> Manifest {
        self.describe(None, OptionalFields::default())
    }

    fn describe(self, description: Option<Box<str>>, mut optional: OptionalFields) -> Manifest {
        // Without a description, a model cannot know when to use the command.
        optional.disable_model_invocation |= description.is_none();
        let summary = if self.summary.is_empty() { NO_DESCRIPTION } else { &self.summary };
        Manifest {
            name: self.name,
            description: description.unwrap_or_else(|| summary.into()),
            optional: (optional != OptionalFields::default()).then(|| Box::new(optional)),
        }
    }
}

/// Returns the name of a command, or why users could not type it.
pub(crate) fn command_name(name: &str) -> Result<SkillName, Diagnostic> {
    let is_typed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    let is_valid =
        name.starts_with(char::is_alphanumeric) && name.chars().all(is_typed) && !name.contains("..");
    SkillName::parse(name).ok().filter(|_| is_valid).ok_or_else(|| {
        let message = format!("{} cannot be typed as a command", escape_for_display(name));
        Diagnostic::error(Code::NameForm, message)
            .help("rename the file: use letters, digits, hyphens and underscores")
    })
}

/// Reads the fields. Returns `None` if the command cannot load; the sink then holds an error with the reason.
pub(crate) fn read_command(
    node: &Node<'_>,
    head: CommandHead,
    rules: &Rules,
    sink: &mut DiagnosticSink<'_>,
) -> Option<Manifest> {
    let NodeKind::Map(entries) = &node.kind else {
        let message = format!("the frontmatter is {}, not a mapping", node.describe());
        let help = "write it as key: value lines, such as description: …";
        sink.report(RuleLevel::Reject, Code::NotAMapping, node.span, message, help);
        return None;
    };
    let (mut description, mut optional) = (None, OptionalFields::default());
    for (key, value) in entries {
        match key_text(key) {
            "description" => description = Some(read_description(value, rules, sink)?),
            text if COMMAND_KEYS.contains(&text) => {
                fields::read_field(text, value, rules, &mut optional, sink)
            }
            text => optional.unknown.push((text.into(), value.value())),
        }
    }
    optional.add_argument_hint();
    Some(head.describe(description, optional))
}
