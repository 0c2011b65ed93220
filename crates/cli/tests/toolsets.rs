//! `prowess tools --skill` and `prowess call --skill` with the tools that skills bring.

#![cfg(feature = "toolsets")]
#![allow(clippy::unwrap_used)]

mod world;

use insta::assert_snapshot;
use world::World;

/// Document 003's own example, unmodified.
fn world() -> World {
    let world = World::bare();
    world
        .file(
            "~/.agents/skills/my-skill/SKILL.md",
            include_str!("../../run/tests/fixtures/my-skill/SKILL.md"),
        )
        .file(
            "~/.agents/skills/my-skill/toolsets/index.ts",
            include_str!("../../run/tests/fixtures/my-skill/toolsets/index.ts"),
        );
    world
}

/// How long it took differs from run to run.
fn timeless(text: &str) -> String {
    let timeless = |line: &str| match line.trim_start().starts_with("\"time_ms\": ") {
        true => "    \"time_ms\": [TIME]".to_owned(),
        false => line.to_owned(),
    };
    text.lines().map(timeless).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn s003_08_the_tools_of_a_skill_are_listed_and_called() {
    let world = world();
    assert_snapshot!(timeless(&world.runs(&[
        &["tools", "--skill", "my-skill"],
        &["call", "my-tool", r#"{"input": "hello"}"#, "--skill", "my-skill"],
        &["call", "my_skill_my_tool", "{}", "--skill", "my-skill"],
        &["call", "my-skill_my-tool", "{}", "--skill", "my-skill"],
        &["call", "my-tool", r#"{"input": "hello"}"#],
    ])));
}

#[test]
fn a_toolset_that_cannot_be_loaded_is_shown_with_its_line() {
    let world = world();
    world.file(
        "~/.agents/skills/my-skill/toolsets/index.ts",
        "import { Tool } from '@agent/tools';\n\nexport const MyToolset: Tool[] = [\n  nowhere,\n];\n",
    );
    assert_snapshot!(timeless(
        &world.runs(&[&["tools", "--skill", "my-skill"], &["call", "my-tool", "{}", "--skill", "my-skill"],])
    ));
}
