//! Hover.

use serde_json::Value;

use crate::support::{Session, skill};

fn hover(session: &mut Session, marked: &str) -> String {
    let result = session.ask("textDocument/hover", "pdf/SKILL.md", marked).unwrap();
    match &result {
        Value::Null => "nothing".to_owned(),
        result => session.clean(result["contents"]["value"].as_str().unwrap()),
    }
}

#[test]
fn keys_are_explained_with_their_limits_and_agents() {
    let mut session = Session::start();
    insta::assert_snapshot!(hover(&mut session, "---\nna|me: pdf\n---\n"), @r"
    **name**

    The name. Defined by the Agent Skills specification. Read by Prowess. Read by all known agents.

    Value: lower-case letters, digits and single hyphens, at most 64 characters.
    ");
    insta::assert_snapshot!(hover(&mut session, "---\ncompat|ibility: x\n---\n"), @r"
    **compatibility**

    Required environment, as text. Defined by the Agent Skills specification. Read by Prowess.

    Value: text, at most 500 characters.
    ");
    insta::assert_snapshot!(hover(&mut session, "---\nwhen_to|_use: x\n---\n"), @r"
    **when_to_use**

    When to use the skill; shown after the description. Read by Prowess. Read by Claude Code and Qwen Code.

    Value: text.

    Ignored by Codex, Gemini CLI, opencode, Copilot CLI, VS Code, droid, Crush, Roo Code, Cline, goose, Cursor, OpenClaw, Hermes and Windsurf.
    ");
    assert_eq!(hover(&mut session, "---\ncol|our: x\n---\n"), "nothing");
}

#[test]
fn values_are_explained() {
    let mut session = Session::start();
    insta::assert_snapshot!(hover(&mut session, "---\nname: pdf\ndescription: Reads |files.\n---\n"), @"**description**: 12 of at most 1024 characters");
    insta::assert_snapshot!(hover(&mut session, "---\nallowed-tools: Read Bas|h(git:*)\n---\n"), @"`Bash`: runs shell commands; Bash(git:*) allows only those that start with git");
    assert_eq!(hover(&mut session, "---\nlicense: M|IT\n---\n"), "nothing");
}

#[test]
fn files_are_described_without_leaving_the_skill() {
    let mut session = Session::start();
    session.write("pdf/references/a.md", &"x".repeat(2_048)).write("secret.md", "secret");
    prowess_fs::create_symlink("../secret.md".as_ref(), &session.path("pdf/link.md")).unwrap();
    insta::assert_snapshot!(hover(&mut session, &skill("pdf", "[a](refer|ences/a.md)")), @r"
    references/a.md

    A file of the skill, 2.0 KiB.
    ");
    insta::assert_snapshot!(hover(&mut session, &skill("pdf", "Run `scripts/x|.py`")), @r"
    scripts/x.py

    This file does not exist.
    ");
    insta::assert_snapshot!(hover(&mut session, &skill("pdf", "[a](../sec|ret.md)")), @r"
    ../secret.md

    Outside of the skill, so that no agent finds it there.
    ");
    insta::assert_snapshot!(hover(&mut session, &skill("pdf", "[a](li|nk.md)")), @r"
    link.md

    A symlink or special file, which is not read.
    ");
}

#[test]
fn mentioned_skills_are_described_as_plain_text() {
    let mut session = Session::start();
    let hostile = "---\nname: csv\ndescription: \"Use ![x](http://a.b/c.png) <b>\"\n---\nText.";
    session.open_saved("csv/SKILL.md", hostile);
    insta::assert_snapshot!(hover(&mut session, &skill("pdf", "Then use /c|sv.")), @r"
    **csv**

    Use \!\[x\]\(http://a.b/c.png\) \<b\>

    WORKSPACE/csv/SKILL.md
    ");
    assert_eq!(hover(&mut session, &skill("pdf", "Then use /oth|er.")), "nothing");
}
