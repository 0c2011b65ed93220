//! The only way out of a build: an HTTP proxy that connects to the package index and to no other host.
//!
//! It listens on the loopback interface while a build runs. TLS is passed through, so the tool checks certificates
//! itself. The proxy of the user's environment is used if there is one.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::package_index::{AllowedHost, UpstreamProxy};

/// The maximum size of a request head.
const HEAD_MAX: u64 = 32 * 1024;

/// The maximum number of connections at a time.
const CONNECTIONS_MAX: usize = 64;

/// The maximum number of failures that are remembered.
const FAILURES_MAX: usize = 16;

/// Why a connection was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProxyFailure {
    /// The host is not allowed.
    Denied { host: String },
    /// The host cannot be reached, or does not answer.
    Unreachable { host: String, reason: String },
}

/// A running proxy. It stops on drop.
#[derive(Debug)]
pub(super) struct IndexProxy {
    port: u16,
    state: Arc<ProxyState>,
}

#[derive(Debug)]
struct ProxyState {
    allowed: Vec<AllowedHost>,
    upstream: UpstreamProxy,
    timeout: Duration,
    is_stopped: AtomicBool,
    connections: AtomicUsize,
    failures: Mutex<Vec<ProxyFailure>>,
}

impl IndexProxy {
    /// Starts a proxy on a free port.
    pub(super) fn start(
        allowed: Vec<AllowedHost>,
        upstream: UpstreamProxy,
        timeout: Duration,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(ProxyState {
            allowed,
            upstream,
            timeout,
            is_stopped: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            failures: Mutex::new(Vec::new()),
        });
        let accepting = Arc::clone(&state);
        std::thread::Builder::new()
            .name("index-proxy".to_owned())
            .spawn(move || accepting.accept(&listener))?;
        Ok(Self { port, state })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the connections that failed.
    pub(super) fn failures(&self) -> Vec<ProxyFailure> {
        self.state.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for IndexProxy {
    fn drop(&mut self) {
        self.state.is_stopped.store(true, Ordering::Release);
        // Ends the wait for the next connection.
        let _ = TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, self.port).into(), Duration::from_secs(1));
    }
}

/// The first line of a request, and the rest of its head.
struct RequestHead {
    method: String,
    target: String,
    headers: Vec<String>,
}

impl ProxyState {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.is_stopped.load(Ordering::Acquire) {
                return;
            }
            let Ok(stream) = stream else { continue };
            if self.connections.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
                self.connections.fetch_sub(1, Ordering::AcqRel);
                continue;
            }
            let state = Arc::clone(self);
            let started = std::thread::Builder::new().name("index-proxy".to_owned()).spawn(move || {
                // The client sees a closed connection; failures that matter are recorded.
                let _ = state.serve(stream);
                state.connections.fetch_sub(1, Ordering::AcqRel);
            });
            if started.is_err() {
                self.connections.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }

    fn serve(&self, client: TcpStream) -> io::Result<()> {
        client.set_read_timeout(Some(self.timeout))?;
        client.set_write_timeout(Some(self.timeout))?;
        let mut reader = BufReader::new(client.try_clone()?);
        let head = read_head(&mut reader)?;
        if head.method == "CONNECT" {
            let Some((host, port)) = split_host(&head.target, 443) else {
                return refuse(&client, "400 Bad Request");
            };
            let Some(server) = self.open(&client, &host, port, true)? else { return Ok(()) };
            (&client).write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            return relay(&client, &server, self.timeout);
        }
        let Some(rest) =
            head.target.strip_prefix("http://").filter(|_| matches!(&*head.method, "GET" | "HEAD"))
        else {
            return refuse(&client, "405 Method Not Allowed");
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        let Some((host, port)) = split_host(authority, 80) else { return refuse(&client, "400 Bad Request") };
        let Some(server) = self.open(&client, &host, port, false)? else { return Ok(()) };
        // Written again, so that the next proxy and the server cannot understand another host than the one that was checked.
        let authority =
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let target = match self.upstream.for_host(&host, false) {
            Some(_) => format!("http://{authority}{path}"),
            None => path.to_owned(),
        };
        let mut request =
            format!("{} {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n", head.method);
        for header in &head.headers {
            let name = header.split(':').next().unwrap_or_default().to_ascii_lowercase();
            if !matches!(name.as_str(), "host" | "connection" | "keep-alive") && !name.starts_with("proxy-") {
                request.push_str(&format!("{header}\r\n"));
            }
        }
        if let Some(authorization) =
            self.upstream.for_host(&host, false).and_then(|proxy| proxy.authorization.as_ref())
        {
            request.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        request.push_str("\r\n");
        (&server).write_all(request.as_bytes())?;
        let copied = io::copy(&mut &server, &mut &client);
        if let Err(error) = &copied
            && is_timeout(error)
        {
            self.fail(ProxyFailure::Unreachable { host, reason: "no answer in time".to_owned() });
        }
        let _ = client.shutdown(Shutdown::Both);
        copied.map(|_| ())
    }

    /// Connects to a host, directly or through the user's proxy. Returns `None` after an answer to the client.
    fn open(&self, client: &TcpStream, host: &str, port: u16, is_tls: bool) -> io::Result<Option<TcpStream>> {
        let Some(allowed) = self.allowed.iter().find(|allowed| allowed.host == host && allowed.port == port)
        else {
            self.fail(ProxyFailure::Denied { host: format!("{host}:{port}") });
            refuse(client, "403 Forbidden")?;
            return Ok(None);
        };
        let opened = match self.upstream.for_host(host, is_tls) {
            None => connect(host, port, self.timeout, |address| allowed.allows_address(address)),
            Some(proxy) => connect(&proxy.host, proxy.port, self.timeout, |_| true).and_then(|server| {
                if is_tls {
                    open_tunnel(&server, host, port, proxy.authorization.as_deref())?;
                }
                Ok(server)
            }),
        };
        match opened {
            Ok(server) => Ok(Some(server)),
            Err(error) => {
                let reason = error.to_string();
                self.fail(ProxyFailure::Unreachable { host: host.to_owned(), reason });
                refuse(client, "502 Bad Gateway")?;
                Ok(None)
            }
        }
    }

    fn fail(&self, failure: ProxyFailure) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < FAILURES_MAX && !failures.contains(&failure) {
            failures.push(failure);
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn refuse(mut client: &TcpStream, status: &str) -> io::Result<()> {
    client
        .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())
}

fn read_head(reader: &mut impl BufRead) -> io::Result<RequestHead> {
    let mut head = reader.take(HEAD_MAX);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            break;
        }
        lines.push(line.to_owned());
    }
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_default();
    let mut words = first.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    Ok(RequestHead { method, target, headers: lines.collect() })
}

/// Splits `HOST:PORT`, in lower case and without the brackets of an IPv6 address. Returns `None` for anything that programs
/// could understand differently.
fn split_host(authority: &str, default_port: u16) -> Option<(String, u16)> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    if authority.is_empty() || authority.len() > 300 || !authority.chars().all(is_plain) {
        return None;
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (authority, default_port),
    };
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.strip_suffix(']')?,
        None => host,
    };
    (!host.contains(['[', ']'])).then(|| (host.to_ascii_lowercase(), port))
}

fn connect(
    host: &str,
    port: u16,
    timeout: Duration,
    is_allowed: impl Fn(IpAddr) -> bool,
) -> io::Result<TcpStream> {
    let mut error = io::Error::other("the host has no address");
    for address in (host, port).to_socket_addrs()? {
        if !is_allowed(address.ip()) {
            error = io::Error::other(format!("its address {} is not that of a public server", address.ip()));
            continue;
        }
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))?;
                return Ok(stream);
            }
            Err(failed) => error = failed,
        }
    }
    Err(error)
}

/// Asks the user's proxy for a connection to a host.
fn open_tunnel(server: &TcpStream, host: &str, port: u16, authorization: Option<&str>) -> io::Result<()> {
    let authorization =
        authorization.map(|value| format!("Proxy-Authorization: {value}\r\n")).unwrap_or_default();
    let request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{authorization}\r\n");
    let mut writer = server;
    writer.write_all(request.as_bytes())?;
    // Byte by byte, because what follows the answer belongs to the tunnel.
    let mut answer = Vec::new();
    let mut byte = [0];
    let mut reader = server;
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() as u64 > HEAD_MAX {
            return Err(io::Error::other("the proxy sent too much"));
        }
        reader.read_exact(&mut byte)?;
        answer.push(byte[0]);
    }
    let status = String::from_utf8_lossy(&answer).split(' ').nth(1).map(str::to_owned).unwrap_or_default();
    match status.as_str() {
        "200" => Ok(()),
        status => Err(io::Error::other(format!("the proxy answered {status}"))),
    }
}

/// Copies bytes in both directions until both are closed, or nothing moves for a while.
fn relay(client: &TcpStream, server: &TcpStream, timeout: Duration) -> io::Result<()> {
    let idle = timeout.max(Duration::from_secs(1)) * 3;
    for stream in [client, server] {
        stream.set_read_timeout(Some(idle))?;
    }
    std::thread::scope(|scope| {
        let upload = scope.spawn(|| {
            let copied = io::copy(&mut &*client, &mut &*server);
            let _ = server.shutdown(Shutdown::Write);
            copied
        });
        let downloaded = io::copy(&mut &*server, &mut &*client);
        let _ = client.shutdown(Shutdown::Write);
        if downloaded.is_err() {
            let _ = client.shutdown(Shutdown::Both);
        }
        let _ = upload.join();
        downloaded.map(|_| ())
    })
}

#[cfg(test)]
mod tests {
    use super::super::package_index::HostOrigin;
    use super::*;

    fn own_host(host: &str, port: u16) -> Vec<AllowedHost> {
        vec![AllowedHost { host: host.to_owned(), port, origin: HostOrigin::Configured }]
    }

    fn request(port: u16, text: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    /// Answers each connection with what it received.
    fn echo_server() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut buffer = [0; 4096];
                let count = stream.read(&mut buffer).unwrap();
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
                stream.write_all(&buffer[..count]).unwrap();
            }
        });
        port
    }

    #[test]
    fn only_allowed_hosts_are_reached() {
        let server = echo_server();
        let proxy = IndexProxy::start(
            own_host("127.0.0.1", server),
            UpstreamProxy::default(),
            Duration::from_secs(5),
        )
        .unwrap();
        let answer = request(
            proxy.port(),
            &format!(
                "GET http://127.0.0.1:{server}/simple/ HTTP/1.1\r\nHost: x\r\nAccept: y\r\nProxy-Connection: keep-alive\r\n\r\n"
            ),
        );
        assert!(
            answer.ends_with(&format!(
                "GET /simple/ HTTP/1.1\r\nHost: 127.0.0.1:{server}\r\nConnection: close\r\nAccept: y\r\n\r\n"
            )),
            "{answer:?}"
        );
        let answer = request(proxy.port(), &format!("CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer:?}");
        assert_eq!(proxy.failures(), []);
        for (text, status) in [
            ("CONNECT example.com:443 HTTP/1.1\r\n\r\n", "403"),
            ("CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n", "403"),
            ("GET http://localhost/ HTTP/1.1\r\n\r\n", "403"),
            ("GET http://user@127.0.0.1/ HTTP/1.1\r\n\r\n", "400"),
            ("GET http://evil.example?@127.0.0.1/ HTTP/1.1\r\n\r\n", "400"),
            ("GET http://evil.example\\@127.0.0.1/ HTTP/1.1\r\n\r\n", "400"),
            ("CONNECT [127.0.0.1:443 HTTP/1.1\r\n\r\n", "400"),
            ("CONNECT 127.0.0.1:99999 HTTP/1.1\r\n\r\n", "400"),
            ("POST http://127.0.0.1/ HTTP/1.1\r\n\r\n", "405"),
            ("GET /local HTTP/1.1\r\n\r\n", "405"),
        ] {
            let answer = request(proxy.port(), text);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{text:?}: {answer:?}");
        }
        let denied = ["example.com:443", "127.0.0.1:22", "localhost:80"];
        assert_eq!(proxy.failures(), denied.map(|host| ProxyFailure::Denied { host: host.to_owned() }));
    }

    /// The next proxy gets the host that was checked, whatever the request said.
    #[test]
    fn the_proxy_of_the_user_gets_the_checked_host() {
        let upstream = echo_server();
        let variables = [("HTTP_PROXY".into(), format!("http://127.0.0.1:{upstream}").into())];
        let upstream = UpstreamProxy::from_variables(&variables);
        let proxy =
            IndexProxy::start(own_host("index.example", 80), upstream, Duration::from_secs(5)).unwrap();
        let answer =
            request(proxy.port(), "GET http://Index.EXAMPLE/simple/ HTTP/1.1\r\nHost: evil.example\r\n\r\n");
        assert!(
            answer.ends_with(
                "GET http://index.example:80/simple/ HTTP/1.1\r\nHost: index.example:80\r\nConnection: close\r\n\r\n"
            ),
            "{answer:?}"
        );
    }

    /// A name server that leads a public name to this machine.
    #[test]
    fn a_public_name_does_not_lead_to_this_machine() {
        let server = echo_server();
        let allowed =
            vec![AllowedHost { host: "localhost".to_owned(), port: server, origin: HostOrigin::Public }];
        let proxy = IndexProxy::start(allowed, UpstreamProxy::default(), Duration::from_secs(5)).unwrap();
        let answer = request(proxy.port(), &format!("CONNECT localhost:{server} HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 502"), "{answer:?}");
        let failures = proxy.failures();
        assert!(
            matches!(&failures[..], [ProxyFailure::Unreachable { reason, .. }] if reason.contains("public"))
        );
    }

    #[test]
    fn an_unreachable_host_is_recorded() {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let proxy =
            IndexProxy::start(own_host("127.0.0.1", free), UpstreamProxy::default(), Duration::from_secs(5))
                .unwrap();
        let answer = request(proxy.port(), &format!("CONNECT 127.0.0.1:{free} HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 502"), "{answer:?}");
        assert!(
            matches!(&proxy.failures()[..], [ProxyFailure::Unreachable { host, .. }] if host == "127.0.0.1")
        );
    }
}
