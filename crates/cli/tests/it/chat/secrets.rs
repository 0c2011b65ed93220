//! Where chats are kept may have a password in it. Nobody is told.

use insta::assert_snapshot;

use crate::chat::talking::{bare, steady, words};

const ADDRESS: &str = "postgresql://ann:SECRET@127.0.0.1:1/prowess";

#[test]
fn a_password_is_never_printed() {
    let _steady = steady();
    let calls: [&[&str]; 6] = [
        &["config"],
        &["config", "--json"],
        &["chat", "hello"],
        &["chat", "hello", "--json"],
        &["chats"],
        &["doctor"],
    ];
    let in_file = bare();
    in_file.file("~/.prowess/config.toml", format!("[chat]\nstore = \"{ADDRESS}\"\n"));
    let in_variable = bare().variable("PROWESS_STORE", ADDRESS);
    for world in [&in_file, &in_variable] {
        for call in calls {
            let told = world.run(call).whole();
            assert!(!told.contains("SECRET"), "{told}");
        }
    }
    let line = |told: String| told.lines().find(|line| line.starts_with("chat.store")).unwrap().to_owned();
    let shown = [line(in_file.run(&["config"]).out), line(in_variable.run(&["config"]).out)].join("\n");
    assert_snapshot!(format!("{shown}\n{}", in_file.run(&["chat", "hello"]).whole()));
}

#[test]
fn what_is_no_address_is_not_repeated() {
    for wrong in ["mysql://ann:SECRET@db", "ann:SECRET@db"] {
        let world = bare().variable("PROWESS_STORE", wrong);
        let told = world.run(&["chat", "hello"]);
        assert_eq!(told.code, 2);
        assert!(!told.whole().contains("SECRET"), "{}", told.whole());
        let told = bare().run(&["chats", "--store", "mysql://ann:SECRET@db"]);
        assert!(told.code == 2 && !told.err.contains("SECRET"), "{}", told.err);
    }
}

#[test]
fn the_flag_counts_more_than_the_variable_and_that_more_than_the_file() {
    let (_server, world) = words("Fine.");
    let config = world.text("~/.prowess/config.toml");
    world.file("~/.prowess/config.toml", format!("{config}store = \"~/in-file\"\n"));
    world.run(&["chat", "hello"]);
    assert!(world.path("~/in-file").is_file());
    let variable = world.path("in-variable").to_str().unwrap().to_owned();
    let world = world.variable("PROWESS_STORE", &variable);
    world.run(&["chat", "hello"]);
    assert!(world.path("in-variable").is_file() && !world.path("~/.prowess/state/chats.sqlite3").exists());
    world.run(&["chat", "hello", "--store", "in-flag"]);
    assert!(world.path("in-flag").is_file());
    assert_eq!(
        world.run(&["chats", "--store", "in-flag", "--json"]).json()["chats"].as_array().unwrap().len(),
        1
    );
}
