//! `prowess chats`: what is kept, for people and for programs.

use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use prowess_testing::postgres;
use serde_json::{Value, json};

use crate::chat::talking::{bare, latest, loading, messages, steady, words};
use crate::world::{World, keys};

#[test]
fn what_was_said_as_people_read_it() {
    let _steady = steady();
    let (_server, world) = loading();
    world.run(&["chat", "Take a note"]);
    let id = latest(&world);
    assert_snapshot!(world.runs(&[&["chats"], &["chats", "list", "-n", "1"], &["chats", "show", &id]]));
    let shown = world.run(&["chats", "show", &id, "--json"]).json();
    assert_eq!(keys(&shown), ["chat", "messages", "schema"]);
    assert_eq!(keys(&world.run(&["chats", "--json"]).json()), ["chats", "more", "schema"]);
}

#[test]
fn more_chats_than_are_listed() {
    let (_server, world) = words("Fine.");
    for n in 0..3 {
        world.run(&["chat", &format!("number {n}")]);
    }
    let told = world.run(&["chats", "list", "-n", "2"]);
    assert_eq!(
        (told.out.lines().count(), told.err.as_str()),
        (2, "there are more; -n N lists more of them\n")
    );
    assert!(told.out.lines().next().unwrap().contains("number 2"));
    assert_eq!(world.run(&["chats", "list", "-n", "2", "--json"]).json()["more"], true);
    assert_eq!(world.run(&["chats"]).out.lines().count(), 3);
}

#[test]
fn deleted_is_deleted() {
    let (_server, world) = words("Fine.");
    world.run(&["chat", "one"]);
    let first = latest(&world);
    world.run(&["chat", "two"]);
    let second = latest(&world);
    // All or none.
    assert_eq!(world.run(&["chats", "delete", &second, "nope"]).code, 1);
    assert_eq!(world.run(&["chats"]).out.lines().count(), 2);
    assert_eq!(world.run(&["chats", "delete", &second]).out, format!("deleted {second}\n"));
    assert_eq!(world.run(&["chats", "show", &second]).code, 1);
    let told = world.run(&["chats", "delete", &first, "--json"]);
    assert_eq!(told.json(), json!({"schema": 1, "deleted": [first]}));
    assert_eq!(world.run(&["chats"]).err, "there are no chats yet; prowess chat begins one\n");
}

/// Out of one store, into another, of either kind.
#[test]
fn out_and_in_again() {
    let database = postgres::Server::start();
    let (_server, world) = loading();
    world.run(&["chat", "Take a note"]);
    let id = latest(&world);
    let before = messages(&world);
    let told = world.run(&["chats", "export", "--to", "copy.json"]);
    assert_eq!((told.out.as_str(), told.code), ("1 chat exported to copy.json\n", 0));
    let mode = std::fs::metadata(world.path("copy.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let file: Value = serde_json::from_str(&world.text("copy.json")).unwrap();
    assert_eq!((&file["format"], &file["chats"][0]["messages"]), (&json!("prowess-chats"), &json!(before)));
    assert!(!world.text("copy.json").contains("Write it down"), "the body of a skill stays out");
    // Standard output has the same, and nothing is written over.
    let out: Value = serde_json::from_str(&world.run(&["chats", "export", &id]).out).unwrap();
    assert_eq!(out["chats"], file["chats"]);
    assert_eq!(world.run(&["chats", "export", "--to", "copy.json", "--json"]).error().0, "CONFLICT");

    for store in ["other.sqlite3", &database.url()] {
        let told = world.run(&["chats", "import", "copy.json", "--store", store]);
        assert_eq!(told.out, format!("imported {id}\n"), "{}", told.whole());
        let there = world.run(&["chats", "show", &id, "--store", store, "--json"]).json();
        assert_eq!(there["messages"], json!(before), "{store}");
        // The same id is taken now.
        let again =
            world.run_with(&["chats", "import", "-", "--store", store, "--json"], &world.text("copy.json"));
        let imported = &again.json()["imported"][0];
        assert_eq!(imported["from"], json!(id));
        assert_ne!(imported["chat"], json!(id));
        assert_eq!(world.run(&["chats", "--store", store]).out.lines().count(), 2);
        let told = world.run(&["chat", "--store", store, "--chat", &id, "go on"]);
        assert_eq!((told.out.as_str(), told.code), ("Noted.\n", 0));
    }
}

#[test]
fn files_that_are_not_chats_change_nothing() {
    let world = bare();
    for (text, about) in [
        ("", "not one of chats"),
        ("{}", "not one of chats"),
        ("{\"format\": \"prowess-chats\", \"version\": 9, \"chats\": []}", "has version 9"),
        ("\u{1b}[31m", "not one of chats"),
    ] {
        world.file("in.json", text);
        let told = world.run(&["chats", "import", "in.json", "--json"]);
        assert_eq!((told.error().0.as_str(), told.code), ("INVALID_PARAM", 2));
        assert!(told.error().1.contains(about), "{}", told.whole());
    }
    assert_eq!(World::bare().run_with(&["chats", "import", "-"], "nothing").code, 2);
    assert_eq!(world.run(&["chats", "--json"]).json()["chats"], json!([]));
}
