//! One request and its answer: waits that end, bounds on what comes, and when all of it is tried again.

mod failed;
mod http;

use std::collections::VecDeque;

use serde_json::Value;

use super::error::ModelError;
use super::request::Chunk;
use super::retry::dice;
use super::sse::{Event, Reader};
use super::{Answer, Pending};
pub(super) use failed::reported;
use http::Body;
pub(super) use http::{Http, HttpSetup};

/// What an interface's events mean. One is made for each attempt.
pub(super) trait Protocol: Send {
    /// Takes one event. Whoever gives [`Chunk::End`] is given no more.
    fn event(&mut self, event: &Event, out: &mut VecDeque<Chunk>) -> Result<(), ModelError>;

    /// The stream has ended without that.
    fn ended(&mut self, out: &mut VecDeque<Chunk>) -> Result<(), ModelError>;
}

/// The answer to one request, whichever interface it came through.
pub(super) struct Streaming<'a, P> {
    http: &'a Http,
    make: Box<dyn Fn() -> P + Send + 'a>,
    adapt: Box<Adapt<'a>>,
    body: Value,
    /// How often the request was written in another form.
    adapted: u32,
    /// Whether tools were offered.
    tools: bool,
    attempt: u32,
    open: Option<Open<P>>,
    ready: VecDeque<Chunk>,
    /// Something was handed out that cannot be taken back.
    given: bool,
    /// What is told once everything before it was handed out.
    failed: Option<ModelError>,
    over: bool,
}

/// The same request in another form, after one was refused with these words.
type Adapt<'a> = dyn Fn(&Value, &str) -> Option<Value> + Send + 'a;

/// How many forms of one request are tried: each of two parameters may be unknown.
const FORMS_MAX: u32 = 2;

struct Open<P> {
    body: Body,
    events: Reader,
    protocol: P,
}

impl<'a, P: Protocol + 'a> Streaming<'a, P> {
    /// The answer to this body; `make` makes what reads it.
    pub(super) fn boxed(
        http: &'a Http,
        body: Value,
        tools: bool,
        adapt: impl Fn(&Value, &str) -> Option<Value> + Send + 'a,
        make: impl Fn() -> P + Send + 'a,
    ) -> Box<dyn Answer + 'a> {
        Box::new(Self {
            http,
            make: Box::new(make),
            adapt: Box::new(adapt),
            body,
            adapted: 0,
            tools,
            attempt: 0,
            open: None,
            ready: VecDeque::new(),
            given: false,
            failed: None,
            over: false,
        })
    }

    async fn chunk(&mut self) -> Result<Option<Chunk>, ModelError> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                match chunk {
                    Chunk::End(_) => self.over = true,
                    Chunk::Text(_) | Chunk::Call { .. } => self.given = true,
                    Chunk::Usage(_) => {}
                }
                return Ok(Some(chunk));
            }
            if let Some(error) = self.failed.take() {
                self.over = true;
                return Err(error);
            }
            if self.over {
                return Ok(None);
            }
            if let Err(error) = self.step().await {
                self.recover(error.reworded(|words| self.http.scrub(words))).await;
            }
        }
    }

    /// Sends the request, or reads what comes next.
    async fn step(&mut self) -> Result<(), ModelError> {
        let Some(open) = &mut self.open else {
            let body = self.http.send(self.body.to_string().into_bytes(), self.tools).await?;
            self.open = Some(Open { body, events: Reader::default(), protocol: (self.make)() });
            return Ok(());
        };
        let Some(bytes) = open.body.next().await? else {
            return open.protocol.ended(&mut self.ready);
        };
        open.events.push(&bytes).map_err(|long| {
            ModelError::Malformed(format!("a line or event has more than {} bytes", long.0))
        })?;
        while let Some(mut event) = open.events.next() {
            // Some servers repeat the key in what they say. It is gone before anything is cut off.
            self.http.hush(&mut event.data);
            open.protocol.event(&event, &mut self.ready)?;
            if matches!(self.ready.back(), Some(Chunk::End(_))) {
                break;
            }
        }
        Ok(())
    }

    /// Waits and begins anew, where that can help and nothing was handed out yet; else the error stands.
    async fn recover(&mut self, error: ModelError) {
        if let ModelError::NoTools(why) = &error {
            self.http.note_no_tools(why);
        }
        if let ModelError::Refused { status: 400 | 422, message } = &error
            && !self.given
            && self.adapted < FORMS_MAX
            && let Some(body) = (self.adapt)(&self.body, message)
        {
            (self.body, self.adapted, self.open) = (body, self.adapted + 1, None);
            return;
        }
        // What came before the failure is handed out; then it is too late.
        let said = self.ready.iter().any(|chunk| matches!(chunk, Chunk::Text(_) | Chunk::Call { .. }));
        let again = error.is_passing() && !self.given && !said && self.attempt < self.http.retries;
        let delay = match again {
            true => self.http.backoff.delay(self.attempt, error.again(), dice()),
            false => None,
        };
        self.open = None;
        let Some(delay) = delay else {
            self.failed = Some(error);
            return;
        };
        self.ready.clear();
        self.attempt += 1;
        tokio::time::sleep(delay).await;
    }
}

impl<'a, P: Protocol + 'a> Answer for Streaming<'a, P> {
    fn next(&mut self) -> Pending<'_, Result<Option<Chunk>, ModelError>> {
        Box::pin(self.chunk())
    }
}
