//! One request and its streamed reply, with timeouts, limits and retries.

mod failure;
mod http;

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
use prowess_config::ExtraHeaders;
use serde_json::Value;

use super::ReplyStream;
use super::error::ModelError;
use super::request::Chunk;
use super::retry::random_jitter;
use super::sse::{SseEvent, SseParser};
pub(super) use failure::stream_error;
pub(super) use http::{ProviderClient, ProviderClientOptions};
use http::{ResponseBody, scrub_headers};

/// Parses the events of a provider API. A new parser is created for each attempt.
pub(super) trait ReplyParser: Send {
    /// Parses an event. After [`Chunk::End`], no more events are passed.
    fn parse_event(&mut self, event: &SseEvent, out: &mut VecDeque<Chunk>) -> Result<(), ModelError>;

    /// Handles the end of the stream before [`Chunk::End`].
    fn end_of_stream(&mut self, out: &mut VecDeque<Chunk>) -> Result<(), ModelError>;
}

/// The reply to a request, for any provider API.
pub(super) struct StreamingReply<'a, P> {
    client: &'a ProviderClient,
    new_parser: Box<dyn Fn() -> P + Send + 'a>,
    adapt: Box<AdaptRequest<'a>>,
    request: OutgoingRequest,
    /// How often the request was rewritten.
    adaptations: u32,
    attempt: u32,
    open: Option<OpenReply<P>>,
    ready: VecDeque<Chunk>,
    /// Whether chunks were returned that cannot be taken back.
    delivered: bool,
    /// How long to wait before the next attempt.
    delay: Option<Duration>,
    /// An error to return after the chunks that precede it.
    failure: Option<ModelError>,
    finished: bool,
}

/// A request to send.
pub(super) struct OutgoingRequest {
    pub(super) body: Value,
    pub(super) extra_headers: ExtraHeaders,
    /// Whether the request contains tools.
    pub(super) tools: bool,
}

/// Rewrites a request after it was rejected with this message.
type AdaptRequest<'a> = dyn Fn(&Value, &str) -> Option<Value> + Send + 'a;

/// How often a request may be rewritten: each of a few parameters may be unknown.
const ADAPTATIONS_MAX: u32 = 4;

struct OpenReply<P> {
    body: ResponseBody,
    sse: SseParser,
    protocol: P,
}

impl<'a, P: ReplyParser + 'a> StreamingReply<'a, P> {
    /// Creates the reply to a request. `new_parser` creates its parser.
    pub(super) fn boxed(
        client: &'a ProviderClient,
        request: OutgoingRequest,
        adapt: impl Fn(&Value, &str) -> Option<Value> + Send + 'a,
        new_parser: impl Fn() -> P + Send + 'a,
    ) -> Box<dyn ReplyStream + 'a> {
        Box::new(Self {
            client,
            new_parser: Box::new(new_parser),
            adapt: Box::new(adapt),
            request,
            adaptations: 0,
            attempt: 0,
            open: None,
            ready: VecDeque::new(),
            delivered: false,
            delay: None,
            failure: None,
            finished: false,
        })
    }

    async fn next_chunk(&mut self) -> Result<Option<Chunk>, ModelError> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                match chunk {
                    Chunk::End(_) => self.finished = true,
                    Chunk::Text(_) | Chunk::Thinking(_) | Chunk::Sealed(_) | Chunk::Call { .. } => {
                        self.delivered = true;
                    }
                    Chunk::Usage(_) | Chunk::Waiting { .. } => {}
                }
                return Ok(Some(chunk));
            }
            if let Some(delay) = self.delay.take() {
                tokio::time::sleep(delay).await;
            }
            if let Some(error) = self.failure.take() {
                self.finished = true;
                return Err(error);
            }
            if self.finished {
                return Ok(None);
            }
            if let Err(error) = self.step().await {
                self.recover(error.map_message(|text| self.scrub(text)));
            }
        }
    }

    /// Sends the request, or reads the next part of the reply.
    async fn step(&mut self) -> Result<(), ModelError> {
        let Some(open) = &mut self.open else {
            let body = self.client.send(&self.request).await?;
            self.open = Some(OpenReply { body, sse: SseParser::default(), protocol: (self.new_parser)() });
            return Ok(());
        };
        let Some(bytes) = open.body.next().await? else {
            return open.protocol.end_of_stream(&mut self.ready);
        };
        open.sse.push(&bytes).map_err(|too_long| {
            ModelError::Malformed(format!("a line or event has more than {} bytes", too_long.0))
        })?;
        while let Some(mut event) = open.sse.next() {
            // Some servers repeat the key. It is removed before the text can be split.
            self.client.scrub_in_place(&mut event.data);
            open.protocol.parse_event(&event, &mut self.ready)?;
            if matches!(self.ready.back(), Some(Chunk::End(_))) {
                break;
            }
        }
        Ok(())
    }

    /// Returns the text of an error without secrets.
    fn scrub(&self, text: &str) -> String {
        scrub_headers(&self.request.extra_headers, &self.client.scrub(text))
    }

    /// Prepares another attempt if that can help and nothing was returned yet; otherwise records the error.
    fn recover(&mut self, error: ModelError) {
        if let ModelError::NoTools(reason) = &error {
            self.client.note_no_tools(reason);
        }
        if let ModelError::Rejected { status: 400 | 422, message } = &error
            && !self.delivered
            && self.adaptations < ADAPTATIONS_MAX
            && let Some(body) = (self.adapt)(&self.request.body, message)
        {
            (self.request.body, self.adaptations, self.open) = (body, self.adaptations + 1, None);
            return;
        }
        // Chunks that arrived before the failure are returned, which makes a retry impossible.
        let has_content = self.ready.iter().any(|chunk| !matches!(chunk, Chunk::Usage(_)));
        let retry =
            error.is_retryable() && !self.delivered && !has_content && self.attempt < self.client.retries;
        let delay = match retry {
            true => self.client.backoff.delay(self.attempt, error.retry_after(), random_jitter()),
            false => None,
        };
        self.open = None;
        let Some(delay) = delay else {
            self.failure = Some(error);
            return;
        };
        self.ready.clear();
        self.attempt += 1;
        self.delay = Some(delay);
        self.ready.push_back(Chunk::Waiting { reason: error.to_string(), delay });
    }
}

#[async_trait]
impl<'a, P: ReplyParser + 'a> ReplyStream for StreamingReply<'a, P> {
    async fn next(&mut self) -> Result<Option<Chunk>, ModelError> {
        self.next_chunk().await
    }
}
