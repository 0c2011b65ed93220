//! Tool names in the form that provider APIs accept: letters, digits, `_` and `-`, at most 64 characters.

use prowess_tools::{BuiltinTool, ToolDefinition};

/// The maximum length of a name.
const NAME_MAX: usize = 64;

/// Maps tool names to the names used in a request.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolNames(Vec<(String, String)>);

impl ToolNames {
    /// Assigns a unique name to each tool.
    pub(super) fn new(tools: &[ToolDefinition]) -> Self {
        let mut names: Vec<(String, String)> = Vec::with_capacity(tools.len());
        for tool in tools {
            let base = sanitize(&tool.name);
            let mut name = base.clone();
            let mut number = 2;
            while names.iter().any(|(used, _)| *used == name) {
                let suffix = format!("_{number}");
                name = base.chars().take(NAME_MAX - suffix.len()).chain(suffix.chars()).collect();
                number += 1;
            }
            names.push((name, tool.name.clone()));
        }
        Self(names)
    }

    /// Returns the name of a tool in requests, even if the tool is no longer offered.
    pub(super) fn to_wire(&self, tool: &str) -> String {
        let mapping = self.0.iter().find(|(_, original)| original == tool);
        mapping.map_or_else(|| sanitize(tool), |(name, _)| name.clone())
    }

    /// Returns the original name of the tool with this name in requests; an unknown name is returned unchanged.
    pub(super) fn original_name(&self, name: &str) -> String {
        let mapping = self.0.iter().find(|(wire_name, _)| wire_name == name);
        mapping.map_or_else(|| name.to_owned(), |(_, original)| original.clone())
    }
}

fn sanitize(name: &str) -> String {
    let replace = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().map(replace).take(NAME_MAX).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// Replaces our tool names in a text by their names without dots.
///
/// ```
/// assert_eq!(prowess_chat::provider::without_dots("call skills.activate"), "call skills_activate");
/// ```
pub fn without_dots(text: &str) -> String {
    let dotted = BuiltinTool::ALL.into_iter().filter(|tool| tool.name().contains('.'));
    dotted.fold(text.to_owned(), |text, tool| text.replace(tool.name(), &tool.dotless_name()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tools(names: &[String]) -> Vec<ToolDefinition> {
        let tool = |name: &String| ToolDefinition {
            name: name.clone(),
            description: String::new(),
            input_schema: json!({}),
        };
        names.iter().map(tool).collect()
    }

    #[test]
    fn names_without_dots() {
        let names = ToolNames::new(&tools(&["skills.activate", "a.b", "a_b", "größe"].map(str::to_owned)));
        assert_eq!(names.to_wire("skills.activate"), "skills_activate");
        assert_eq!((names.to_wire("a.b"), names.to_wire("a_b")), ("a_b".to_owned(), "a_b_2".to_owned()));
        assert_eq!(names.to_wire("größe"), "gr__e");
        assert_eq!(names.original_name("a_b_2"), "a_b");
        assert_eq!(names.original_name("no_such"), "no_such");
        assert_eq!(names.to_wire("gone.by"), "gone_by");
    }

    proptest! {
        #[test]
        fn names_can_be_mapped_back(mut originals in proptest::collection::vec("[a.b_é]{0,70}", 0..20)) {
            originals.sort();
            originals.dedup();
            let names = ToolNames::new(&tools(&originals));
            for name in &originals {
                let wire = names.to_wire(name);
                prop_assert!((1..=64).contains(&wire.len()));
                prop_assert!(wire.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
                prop_assert_eq!(&names.original_name(&wire), name);
            }
        }
    }
}
