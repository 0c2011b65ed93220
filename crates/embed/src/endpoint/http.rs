//! HTTP requests with timeouts, size limits and retries.

use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prowess_config::BaseUrl;
use prowess_routing::semantic::{DIMENSIONS_MAX, EmbedError};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

/// The maximum number of retries.
const RETRIES_MAX: u32 = 2;

/// The delay before the first retry.
const FIRST_DELAY: Duration = Duration::from_millis(200);

/// The connection timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum size of one number of a vector in JSON, and of the rest of a response, in bytes.
const NUMBER_BYTES_MAX: u64 = 32;
const OVERHEAD_BYTES_MAX: u64 = 64 * 1024;

/// The maximum length of a key, in bytes.
const KEY_MAX: usize = 16 * 1024;

/// An API key. It cannot be printed.
///
/// ```
/// use prowess_embed::endpoint::ApiKey;
///
/// assert_eq!(format!("{:?}", ApiKey::new("sk-123456").unwrap()), "ApiKey(…)");
/// assert!(ApiKey::new("two words").is_none());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Creates a key, or returns `None` unless the text is one line of visible ASCII.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_valid =
            (1..=KEY_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_valid.then(|| Self(text.to_owned()))
    }

    /// Returns the value of the `Authorization` header.
    fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

#[derive(Debug)]
pub(super) struct Http {
    agent: ureq::Agent,
    url: String,
    host: String,
    key: Option<ApiKey>,
}

/// Why a request failed, and the delay before a retry if one is worthwhile.
struct RequestFailure {
    reason: String,
    retry_after: Option<Duration>,
}

impl Http {
    pub(super) fn new(address: &BaseUrl, path: &str, key: Option<ApiKey>) -> Self {
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let mut config = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            // Texts and key are only sent to this address.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .user_agent(concat!("prowess/", env!("CARGO_PKG_VERSION")));
        if address.is_loopback() {
            config = config.proxy(None);
        }
        let agent = ureq::Agent::new_with_config(config.build());
        Self { agent, url: address.join(&[path]), host: address.host(), key }
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Sends a request and returns the body of the response. All retries together take at most `timeout`. The
    /// size limit allows for `vectors` vectors.
    pub(super) fn post(&self, body: &str, timeout: Duration, vectors: usize) -> Result<Vec<u8>, EmbedError> {
        let end = Instant::now() + timeout;
        let max = OVERHEAD_BYTES_MAX + vectors as u64 * DIMENSIONS_MAX as u64 * NUMBER_BYTES_MAX;
        let mut delay = FIRST_DELAY;
        let mut attempt = 0;
        loop {
            let failure = match self.send_once(body, end.saturating_duration_since(Instant::now()), max) {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            let pause = failure.retry_after.map(|requested| requested.max(delay));
            match pause {
                // The response takes time, too.
                Some(pause) if attempt < RETRIES_MAX && Instant::now() + pause < end => {
                    std::thread::sleep(pause)
                }
                _ => return Err(EmbedError::Failed(format!("{} {}", self.host, failure.reason))),
            }
            attempt += 1;
            delay *= 2;
        }
    }

    fn send_once(&self, body: &str, remaining: Duration, max: u64) -> Result<Vec<u8>, RequestFailure> {
        let mut request = self.agent.post(&self.url).header("Content-Type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("Authorization", key.header());
        }
        // A timeout of zero would mean no timeout.
        let remaining = remaining.max(Duration::from_millis(1));
        let request = request.config().timeout_global(Some(remaining)).build();
        let response = request.send(body.as_bytes()).map_err(|error| RequestFailure::from_ureq(&error))?;
        let status = response.status().as_u16();
        if status != 200 {
            let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
            let seconds = header.and_then(|value| value.trim().parse::<u32>().ok());
            let requested = seconds.map(|seconds| Duration::from_secs(seconds.into()));
            let retry_after = matches!(status, 408 | 429 | 500..=599).then(|| requested.unwrap_or_default());
            return Err(RequestFailure { reason: format!("returned status {status}"), retry_after });
        }
        let too_large =
            || RequestFailure { reason: format!("sent more than {max} bytes"), retry_after: None };
        let response = response.into_body();
        if response.content_length().is_some_and(|length| length > max) {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let mut reader = response.into_with_config().limit(u64::MAX).reader().take(max + 1);
        reader.read_to_end(&mut bytes).map_err(|error| RequestFailure::from_io(&error))?;
        if bytes.len() as u64 > max { Err(too_large()) } else { Ok(bytes) }
    }
}

impl RequestFailure {
    fn new(reason: &str, retry: bool) -> Self {
        Self { reason: reason.to_owned(), retry_after: retry.then_some(Duration::ZERO) }
    }

    fn from_ureq(error: &ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::new("timed out", false),
            ureq::Error::HostNotFound => Self::new("was not found", false),
            ureq::Error::ConnectionFailed => Self::new("cannot be reached", false),
            ureq::Error::Rustls(_) => Self::new("has no valid certificate, or TLS failed", false),
            ureq::Error::Io(error) => Self::from_io(error),
            _ => Self::new("sent an invalid HTTP response", false),
        }
    }

    fn from_io(error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        if let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
            return Self::from_ureq(inner);
        }
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Self::new("timed out", false),
            ErrorKind::ConnectionRefused => Self::new("refused the connection", false),
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof => Self::new("closed the connection early", true),
            _ => Self::new("cannot be reached", false),
        }
    }
}
