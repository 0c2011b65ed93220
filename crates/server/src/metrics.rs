//! What is counted. Every label comes from a fixed set: nothing that a client or a model says makes the counts grow.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::{Method, StatusCode};
use prowess_chat::turn::Outcome;
use prowess_chat::{End, Event};

/// Where the buckets of waits end, in seconds.
pub(crate) const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0];

/// The tools that are counted by name; all others are of toolsets.
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

/// How calls end.
pub(crate) const STATUSES: [&str; 3] = ["success", "partial", "error"];

/// How turns end: as they do, or broken off.
pub(crate) const ENDS: usize = End::ALL.len() + 1;

/// What is counted in this process.
pub(crate) struct Metrics {
    pub(crate) began: SystemTime,
    routes: Mutex<HashMap<String, Route>>,
    pub(crate) turns: [AtomicU64; ENDS],
    /// Read, written, and read from the provider's cache.
    pub(crate) tokens: [AtomicU64; 3],
    pub(crate) tools: [[AtomicU64; STATUSES.len()]; TOOLS.len()],
    /// Requests that were refused because there were too many of them.
    pub(crate) too_many: AtomicU64,
    /// Requests under other names, of other origins, or by nobody known.
    pub(crate) kept_out: AtomicU64,
}

/// The requests of one route.
#[derive(Default, Clone)]
pub(crate) struct Route {
    /// By method and class of status.
    pub(crate) answers: BTreeMap<(&'static str, &'static str), u64>,
    /// How many took no longer than each bucket, not counting those of the buckets before.
    pub(crate) waits: [u64; BUCKETS.len() + 1],
    pub(crate) seconds: f64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            began: SystemTime::now(),
            routes: Mutex::default(),
            turns: Default::default(),
            tokens: Default::default(),
            tools: Default::default(),
            too_many: AtomicU64::new(0),
            kept_out: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// A request was answered. `route` is the pattern, never the path.
    pub(crate) fn answered(&self, route: &str, method: &Method, status: StatusCode, took: Duration) {
        let mut routes = self.lock();
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Route::default());
        }
        let Some(of) = routes.get_mut(route) else { return };
        *of.answers.entry((known(method), class(status))).or_default() += 1;
        let seconds = took.as_secs_f64();
        of.seconds += seconds;
        let bucket = BUCKETS.iter().position(|end| seconds <= *end).unwrap_or(BUCKETS.len());
        if let Some(count) = of.waits.get_mut(bucket) {
            *count += 1;
        }
    }

    /// Something happened in a turn.
    pub(crate) fn happened(&self, event: &Event) {
        let Event::ToolResult { name, status, .. } = event else { return };
        let name = name.replace('_', ".");
        let tool = TOOLS.iter().position(|tool| *tool == name).unwrap_or(TOOLS.len() - 1);
        let status = STATUSES.iter().position(|known| known == status).unwrap_or(STATUSES.len() - 1);
        if let Some(count) = self.tools.get(tool).and_then(|of| of.get(status)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A turn is over.
    pub(crate) fn ended(&self, outcome: &Outcome) {
        let end = match &outcome.end {
            Ok(end) => End::ALL.iter().position(|known| known == end),
            Err(_) => None,
        };
        if let Some(count) = self.turns.get(end.unwrap_or(ENDS - 1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(usage) = outcome.usage {
            for (count, more) in self.tokens.iter().zip([usage.input, usage.output, usage.cached]) {
                count.fetch_add(more, Ordering::Relaxed);
            }
        }
    }

    /// What was asked, by route.
    pub(crate) fn routes(&self) -> BTreeMap<String, Route> {
        self.lock().iter().map(|(route, of)| (route.clone(), of.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A method, or that it is one that nobody uses here.
fn known(method: &Method) -> &'static str {
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

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}
