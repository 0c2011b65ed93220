//! The HTTP client for providers.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prowess_config::{ChatTimeouts, ExtraHeaders};
use reqwest::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use tokio::time::{Instant, timeout_at};

use super::super::endpoint::ProviderEndpoint;
use super::super::error::{ModelError, TimeoutPhase};
use super::super::retry::{Backoff, parse_retry_after};
use super::super::secret::Secret;
use super::OutgoingRequest;
use super::failure::{FailedResponse, sanitize_message};

/// The maximum size of a response, in bytes.
const BODY_MAX: u64 = 64 * 1024 * 1024;

/// The maximum number of bytes to read of an error response.
const FAILURE_MAX: usize = 64 * 1024;

/// How long reading an error response may take.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(10);

pub(in super::super) struct ProviderClientOptions<'a> {
    pub(in super::super) endpoint: &'a ProviderEndpoint,
    pub(in super::super) path: &'a str,
    pub(in super::super) headers: &'a [(&'static str, &'static str)],
    pub(in super::super) timeouts: ChatTimeouts,
    pub(in super::super) retries: u32,
    pub(in super::super) backoff: Backoff,
}

/// Sends requests to one address. Redirects are not followed, because the key is for this address only.
#[derive(Debug)]
pub(in super::super) struct ProviderClient {
    client: reqwest::Client,
    url: String,
    headers: HeaderMap,
    secret: Option<Secret>,
    timeouts: ChatTimeouts,
    pub(super) retries: u32,
    pub(super) backoff: Backoff,
    /// When the server reported that the model cannot call tools.
    no_tools_since: Mutex<Option<Instant>>,
}

/// How long to omit tools after the server reported that the model cannot call them. A server that routes to several
/// models may choose another one later.
const NO_TOOLS_PERIOD: Duration = Duration::from_secs(10 * 60);

impl ProviderClient {
    pub(in super::super) fn new(setup: ProviderClientOptions<'_>) -> Result<Self, String> {
        let client = setup
            .endpoint
            .client(setup.timeouts.connect)
            .map_err(|error| root_cause(&error.without_url()))?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in setup.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let secret = setup.endpoint.secret.clone();
        if secret.is_some() {
            let key = setup.endpoint.headers();
            if key.is_empty() {
                return Err("the key is not a valid header value".to_owned());
            }
            headers.extend(key);
        }
        Ok(Self {
            client,
            url: setup.endpoint.url(setup.path),
            headers,
            secret,
            timeouts: setup.timeouts,
            retries: setup.retries,
            backoff: setup.backoff,
            no_tools_since: Mutex::new(None),
        })
    }

    /// Remembers that the model cannot call tools, and logs a warning.
    pub(super) fn note_no_tools(&self, reason: &str) {
        let minutes = NO_TOOLS_PERIOD.as_secs() / 60;
        tracing::warn!(why = reason, "the model cannot call tools; sending no tools for {minutes} minutes");
        *self.no_tools_since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns `true` if the server recently reported that the model cannot call tools.
    pub(in super::super) fn lacks_tools(&self) -> bool {
        let since = *self.no_tools_since.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() < NO_TOOLS_PERIOD)
    }

    /// Sends a request and waits for the start of the response.
    pub(super) async fn send(&self, request: &OutgoingRequest) -> Result<ResponseBody, ModelError> {
        let started = Instant::now();
        let first = (started + self.timeouts.first_byte, TimeoutPhase::FirstByte(self.timeouts.first_byte));
        let end = (started + self.timeouts.request, TimeoutPhase::End(self.timeouts.request));
        let mut headers = self.headers.clone();
        headers.extend(to_header_map(&request.extra_headers)?);
        let body = request.body.to_string().into_bytes();
        let sent = self.client.post(&self.url).headers(headers).body(body).send();
        let response = match with_deadlines(first, end, sent).await? {
            Ok(response) => response,
            Err(error) if error.is_connect() && error.is_timeout() => {
                return Err(ModelError::Timeout(TimeoutPhase::Connection(self.timeouts.connect)));
            }
            Err(error) => return Err(ModelError::Connect(root_cause(&error.without_url()))),
        };
        let status = response.status();
        if status.is_redirection() {
            return Err(ModelError::Redirect(status.as_u16()));
        }
        if !status.is_success() {
            return Err(self.read_failure(response, request).await);
        }
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        if let Some(encoding) = header(CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
            let encoding = sanitize_message(encoding);
            return Err(ModelError::Malformed(format!(
                "the response is compressed ({encoding}), which was not requested"
            )));
        }
        let kind = header(CONTENT_TYPE).unwrap_or("a response without a content type");
        let media_type = kind.split(';').next().unwrap_or_default().trim();
        if !media_type.eq_ignore_ascii_case("text/event-stream") {
            return Err(ModelError::NotAStream(sanitize_message(media_type)));
        }
        Ok(ResponseBody { response, bytes_read: 0, first, idle: self.timeouts.idle, end })
    }

    /// Reads an error response, up to a limit.
    async fn read_failure(&self, mut response: reqwest::Response, request: &OutgoingRequest) -> ModelError {
        let now = prowess_fs::unix_millis() / 1_000;
        let header = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
        let millis = header(HeaderName::from_static("retry-after-ms"));
        let retry_after = millis
            .and_then(|value| value.trim().parse().ok().map(Duration::from_millis))
            .or_else(|| header(RETRY_AFTER).and_then(|value| parse_retry_after(value, now)));
        let status = response.status().as_u16();
        let deadline = Instant::now() + FAILURE_TIMEOUT;
        let mut body = Vec::new();
        while body.len() < FAILURE_MAX {
            match timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                _ => break,
            }
        }
        body.truncate(FAILURE_MAX);
        let body = scrub_headers(&request.extra_headers, &self.scrub(&String::from_utf8_lossy(&body)));
        FailedResponse { status, body: &body, retry_after, tools: request.tools }.into_error()
    }

    /// Removes the key from a text.
    pub(super) fn scrub_in_place(&self, text: &mut String) {
        if self.secret.as_ref().is_some_and(|secret| secret.occurs_in(text)) {
            *text = self.scrub(text);
        }
    }

    /// Returns the text without the key.
    pub(super) fn scrub(&self, text: &str) -> String {
        self.secret.as_ref().map_or_else(|| text.to_owned(), |secret| secret.scrub(text))
    }
}

/// Returns the additional headers of a request. They may replace the header with the key.
fn to_header_map(extra: &ExtraHeaders) -> Result<HeaderMap, ModelError> {
    let header = |(name, value): (&String, &String)| {
        let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
        let (name, mut value) = header.ok_or_else(|| {
            // The value may be a secret.
            ModelError::Connect(format!(
                "the header {} of chat.extra-headers is invalid",
                sanitize_message(name)
            ))
        })?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    extra.0.iter().map(header).collect()
}

/// The minimum length of words in headers that are removed from errors: shorter ones could be ordinary words.
const SCRUBBED_MIN: usize = 8;

/// Returns the text of an error without values of additional headers: some servers repeat them.
pub(super) fn scrub_headers(extra: &ExtraHeaders, text: &str) -> String {
    let words = extra.0.values().flat_map(|value| value.split_whitespace());
    let secrets = words.filter(|word| word.len() >= SCRUBBED_MIN);
    secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "[header]"))
}

/// The body of a streamed response.
pub(super) struct ResponseBody {
    response: reqwest::Response,
    bytes_read: u64,
    first: (Instant, TimeoutPhase),
    idle: Duration,
    end: (Instant, TimeoutPhase),
}

impl ResponseBody {
    /// Returns the next bytes, or `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, ModelError> {
        let deadline = match self.bytes_read {
            0 => self.first,
            _ => (Instant::now() + self.idle, TimeoutPhase::NextByte(self.idle)),
        };
        let bytes = match with_deadlines(deadline, self.end, self.response.chunk()).await? {
            Ok(bytes) => bytes,
            Err(error) => return Err(ModelError::Interrupted(root_cause(&error.without_url()))),
        };
        let Some(bytes) = bytes else { return Ok(None) };
        self.bytes_read += bytes.len() as u64;
        if self.bytes_read > BODY_MAX {
            return Err(ModelError::Malformed(format!("the response has more than {BODY_MAX} bytes")));
        }
        Ok(Some(bytes.to_vec()))
    }
}

/// Runs a future until the earlier of two deadlines.
async fn with_deadlines<T>(
    first: (Instant, TimeoutPhase),
    second: (Instant, TimeoutPhase),
    future: impl Future<Output = T>,
) -> Result<T, ModelError> {
    let (deadline, phase) = if first.0 <= second.0 { first } else { second };
    timeout_at(deadline, future).await.map_err(|_| ModelError::Timeout(phase))
}

/// Returns the innermost cause of an error; the outer ones have no details.
fn root_cause(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    sanitize_message(&deepest.to_string())
}
