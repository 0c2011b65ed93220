use std::fs;
use std::path::Path;

use super::*;
use prowess_testing::servers::https::Server;
use prowess_testing::servers::trusting;

/// A server with one file of ten bytes.
fn server(certificates: &Path) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ten"), "0123456789").unwrap();
    let server = Server::start(folder.path(), certificates, "server");
    (folder, server)
}

fn read(mut answer: Response) -> Result<String, HttpError> {
    let mut text = String::new();
    match answer.read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(HttpError::from_io(&error).unwrap().clone()),
    }
}

#[test]
fn an_answer_is_read_and_counted() {
    trusting(|certificates| {
        let (_folder, server) = server(certificates);
        let work = Arc::<Work>::default();
        let http = Http::new(Arc::clone(&work));
        let url = server.url("file/ten");
        let answer = http.get(&url, 10, "*/*").unwrap().ok().unwrap();
        assert_eq!((answer.status(), answer.content_type()), (200, "application/octet-stream"));
        assert_eq!(answer.url(), url);
        assert_eq!(read(answer), Ok("0123456789".to_owned()));
        assert_eq!(work.state().1, 10);

        let more = read(http.get(&url, 9, "*/*").unwrap());
        assert_eq!(more, Err(HttpError::TooLarge { url, max: 9 }));

        let missing = http.get(&server.url("file/none"), 9, "*/*").unwrap();
        assert_eq!(missing.status(), 404);
        let error = missing.ok().map(|_| ()).unwrap_err();
        assert_eq!(error.code(), prowess::ErrorCode::NotFound);

        work.cancel();
        assert_eq!(http.get(&server.url("file/ten"), 9, "*/*").map(|_| ()), Err(HttpError::Cancelled));
    });
}

#[test]
fn a_redirect_is_followed_and_shown() {
    trusting(|certificates| {
        let (_folder, server) = server(certificates);
        let answer = Http::new(Arc::default()).get(&server.url("moved/x"), 10, "*/*").unwrap();
        assert_eq!(answer.url(), server.url("git/x"));
        // What is sent goes where it was meant for, or nowhere.
        let answer = Http::new(Arc::default()).post(&server.url("moved/x"), 10, &[], b"secret").unwrap();
        assert_eq!((answer.status(), answer.url()), (302, server.url("moved/x").as_str()));
    });
}

#[test]
fn what_is_not_https_is_not_asked() {
    let error = |url: &str| Http::new(Arc::default()).get(url, 1, "*/*").map(|_| ()).unwrap_err();
    let plain = error("http://me:token@localhost/x?key=1");
    assert_eq!(plain, HttpError::NotHttps { url: "http://localhost/x".to_owned() });
    assert!(plain.hint().unwrap().starts_with("use https"));
    assert_eq!(error("file:///etc/passwd").code(), prowess::ErrorCode::InvalidParam);
    let secret = error("https://me:token@localhost/x?key=1");
    assert_eq!(secret, HttpError::Credentials { url: "https://localhost/x".to_owned() });
    assert!(matches!(error("https://local host/"), HttpError::BadUrl { .. }));
    assert!(matches!(error("https://"), HttpError::BadUrl { .. }));
}

#[test]
fn no_failure_names_a_secret() {
    let url = "https://token@host/x?key=secret";
    for failure in [
        ureq::Error::ConnectProxyFailed("http://me:secret@proxy".to_owned()),
        ureq::Error::RequireHttpsOnly("http://me:secret@host".to_owned()),
        ureq::Error::BadUri("https://me:secret@host".to_owned()),
        ureq::Error::Timeout(ureq::Timeout::Global),
        ureq::Error::HostNotFound,
        ureq::Error::Io(io::Error::other("https://me:secret@host")),
    ] {
        let error = HttpError::of(failure, url, &Work::default());
        let said = format!("{error} {error:?} {:?}", error.hint());
        assert!(!said.contains("secret") && !said.contains("token"), "{said}");
    }
}
