//! The one client that talks to providers.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use prowess_config::{BaseUrl, ChatTimeouts};
use reqwest::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use reqwest::redirect;
use tokio::time::{Instant, timeout_at};

use super::super::error::{ModelError, Waited};
use super::super::retry::{Backoff, retry_after};
use super::super::secret::Secret;
use super::failed::{Failed, said};

/// The most bytes of one answer.
const BODY_MAX: u64 = 64 * 1024 * 1024;

/// The most bytes that are read of what a server says when it fails.
const FAILURE_MAX: usize = 64 * 1024;

/// How long that may take.
const FAILURE_WAIT: Duration = Duration::from_secs(10);

/// What a client is made from.
pub(in super::super) struct HttpSetup<'a> {
    pub(in super::super) endpoint: &'a BaseUrl,
    pub(in super::super) path: &'a [&'a str],
    /// The key, with the header it goes into and the word before it.
    pub(in super::super) key: Option<(&'static str, &'static str, Secret)>,
    pub(in super::super) headers: &'a [(&'static str, &'static str)],
    pub(in super::super) timeouts: ChatTimeouts,
    pub(in super::super) retries: u32,
    pub(in super::super) backoff: Backoff,
}

/// Sends requests to one address. Redirects are not followed: the key is for this address alone.
#[derive(Debug)]
pub(in super::super) struct Http {
    client: reqwest::Client,
    url: String,
    headers: HeaderMap,
    secret: Option<Secret>,
    timeouts: ChatTimeouts,
    pub(super) retries: u32,
    pub(super) backoff: Backoff,
    /// When the server has said that the model cannot call tools.
    no_tools: Mutex<Option<Instant>>,
}

/// How long a model is not offered tools after its server said that it cannot call them. A server that chooses among several
/// may have another one by then.
const WITHOUT_TOOLS: Duration = Duration::from_secs(10 * 60);

impl Http {
    pub(in super::super) fn new(setup: HttpSetup<'_>) -> Result<Self, String> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Another thread may have been faster: then that one counts.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let mut client = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .referer(false)
            .connect_timeout(setup.timeouts.connect)
            .user_agent(concat!("prowess/", env!("CARGO_PKG_VERSION")));
        if setup.endpoint.is_here() {
            // What is meant for this machine is not shown to a proxy.
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| cause(&error.without_url()))?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in setup.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let mut secret = None;
        if let Some((name, before, key)) = setup.key {
            let value = key.header(before).ok_or("the key does not fit into a header")?;
            headers.insert(HeaderName::from_static(name), value);
            secret = Some(key);
        }
        Ok(Self {
            client,
            url: setup.endpoint.at(setup.path),
            headers,
            secret,
            timeouts: setup.timeouts,
            retries: setup.retries,
            backoff: setup.backoff,
            no_tools: Mutex::new(None),
        })
    }

    /// Remembers that the model cannot call tools, and says so in the log.
    pub(super) fn note_no_tools(&self, why: &str) {
        let minutes = WITHOUT_TOOLS.as_secs() / 60;
        tracing::warn!(why, "the model cannot call tools; it is asked without them for {minutes} minutes");
        *self.no_tools.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether the server has said lately that the model cannot call tools.
    pub(in super::super) fn lacks_tools(&self) -> bool {
        let since = *self.no_tools.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() < WITHOUT_TOOLS)
    }

    /// Sends a request and waits until its answer begins.
    pub(super) async fn send(&self, body: Vec<u8>, tools: bool) -> Result<Body, ModelError> {
        let begun = Instant::now();
        let first = (begun + self.timeouts.first_byte, Waited::FirstByte(self.timeouts.first_byte));
        let end = (begun + self.timeouts.request, Waited::End(self.timeouts.request));
        let request = self.client.post(&self.url).headers(self.headers.clone()).body(body);
        let response = match within(first, end, request.send()).await? {
            Ok(response) => response,
            Err(error) if error.is_connect() && error.is_timeout() => {
                return Err(ModelError::Timeout(Waited::Connection(self.timeouts.connect)));
            }
            Err(error) => return Err(ModelError::Connect(cause(&error.without_url()))),
        };
        let status = response.status();
        if status.is_redirection() {
            return Err(ModelError::Redirect(status.as_u16()));
        }
        if !status.is_success() {
            return Err(self.failure(response, tools).await);
        }
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        if let Some(encoding) = header(CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
            let encoding = said(encoding);
            return Err(ModelError::Malformed(format!(
                "it is compressed ({encoding}), which was not asked for"
            )));
        }
        let kind = header(CONTENT_TYPE).unwrap_or("an answer without a type");
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("text/event-stream") {
            return Err(ModelError::NotAStream(said(essence)));
        }
        Ok(Body { response, read: 0, first, idle: self.timeouts.idle, end })
    }

    /// What a server says when it fails, read within bounds.
    async fn failure(&self, mut response: reqwest::Response, tools: bool) -> ModelError {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let header = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
        let millis = header(HeaderName::from_static("retry-after-ms"));
        let again = millis
            .and_then(|value| value.trim().parse().ok().map(Duration::from_millis))
            .or_else(|| header(RETRY_AFTER).and_then(|value| retry_after(value, now)));
        let status = response.status().as_u16();
        let until = Instant::now() + FAILURE_WAIT;
        let mut body = Vec::new();
        while body.len() < FAILURE_MAX {
            match timeout_at(until, response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                _ => break,
            }
        }
        body.truncate(FAILURE_MAX);
        let body = self.scrub(&String::from_utf8_lossy(&body));
        Failed { status, body: &body, again, tools }.judge()
    }

    /// Takes the key out of a text, if it is there.
    pub(super) fn hush(&self, text: &mut String) {
        if self.secret.as_ref().is_some_and(|secret| secret.is_in(text)) {
            *text = self.scrub(text);
        }
    }

    /// A text without the key.
    pub(super) fn scrub(&self, text: &str) -> String {
        self.secret.as_ref().map_or_else(|| text.to_owned(), |secret| secret.scrub(text))
    }
}

/// The body of an answer, as it comes.
pub(super) struct Body {
    response: reqwest::Response,
    read: u64,
    first: (Instant, Waited),
    idle: Duration,
    end: (Instant, Waited),
}

impl Body {
    /// The next bytes; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, ModelError> {
        let until = match self.read {
            0 => self.first,
            _ => (Instant::now() + self.idle, Waited::NextByte(self.idle)),
        };
        let bytes = match within(until, self.end, self.response.chunk()).await? {
            Ok(bytes) => bytes,
            Err(error) => return Err(ModelError::BrokeOff(cause(&error.without_url()))),
        };
        let Some(bytes) = bytes else { return Ok(None) };
        self.read += bytes.len() as u64;
        if self.read > BODY_MAX {
            return Err(ModelError::Malformed(format!("it has more than {BODY_MAX} bytes")));
        }
        Ok(Some(bytes.to_vec()))
    }
}

/// Waits until either moment, whichever comes first.
async fn within<T>(
    one: (Instant, Waited),
    other: (Instant, Waited),
    work: impl Future<Output = T>,
) -> Result<T, ModelError> {
    let (until, waited) = if one.0 <= other.0 { one } else { other };
    timeout_at(until, work).await.map_err(|_| ModelError::Timeout(waited))
}

/// The deepest reason of a failure: those above it only say that something was tried.
fn cause(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    said(&deepest.to_string())
}
