//! The example of document 003, unmodified, and its requirements for toolsets.

use crate::toolset_support::TestSkills;
use prowess_toolset::ToolResult;
use serde_json::{Map, json};

fn example() -> TestSkills {
    let env = TestSkills::new();
    env.file("my-skill/SKILL.md", include_str!("../fixtures/my-skill/SKILL.md"));
    env.file("my-skill/toolsets/index.ts", include_str!("../fixtures/my-skill/toolsets/index.ts"));
    env
}

#[test]
fn s003_08_the_path_is_resolved_and_the_named_export_is_loaded() {
    let loaded = example().tools("my-skill").unwrap();
    assert_eq!(loaded.failures, []);
    let [tool] = &loaded.tools[..] else { panic!("{loaded:?}") };
    assert_eq!((tool.id.as_str(), tool.description.as_str()), ("my-tool", "Does something useful"));
    assert_eq!(
        tool.input_schema,
        json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]})
    );
}

#[test]
fn s003_09_execute_receives_arguments_and_returns_title_metadata_and_output() {
    let result = example().call("my-skill", "my-tool", json!({"input": "hello"})).unwrap();
    let expected = ToolResult {
        title: "Completed".to_owned(),
        metadata: Map::new(),
        output: "Processed: hello".to_owned(),
        ..ToolResult::default()
    };
    assert_eq!(result, expected);
    let rejected = example().call("my-skill", "my-tool", json!({"input": 5})).unwrap_err();
    assert_eq!(rejected.to_string(), "input: Invalid input: expected string, received number");
    assert_eq!(rejected.code(), prowess::ErrorCode::InvalidParam);
}
