//! The client, against a server that speaks as providers do, and as they should not.

use std::time::Duration;

use prowess_config::BaseUrl;
use prowess_embed::endpoint::{Endpoint, Key, Shape};
use prowess_routing::semantic::{EmbedError, Embedder, Purpose};
use prowess_testing::embeddings::{Embeddings, Reply, vector};

fn endpoint(server: &Embeddings, shape: Shape) -> Endpoint {
    let address = BaseUrl::parse("embeddings", &server.url(), false).unwrap();
    Endpoint::new(shape, &address, "some-model", Key::new("sk-SECRET"), Duration::from_secs(5))
}

/// Without the port, which is another each time.
fn told(error: &EmbedError) -> String {
    let text = error.to_string();
    let words = text.split(' ').map(|word| if word.starts_with("127.0.0.1:") { "HOST" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn both_interfaces_give_a_vector_for_each_text_in_order() {
    for (shape, path) in [(Shape::OpenAi, "/embeddings"), (Shape::Ollama, "/api/embed")] {
        let server = Embeddings::start();
        let given = endpoint(&server, shape).embed(&["merge a pdf", "rain", " "], Purpose::Skills).unwrap();
        assert_eq!(given, [vector("merge a pdf"), vector("rain"), vector(".")]);
        let asked = server.take_asked();
        assert_eq!(asked.len(), 1);
        assert_eq!((&*asked[0].path, &*asked[0].model), (path, "some-model"));
        assert_eq!(asked[0].authorization.as_deref(), Some("Bearer sk-SECRET"));
        assert_eq!(asked[0].texts, ["merge a pdf", "rain", "."]);
    }
}

#[test]
fn a_busy_server_is_asked_again_and_not_for_ever() {
    let server = Embeddings::start();
    let endpoint = endpoint(&server, Shape::OpenAi);
    server.then([Reply::Status(429, Some("0")), Reply::Status(500, None)]);
    assert!(endpoint.embed(&["rain"], Purpose::Message).is_ok());
    assert_eq!(server.take_asked().len(), 3);

    server.then([Reply::Gone]);
    assert!(endpoint.embed(&["rain"], Purpose::Message).is_ok());
    assert_eq!(server.take_asked().len(), 2);

    server.then([503; 9].map(|status| Reply::Status(status, None)));
    let error = endpoint.embed(&["rain"], Purpose::Message).unwrap_err();
    assert_eq!(told(&error), "HOST answered with status 503");
    assert_eq!(server.take_asked().len(), 3);
}

#[test]
fn who_wants_to_be_left_alone_for_longer_than_a_message_waits_is() {
    let server = Embeddings::start();
    server.then([Reply::Status(429, Some("3600"))]);
    let error = endpoint(&server, Shape::Ollama).embed(&["rain"], Purpose::Message).unwrap_err();
    assert_eq!(told(&error), "HOST answered with status 429");
    assert_eq!(server.take_asked().len(), 1);
}

#[test]
fn what_is_no_answer_is_said_without_what_the_server_said() {
    let server = Embeddings::start();
    let address = BaseUrl::parse("embeddings", &server.url(), false).unwrap();
    let quick = Endpoint::new(Shape::OpenAi, &address, "m", None, Duration::from_millis(300));
    let patient = endpoint(&server, Shape::OpenAi);
    let bytes = |text: &str| Reply::Bytes(text.to_owned());
    let nan = r#"{"data": [{"index": 0, "embedding": [NaN]}]}"#;
    let mut all = Vec::new();
    for (endpoint, reply) in [
        (&quick, Reply::Silence(Duration::from_secs(2))),
        (&patient, Reply::Status(401, None)),
        (&patient, Reply::Status(302, None)),
        (&patient, Reply::Fewer),
        (&patient, bytes("<html>sk-SECRET</html>")),
        (&patient, bytes(nan)),
        (&patient, Reply::Flood),
    ] {
        server.then([reply]);
        all.push(told(&endpoint.embed(&["rain"], Purpose::Message).unwrap_err()));
        assert_eq!(server.take_asked().len(), 1, "{all:?}");
    }
    // Too large for a number of four bytes: infinite.
    server.then([bytes(r#"{"data": [{"index": 0, "embedding": [1e39]}]}"#)]);
    assert_eq!(patient.embed(&["rain"], Purpose::Message).unwrap(), [[f32::INFINITY]]);
    assert!(!all.join("").contains("SECRET"), "{all:?}");
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn nobody_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let address = BaseUrl::parse("embeddings", &url, false).unwrap();
    let endpoint = Endpoint::new(Shape::Ollama, &address, "m", None, Duration::from_secs(5));
    let error = endpoint.embed(&["rain"], Purpose::Message).unwrap_err();
    assert_eq!(told(&error), "HOST cannot be reached: nobody listens there");
}
