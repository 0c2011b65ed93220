//! Counters. Every label comes from a fixed set, so that clients and models cannot make the number of series grow.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::{Method, StatusCode};
use prowess_chat::turn::TurnReport;
use prowess_chat::{EndReason, TurnEvent};

/// The upper bounds of the duration buckets, in seconds.
pub(crate) const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0];

/// The tools that are counted by name; all others count as `toolset`.
pub(crate) const TOOLS: [&str; 8] = [
    "skills.activate",
    "skills.readResource",
    "skills.listResources",
    "skills.search",
    "skills.run",
    "Skill",
    "ReadFile",
    "toolset",
];

/// The results of tool calls.
pub(crate) const STATUSES: [&str; 3] = ["success", "partial", "error"];

/// The number of ways a turn can end: each end reason, or an error.
pub(crate) const ENDS: usize = EndReason::ALL.len() + 1;

/// The counters of this process.
pub(crate) struct Metrics {
    pub(crate) started: SystemTime,
    routes: Mutex<HashMap<String, RouteMetrics>>,
    pub(crate) turns: [AtomicU64; ENDS],
    /// Input tokens, output tokens, and input tokens from and for the provider's cache.
    pub(crate) tokens: [AtomicU64; 4],
    pub(crate) tools: [[AtomicU64; STATUSES.len()]; TOOLS.len()],
    /// Requests to a provider that were sent again.
    pub(crate) retries: AtomicU64,
    /// Turns that continued without tools, because the model cannot call them.
    pub(crate) tools_disabled: AtomicU64,
    /// Requests and connections rejected by a rate limit.
    pub(crate) rate_limited: AtomicU64,
    /// Requests rejected because of their host, their origin or missing authentication.
    pub(crate) unauthorized: AtomicU64,
}

/// The counters of one route.
#[derive(Default, Clone)]
pub(crate) struct RouteMetrics {
    /// The number of responses by method and status class.
    pub(crate) responses: BTreeMap<(&'static str, &'static str), u64>,
    /// The number of requests per duration bucket, not cumulative.
    pub(crate) durations: [u64; BUCKETS.len() + 1],
    pub(crate) seconds: f64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            started: SystemTime::now(),
            routes: Mutex::default(),
            turns: Default::default(),
            tokens: Default::default(),
            tools: Default::default(),
            retries: AtomicU64::new(0),
            tools_disabled: AtomicU64::new(0),
            rate_limited: AtomicU64::new(0),
            unauthorized: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// Counts a response. `route` is the pattern, never the path.
    pub(crate) fn record_response(&self, route: &str, method: &Method, status: StatusCode, took: Duration) {
        let mut routes = self.lock();
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), RouteMetrics::default());
        }
        let Some(counters) = routes.get_mut(route) else { return };
        *counters.responses.entry((method_label(method), status_class(status))).or_default() += 1;
        let seconds = took.as_secs_f64();
        counters.seconds += seconds;
        let bucket = BUCKETS.iter().position(|end| seconds <= *end).unwrap_or(BUCKETS.len());
        if let Some(count) = counters.durations.get_mut(bucket) {
            *count += 1;
        }
    }

    /// Counts an event of a turn.
    pub(crate) fn record_event(&self, event: &TurnEvent) {
        let (name, status) = match event {
            TurnEvent::ToolResult { name, status, .. } => (name, status),
            TurnEvent::Waiting { .. } => {
                self.retries.fetch_add(1, Ordering::Relaxed);
                return;
            }
            TurnEvent::ToolsDisabled { .. } => {
                self.tools_disabled.fetch_add(1, Ordering::Relaxed);
                return;
            }
            _ => return,
        };
        let name = name.replace('_', ".");
        let tool = TOOLS.iter().position(|tool| *tool == name).unwrap_or(TOOLS.len() - 1);
        let status = STATUSES.iter().position(|label| label == status).unwrap_or(STATUSES.len() - 1);
        if let Some(count) = self.tools.get(tool).and_then(|statuses| statuses.get(status)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts the end of a turn.
    pub(crate) fn record_turn(&self, outcome: &TurnReport) {
        let end = match &outcome.end {
            Ok(end) => EndReason::ALL.iter().position(|reason| reason == end),
            Err(_) => None,
        };
        if let Some(count) = self.turns.get(end.unwrap_or(ENDS - 1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(usage) = outcome.usage {
            let added = [usage.input, usage.output, usage.cached, usage.cache_writes];
            for (count, added) in self.tokens.iter().zip(added) {
                count.fetch_add(added, Ordering::Relaxed);
            }
        }
    }

    /// Returns the counters of all routes, sorted by route.
    pub(crate) fn routes(&self) -> BTreeMap<String, RouteMetrics> {
        self.lock().iter().map(|(route, counters)| (route.clone(), counters.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RouteMetrics>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the label of a method; `other` for methods that no route uses.
fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

fn status_class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}
