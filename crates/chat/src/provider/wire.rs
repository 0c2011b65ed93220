//! Names of tools as the providers' interfaces take them: letters, digits, `_` and `-`, at most 64.

use prowess_tools::{Tool, ToolDefinition};

/// The longest name.
const NAME_MAX: usize = 64;

/// Which name stands for which tool in one request.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(Vec<(String, String)>);

impl Names {
    /// A name of its own for each tool.
    pub(super) fn of(tools: &[ToolDefinition]) -> Self {
        let mut names: Vec<(String, String)> = Vec::with_capacity(tools.len());
        for tool in tools {
            let plain = sanitised(&tool.name);
            let mut name = plain.clone();
            let mut number = 2;
            while names.iter().any(|(taken, _)| *taken == name) {
                let ending = format!("_{number}");
                name = plain.chars().take(NAME_MAX - ending.len()).chain(ending.chars()).collect();
                number += 1;
            }
            names.push((name, tool.name.clone()));
        }
        Self(names)
    }

    /// What a tool is called on the wire, whether or not it is still offered.
    pub(super) fn outward(&self, tool: &str) -> String {
        let known = self.0.iter().find(|(_, own)| own == tool);
        known.map_or_else(|| sanitised(tool), |(name, _)| name.clone())
    }

    /// Which tool a name of the wire stands for; a name that nobody gave stands for itself.
    pub(super) fn inward(&self, name: &str) -> String {
        let known = self.0.iter().find(|(given, _)| given == name);
        known.map_or_else(|| name.to_owned(), |(_, own)| own.clone())
    }
}

fn sanitised(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().map(fits).take(NAME_MAX).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// A text that speaks of our tools, for a model that knows them without dots.
///
/// ```
/// assert_eq!(prowess_chat::provider::without_dots("call skills.activate"), "call skills_activate");
/// ```
pub fn without_dots(text: &str) -> String {
    let dotted = Tool::ALL.into_iter().filter(|tool| tool.name().contains('.'));
    dotted.fold(text.to_owned(), |text, tool| text.replace(tool.name(), &tool.dotless()))
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
        let names = Names::of(&tools(&["skills.activate", "a.b", "a_b", "größe"].map(str::to_owned)));
        assert_eq!(names.outward("skills.activate"), "skills_activate");
        assert_eq!((names.outward("a.b"), names.outward("a_b")), ("a_b".to_owned(), "a_b_2".to_owned()));
        assert_eq!(names.outward("größe"), "gr__e");
        assert_eq!(names.inward("a_b_2"), "a_b");
        assert_eq!(names.inward("no_such"), "no_such");
        assert_eq!(names.outward("gone.by"), "gone_by");
    }

    proptest! {
        #[test]
        fn every_tool_is_found_again(mut own in proptest::collection::vec("[a.b_é]{0,70}", 0..20)) {
            own.sort();
            own.dedup();
            let names = Names::of(&tools(&own));
            for name in &own {
                let outward = names.outward(name);
                prop_assert!((1..=64).contains(&outward.len()));
                prop_assert!(outward.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
                prop_assert_eq!(&names.inward(&outward), name);
            }
        }
    }
}
