//! The HTTPS client of this crate.
//!
//! Invariants: only https, also after redirects; every wait has a timeout and ends if the task is cancelled; a
//! response is never larger than the caller's limit; messages contain no passwords, tokens or queries.

mod cancel;
mod error;

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use ureq::ResponseExt as _;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, RustlsConnector, TcpConnector};

pub use error::HttpError;
pub(crate) use error::redact_url;
use error::split_authority;

use crate::Task;

/// The maximum number of redirects.
const REDIRECTS_MAX: u32 = 5;

/// The timeouts of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For connecting.
    pub connect: Duration,
    /// Without receiving data.
    pub stall: Duration,
    /// For a request in total.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(15), stall: seconds(30), total: seconds(30 * 60) }
    }
}

/// An HTTPS client. Proxies are read from the environment, certificates from the system (or `SSL_CERT_FILE`).
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    agent: ureq::Agent,
    task: Arc<Task>,
}

/// A response. Implements [`Read`] for its body.
pub(crate) struct HttpResponse {
    status: u16,
    url: String,
    content_type: String,
    body: Box<dyn Read + Send>,
    remaining: u64,
    max: u64,
    task: Arc<Task>,
}

impl HttpClient {
    pub(crate) fn new(task: Arc<Task>) -> Self {
        Self::with_timeouts(task, Timeouts::default())
    }

    pub(crate) fn with_timeouts(task: Arc<Task>, timeouts: Timeouts) -> Self {
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
                .chain(cancel::CancellableConnector(Arc::clone(&task)))
                .chain(RustlsConnector::default());
        Self { agent: ureq::Agent::with_parts(config, connector, DefaultResolver::default()), task }
    }

    /// Sends a GET request. A response with any status is returned.
    pub(crate) fn get(&self, url: &str, max_bytes: u64, accept: &str) -> Result<HttpResponse, HttpError> {
        self.get_with(url, max_bytes, accept, &[])
    }

    /// Sends a GET request with additional headers; see [`get`](Self::get).
    pub(crate) fn get_with(
        &self,
        url: &str,
        max_bytes: u64,
        accept: &str,
        headers: &[(&str, &str)],
    ) -> Result<HttpResponse, HttpError> {
        self.check_url(url)?;
        let mut request = self.agent.get(url).header("Accept", accept);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.convert_response(url, max_bytes, request.call())
    }

    /// Sends a POST request. Redirects are not followed.
    pub(crate) fn post(
        &self,
        url: &str,
        max_bytes: u64,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<HttpResponse, HttpError> {
        self.check_url(url)?;
        let mut request = self.agent.post(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.config().max_redirects(0).max_redirects_will_error(false).build();
        self.convert_response(url, max_bytes, request.send(body))
    }

    fn check_url(&self, url: &str) -> Result<(), HttpError> {
        self.task.check_cancelled().map_err(|_| HttpError::Cancelled)?;
        let Some(rest) = url.strip_prefix("https://") else {
            return Err(HttpError::NotHttps { url: redact_url(url) });
        };
        let (authority, _) = split_authority(rest);
        if authority.contains('@') { Err(HttpError::Credentials { url: redact_url(url) }) } else { Ok(()) }
    }

    fn convert_response(
        &self,
        url: &str,
        max: u64,
        response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<HttpResponse, HttpError> {
        let response = response.map_err(|error| HttpError::from_ureq(error, url, &self.task))?;
        let url = response.get_uri().to_string();
        let header = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let content_type = header.unwrap_or_default().to_owned();
        let status = response.status().as_u16();
        let body = response.into_body();
        if body.content_length().is_some_and(|length| length > max) {
            return Err(HttpError::TooLarge { url: redact_url(&url), max });
        }
        let body = Box::new(body.into_with_config().limit(u64::MAX).reader());
        Ok(HttpResponse {
            status,
            url,
            content_type,
            body,
            remaining: max,
            max,
            task: Arc::clone(&self.task),
        })
    }
}

impl HttpResponse {
    /// Returns the status, such as 200.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Returns the URL of the response, after redirects.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the content type; empty if there is none.
    pub(crate) fn content_type(&self) -> &str {
        &self.content_type
    }

    /// Returns the response if it is a success.
    pub(crate) fn error_for_status(self) -> Result<Self, HttpError> {
        match self.status {
            200..=299 => Ok(self),
            status => Err(HttpError::Status { url: redact_url(&self.url), status }),
        }
    }
}

impl Read for HttpResponse {
    /// Reads from the body. Errors contain an [`HttpError`]; see [`HttpError::from_io`].
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.task.check_cancelled().map_err(|_| io::Error::other(HttpError::Cancelled))?;
        if buffer.is_empty() {
            return Ok(0);
        }
        // One more byte than the limit shows whether the body exceeds it.
        let room = usize::try_from(self.remaining.saturating_add(1)).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.body.read(&mut buffer[..room]).map_err(|error| {
            io::Error::other(HttpError::from_ureq(ureq::Error::from(error), &self.url, &self.task))
        })?;
        let bytes = count as u64;
        if bytes > self.remaining {
            return Err(io::Error::other(HttpError::TooLarge { url: redact_url(&self.url), max: self.max }));
        }
        self.remaining -= bytes;
        self.task.advance(bytes);
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
