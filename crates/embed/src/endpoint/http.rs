//! One request: its waits, its bounds, and when it is sent again.

use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prowess_config::BaseUrl;
use prowess_routing::semantic::{DIMENSIONS_MAX, EmbedError};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

/// How often a request is sent again.
const RETRIES: u32 = 2;

/// How long is waited before that, the first time.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// The most bytes that one number of a vector takes, with its comma; and what else there is.
const NUMBER: u64 = 32;
const FRAME: u64 = 64 * 1024;

/// The longest key, in bytes.
const KEY_MAX: usize = 16 * 1024;

/// A key. It cannot be printed.
///
/// ```
/// use prowess_embed::endpoint::Key;
///
/// assert_eq!(format!("{:?}", Key::new("sk-123456").unwrap()), "Key(…)");
/// assert!(Key::new("two words").is_none());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, if it can be one: one line of visible ASCII.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = (1..=KEY_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// What stands in the header `Authorization`.
    fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[derive(Debug)]
pub(super) struct Http {
    agent: ureq::Agent,
    url: String,
    host: String,
    key: Option<Key>,
}

/// Why a request failed, and whether it is worth sending again.
struct Failed {
    why: String,
    again: Option<Duration>,
}

impl Http {
    pub(super) fn new(address: &BaseUrl, path: &str, key: Option<Key>) -> Self {
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let mut config = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            // Texts and key go to this address or nowhere.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .user_agent(concat!("prowess/", env!("CARGO_PKG_VERSION")));
        if address.is_here() {
            config = config.proxy(None);
        }
        let agent = ureq::Agent::new_with_config(config.build());
        Self { agent, url: address.at(&[path]), host: address.host(), key }
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// The body of the answer, within `most`, however often it is asked for. It has room for so many vectors.
    pub(super) fn post(&self, body: &str, most: Duration, vectors: usize) -> Result<Vec<u8>, EmbedError> {
        let end = Instant::now() + most;
        let max = FRAME + vectors as u64 * DIMENSIONS_MAX as u64 * NUMBER;
        let mut wait = FIRST_WAIT;
        let mut attempt = 0;
        loop {
            let failed = match self.once(body, end.saturating_duration_since(Instant::now()), max) {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            let wanted = failed.again.map(|asked| asked.max(wait));
            match wanted {
                // It has to be worth it: an answer takes time, too.
                Some(pause) if attempt < RETRIES && Instant::now() + pause < end => std::thread::sleep(pause),
                _ => return Err(EmbedError::Failed(format!("{} {}", self.host, failed.why))),
            }
            attempt += 1;
            wait *= 2;
        }
    }

    fn once(&self, body: &str, left: Duration, max: u64) -> Result<Vec<u8>, Failed> {
        let mut request = self.agent.post(&self.url).header("Content-Type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("Authorization", key.header());
        }
        // A wait of nought would be none at all.
        let left = left.max(Duration::from_millis(1));
        let request = request.config().timeout_global(Some(left)).build();
        let answer = request.send(body.as_bytes()).map_err(|error| Failed::of(&error))?;
        let status = answer.status().as_u16();
        if status != 200 {
            let header = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
            let seconds = header.and_then(|value| value.trim().parse::<u32>().ok());
            let asked = seconds.map(|seconds| Duration::from_secs(seconds.into()));
            let again = matches!(status, 408 | 429 | 500..=599).then(|| asked.unwrap_or_default());
            return Err(Failed { why: format!("answered with status {status}"), again });
        }
        let too_large = || Failed { why: format!("sends more than {max} bytes"), again: None };
        let answer = answer.into_body();
        if answer.content_length().is_some_and(|length| length > max) {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let mut reader = answer.into_with_config().limit(u64::MAX).reader().take(max + 1);
        reader.read_to_end(&mut bytes).map_err(|error| Failed::io(&error))?;
        if bytes.len() as u64 > max { Err(too_large()) } else { Ok(bytes) }
    }
}

impl Failed {
    fn new(why: &str, again: bool) -> Self {
        Self { why: why.to_owned(), again: again.then_some(Duration::ZERO) }
    }

    fn of(error: &ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::new("did not answer in time", false),
            ureq::Error::HostNotFound => Self::new("cannot be found", false),
            ureq::Error::ConnectionFailed => Self::new("cannot be reached", false),
            ureq::Error::Rustls(_) => {
                Self::new("has no valid certificate, or does not speak TLS as we do", false)
            }
            ureq::Error::Io(error) => Self::io(error),
            _ => Self::new("does not answer as a server does", false),
        }
    }

    fn io(error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        if let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
            return Self::of(inner);
        }
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Self::new("did not answer in time", false),
            ErrorKind::ConnectionRefused => Self::new("cannot be reached: nobody listens there", false),
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof => Self::new("ended half-way", true),
            _ => Self::new("cannot be reached", false),
        }
    }
}
