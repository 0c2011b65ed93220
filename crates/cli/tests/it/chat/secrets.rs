//! The address of a store may contain a password, which is never printed.

use insta::assert_snapshot;

use crate::chat::support::{bare, bind_filters, model_answering};

const ADDRESS: &str = "postgresql://ann:SECRET@127.0.0.1:1/prowess";

#[test]
fn a_password_is_never_printed() {
    let _steady = bind_filters();
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
    for env in [&in_file, &in_variable] {
        for call in calls {
            let result = env.run(call).transcript();
            assert!(!result.contains("SECRET"), "{result}");
        }
    }
    let line =
        |result: String| result.lines().find(|line| line.starts_with("chat.store")).unwrap().to_owned();
    let shown = [line(in_file.run(&["config"]).out), line(in_variable.run(&["config"]).out)].join("\n");
    assert_snapshot!(format!("{shown}\n{}", in_file.run(&["chat", "hello"]).transcript()));
}

#[test]
fn invalid_store_addresses_are_not_printed() {
    for wrong in ["mysql://ann:SECRET@db", "ann:SECRET@db"] {
        let env = bare().variable("PROWESS_STORE", wrong);
        let result = env.run(&["chat", "hello"]);
        assert_eq!(result.code, 2);
        assert!(!result.transcript().contains("SECRET"), "{}", result.transcript());
        let result = bare().run(&["chats", "--store", "mysql://ann:SECRET@db"]);
        assert!(result.code == 2 && !result.err.contains("SECRET"), "{}", result.err);
    }
}

#[test]
fn the_option_overrides_the_variable_which_overrides_the_file() {
    let (_server, env) = model_answering("Fine.");
    let config = env.text("~/.prowess/config.toml");
    env.file("~/.prowess/config.toml", format!("{config}store = \"~/in-file\"\n"));
    env.run(&["chat", "hello"]);
    assert!(env.path("~/in-file").is_file());
    let variable = env.path("in-variable").to_str().unwrap().to_owned();
    let env = env.variable("PROWESS_STORE", &variable);
    env.run(&["chat", "hello"]);
    assert!(env.path("in-variable").is_file() && !env.path("~/.prowess/state/chats.sqlite3").exists());
    env.run(&["chat", "hello", "--store", "in-flag"]);
    assert!(env.path("in-flag").is_file());
    assert_eq!(
        env.run(&["chats", "--store", "in-flag", "--json"]).json()["chats"].as_array().unwrap().len(),
        1
    );
}
