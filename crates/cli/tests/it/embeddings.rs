//! Semantic routing with a local embeddings server.

use std::fs;

use crate::support::TestEnv;
use insta::assert_snapshot;
use prowess_testing::embeddings::{EmbeddingReply, EmbeddingServer};

const ROOTS: &str = "scan.roots = [\"~/.agents/skills\"]\n";

/// Creates four skills and a configuration with the server.
fn env(server: &EmbeddingServer, provider: &str) -> TestEnv {
    let env = TestEnv::new().variable("EMBED_KEY", "sk-SECRET");
    env.skill_with_description("~/.agents/skills/ledger", "Keeps invoices in order.");
    env.skill_with_description("~/.agents/skills/paper", "Merges documents into one.");
    env.skill_with_description("~/.agents/skills/sky", "Tells the forecast.");
    env.skill_with_description("~/.agents/skills/rollout", "Deploys what was built.");
    configure(&env, &server.url(), provider);
    env
}

fn configure(env: &TestEnv, url: &str, provider: &str) {
    let text = format!(
        "{ROOTS}[embeddings]\nprovider = \"{provider}\"\nmodel = \"m\"\nbase-url = \"{url}\"\nkey-env = \"EMBED_KEY\"\n"
    );
    env.file("~/.prowess/config.toml", text);
}

/// Replaces the port.
fn without_port(text: &str, server: &EmbeddingServer) -> String {
    text.replace(&server.url().replace("http://", ""), "HOST")
}

#[test]
fn semantic_matches_are_found_and_vectors_are_cached() {
    for (provider, path) in [("openai", "/embeddings"), ("ollama", "/api/embed")] {
        let server = EmbeddingServer::start();
        let env = env(&server, provider);
        let first = env.runs(&[&["match", "my billing is a mess"]]);
        let requests = server.take_requests();
        assert_eq!(requests.iter().map(|request| request.texts.len()).collect::<Vec<_>>(), [4, 1]);
        assert!(requests.iter().all(|request| request.path == path && request.model == "m"), "{requests:?}");
        assert!(requests.iter().all(|request| request.authorization.as_deref() == Some("Bearer sk-SECRET")));
        // The next process reads the cached vectors, and only the changed skill is sent again.
        assert_eq!(env.runs(&[&["match", "my billing is a mess"]]), first);
        assert_eq!(server.take_texts(), ["my billing is a mess"]);
        env.skill_with_description("~/.agents/skills/sky", "Tells when to take an umbrella.");
        let _ = env.run(&["match", "my billing is a mess"]);
        assert_eq!(server.take_texts(), ["sky\nTells when to take an umbrella.", "my billing is a mess"]);
        if provider == "openai" {
            assert_snapshot!(first);
        }
    }
}

#[test]
fn routing_falls_back_to_words_with_a_notice() {
    let server = EmbeddingServer::start();
    let env = env(&server, "openai");
    assert_eq!(env.run(&["match", "invoices"]).code, 0);
    let mut result = String::new();
    for reply in
        [EmbeddingReply::Status(401, None), EmbeddingReply::Longer, EmbeddingReply::Bytes("{}".to_owned())]
    {
        server.queue([reply]);
        result += &env.runs(&[&["match", "invoices in order"]]);
    }
    assert!(!result.contains("SECRET"), "{result}");
    assert_snapshot!(without_port(&result, &server));
}

#[test]
fn a_project_cannot_configure_embeddings() {
    let server = EmbeddingServer::start();
    let env = env(&server, "openai");
    env.file("~/.prowess/config.toml", ROOTS);
    let theirs =
        format!("[embeddings]\nprovider = \"ollama\"\nmodel = \"m\"\nbase-url = \"{}\"\n", server.url());
    env.file(".prowess/config.toml", theirs);
    let result = env.runs(&[&["match", "my billing is a mess"]]);
    assert!(server.take_requests().is_empty());
    assert!(result.contains("SK095") && !result.contains("close in meaning"), "{result}");
}

#[test]
fn eval_compares_with_embeddings() {
    let server = EmbeddingServer::start();
    let env = env(&server, "openai");
    let with = fs::read_to_string(env.path("~/.prowess/config.toml")).unwrap();
    env.file("with.toml", with);
    env.file("~/.prowess/config.toml", ROOTS);
    env.file(
        "queries.jsonl",
        "{\"query\":\"billing\",\"skills\":[\"ledger\"]}\n{\"query\":\"forecast\",\"skills\":[\"sky\"]}\n",
    );
    env.file("without.toml", ROOTS);
    assert_snapshot!(env.runs(&[&[
        "eval",
        "queries.jsonl",
        "--config",
        "with.toml",
        "--compare",
        "without.toml"
    ]]));
}

#[test]
fn doctor_requests_a_vector() {
    let server = EmbeddingServer::start();
    let env = env(&server, "ollama");
    let lines = |env: &TestEnv| {
        let result = env.runs(&[&["doctor"]]);
        let from = result.lines().skip_while(|line| !line.contains("embeddings"));
        from.take(2).map(|line| format!("{line}\n")).collect::<String>()
    };
    let fine = lines(&env);
    server.queue([EmbeddingReply::Status(404, None)]);
    let gone = without_port(&lines(&env), &server);
    configure(&env, "http://10.0.0.1", "openai");
    let refused = lines(&env);
    assert_snapshot!([fine, gone, refused].join("\n"));
}
