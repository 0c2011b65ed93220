//! Single messages: standard output, standard error and the request to the model.

use insta::assert_snapshot;
use serde_json::Value;

use crate::chat::support::{
    bare, bind_filters, latest_chat, messages, model_answering, model_loading_skills,
};
use crate::support::TestEnv;

#[test]
fn without_a_model_the_first_line_explains_rehearsal_mode() {
    let _steady = bind_filters();
    assert_snapshot!(bare().run(&["chat", "/notes buy milk"]).transcript());
    // Neither a configuration nor a home directory is needed.
    let env = TestEnv::new();
    let result = env.run(&["chat", "hello", "--quiet"]);
    assert_eq!((result.err.as_str(), result.code), ("", 0));
    assert!(result.out.starts_with("This is a rehearsal, not a model"), "{}", result.out);
}

#[test]
fn standard_output_contains_only_the_answer() {
    let _steady = bind_filters();
    let (_server, env) = model_loading_skills();
    let result = env.run(&["chat", "Take a note"]);
    assert_snapshot!(result.transcript());
    assert_eq!(result.out, "I will look. \n\nNoted.\n");
    let quiet = model_loading_skills().1.run(&["chat", "Take a note", "-q"]);
    assert_eq!((quiet.out, quiet.err.as_str()), (result.out, ""));
}

#[test]
fn standard_input_is_the_message_or_appended_to_it() {
    let (server, env) = model_answering("Fine.");
    let request_text = |at: usize| {
        let messages = server.requests()[at].body["messages"].as_array().unwrap().clone();
        messages.last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    assert_eq!(env.run_with(&["chat"], "What is this?\n").out, "Fine.\n");
    assert_eq!(request_text(0), "What is this?");
    assert_eq!(env.run_with(&["chat", "Review this"], "+ a\n- b\n").out, "Fine.\n");
    assert_eq!(request_text(1), "Review this\n\n+ a\n- b");
    assert_eq!(env.run(&["chat", "Nothing is piped"]).code, 0);
    assert_eq!(request_text(2), "Nothing is piped");
    // Skills can be called from a pipe.
    env.run_with(&["chat", "/notes"], "milk\n");
    assert_eq!(messages(&env)[1]["parts"][0]["name"], "skills.activate");
}

#[test]
fn continuing_a_chat() {
    let (server, env) = model_answering("Fine.");
    let roles = |at: usize| {
        let messages = server.requests()[at].body["messages"].as_array().unwrap().clone();
        messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(env.run(&["chat", "one"]).code, 0);
    let first = latest_chat(&env);
    assert_eq!(env.run(&["chat", "two"]).code, 0);
    assert_ne!(latest_chat(&env), first);
    assert_eq!(roles(1), ["system", "user"]);
    assert_eq!(env.run(&["chat", "--continue", "three"]).code, 0);
    assert_eq!(roles(2), ["system", "user", "assistant", "user"]);
    assert_eq!(env.run(&["chat", "--chat", &first, "four"]).code, 0);
    assert_eq!(latest_chat(&env), first);
    let texts: Vec<Value> =
        messages(&env).iter().map(|message| message["parts"][0]["text"].clone()).collect();
    assert_eq!(texts, ["one", "Fine.", "four", "Fine."]);
    assert_eq!(env.run(&["chat", "--new", "five"]).code, 0);
    assert_ne!(latest_chat(&env), first);
    let result = env.run(&["chat", "-c", "-v", "six"]);
    assert_eq!(result.err, format!("chat {0}; to continue: prowess chat --chat {0}\n", latest_chat(&env)));
}

#[test]
fn escape_sequences_of_the_model_are_escaped() {
    let reply = "a\u{1b}[31m\u{1b}]0;owned\u{7}\u{9b}2J\rb\u{202e}c\n";
    let (_server, env) = model_answering("a\u{1b}[31m\u{1b}]0;owned\u{7}\u{9b}2J\rb\u{202e}c\n");
    let result = env.run(&["chat", "x"]);
    assert_eq!(result.out, "a\\u{1b}[31m\\u{1b}]0;owned\\u{7}\\u{9b}2Jb\u{202e}c\n");
    // The stored text is unescaped.
    assert_eq!(messages(&env)[1]["parts"][0]["text"], reply);
    let shown = env.run(&["chat", "--continue", "x", "--json"]);
    assert!(!shown.out.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{}", shown.out);
}

/// `prowess chat … | head -1`: a closed pipe stops the turn without an error.
#[test]
fn a_closed_pipe_stops_the_turn() {
    let (_server, env) = crate::chat::support::hanging_model("word\n");
    let mut child = env.spawn(&["chat", "x"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    assert_eq!(messages(&env)[1]["state"], "interrupted");
}

/// Skills loaded in chats count as used.
#[test]
fn used_skills_are_recorded() {
    let (_server, env) = model_loading_skills();
    env.run(&["chat", "Take a note"]);
    assert!(env.text("~/.prowess/state/usage.json").contains("notes"));
    let chat = &env.run(&["chats", "--json"]).json()["chats"][0];
    assert_eq!(chat["activated_skill_names"], serde_json::json!(["notes"]));
    assert_eq!(chat["title"], "Take a note");
}
