//! The beginning and the end of a session, and messages that are not valid.

use prowess_lsp::{ServerOptions, SessionEnd};
use serde_json::{Value, json};

use crate::support::{Session, capabilities, skill};

#[test]
fn the_server_says_what_it_offers() {
    let mut session = Session::uninitialized(ServerOptions::default());
    let mut result = session.initialize(capabilities(), json!({}));
    result["serverInfo"]["version"] = json!("VERSION");
    insta::assert_snapshot!(serde_json::to_string_pretty(&result).unwrap());
}

#[test]
fn a_session_begins_and_ends_in_order() {
    let mut session = Session::uninitialized(ServerOptions::default());
    session.notify("textDocument/didOpen", json!({}));
    assert_eq!(session.request("textDocument/hover", json!({})).unwrap_err().0, -32002);
    session.initialize(json!({}), json!({}));
    assert_eq!(session.request("initialize", json!({"capabilities": {}})).unwrap_err().0, -32600);
    assert_eq!(session.request("shutdown", Value::Null).unwrap(), Value::Null);
    assert_eq!(session.request("textDocument/hover", json!({})).unwrap_err().0, -32600);
    assert_eq!(session.request("shutdown", Value::Null).unwrap_err().0, -32600);
    session.notify("exit", Value::Null);
    assert_eq!(session.end(), SessionEnd::Exit);
}

#[test]
fn an_exit_without_shutdown_and_a_closed_connection_are_aborts() {
    let session = Session::uninitialized(ServerOptions::default());
    session.notify("exit", Value::Null);
    assert_eq!(session.end(), SessionEnd::Aborted);
    let session = Session::start();
    session.notify("exit", Value::Null);
    assert_eq!(session.end(), SessionEnd::Aborted);
    assert_eq!(Session::start().end(), SessionEnd::Aborted);
}

#[test]
fn invalid_and_unknown_requests_get_errors() {
    let mut session = Session::start();
    session.open("pdf/SKILL.md", &skill("pdf", "x"));
    for method in [
        "textDocument/completion",
        "textDocument/hover",
        "textDocument/definition",
        "textDocument/documentLink",
        "textDocument/codeAction",
        "textDocument/codeLens",
        "textDocument/prepareRename",
        "textDocument/rename",
        "workspace/willRenameFiles",
        "workspace/executeCommand",
    ] {
        for params in [Value::Null, json!([]), json!({"textDocument": {"uri": 7}}), json!("x")] {
            let (code, message) = session.request(method, params).unwrap_err();
            assert_eq!(code, -32602, "{method}: {message}");
        }
    }
    assert_eq!(
        session.request("textDocument/unknown", json!({})).unwrap_err(),
        (-32601, "unknown method textDocument/unknown".to_owned())
    );
    assert_eq!(session.request("$/unknown", json!({})).unwrap_err().0, -32601);
    session.notify("$/unknown", json!({}));
    session.notify("unknown", json!([1]));
    let mut session = Session::uninitialized(ServerOptions::default());
    assert_eq!(session.request("initialize", json!([])).unwrap_err().0, -32602);
    session.initialize(json!({"general": "x"}), json!(7));
}

#[test]
fn documents_that_are_not_open_have_nothing() {
    let mut session = Session::start();
    let document = json!({"uri": session.uri("none/SKILL.md")});
    let position = json!({"line": 0, "character": 0});
    for method in ["textDocument/completion", "textDocument/hover", "textDocument/definition"] {
        let params = json!({"textDocument": document, "position": position});
        assert_eq!(session.request(method, params).unwrap(), Value::Null, "{method}");
    }
    for method in ["textDocument/documentLink", "textDocument/codeLens"] {
        assert_eq!(
            session.request(method, json!({"textDocument": document})).unwrap(),
            Value::Null,
            "{method}"
        );
    }
}

#[test]
fn requests_are_cancelled() {
    let mut session = Session::start();
    session.open("pdf/SKILL.md", &skill("pdf", &"some words\n".repeat(40_000)));
    let params = json!({"textDocument": {"uri": session.uri("pdf/SKILL.md")}});
    // The background counts tokens for a while.
    let ids: Vec<_> =
        (0..20).map(|_| session.send_request("textDocument/codeLens", params.clone())).collect();
    for id in ids.iter().skip(1) {
        session.notify("$/cancelRequest", json!({"id": id}));
    }
    session.notify("$/cancelRequest", json!({"id": "unknown"}));
    session.notify("$/cancelRequest", json!({}));
    assert!(session.response(&ids[0]).is_ok());
    let cancelled =
        ids.iter().skip(1).filter(|id| session.response(id).is_err_and(|(code, _)| code == -32800));
    assert!(cancelled.count() > 0, "no request was cancelled");
}
