//! Routing by meaning, through the whole program: the real client against a server on this machine.

use std::fs;

use crate::world::World;
use insta::assert_snapshot;
use prowess_testing::embeddings::{Embeddings, Reply};

const ROOTS: &str = "scan.roots = [\"~/.agents/skills\"]\n";

/// Four skills, and a configuration of the user's that names the server.
fn world(server: &Embeddings, provider: &str) -> World {
    let world = World::new().variable("EMBED_KEY", "sk-SECRET");
    world.described("~/.agents/skills/ledger", "Keeps invoices in order.");
    world.described("~/.agents/skills/paper", "Merges documents into one.");
    world.described("~/.agents/skills/sky", "Tells the forecast.");
    world.described("~/.agents/skills/rollout", "Deploys what was built.");
    configure(&world, &server.url(), provider);
    world
}

fn configure(world: &World, url: &str, provider: &str) {
    let text = format!(
        "{ROOTS}[embeddings]\nprovider = \"{provider}\"\nmodel = \"m\"\nbase-url = \"{url}\"\nkey-env = \"EMBED_KEY\"\n"
    );
    world.file("~/.prowess/config.toml", text);
}

/// Without the port, which is another each time.
fn without_port(text: &str, server: &Embeddings) -> String {
    text.replace(&server.url().replace("http://", ""), "HOST")
}

#[test]
fn what_shares_no_word_is_found_and_vectors_are_kept_between_processes() {
    for (provider, path) in [("openai", "/embeddings"), ("ollama", "/api/embed")] {
        let server = Embeddings::start();
        let world = world(&server, provider);
        let first = world.runs(&[&["match", "my billing is a mess"]]);
        let asked = server.take_asked();
        assert_eq!(asked.iter().map(|asked| asked.texts.len()).collect::<Vec<_>>(), [4, 1]);
        assert!(asked.iter().all(|asked| asked.path == path && asked.model == "m"), "{asked:?}");
        assert!(asked.iter().all(|asked| asked.authorization.as_deref() == Some("Bearer sk-SECRET")));
        // The next process reads the vectors, and one changed skill is sent again, alone.
        assert_eq!(world.runs(&[&["match", "my billing is a mess"]]), first);
        assert_eq!(server.take_texts(), ["my billing is a mess"]);
        world.described("~/.agents/skills/sky", "Tells when to take an umbrella.");
        let _ = world.run(&["match", "my billing is a mess"]);
        assert_eq!(server.take_texts(), ["sky\nTells when to take an umbrella.", "my billing is a mess"]);
        if provider == "openai" {
            assert_snapshot!(first);
        }
    }
}

#[test]
fn where_the_server_fails_words_decide_alone_and_one_line_says_so() {
    let server = Embeddings::start();
    let world = world(&server, "openai");
    assert_eq!(world.run(&["match", "invoices"]).code, 0);
    let mut told = String::new();
    for reply in [Reply::Status(401, None), Reply::Longer, Reply::Bytes("{}".to_owned())] {
        server.then([reply]);
        told += &world.runs(&[&["match", "invoices in order"]]);
    }
    assert!(!told.contains("SECRET"), "{told}");
    assert_snapshot!(without_port(&told, &server));
}

#[test]
fn a_project_cannot_send_messages_anywhere() {
    let server = Embeddings::start();
    let world = world(&server, "openai");
    world.file("~/.prowess/config.toml", ROOTS);
    let theirs =
        format!("[embeddings]\nprovider = \"ollama\"\nmodel = \"m\"\nbase-url = \"{}\"\n", server.url());
    world.file(".prowess/config.toml", theirs);
    let told = world.runs(&[&["match", "my billing is a mess"]]);
    assert!(server.take_asked().is_empty());
    assert!(told.contains("SK095") && !told.contains("close in meaning"), "{told}");
}

#[test]
fn eval_says_what_it_gains() {
    let server = Embeddings::start();
    let world = world(&server, "openai");
    let with = fs::read_to_string(world.path("~/.prowess/config.toml")).unwrap();
    world.file("with.toml", with);
    world.file("~/.prowess/config.toml", ROOTS);
    world.file(
        "queries.jsonl",
        "{\"query\":\"billing\",\"skills\":[\"ledger\"]}\n{\"query\":\"forecast\",\"skills\":[\"sky\"]}\n",
    );
    world.file("without.toml", ROOTS);
    assert_snapshot!(world.runs(&[&[
        "eval",
        "queries.jsonl",
        "--config",
        "with.toml",
        "--compare",
        "without.toml"
    ]]));
}

#[test]
fn the_doctor_asks_for_one_vector() {
    let server = Embeddings::start();
    let world = world(&server, "ollama");
    let lines = |world: &World| {
        let told = world.runs(&[&["doctor"]]);
        let from = told.lines().skip_while(|line| !line.contains("embeddings"));
        from.take(2).map(|line| format!("{line}\n")).collect::<String>()
    };
    let fine = lines(&world);
    server.then([Reply::Status(404, None)]);
    let gone = without_port(&lines(&world), &server);
    configure(&world, "http://10.0.0.1", "openai");
    let refused = lines(&world);
    assert_snapshot!([fine, gone, refused].join("\n"));
}
