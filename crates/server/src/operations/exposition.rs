//! The metrics in the Prometheus text format.

use std::fmt::{Display, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use prowess_chat::EndReason;

use crate::app::App;
use crate::metrics::{BUCKETS, Metrics, STATUSES, TOOLS};

/// How long the health check of the store may take.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// The statuses of skills.
const SKILLS: [&str; 7] =
    ["enabled", "disabled", "unavailable", "untrusted", "modified", "shadowed", "invalid"];

/// Returns the metrics of this process in the Prometheus text format.
#[utoipa::path(get, path = "/metrics", tag = "operations",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let store =
        tokio::time::timeout(STORE_TIMEOUT, app.store.check()).await.is_ok_and(|checked| checked.is_ok());
    let snapshot = app.reloadable.current().registry.snapshot();
    let skills =
        SKILLS.map(|status| snapshot.all().iter().filter(|skill| skill.status().as_str() == status).count());
    let text = text(
        &app.metrics,
        &GaugeValues {
            store,
            skills,
            connections: app.connections.load(Ordering::Relaxed),
            turns: (app.turns.count(), app.turns.limit.rejected()),
            streams: (app.streams.in_use(), app.streams.rejected()),
        },
    );
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// The current values of gauges.
struct GaugeValues {
    store: bool,
    skills: [usize; SKILLS.len()],
    connections: usize,
    /// The number of running turns, and of rejected ones.
    turns: (usize, u64),
    /// The number of open streams, and of rejected ones.
    streams: (usize, u64),
}

fn text(metrics: &Metrics, now: &GaugeValues) -> String {
    let mut out = Exposition::default();
    out.family("prowess_build_info", "gauge", "The version of the program.");
    out.sample("prowess_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    out.family("process_start_time_seconds", "gauge", "When the server started, in seconds since 1970.");
    let started = metrics.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    out.sample("process_start_time_seconds", &[], started);
    out.requests(metrics);
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    out.family("prowess_refused_total", "counter", "Requests rejected by a limit or by authentication.");
    for (reason, refused) in [
        ("rate", count(&metrics.rate_limited)),
        ("turns", now.turns.1),
        ("streams", now.streams.1),
        ("door", count(&metrics.unauthorized)),
    ] {
        out.sample("prowess_refused_total", &[("reason", reason)], refused);
    }
    out.family("prowess_connections_open", "gauge", "Open connections.");
    out.sample("prowess_connections_open", &[], now.connections);
    out.family("prowess_event_streams_open", "gauge", "Open event streams.");
    out.sample("prowess_event_streams_open", &[], now.streams.0);
    out.family("prowess_turns_running", "gauge", "Turns that this process is running.");
    out.sample("prowess_turns_running", &[], now.turns.0);
    out.family("prowess_turns_total", "counter", "Finished turns, by end reason.");
    for (end, counter) in EndReason::ALL.iter().map(|end| end.as_str()).chain(["error"]).zip(&metrics.turns) {
        out.sample("prowess_turns_total", &[("end", end)], count(counter));
    }
    out.family("prowess_tokens_total", "counter", "Tokens reported by providers.");
    for (kind, counter) in ["input", "output", "cached", "cache-writes"].into_iter().zip(&metrics.tokens) {
        out.sample("prowess_tokens_total", &[("kind", kind)], count(counter));
    }
    out.family("prowess_provider_retries_total", "counter", "Requests to the provider that were sent again.");
    out.sample("prowess_provider_retries_total", &[], count(&metrics.retries));
    out.family(
        "prowess_tools_disabled_total",
        "counter",
        "Turns without tools, because the model cannot call them.",
    );
    out.sample("prowess_tools_disabled_total", &[], count(&metrics.tools_disabled));
    out.family("prowess_tool_calls_total", "counter", "Tool calls; tools of toolsets share one label.");
    for (tool, counters) in TOOLS.iter().zip(&metrics.tools) {
        for (status, counter) in STATUSES.iter().zip(counters) {
            out.sample("prowess_tool_calls_total", &[("tool", tool), ("status", status)], count(counter));
        }
    }
    out.family("prowess_skills", "gauge", "Discovered skills, by status.");
    for (status, number) in SKILLS.iter().zip(now.skills) {
        out.sample("prowess_skills", &[("status", status)], number);
    }
    out.family("prowess_store_up", "gauge", "Whether the chat store is available.");
    out.sample("prowess_store_up", &[], u8::from(now.store));
    out.0
}

/// Builds the text of the exposition.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (n, (label, text)) in labels.iter().enumerate() {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{}{label}=\"{text}\"", if n == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    fn requests(&mut self, metrics: &Metrics) {
        let routes = metrics.routes();
        let name = "prowess_http_requests_total";
        self.family(name, "counter", "Responses, by route pattern.");
        for (route, counters) in &routes {
            for ((method, status), count) in &counters.responses {
                self.sample(name, &[("route", route), ("method", method), ("status", status)], count);
            }
        }
        let name = "prowess_http_request_duration_seconds";
        self.family(name, "histogram", "Time until the response started.");
        for (route, counters) in &routes {
            let mut total = 0;
            for (end, count) in
                BUCKETS.iter().map(f64::to_string).chain(["+Inf".to_owned()]).zip(counters.durations)
            {
                total += count;
                self.sample(&format!("{name}_bucket"), &[("route", route), ("le", &end)], total);
            }
            self.sample(&format!("{name}_sum"), &[("route", route)], counters.seconds);
            self.sample(&format!("{name}_count"), &[("route", route)], total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{Method, StatusCode};
    use prowess_chat::turn::TurnReport;
    use prowess_chat::{TokenUsage, TurnEvent};
    use serde_json::json;

    #[test]
    fn metrics_in_prometheus_format() {
        let mut metrics = Metrics::default();
        metrics.started = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        for (status, millis) in [(200, 0), (200, 4), (404, 70), (500, 20_000)] {
            let status = StatusCode::from_u16(status).unwrap();
            metrics.record_response("/api/chats/{id}", &Method::GET, status, Duration::from_millis(millis));
        }
        metrics.record_response(
            "other",
            &Method::from_bytes(b"PURGE").unwrap(),
            StatusCode::NOT_FOUND,
            Duration::ZERO,
        );
        for (name, status) in [("skills.activate", "success"), ("skills_run", "error"), ("weather", "odd")] {
            let (id, name, status) = ("1".to_owned(), name.to_owned(), status.to_owned());
            metrics.record_event(&TurnEvent::ToolResult { id, name, status, data: json!({}) });
        }
        let usage = Some(TokenUsage { input: 10, output: 2, cached: 1, cache_writes: 3 });
        metrics.record_turn(&TurnReport {
            message_id: None,
            end: Ok(EndReason::Finished),
            usage,
            activated: Vec::new(),
        });
        let now = GaugeValues {
            store: true,
            skills: [3, 0, 0, 1, 0, 0, 0],
            connections: 2,
            turns: (1, 0),
            streams: (1, 7),
        };
        insta::assert_snapshot!(text(&metrics, &now));
    }
}
