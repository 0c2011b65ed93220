//! TLS: a server with an untrusted certificate is refused before the key is sent.

use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;

use crate::support::{StartConversation, TestEnv};
use prowess::Preset;
use prowess_config::ChatProvider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

#[tokio::test]
async fn an_untrusted_certificate_is_refused() {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Arc::new(config);
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = rustls::ServerConnection::new(config).unwrap();
        let mut received = Vec::new();
        let end = rustls::Stream::new(&mut connection, &mut stream).read_to_end(&mut received);
        (received, end.is_err())
    });
    let mut env = TestEnv::new(Preset::Standard)
        .with_provider(ChatProvider::Anthropic, &format!("https://localhost:{port}"));
    env.chat.limits.retries = 0;
    let mut conversation = env.start();
    conversation.send("hello").await;
    let (code, message) = conversation.last_error();
    assert_eq!(code, "UNAVAILABLE");
    assert!(message.contains("invalid peer certificate"), "{message}");
    assert_eq!(server.join().unwrap(), (Vec::new(), true), "nothing was sent");
}
