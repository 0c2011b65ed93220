//! Code lenses.

use serde_json::{Value, json};

use crate::support::{Session, skill};

fn lenses(session: &mut Session, inner: &str) -> Vec<Value> {
    let params = json!({"textDocument": {"uri": session.uri(inner)}});
    session.request("textDocument/codeLens", params).unwrap().as_array().unwrap().clone()
}

fn titles(lenses: &[Value]) -> Vec<&str> {
    lenses.iter().map(|lens| lens["command"]["title"].as_str().unwrap()).collect()
}

#[test]
fn the_cost_and_the_neighbours_of_a_skill_are_shown() {
    let session = Session::uninitialized(Default::default());
    let about =
        |text: &str| format!("---\nname: x\ndescription: {text}\n---\nText.").replace(": x", ": NAME");
    for (name, text) in [
        ("merge", "Merges and splits PDF files. Use for PDF."),
        ("merge-copy", "Merges and splits PDF files. Use for PDF."),
        ("weather", "Tells the forecast of any city."),
    ] {
        session.write(&format!("{name}/SKILL.md"), &about(text).replace("NAME", name));
    }
    let mut session = session;
    session.initialize(crate::support::capabilities(), json!({}));
    session.wait_for("workspace/codeLens/refresh");
    let text = about("Merges and splits PDF files. Use for PDF.").replace("NAME", "merge");
    session.open("merge/SKILL.md", &text);
    let found = lenses(&mut session, "merge/SKILL.md");
    insta::assert_snapshot!(titles(&found).join("\n"), @r"
    13 tokens in the catalog, 2 when loaded
    hard to tell from merge-copy
    ");
    assert_eq!(
        found[0]["range"],
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}})
    );
    let command = found[1]["command"].clone();
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    assert_eq!(session.request("workspace/executeCommand", params).unwrap(), Value::Null);
    insta::assert_snapshot!(session.wait_for("window/showMessage")["message"].as_str().unwrap(), @"A message that matches the description of this skill matches these about as well: merge-copy. Say in both descriptions when to use which.");
}

#[test]
fn an_invalid_or_huge_skill_has_no_lens_that_costs_time() {
    let mut session = Session::start();
    session.open("pdf/SKILL.md", "no skill");
    assert_eq!(lenses(&mut session, "pdf/SKILL.md"), Vec::<Value>::new());
    session.open("pdf/SKILL.md", &skill("pdf", &"word ".repeat(300_000)));
    let found = lenses(&mut session, "pdf/SKILL.md");
    assert!(!titles(&found).iter().any(|title| title.contains("tokens")), "{found:?}");
}

#[test]
fn commands_only_show_messages() {
    let mut session = Session::start();
    for (command, arguments) in [("prowess.showDetails", json!([])), ("rm", json!(["-rf"]))] {
        let params = json!({"command": command, "arguments": arguments});
        assert_eq!(session.request("workspace/executeCommand", params).unwrap_err().0, -32602);
    }
}
