//! Diagnostics while typing.

use prowess_lsp::ServerOptions;
use serde_json::json;
use url::Url;

use crate::support::{Session, capabilities, skill};

#[test]
fn diagnostics_follow_incremental_and_full_changes_with_their_version() {
    let mut session = Session::start();
    let text = "---\nname: Pdf\ndescription: Use for 𝄞 PDF.\n---\nSee [a](a.md).\n";
    insta::assert_snapshot!(session.open("pdf/SKILL.md", text).join("\n"), @r"
    1:6-1:9 warning SK034: the name Pdf is not well formed: it contains upper-case letters
    1:6-1:9 warning SK036: the name Pdf does not match the directory pdf
    4:8-4:12 warning SK063: the body refers to a.md, which does not exist
    ");
    let name = json!({"range": {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 7}}, "text": "p"});
    // The columns after the clef count two units for it.
    let end = json!({"range": {"start": {"line": 2, "character": 24}, "end": {"line": 2, "character": 28}}, "text": ": x"});
    insta::assert_snapshot!(session.change("pdf/SKILL.md", 2, json!([name, end])).join("\n"), @r"
    2:13-2:27 warning SK022: the value of description must be quoted
    4:8-4:12 warning SK063: the body refers to a.md, which does not exist
    ");
    let full = json!([{"text": skill("pdf", "Do it.")}]);
    assert_eq!(session.change("pdf/SKILL.md", 3, full), Vec::<String>::new());
}

#[test]
fn columns_are_bytes_if_the_client_offers_utf_8() {
    let mut capabilities = capabilities();
    capabilities["general"]["positionEncodings"] = json!(["utf-16", "utf-8"]);
    let mut session = Session::uninitialized(ServerOptions::default());
    let result = session.initialize(capabilities, json!({}));
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-8");
    let text = skill("pdf", "𝄞 [a](a.md)");
    let utf8 = session.open("pdf/SKILL.md", &text);
    let mut session = Session::start();
    let utf16 = session.open("pdf/SKILL.md", &text);
    insta::assert_snapshot!([utf8, utf16].concat().join("\n"), @r"
    4:9-4:13 warning SK063: the body refers to a.md, which does not exist
    4:7-4:11 warning SK063: the body refers to a.md, which does not exist
    ");
}

#[test]
fn diagnostics_are_the_same_as_those_of_check() {
    let mut session = Session::start();
    let text = "---\nname: other\ndescription: Fill: forms\ncolour: red\n---\nRun scripts/x.py and !`ls`.\n";
    let shown = session.open_saved("pdf/SKILL.md", text);
    let rules = prowess_format::Rules::standard();
    let checked = prowess::check::check(&session.path("pdf"), &rules, &Default::default()).unwrap();
    let expected: Vec<_> =
        checked[0].diagnostics.iter().map(|found| (found.code.as_str(), &found.message)).collect();
    assert_eq!(shown.len(), expected.len());
    for (shown, (code, message)) in shown.iter().zip(expected) {
        assert!(shown.contains(&format!("{code}: {}", message.lines().next().unwrap())), "{shown}");
    }
}

#[test]
fn diagnostics_are_cleared_when_a_document_is_closed_or_deleted() {
    let mut session = Session::start();
    let uri = session.uri("pdf/SKILL.md");
    assert_eq!(session.open("pdf/SKILL.md", "no skill").len(), 1);
    session.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    assert_eq!(session.diagnostics(&uri, None), Vec::<String>::new());
    session.open_saved("csv/SKILL.md", "no skill");
    let uri = session.uri("csv/SKILL.md");
    session.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": uri, "type": 3}]}));
    assert_eq!(session.diagnostics(&uri, None), Vec::<String>::new());
}

#[test]
fn a_missing_file_is_noticed_when_it_appears() {
    let mut session = Session::start();
    let found = session.open_saved("pdf/SKILL.md", &skill("pdf", "Run scripts/x.py."));
    assert_eq!(found.len(), 1, "{found:?}");
    session.write("pdf/scripts/x.py", "");
    let changes = json!([{"uri": session.uri("pdf/scripts/x.py"), "type": 1}]);
    session.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
    let uri = session.uri("pdf/SKILL.md");
    assert_eq!(session.diagnostics(&uri, Some(1)), Vec::<String>::new());
}

#[test]
fn settings_of_the_client_select_rules_agents_and_codes() {
    let text = "---\nname: pdf\ndescription: Reads.\nversion: 1.0.0\nmodel: x\n---\nText.";
    let mut session = Session::with(capabilities(), json!({"agents": ["codex"], "ignore": ["SK044"]}));
    insta::assert_snapshot!(session.open("pdf/SKILL.md", text).join("\n"), @"4:0-4:5 info SK102: Codex ignores model");
    let uri = session.uri("pdf/SKILL.md");
    let settings = json!({"settings": {"prowess": {"strict": true, "agents": [], "ignore": ["SK044", "x"]}}});
    session.notify("workspace/didChangeConfiguration", settings);
    insta::assert_snapshot!(session.diagnostics(&uri, Some(1)).join("\n"), @r"
    3:0-3:7 error SK051: unknown key version
    4:0-4:5 error SK051: unknown key model
    ");
    assert_eq!(session.wait_for("window/showMessage")["message"], "unknown code x in prowess.ignore");
}

#[test]
fn problems_in_other_files_of_a_skill_are_shown_there() {
    let mut session = Session::with(capabilities(), json!({"agents": ["codex"]}));
    session.write("pdf/agents/openai.yaml", "interface: [\n");
    session.open_saved("pdf/SKILL.md", &skill("pdf", "Text."));
    let uri = session.uri("pdf/agents/openai.yaml");
    let found = session.diagnostics(&uri, None);
    assert!(found.len() == 1 && found[0].contains("SK105"), "{found:?}");
    session.notify("textDocument/didClose", json!({"textDocument": {"uri": session.uri("pdf/SKILL.md")}}));
    assert_eq!(session.diagnostics(&uri, None), Vec::<String>::new());
}

#[test]
fn documents_without_a_directory_and_outside_of_the_workspace_are_checked() {
    let mut session = Session::start();
    let untitled = Url::parse("untitled:Untitled-1").unwrap();
    insta::assert_snapshot!(session.open_uri(&untitled, "---\nname: A b\ndescription: Use it.\n---\n[x](x.md)\n").join("\n"), @"1:6-1:9 warning SK034: the name A b is not well formed: it contains upper-case letters, and it contains a space");
    let outside = Url::parse("file:///nonexistent/pdf/SKILL.md").unwrap();
    insta::assert_snapshot!(session.open_uri(&outside, &skill("pdf", "[x](x.md)")).join("\n"), @"4:4-4:8 warning SK063: the body refers to x.md, which does not exist");
}

#[test]
fn other_documents_have_no_diagnostics() {
    let mut session = Session::start();
    let item =
        json!({"uri": session.uri("pdf/README.md"), "languageId": "markdown", "version": 1, "text": "x"});
    session.notify("textDocument/didOpen", json!({"textDocument": item}));
    session.open("pdf/SKILL.md", &skill("pdf", "x"));
    let published = |message: &lsp_server::Message| format!("{message:?}").contains("README");
    assert!(!session.inbox.iter().any(published), "{:?}", session.inbox);
}

#[test]
fn a_huge_document_is_refused_and_can_shrink_again() {
    let mut session = Session::start();
    let found = session.open("pdf/SKILL.md", &skill("pdf", &"x\n".repeat(9 * 1024 * 1024)));
    insta::assert_snapshot!(found.join("\n"), @"0:0-0:3 error SK005: the file has 19 MiB; the limit is 16 MiB");
    assert_eq!(session.change("pdf/SKILL.md", 2, json!([{"text": skill("pdf", "x")}])), Vec::<String>::new());
}

#[test]
fn changes_of_unknown_documents_and_of_invalid_form_are_ignored() {
    let mut session = Session::start();
    session.notify(
        "textDocument/didChange",
        json!({"textDocument": {"uri": session.uri("x/SKILL.md"), "version": 1}, "contentChanges": []}),
    );
    session.notify("textDocument/didChange", json!({"textDocument": 7}));
    session.notify("textDocument/didOpen", json!(null));
    session.notify("textDocument/didClose", json!({"textDocument": {"uri": "not an address"}}));
    let outside = json!([{"range": {"start": {"line": 900, "character": 9}, "end": {"line": 0, "character": 0}}, "text": "more"}]);
    assert_eq!(session.open("pdf/SKILL.md", &skill("pdf", "x")), Vec::<String>::new());
    assert_eq!(session.change("pdf/SKILL.md", 2, outside), Vec::<String>::new());
}
