//! Code actions.

use serde_json::{Value, json};

use crate::support::{Session, capabilities, skill};

const BROKEN: &str =
    "---\nname: pdf\ndescription: Fill: forms. Use when asked\ncompatibility: Needs: x\n---\nText.\n";

fn actions(session: &mut Session, line: u32, only: Value) -> Vec<Value> {
    let position = json!({"line": line, "character": 3});
    let mut context = json!({"diagnostics": []});
    if !only.is_null() {
        context["only"] = only;
    }
    let params = json!({
        "textDocument": {"uri": session.uri("pdf/SKILL.md")}, "range": {"start": position, "end": position},
        "context": context
    });
    session.request("textDocument/codeAction", params).unwrap().as_array().unwrap().clone()
}

fn titles(actions: &[Value]) -> Vec<&str> {
    actions.iter().map(|action| action["title"].as_str().unwrap()).collect()
}

#[test]
fn a_diagnostic_is_fixed() {
    let mut session = Session::start();
    session.open("pdf/SKILL.md", BROKEN);
    let found = actions(&mut session, 2, Value::Null);
    assert_eq!(titles(&found)[1..], ["fix all problems that have a fix"]);
    insta::assert_snapshot!(titles(&found)[0], @r#"fix SK022: write description: "Fill: forms. Use when asked""#);
    assert_eq!((&found[0]["kind"], &found[0]["isPreferred"]), (&json!("quickfix"), &json!(true)));
    let fixed = session.apply(&found[0]["edit"], "pdf/SKILL.md", BROKEN);
    assert_eq!(fixed, BROKEN.replace("Fill: forms. Use when asked", "\"Fill: forms. Use when asked\""));
    assert_eq!(found[0]["edit"]["documentChanges"][0]["textDocument"]["version"], 1);
}

#[test]
fn everything_is_fixed_on_request() {
    let mut session = Session::start();
    session.open("pdf/SKILL.md", BROKEN);
    let found = actions(&mut session, 5, json!(["source.fixAll"]));
    assert_eq!(titles(&found), ["fix all problems that have a fix"]);
    let fixed = session.apply(&found[0]["edit"], "pdf/SKILL.md", BROKEN);
    assert_eq!(session.change("pdf/SKILL.md", 2, json!([{"text": fixed}])), Vec::<String>::new());
    assert_eq!(actions(&mut session, 2, json!(["source"])), Vec::<Value>::new());
}

#[test]
fn a_missing_file_is_created_inside_of_the_skill_only() {
    let mut session = Session::start();
    session.write("elsewhere/x", "");
    prowess_fs::create_dir_all(&session.path("pdf")).unwrap();
    prowess_fs::create_symlink("../elsewhere".as_ref(), &session.path("pdf/assets")).unwrap();
    session.open("pdf/SKILL.md", &skill("pdf", "Run scripts/x.py.\n[a](../a.md)\n[b](assets/b.md)\n"));
    let mut at = |line| actions(&mut session, line, json!(["quickfix"]));
    let create = at(4);
    assert_eq!(titles(&create), ["create scripts/x.py"]);
    let operation = create[0]["edit"]["documentChanges"][0].clone();
    assert_eq!((at(5), at(6)), (Vec::new(), Vec::new()));
    assert_eq!((&operation["kind"], &operation["options"]["overwrite"]), (&json!("create"), &json!(false)));
    assert_eq!(operation["uri"], json!(session.uri("pdf/scripts/x.py")));
    assert!(!crate::support::exists(&session.path("pdf/scripts/x.py")), "the server writes nothing itself");
}

#[test]
fn simple_clients_get_edits_without_versions_or_no_actions() {
    let mut capabilities = capabilities();
    capabilities["workspace"] = json!({});
    let mut session = Session::with(capabilities, json!({}));
    session.open("pdf/SKILL.md", BROKEN);
    let found = actions(&mut session, 2, json!(["quickfix"]));
    assert!(found[0]["edit"]["documentChanges"].is_null());
    assert!(session.apply(&found[0]["edit"], "pdf/SKILL.md", BROKEN).contains("\"Fill: forms"));
    let mut session = Session::with(json!({}), json!({}));
    session.open("pdf/SKILL.md", BROKEN);
    assert_eq!(actions(&mut session, 2, Value::Null), Vec::<Value>::new());
}
