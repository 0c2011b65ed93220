//! The one HTTPS client of this crate.
//!
//! What must always hold: only https, also after a redirect; no wait without an end, and none that a cancelled piece
//! of work sits out; no more bytes than the caller allowed; no message with a password, token or query in it.

mod error;
mod watch;

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use ureq::ResponseExt as _;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, RustlsConnector, TcpConnector};

pub use error::HttpError;
pub(crate) use error::shown;

use crate::Work;

/// How often a request may be sent elsewhere.
const REDIRECTS_MAX: u32 = 5;

/// How long a server is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// While nothing comes.
    pub stall: Duration,
    /// For one request in all.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(15), stall: seconds(30), total: seconds(30 * 60) }
    }
}

/// Fetches over https. Proxies are taken from the environment, certificates from the system (or `SSL_CERT_FILE`).
#[derive(Debug, Clone)]
pub(crate) struct Http {
    agent: ureq::Agent,
    work: Arc<Work>,
}

/// What a server answered. The body is read from it.
pub(crate) struct Response {
    status: u16,
    url: String,
    content_type: String,
    body: Box<dyn Read + Send>,
    left: u64,
    max: u64,
    work: Arc<Work>,
}

impl Http {
    pub(crate) fn new(work: Arc<Work>) -> Self {
        Self::with_timeouts(work, Timeouts::default())
    }

    pub(crate) fn with_timeouts(work: Arc<Work>, timeouts: Timeouts) -> Self {
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .https_only(true)
            .http_status_as_error(false)
            .max_redirects(REDIRECTS_MAX)
            .max_redirects_will_error(true)
            .timeout_resolve(Some(timeouts.connect))
            .timeout_connect(Some(timeouts.connect))
            .timeout_per_read(Some(timeouts.stall))
            .timeout_per_write(Some(timeouts.stall))
            .timeout_global(Some(timeouts.total))
            .user_agent(concat!("prowess/", env!("CARGO_PKG_VERSION")))
            .build();
        let connector =
            ().chain(ConnectProxyConnector::default())
                .chain(TcpConnector::default())
                .chain(watch::Watch(Arc::clone(&work)))
                .chain(RustlsConnector::default());
        Self { agent: ureq::Agent::with_parts(config, connector, DefaultResolver::default()), work }
    }

    /// Asks for a URL. Any status is an answer; the caller judges it.
    pub(crate) fn get(&self, url: &str, max_bytes: u64, accept: &str) -> Result<Response, HttpError> {
        self.get_with(url, max_bytes, accept, &[])
    }

    /// The same with more headers.
    pub(crate) fn get_with(
        &self,
        url: &str,
        max_bytes: u64,
        accept: &str,
        headers: &[(&str, &str)],
    ) -> Result<Response, HttpError> {
        self.check(url)?;
        let mut request = self.agent.get(url).header("Accept", accept);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.answer(url, max_bytes, request.call())
    }

    /// Sends a body. It goes to this URL or nowhere: redirects are not followed.
    pub(crate) fn post(
        &self,
        url: &str,
        max_bytes: u64,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Response, HttpError> {
        self.check(url)?;
        let mut request = self.agent.post(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.config().max_redirects(0).max_redirects_will_error(false).build();
        self.answer(url, max_bytes, request.send(body))
    }

    fn check(&self, url: &str) -> Result<(), HttpError> {
        self.work.go_on().map_err(|_| HttpError::Cancelled)?;
        let Some(rest) = url.strip_prefix("https://") else {
            return Err(HttpError::NotHttps { url: shown(url) });
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') { Err(HttpError::Credentials { url: shown(url) }) } else { Ok(()) }
    }

    fn answer(
        &self,
        url: &str,
        max: u64,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Response, HttpError> {
        let answer = answer.map_err(|error| HttpError::of(error, url, &self.work))?;
        let url = answer.get_uri().to_string();
        let header = answer.headers().get("content-type").and_then(|value| value.to_str().ok());
        let content_type = header.unwrap_or_default().to_owned();
        let status = answer.status().as_u16();
        let body = answer.into_body();
        if body.content_length().is_some_and(|length| length > max) {
            return Err(HttpError::TooLarge { url: shown(&url), max });
        }
        let body = Box::new(body.into_with_config().limit(u64::MAX).reader());
        Ok(Response { status, url, content_type, body, left: max, max, work: Arc::clone(&self.work) })
    }
}

impl Response {
    /// The status, such as 200.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Where the answer came from in the end.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What the server says it is, or nothing.
    pub(crate) fn content_type(&self) -> &str {
        &self.content_type
    }

    /// This answer, if it is a success.
    pub(crate) fn ok(self) -> Result<Self, HttpError> {
        match self.status {
            200..=299 => Ok(self),
            status => Err(HttpError::Status { url: shown(&self.url), status }),
        }
    }
}

impl Read for Response {
    /// A failure is an [`HttpError`] inside the [`io::Error`]; see [`HttpError::from_io`].
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.work.go_on().map_err(|_| io::Error::other(HttpError::Cancelled))?;
        if buffer.is_empty() {
            return Ok(0);
        }
        // One byte beyond the limit tells a body that is just as large from one that is larger.
        let room = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.body.read(&mut buffer[..room]).map_err(|error| {
            io::Error::other(HttpError::of(ureq::Error::from(error), &self.url, &self.work))
        })?;
        let bytes = count as u64;
        if bytes > self.left {
            return Err(io::Error::other(HttpError::TooLarge { url: shown(&self.url), max: self.max }));
        }
        self.left -= bytes;
        self.work.add(bytes);
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
