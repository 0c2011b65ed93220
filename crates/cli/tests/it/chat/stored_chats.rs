//! `prowess chats`: stored chats as text and as JSON.

use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use prowess_testing::postgres;
use serde_json::{Value, json};

use crate::chat::support::{
    bare, bind_filters, latest_chat, messages, model_answering, model_loading_skills,
};
use crate::support::{TestEnv, keys};

#[test]
fn messages_as_text() {
    let _steady = bind_filters();
    let (_server, env) = model_loading_skills();
    env.run(&["chat", "Take a note"]);
    let id = latest_chat(&env);
    assert_snapshot!(env.runs(&[&["chats"], &["chats", "list", "-n", "1"], &["chats", "show", &id]]));
    let shown = env.run(&["chats", "show", &id, "--json"]).json();
    assert_eq!(keys(&shown), ["chat", "messages", "schema"]);
    assert_eq!(keys(&env.run(&["chats", "--json"]).json()), ["chats", "more", "schema"]);
}

#[test]
fn more_chats_than_are_listed() {
    let (_server, env) = model_answering("Fine.");
    for n in 0..3 {
        env.run(&["chat", &format!("number {n}")]);
    }
    let result = env.run(&["chats", "list", "-n", "2"]);
    assert_eq!(
        (result.out.lines().count(), result.err.as_str()),
        (2, "more chats are not listed; pass -n N to list more\n")
    );
    assert!(result.out.lines().next().unwrap().contains("number 2"));
    assert_eq!(env.run(&["chats", "list", "-n", "2", "--json"]).json()["more"], true);
    assert_eq!(env.run(&["chats"]).out.lines().count(), 3);
}

#[test]
fn deleting_chats() {
    let (_server, env) = model_answering("Fine.");
    env.run(&["chat", "one"]);
    let first = latest_chat(&env);
    env.run(&["chat", "two"]);
    let second = latest_chat(&env);
    // All or none.
    assert_eq!(env.run(&["chats", "delete", &second, "nope"]).code, 1);
    assert_eq!(env.run(&["chats"]).out.lines().count(), 2);
    assert_eq!(env.run(&["chats", "delete", &second]).out, format!("deleted {second}\n"));
    assert_eq!(env.run(&["chats", "show", &second]).code, 1);
    let result = env.run(&["chats", "delete", &first, "--json"]);
    assert_eq!(result.json(), json!({"schema": 1, "deleted": [first]}));
    assert_eq!(env.run(&["chats"]).err, "no chats yet; run `prowess chat` to start one\n");
}

/// Chats are exported from one kind of store and imported into another.
#[test]
fn export_and_import() {
    let database = postgres::PostgresServer::start();
    let (_server, env) = model_loading_skills();
    env.run(&["chat", "Take a note"]);
    let id = latest_chat(&env);
    let before = messages(&env);
    let result = env.run(&["chats", "export", "--to", "copy.json"]);
    assert_eq!((result.out.as_str(), result.code), ("exported 1 chat to copy.json\n", 0));
    let mode = std::fs::metadata(env.path("copy.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let file: Value = serde_json::from_str(&env.text("copy.json")).unwrap();
    assert_eq!((&file["format"], &file["chats"][0]["messages"]), (&json!("prowess-chats"), &json!(before)));
    assert!(!env.text("copy.json").contains("Write it down"), "the body of a skill stays out");
    // Standard output is identical, and existing files are not overwritten.
    let out: Value = serde_json::from_str(&env.run(&["chats", "export", &id]).out).unwrap();
    assert_eq!(out["chats"], file["chats"]);
    assert_eq!(env.run(&["chats", "export", "--to", "copy.json", "--json"]).error().0, "CONFLICT");

    for store in ["other.sqlite3", &database.url()] {
        let result = env.run(&["chats", "import", "copy.json", "--store", store]);
        assert_eq!(result.out, format!("imported {id}\n"), "{}", result.transcript());
        let there = env.run(&["chats", "show", &id, "--store", store, "--json"]).json();
        assert_eq!(there["messages"], json!(before), "{store}");
        // The id exists now.
        let again =
            env.run_with(&["chats", "import", "-", "--store", store, "--json"], &env.text("copy.json"));
        let imported = &again.json()["imported"][0];
        assert_eq!(imported["from"], json!(id));
        assert_ne!(imported["chat"], json!(id));
        assert_eq!(env.run(&["chats", "--store", store]).out.lines().count(), 2);
        let result = env.run(&["chat", "--store", store, "--chat", &id, "go on"]);
        assert_eq!((result.out.as_str(), result.code), ("Noted.\n", 0));
    }
}

#[test]
fn invalid_files_are_not_imported() {
    let env = bare();
    for (text, about) in [
        ("", "not an export of chats"),
        ("{}", "not an export of chats"),
        ("{\"format\": \"prowess-chats\", \"version\": 9, \"chats\": []}", "has format version 9"),
        ("\u{1b}[31m", "not an export of chats"),
    ] {
        env.file("in.json", text);
        let result = env.run(&["chats", "import", "in.json", "--json"]);
        assert_eq!((result.error().0.as_str(), result.code), ("INVALID_PARAM", 2));
        assert!(result.error().1.contains(about), "{}", result.transcript());
    }
    assert_eq!(TestEnv::bare().run_with(&["chats", "import", "-"], "nothing").code, 2);
    assert_eq!(env.run(&["chats", "--json"]).json()["chats"], json!([]));
}
