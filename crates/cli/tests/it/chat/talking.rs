//! A world with a model in it.

use insta::Settings;
use prowess_config::Provider;
use prowess_testing::model::speech::{Say, answer, call, text};
use prowess_testing::model::{Blocking, Piece, Reply};
use serde_json::{Value, json};

use crate::world::{Told, World};

/// The skill that the model of most tests loads.
pub const NOTES: &str = "---\nname: notes\ndescription: Take notes.\n---\n\nWrite it down.\n";

/// A world with one skill, and no model.
pub fn bare() -> World {
    let world = World::bare().variable("KEY", "sk-SECRET-123");
    world.file("~/.agents/skills/notes/SKILL.md", NOTES);
    world
}

/// The same with a model behind this interface.
pub fn talking(provider: Provider, server: &Blocking) -> World {
    let world = bare();
    configure(&world, provider, &server.base, "");
    world
}

/// Says where the model is, and more.
pub fn configure(world: &World, provider: Provider, base: &str, more: &str) {
    let text = format!(
        "[chat]\nprovider = \"{}\"\nmodel = \"model-1\"\nbase-url = \"{base}/v1\"\nkey-env = \"KEY\"\nretries = 0\n{more}\n",
        provider.as_str()
    );
    world.file("~/.prowess/config.toml", text);
}

/// A model that says these things, one answer after the other.
pub fn saying(provider: Provider, answers: &[&[Say]]) -> Blocking {
    Blocking::start(answers.iter().map(|said| Reply::events(answer(provider, said))).collect::<Vec<_>>())
}

/// A model with the interface of most servers that says this and nothing else.
pub fn words(said: &'static str) -> (Blocking, World) {
    let server = saying(Provider::OpenAiChat, &[&[text(said)]]);
    let world = talking(Provider::OpenAiChat, &server);
    (server, world)
}

/// A model that loads `notes` first, and something that is not there.
pub fn loading() -> (Blocking, World) {
    let calls = [
        text("I will look. "),
        call("1", "skills_activate", json!({"name": "notes"})),
        call("2", "skills_activate", json!({"name": "nope"})),
    ];
    let server = saying(Provider::OpenAiChat, &[&calls, &[text("Noted.")]]);
    let world = talking(Provider::OpenAiChat, &server);
    (server, world)
}

/// A model that says something and then nothing, for ever.
pub fn hanging(said: &'static str) -> (Blocking, World) {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": said}, "finish_reason": null}]});
    let server = Blocking::start([Reply::events(format!("data: {chunk}\n\n")).then(Piece::Hang)]);
    let world = talking(Provider::OpenAiChat, &server);
    (server, world)
}

/// The events that a run told, a line each.
pub fn events(told: &Told) -> Vec<Value> {
    told.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{}", told.whole())))
        .collect()
}

/// The id of the latest chat.
pub fn latest(world: &World) -> String {
    world.run(&["chats", "--json"]).json()["chats"][0]["id"].as_str().unwrap().to_owned()
}

/// What was said in the latest chat.
pub fn messages(world: &World) -> Vec<Value> {
    let shown = world.run(&["chats", "show", &latest(world), "--json"]).json();
    shown["messages"].as_array().unwrap().clone()
}

/// Snapshots without what differs from run to run.
pub fn steady() -> impl Drop {
    let mut settings = Settings::clone_current();
    settings.add_filter(r"\b[0-9a-f]{32}\b", "[ID]");
    settings.add_filter(r"sha256:[0-9a-f]{64}", "sha256:[DIGEST]");
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "[TIME]");
    settings.add_filter(r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]");
    settings.add_filter(r#""(at|created|updated|exported)": ?\d+"#, r#""$1": [TIME]"#);
    settings.add_filter(r"tokens: \d+ \(.*\)", "tokens: [N]");
    settings.add_filter(r"\d+ tokens", "[N] tokens");
    settings.add_filter(r"tokens read and \d+ written", "tokens read and [N] written");
    settings.bind_to_scope()
}
