//! The client against a test server, with valid and invalid responses.

use std::time::Duration;

use prowess_config::BaseUrl;
use prowess_embed::endpoint::{ApiFormat, ApiKey, Endpoint};
use prowess_routing::semantic::{EmbedError, Embedder, Purpose};
use prowess_testing::embeddings::{EmbeddingReply, EmbeddingServer, vector};

fn endpoint(server: &EmbeddingServer, shape: ApiFormat) -> Endpoint {
    let address = BaseUrl::parse("embeddings", &server.url(), false).unwrap();
    Endpoint::new(shape, &address, "some-model", ApiKey::new("sk-SECRET"), Duration::from_secs(5))
}

/// Returns the message without the port, which differs each time.
fn message(error: &EmbedError) -> String {
    let text = error.to_string();
    let words = text.split(' ').map(|word| if word.starts_with("127.0.0.1:") { "HOST" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn both_apis_return_a_vector_for_each_text_in_order() {
    for (shape, path) in [(ApiFormat::OpenAi, "/embeddings"), (ApiFormat::Ollama, "/api/embed")] {
        let server = EmbeddingServer::start();
        let vectors = endpoint(&server, shape).embed(&["merge a pdf", "rain", " "], Purpose::Skills).unwrap();
        assert_eq!(vectors, [vector("merge a pdf"), vector("rain"), vector(".")]);
        let requests = server.take_requests();
        assert_eq!(requests.len(), 1);
        assert_eq!((&*requests[0].path, &*requests[0].model), (path, "some-model"));
        assert_eq!(requests[0].authorization.as_deref(), Some("Bearer sk-SECRET"));
        assert_eq!(requests[0].texts, ["merge a pdf", "rain", "."]);
    }
}

#[test]
fn a_busy_server_is_retried_a_limited_number_of_times() {
    let server = EmbeddingServer::start();
    let endpoint = endpoint(&server, ApiFormat::OpenAi);
    server.queue([EmbeddingReply::Status(429, Some("0")), EmbeddingReply::Status(500, None)]);
    assert!(endpoint.embed(&["rain"], Purpose::Message).is_ok());
    assert_eq!(server.take_requests().len(), 3);

    server.queue([EmbeddingReply::Close]);
    assert!(endpoint.embed(&["rain"], Purpose::Message).is_ok());
    assert_eq!(server.take_requests().len(), 2);

    server.queue([503; 9].map(|status| EmbeddingReply::Status(status, None)));
    let error = endpoint.embed(&["rain"], Purpose::Message).unwrap_err();
    assert_eq!(message(&error), "HOST returned status 503");
    assert_eq!(server.take_requests().len(), 3);
}

#[test]
fn a_retry_delay_longer_than_the_timeout_is_not_waited_for() {
    let server = EmbeddingServer::start();
    server.queue([EmbeddingReply::Status(429, Some("3600"))]);
    let error = endpoint(&server, ApiFormat::Ollama).embed(&["rain"], Purpose::Message).unwrap_err();
    assert_eq!(message(&error), "HOST returned status 429");
    assert_eq!(server.take_requests().len(), 1);
}

#[test]
fn errors_do_not_repeat_the_response() {
    let server = EmbeddingServer::start();
    let address = BaseUrl::parse("embeddings", &server.url(), false).unwrap();
    let quick = Endpoint::new(ApiFormat::OpenAi, &address, "m", None, Duration::from_millis(300));
    let patient = endpoint(&server, ApiFormat::OpenAi);
    let bytes = |text: &str| EmbeddingReply::Bytes(text.to_owned());
    let nan = r#"{"data": [{"index": 0, "embedding": [NaN]}]}"#;
    let mut all = Vec::new();
    for (endpoint, reply) in [
        (&quick, EmbeddingReply::Silence(Duration::from_secs(2))),
        (&patient, EmbeddingReply::Status(401, None)),
        (&patient, EmbeddingReply::Status(302, None)),
        (&patient, EmbeddingReply::Fewer),
        (&patient, bytes("<html>sk-SECRET</html>")),
        (&patient, bytes(nan)),
        (&patient, EmbeddingReply::Flood),
    ] {
        server.queue([reply]);
        all.push(message(&endpoint.embed(&["rain"], Purpose::Message).unwrap_err()));
        assert_eq!(server.take_requests().len(), 1, "{all:?}");
    }
    // Too large for an `f32`: infinite.
    server.queue([bytes(r#"{"data": [{"index": 0, "embedding": [1e39]}]}"#)]);
    assert_eq!(patient.embed(&["rain"], Purpose::Message).unwrap(), [[f32::INFINITY]]);
    assert!(!all.join("").contains("SECRET"), "{all:?}");
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_refused_connection_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let address = BaseUrl::parse("embeddings", &url, false).unwrap();
    let endpoint = Endpoint::new(ApiFormat::Ollama, &address, "m", None, Duration::from_secs(5));
    let error = endpoint.embed(&["rain"], Purpose::Message).unwrap_err();
    assert_eq!(message(&error), "HOST refused the connection");
}
