//! Git over HTTPS with a real `git http-backend`, and simulated faults.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Creates the certificate authority `authority.pem`, a certificate for `localhost` that it signed in `server.pem` and
/// `server.key`, and a self-signed one in `self-signed.pem` and `self-signed.key`.
pub fn make_certificates(dir: &Path) {
    let key = || rcgen::KeyPair::generate().unwrap();
    let params =
        || rcgen::CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let write = |name: &str, text: String| fs::write(dir.join(name), text).unwrap();

    let authority_key = key();
    let mut authority = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    authority.distinguished_name.push(rcgen::DnType::CommonName, "tests");
    write("authority.pem", authority.self_signed(&authority_key).unwrap().pem());
    let issuer = rcgen::Issuer::new(authority, authority_key);

    let server_key = key();
    write("server.pem", params().signed_by(&server_key, &issuer).unwrap().pem());
    write("server.key", server_key.serialize_pem());
    let self_signed_key = key();
    write("self-signed.pem", params().self_signed(&self_signed_key).unwrap().pem());
    write("self-signed.key", self_signed_key.serialize_pem());
}

/// Serves the repositories of a directory. The first component of a path selects the behaviour:
///
/// | path | response |
/// |---|---|
/// | `/git/…` | valid git |
/// | `/old/…` | git with only version 0 of its protocol |
/// | `/stall/…` | packs stall after the first half |
/// | `/cut/…` | packs end after the first half |
/// | `/moved/…` | redirect to `/git/…` |
/// | `/elsewhere/…` | redirect to `/git/…` of another host |
/// | `/plain/…` | redirect to HTTP |
/// | `/round/…` | redirect to itself |
/// | `/private/…` | requires authentication |
/// | `/page/…` | a web page |
/// | `/file/…` | a file of the directory |
/// | `/half/…` | the first half of a file |
/// | `/.well-known/…` | a file of `.well-known` in the directory |
/// | `/silent/…` | no response |
pub struct HttpsServer {
    port: u16,
    stop: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<String>>>,
    listener: Option<JoinHandle<()>>,
}

impl HttpsServer {
    /// Starts a server with `NAME.pem` and `NAME.key` of the directory `certificates`.
    pub fn start(repositories: &Path, certificates: &Path, name: &str) -> Self {
        let certificate = CertificateDer::pem_file_iter(certificates.join(format!("{name}.pem"))).unwrap();
        let certificate: Vec<_> = certificate.map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(certificates.join(format!("{name}.key"))).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(certificate, key)
            .unwrap();
        let (config, root) = (Arc::new(config), repositories.to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, requests) = (Arc::new(AtomicBool::new(false)), Arc::<Mutex<Vec<String>>>::default());
        let (stopped, recorded) = (Arc::clone(&stop), Arc::clone(&requests));
        let listener = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (config, root) = (Arc::clone(&config), root.clone());
                let (stopped, recorded) = (Arc::clone(&stopped), Arc::clone(&recorded));
                let stream = stream.unwrap();
                // A client may disconnect at any time, so errors are ignored.
                std::thread::spawn(move || {
                    let connection = ServerConnection::new(config).unwrap();
                    let stream = StreamOwned::new(connection, stream);
                    let _ =
                        HttpExchange { stream: BufReader::new(stream), root, port, stopped, recorded }.run();
                });
            }
        });
        Self { port, stop, requests, listener: Some(listener) }
    }

    /// Returns the URL of a path, such as `git/skills.git`.
    pub fn url(&self, path: &str) -> String {
        format!("https://localhost:{}/{path}", self.port)
    }

    /// Returns the requests so far, such as `GET /git/…`.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for HttpsServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wake up the listener, so that it checks the flag.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

/// A request and its response on one connection.
struct HttpExchange {
    stream: BufReader<StreamOwned<ServerConnection, TcpStream>>,
    root: PathBuf,
    port: u16,
    stopped: Arc<AtomicBool>,
    recorded: Arc<Mutex<Vec<String>>>,
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(header, _)| header == name).map_or("", |(_, value)| value)
    }
}

impl HttpExchange {
    fn run(mut self) -> std::io::Result<()> {
        let request = self.read_request()?;
        self.recorded.lock().unwrap().push(format!("{} {}", request.method, request.path));
        let (mode, rest) = request.path[1..].split_once('/').unwrap_or((&request.path[1..], ""));
        let query = if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
        match mode {
            "git" | "old" | "stall" | "cut" => self.git(mode, rest, &request),
            "moved" => self.redirect(&format!("https://localhost:{}/git/{rest}{query}", self.port)),
            "elsewhere" => self.redirect(&format!("https://127.0.0.1:{}/git/{rest}{query}", self.port)),
            "plain" => self.redirect(&format!("http://localhost:{}/git/{rest}{query}", self.port)),
            "round" => self.redirect(&format!("https://localhost:{}/round/{rest}{query}", self.port)),
            "private" => self.respond("401 Unauthorized", "text/plain", b"who are you?"),
            "page" => self.respond("200 OK", "text/html", b"<p>hello"),
            "silent" => {
                self.wait();
                Ok(())
            }
            "file" | "half" | ".well-known" => {
                let path = if mode == ".well-known" {
                    self.root.join(mode).join(rest)
                } else {
                    self.root.join(rest)
                };
                match fs::read(path) {
                    Ok(bytes) if mode == "half" => {
                        self.respond_half("200 OK", "application/octet-stream", &bytes, false)
                    }
                    Ok(bytes) => self.respond("200 OK", "application/octet-stream", &bytes),
                    Err(_) => self.respond("404 Not Found", "text/plain", b"no"),
                }
            }
            _ => self.respond("404 Not Found", "text/plain", b"no"),
        }
    }

    fn read_request(&mut self) -> std::io::Result<Request> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or("/"));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (path, query) = (path.to_owned(), query.to_owned());
        let mut request = Request { method, path, query, headers: Vec::new(), body: Vec::new() };
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => {
                    request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
                }
                None => break,
            }
        }
        request.body.resize(request.header("content-length").parse().unwrap_or(0), 0);
        self.stream.read_exact(&mut request.body)?;
        Ok(request)
    }

    fn git(&mut self, mode: &str, path: &str, request: &Request) -> std::io::Result<()> {
        let version = if mode == "old" { "" } else { request.header("git-protocol") };
        let mut child = Command::new("git")
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_PROTOCOL", version)
            .env("PATH_INFO", format!("/{path}"))
            .env("QUERY_STRING", &request.query)
            .env("REQUEST_METHOD", &request.method)
            .env("CONTENT_TYPE", request.header("content-type"))
            .env("CONTENT_LENGTH", request.body.len().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut input = child.stdin.take().unwrap();
        let body = request.body.clone();
        std::thread::spawn(move || input.write_all(&body));
        let mut output = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut output)?;
        child.wait()?;
        let split =
            output.windows(4).position(|four| four == b"\r\n\r\n").map_or(output.len(), |end| end + 4);
        let (head, body) = output.split_at(split);
        let head = String::from_utf8_lossy(head).into_owned();
        let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let status = value("Status:").unwrap_or("200 OK").to_owned();
        let kind = value("Content-Type:").unwrap_or("text/plain").to_owned();
        let has_pack = body.windows(4).any(|four| four == b"PACK");
        if !has_pack || !matches!(mode, "stall" | "cut") {
            return self.respond(&status, &kind, body);
        }
        self.respond_half(&status, &kind, body, mode == "stall")
    }

    /// Sends the first half of a body, then closes the connection: at once, or when the server stops.
    fn respond_half(&mut self, status: &str, kind: &str, body: &[u8], stall: bool) -> std::io::Result<()> {
        self.write_head(status, kind)?;
        self.write_chunk(&body[..body.len() / 2])?;
        if stall {
            self.wait();
        }
        // Neither the chunked encoding nor TLS is ended properly.
        self.stream.get_mut().sock.shutdown(std::net::Shutdown::Both)
    }

    /// Waits until the server stops.
    fn wait(&self) {
        while !self.stopped.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn redirect(&mut self, url: &str) -> std::io::Result<()> {
        let head = format!(
            "HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        self.stream.get_mut().write_all(head.as_bytes())?;
        self.stream.get_mut().flush()
    }

    fn respond(&mut self, status: &str, kind: &str, body: &[u8]) -> std::io::Result<()> {
        self.write_head(status, kind)?;
        for part in body.chunks(16 * 1024) {
            self.write_chunk(part)?;
        }
        self.write_chunk(b"")?;
        let stream = self.stream.get_mut();
        stream.conn.send_close_notify();
        stream.flush()
    }

    fn write_head(&mut self, status: &str, kind: &str) -> std::io::Result<()> {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        );
        self.stream.get_mut().write_all(head.as_bytes())
    }

    fn write_chunk(&mut self, part: &[u8]) -> std::io::Result<()> {
        let stream = self.stream.get_mut();
        write!(stream, "{:x}\r\n", part.len())?;
        stream.write_all(part)?;
        stream.write_all(b"\r\n")?;
        stream.flush()
    }
}
