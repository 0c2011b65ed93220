//! The HTTP server of the gateway.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use prowess_chat::provider::ProviderEndpoint;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::api::ProviderApi;
use super::recording::{Exchange, RunTraffic, Traffic};
use super::run_scope::{RunHandle, RunOptions, RunScope, StopReason};
use crate::agent::GatewayAddress;
use crate::budget::{Budget, Reservation};
use crate::gateway::ReplayError;

/// The maximum size of a request or response, in bytes.
const BODY_MAX: usize = 64 * 1024 * 1024;

/// How long connecting to the provider may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a provider may pause within a response.
const BODY_TIMEOUT: Duration = Duration::from_secs(300);

/// How long to wait for the end of a response after the client has closed the connection.
const TAIL_TIMEOUT: Duration = Duration::from_secs(2);

/// The headers of an agent that are forwarded. All others could identify the user or contain keys.
const FORWARDED_HEADERS: &[&str] = &["anthropic-version", "anthropic-beta"];

/// Why the gateway cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// No port is available.
    #[error("cannot listen on 127.0.0.1")]
    Listen(#[source] std::io::Error),
    /// The HTTP client cannot be created.
    #[error("cannot create the HTTP client")]
    Client(#[source] reqwest::Error),
}

/// The gateway. Dropping it stops the server.
#[derive(Debug)]
pub struct Gateway {
    inner: Arc<GatewayInner>,
    port: u16,
    task: JoinHandle<()>,
}

#[derive(Debug)]
pub(super) struct GatewayInner {
    provider: Option<(ProviderEndpoint, reqwest::Client)>,
    budget: Arc<Budget>,
    traffic: Traffic,
    /// The limit of a request that has none.
    default_output: u64,
    runs: Mutex<HashMap<String, Arc<RunScope>>>,
}

impl Gateway {
    /// Starts the server on a free port of this machine. Without a provider, only a replay is possible.
    pub async fn start(
        provider: Option<ProviderEndpoint>,
        budget: Arc<Budget>,
        traffic: Traffic,
        default_output: u64,
    ) -> Result<Self, GatewayError> {
        let provider = match provider {
            Some(provider) => {
                let client = provider.client(CONNECT_TIMEOUT).map_err(GatewayError::Client)?;
                Some((provider, client))
            }
            None => None,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(GatewayError::Listen)?;
        let port = listener.local_addr().map_err(GatewayError::Listen)?.port();
        let inner =
            Arc::new(GatewayInner { provider, budget, traffic, default_output, runs: Mutex::default() });
        let router = Router::new().route("/{token}/{*path}", any(handle)).with_state(Arc::clone(&inner));
        let task = tokio::spawn(async move {
            // Ends only with the task.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { inner, port, task })
    }

    /// Opens an address for a run.
    pub fn open_run(&self, options: RunOptions, model: &str) -> Result<RunHandle, ReplayError> {
        let traffic = RunTraffic::open(&self.inner.traffic, &options.name, options.matching)?;
        let token = uuid::Uuid::new_v4().simple().to_string();
        let address = GatewayAddress { port: self.port, token: token.clone(), model: model.to_owned() };
        let dir = address.staging_dir().display().to_string();
        let scope = Arc::new(RunScope::new(options, traffic, dir));
        self.inner.runs.lock().unwrap_or_else(PoisonError::into_inner).insert(token, Arc::clone(&scope));
        Ok(RunHandle { gateway: Arc::clone(&self.inner), scope, address })
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl GatewayInner {
    pub(super) fn close(&self, token: &str) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    fn run(&self, token: &str) -> Option<Arc<RunScope>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }
}

async fn handle(
    State(gateway): State<Arc<GatewayInner>>,
    Path((token, path)): Path<(String, String)>,
    request: Request,
) -> Response {
    let Some(run) = gateway.run(&token) else { return failure(StatusCode::NOT_FOUND, "unknown address") };
    let Some(api) = ProviderApi::from_path(&path) else {
        return failure(StatusCode::NOT_FOUND, "this request is not available in an evaluation");
    };
    let (parts, body) = request.into_parts();
    if parts.method != axum::http::Method::POST {
        return failure(StatusCode::METHOD_NOT_ALLOWED, "only POST is available");
    }
    let body = match to_bytes(body, BODY_MAX).await {
        Ok(body) => body,
        Err(_) => return failure(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large"),
    };
    let Ok(body @ Value::Object(_)) = serde_json::from_slice::<Value>(&body) else {
        return failure(StatusCode::BAD_REQUEST, "the request is not a JSON object");
    };
    match forward(gateway, Arc::clone(&run), api, body, &parts.headers).await {
        Ok(response) => response,
        Err(reason) => {
            let message = describe(&reason);
            run.end(reason);
            // Not a status that clients retry.
            failure(StatusCode::BAD_REQUEST, &message)
        }
    }
}

/// Forwards a request, or answers it from a recording.
async fn forward(
    gateway: Arc<GatewayInner>,
    run: Arc<RunScope>,
    api: ProviderApi,
    mut body: Value,
    headers: &HeaderMap,
) -> Result<Response, StopReason> {
    if run.options.markers.occur_in_request(&body) {
        run.update(|totals| totals.triggered = true);
        if run.options.stop_when_triggered {
            return Err(StopReason::Triggered);
        }
    }
    let max = run.options.max_requests;
    if run.totals().requests >= max {
        return Err(StopReason::Requests(max));
    }
    let max_output = api.limit_output(&mut body, gateway.default_output);
    api.request_usage(&mut body);
    if let RunTraffic::Replay(replay) = &run.traffic {
        let exchange = replay.answer(api.path(), &body, &run.dir).map_err(StopReason::Replay)?;
        run.update(|totals| totals.requests += 1);
        let response = exchange.response.into_bytes();
        record_usage(&gateway, &run, api, &body, &response, None);
        return Ok(to_response(exchange.status, &exchange.content_type, Body::from(response)));
    }
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
    let bytes = body.to_string().into_bytes();
    // A token has at least one byte.
    let reservation =
        gateway.budget.reserve(&model, bytes.len() as u64, max_output).await.map_err(StopReason::Cap)?;
    run.update(|totals| totals.requests += 1);
    let Some((provider, client)) = &gateway.provider else {
        return Ok(failure(StatusCode::BAD_GATEWAY, "no model is configured"));
    };
    let mut request_headers = provider.headers();
    for name in FORWARDED_HEADERS {
        if let Some(value) = headers.get(*name) {
            request_headers.insert(*name, value.clone());
        }
    }
    request_headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(accept) = headers.get(header::ACCEPT) {
        request_headers.insert(header::ACCEPT, accept.clone());
    }
    let sent = client.post(provider.url(api.path())).headers(request_headers).body(bytes).send().await;
    let response = match sent {
        Ok(response) => response,
        Err(error) => {
            let message = provider.scrub(&format!("cannot reach the provider: {}", error.without_url()));
            return Ok(failure(StatusCode::BAD_GATEWAY, &message));
        }
    };
    Ok(stream_response(gateway, run, api, body, response, reservation))
}

/// Passes a response on while it arrives. At its end, its usage replaces the reservation. Clients close a connection as soon
/// as they have what they need, so the end of a response is read independently of the client.
fn stream_response(
    gateway: Arc<GatewayInner>,
    run: Arc<RunScope>,
    api: ProviderApi,
    request: Value,
    mut response: reqwest::Response,
    reservation: Reservation,
) -> Response {
    let status = response.status().as_u16();
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or("application/octet-stream").to_owned();
    let (sender, receiver) = mpsc::channel::<Result<Bytes, std::io::Error>>(16);
    let in_flight = run.begin_request();
    let recorded_type = content_type.clone();
    tokio::spawn(async move {
        // Dropped last: the totals are complete when no request is in flight.
        let _in_flight = in_flight;
        let mut received = Vec::new();
        let mut client_left: Option<Instant> = None;
        let ended = loop {
            let deadline =
                client_left.map_or_else(|| Instant::now() + BODY_TIMEOUT, |left| left + TAIL_TIMEOUT);
            match tokio::time::timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(bytes))) if received.len() + bytes.len() <= BODY_MAX => {
                    received.extend_from_slice(&bytes);
                    if client_left.is_none() && sender.send(Ok(bytes)).await.is_err() {
                        client_left = Some(Instant::now());
                    }
                }
                Ok(Ok(None)) => break Ok(()),
                Ok(Ok(Some(_))) => break Err(std::io::Error::other("the response is too large")),
                Ok(Err(error)) => break Err(std::io::Error::other(error.without_url())),
                Err(_) => break Err(std::io::Error::other("the provider stopped sending")),
            }
        };
        match ended {
            Ok(()) => {
                record_usage(&gateway, &run, api, &request, &received, Some(reservation));
                record_exchange(&gateway, &run, api, request, status, recorded_type, &received);
            }
            Err(error) => {
                // The usage is not known: the reservation counts as spent.
                run.update(|totals| totals.unknown_usage += 1);
                let _ = sender.send(Err(error)).await;
            }
        }
    });
    let stream = futures_util::stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|item| (item, receiver))
    });
    to_response(status, &content_type, Body::from_stream(stream))
}

/// Adds the usage of a complete response to the totals of the run, and replaces the reservation by it.
fn record_usage(
    gateway: &GatewayInner,
    run: &RunScope,
    api: ProviderApi,
    request: &Value,
    response: &[u8],
    reservation: Option<Reservation>,
) {
    let Some(usage) = api.parse_usage(response) else {
        // Without a report, the reservation counts as spent.
        run.update(|totals| totals.unknown_usage += 1);
        return;
    };
    let model = request.get("model").and_then(Value::as_str).unwrap_or_default();
    let dollars = gateway.budget.cost(model, usage).unwrap_or_default();
    run.update(|totals| {
        totals.usage.input = totals.usage.input.saturating_add(usage.input);
        totals.usage.cache_read = totals.usage.cache_read.saturating_add(usage.cache_read);
        totals.usage.cache_write = totals.usage.cache_write.saturating_add(usage.cache_write);
        totals.usage.output = totals.usage.output.saturating_add(usage.output);
        totals.picodollars = totals.picodollars.saturating_add((dollars * 1e12).round() as u64);
    });
    if let Some(reservation) = reservation {
        reservation.settle(usage);
    }
}

fn record_exchange(
    gateway: &GatewayInner,
    run: &RunScope,
    api: ProviderApi,
    request: Value,
    status: u16,
    content_type: String,
    response: &[u8],
) {
    let RunTraffic::Record(file) = &run.traffic else { return };
    let response = String::from_utf8_lossy(response);
    let response = gateway
        .provider
        .as_ref()
        .map_or_else(|| response.to_string(), |(provider, _)| provider.scrub(&response));
    let exchange = Exchange { path: api.path().to_owned(), request, status, content_type, response };
    if let Err(error) = file.append(&exchange, &run.dir) {
        run.end(StopReason::Replay(error));
    }
}

fn to_response(status: u16, content_type: &str, body: Body) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let content_type = HeaderValue::from_str(content_type)
        .unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"));
    (status, [(header::CONTENT_TYPE, content_type)], body).into_response()
}

/// Returns an error in a form that the clients of all providers understand.
fn failure(status: StatusCode, message: &str) -> Response {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn describe(reason: &StopReason) -> String {
    match reason {
        StopReason::Triggered => "the evaluation is over: the skill was loaded".to_owned(),
        StopReason::Cap(error) => error.to_string(),
        StopReason::Requests(max) => format!("the limit of {max} requests of this run is reached"),
        StopReason::Replay(error) => error.to_string(),
    }
}
