use std::fs;
use std::path::Path;

use super::*;
use prowess_testing::servers::https::HttpsServer;
use prowess_testing::servers::with_test_certificates;

/// Starts a server with a file of ten bytes.
fn start_server(certificates: &Path) -> (tempfile::TempDir, HttpsServer) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("ten"), "0123456789").unwrap();
    let server = HttpsServer::start(dir.path(), certificates, "server");
    (dir, server)
}

fn read_body(mut response: HttpResponse) -> Result<String, HttpError> {
    let mut text = String::new();
    match response.read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(HttpError::from_io(&error).unwrap().clone()),
    }
}

#[test]
fn a_response_is_read_and_counted() {
    with_test_certificates(|certificates| {
        let (_temp_dir, server) = start_server(certificates);
        let task = Arc::<Task>::default();
        let http = HttpClient::new(Arc::clone(&task));
        let url = server.url("file/ten");
        let response = http.get(&url, 10, "*/*").unwrap().error_for_status().unwrap();
        assert_eq!((response.status(), response.content_type()), (200, "application/octet-stream"));
        assert_eq!(response.url(), url);
        assert_eq!(read_body(response), Ok("0123456789".to_owned()));
        assert_eq!(task.progress().1, 10);

        let too_large = read_body(http.get(&url, 9, "*/*").unwrap());
        assert_eq!(too_large, Err(HttpError::TooLarge { url, max: 9 }));

        let missing = http.get(&server.url("file/none"), 9, "*/*").unwrap();
        assert_eq!(missing.status(), 404);
        let error = missing.error_for_status().map(|_| ()).unwrap_err();
        assert_eq!(error.code(), prowess::ErrorCode::NotFound);

        task.cancel();
        assert_eq!(http.get(&server.url("file/ten"), 9, "*/*").map(|_| ()), Err(HttpError::Cancelled));
    });
}

#[test]
fn a_redirect_is_followed_for_get_only() {
    with_test_certificates(|certificates| {
        let (_temp_dir, server) = start_server(certificates);
        let response = HttpClient::new(Arc::default()).get(&server.url("moved/x"), 10, "*/*").unwrap();
        assert_eq!(response.url(), server.url("git/x"));
        // A request body is not sent to another URL.
        let response =
            HttpClient::new(Arc::default()).post(&server.url("moved/x"), 10, &[], b"secret").unwrap();
        assert_eq!((response.status(), response.url()), (302, server.url("moved/x").as_str()));
    });
}

#[test]
fn urls_without_https_are_rejected() {
    let error = |url: &str| HttpClient::new(Arc::default()).get(url, 1, "*/*").map(|_| ()).unwrap_err();
    let plain = error("http://me:token@localhost/x?key=1");
    assert_eq!(plain, HttpError::NotHttps { url: "http://localhost/x".to_owned() });
    assert!(plain.hint().unwrap().starts_with("use https"));
    assert_eq!(error("file:///etc/passwd").code(), prowess::ErrorCode::InvalidParam);
    let secret = error("https://me:token@localhost/x?key=1");
    assert_eq!(secret, HttpError::Credentials { url: "https://localhost/x".to_owned() });
    assert!(matches!(error("https://local host/"), HttpError::InvalidUrl { .. }));
    assert!(matches!(error("https://"), HttpError::InvalidUrl { .. }));
}

#[test]
fn errors_contain_no_secrets() {
    let url = "https://token@host/x?key=secret";
    for failure in [
        ureq::Error::ConnectProxyFailed("http://me:secret@proxy".to_owned()),
        ureq::Error::RequireHttpsOnly("http://me:secret@host".to_owned()),
        ureq::Error::BadUri("https://me:secret@host".to_owned()),
        ureq::Error::Timeout(ureq::Timeout::Global),
        ureq::Error::HostNotFound,
        ureq::Error::Io(io::Error::other("https://me:secret@host")),
    ] {
        let error = HttpError::from_ureq(failure, url, &Task::default());
        let text = format!("{error} {error:?} {:?}", error.hint());
        assert!(!text.contains("secret") && !text.contains("token"), "{text}");
    }
}
