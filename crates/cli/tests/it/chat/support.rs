//! Test environments with a model server.

use insta::Settings;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{ReplyPart, call, encode_reply, text};
use prowess_testing::model::{BlockingModelServer, Reply, ReplyPiece};
use serde_json::{Value, json};

use crate::support::{RunOutput, TestEnv};

/// The skill that the model loads in most tests.
pub const NOTES: &str = "---\nname: notes\ndescription: Take notes.\n---\n\nWrite it down.\n";

/// Returns an environment with one skill and no model.
pub fn bare() -> TestEnv {
    let env = TestEnv::bare().variable("KEY", "sk-SECRET-123");
    env.file("~/.agents/skills/notes/SKILL.md", NOTES);
    env
}

/// Returns an environment with a model behind this API.
pub fn env_with_model(provider: ChatProvider, server: &BlockingModelServer) -> TestEnv {
    let env = bare();
    configure(&env, provider, &server.base, "");
    env
}

/// Writes the configuration of the model.
pub fn configure(env: &TestEnv, provider: ChatProvider, base: &str, more: &str) {
    let text = format!(
        "[chat]\nprovider = \"{}\"\nmodel = \"model-1\"\nbase-url = \"{base}/v1\"\nkey-env = \"KEY\"\nretries = 0\n{more}\n",
        provider.as_str()
    );
    env.file("~/.prowess/config.toml", text);
}

/// Returns a model with these answers, in order.
pub fn scripted_model(provider: ChatProvider, answers: &[&[ReplyPart]]) -> BlockingModelServer {
    BlockingModelServer::start(
        answers.iter().map(|steps| Reply::events(encode_reply(provider, steps))).collect::<Vec<_>>(),
    )
}

/// Returns a chat completions model that always gives this answer.
pub fn model_answering(content: &'static str) -> (BlockingModelServer, TestEnv) {
    let server = scripted_model(ChatProvider::OpenAiChat, &[&[text(content)]]);
    let env = env_with_model(ChatProvider::OpenAiChat, &server);
    (server, env)
}

/// Returns a model that loads `notes` and a missing skill first.
pub fn model_loading_skills() -> (BlockingModelServer, TestEnv) {
    let calls = [
        text("I will look. "),
        call("1", "skills_activate", json!({"name": "notes"})),
        call("2", "skills_activate", json!({"name": "nope"})),
    ];
    let server = scripted_model(ChatProvider::OpenAiChat, &[&calls, &[text("Noted.")]]);
    let env = env_with_model(ChatProvider::OpenAiChat, &server);
    (server, env)
}

/// Returns a model that sends a text and then hangs.
pub fn hanging_model(content: &'static str) -> (BlockingModelServer, TestEnv) {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": null}]});
    let server =
        BlockingModelServer::start([Reply::events(format!("data: {chunk}\n\n")).then(ReplyPiece::Hang)]);
    let env = env_with_model(ChatProvider::OpenAiChat, &server);
    (server, env)
}

/// Returns the events of a run.
pub fn events(result: &RunOutput) -> Vec<Value> {
    result
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{}", result.transcript())))
        .collect()
}

/// Returns the id of the latest chat.
pub fn latest_chat(env: &TestEnv) -> String {
    env.run(&["chats", "--json"]).json()["chats"][0]["id"].as_str().unwrap().to_owned()
}

/// Returns the messages of the latest chat.
pub fn messages(env: &TestEnv) -> Vec<Value> {
    let shown = env.run(&["chats", "show", &latest_chat(env), "--json"]).json();
    shown["messages"].as_array().unwrap().clone()
}

/// Compares a snapshot without values that differ from run to run.
pub fn bind_filters() -> impl Drop {
    let mut settings = Settings::clone_current();
    settings.add_filter(r"\b[0-9a-f]{32}\b", "[ID]");
    settings.add_filter(r"sha256:[0-9a-f]{64}", "sha256:[DIGEST]");
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "[TIME]");
    settings.add_filter(r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]");
    settings.add_filter(r#""(at|created|updated|exported)": ?\d+"#, r#""$1": [TIME]"#);
    // The size of a result depends on the length of the paths in it.
    settings.add_filter(r#"\b(bytes"?: ?)\d+"#, "$1[N]");
    settings.add_filter(r"tokens: \d+ \(.*\)", "tokens: [N]");
    settings.add_filter(r"\d+ tokens", "[N] tokens");
    settings.add_filter(r"\d+ (input|output) tokens", "[N] $1 tokens");
    settings.bind_to_scope()
}
