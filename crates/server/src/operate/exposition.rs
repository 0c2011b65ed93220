//! What is counted, written down as Prometheus reads it.

use std::fmt::{Display, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use prowess_chat::End;

use crate::app::App;
use crate::metrics::{BUCKETS, Metrics, STATUSES, TOOLS};

/// How long the store may take to say that it is there.
const STORE: Duration = Duration::from_secs(2);

/// What skills can be.
const SKILLS: [&str; 7] =
    ["enabled", "disabled", "unavailable", "untrusted", "modified", "shadowed", "invalid"];

/// What this process counts, in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "operations",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let store = tokio::time::timeout(STORE, app.store.check()).await.is_ok_and(|checked| checked.is_ok());
    let snapshot = app.live.now().registry.snapshot();
    let skills =
        SKILLS.map(|status| snapshot.all().iter().filter(|of| of.status().as_str() == status).count());
    let text = text(
        &app.metrics,
        &Now {
            store,
            skills,
            connections: app.connections.load(Ordering::Relaxed),
            turns: (app.turns.count(), app.turns.room.refused()),
            streams: (app.streams.taken(), app.streams.refused()),
        },
    );
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// What is so at this moment.
struct Now {
    store: bool,
    skills: [usize; SKILLS.len()],
    connections: usize,
    /// How many there are, and how many were refused.
    turns: (usize, u64),
    streams: (usize, u64),
}

fn text(metrics: &Metrics, now: &Now) -> String {
    let mut page = Page::default();
    page.family("prowess_build_info", "gauge", "The version of the program.");
    page.sample("prowess_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    page.family("process_start_time_seconds", "gauge", "When the server began, in seconds since 1970.");
    let began = metrics.began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    page.sample("process_start_time_seconds", &[], began);
    page.requests(metrics);
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    page.family("prowess_refused_total", "counter", "What was refused because of a limit, or at the door.");
    for (reason, refused) in [
        ("rate", count(&metrics.too_many)),
        ("turns", now.turns.1),
        ("streams", now.streams.1),
        ("door", count(&metrics.kept_out)),
    ] {
        page.sample("prowess_refused_total", &[("reason", reason)], refused);
    }
    page.family("prowess_connections_open", "gauge", "Connections that are open.");
    page.sample("prowess_connections_open", &[], now.connections);
    page.family("prowess_event_streams_open", "gauge", "Streams of events that are open.");
    page.sample("prowess_event_streams_open", &[], now.streams.0);
    page.family("prowess_turns_running", "gauge", "Answers that this process is writing.");
    page.sample("prowess_turns_running", &[], now.turns.0);
    page.family("prowess_turns_total", "counter", "Answers that are over, by how they ended.");
    for (end, counter) in End::ALL.iter().map(|end| end.as_str()).chain(["error"]).zip(&metrics.turns) {
        page.sample("prowess_turns_total", &[("end", end)], count(counter));
    }
    page.family("prowess_tokens_total", "counter", "Tokens that providers counted.");
    for (kind, counter) in ["input", "output", "cached"].into_iter().zip(&metrics.tokens) {
        page.sample("prowess_tokens_total", &[("kind", kind)], count(counter));
    }
    page.family("prowess_tool_calls_total", "counter", "Calls of tools; those of toolsets under one name.");
    for (tool, of) in TOOLS.iter().zip(&metrics.tools) {
        for (status, counter) in STATUSES.iter().zip(of) {
            page.sample("prowess_tool_calls_total", &[("tool", tool), ("status", status)], count(counter));
        }
    }
    page.family("prowess_skills", "gauge", "Skills that were found, by what became of them.");
    for (status, number) in SKILLS.iter().zip(now.skills) {
        page.sample("prowess_skills", &[("status", status)], number);
    }
    page.family("prowess_store_up", "gauge", "Whether the store of chats answers.");
    page.sample("prowess_store_up", &[], u8::from(now.store));
    page.0
}

/// The text, line by line.
#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing into a string does not fail.
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
        self.family(name, "counter", "Requests that were answered, by the pattern of their path.");
        for (route, of) in &routes {
            for ((method, status), count) in &of.answers {
                self.sample(name, &[("route", route), ("method", method), ("status", status)], count);
            }
        }
        let name = "prowess_http_request_duration_seconds";
        self.family(name, "histogram", "How long it took until an answer began.");
        for (route, of) in &routes {
            let mut all = 0;
            for (end, count) in BUCKETS.iter().map(f64::to_string).chain(["+Inf".to_owned()]).zip(of.waits) {
                all += count;
                self.sample(&format!("{name}_bucket"), &[("route", route), ("le", &end)], all);
            }
            self.sample(&format!("{name}_sum"), &[("route", route)], of.seconds);
            self.sample(&format!("{name}_count"), &[("route", route)], all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{Method, StatusCode};
    use prowess_chat::turn::Outcome;
    use prowess_chat::{Event, Usage};
    use serde_json::json;

    #[test]
    fn the_page_that_prometheus_reads() {
        let mut metrics = Metrics::default();
        metrics.began = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        for (status, millis) in [(200, 0), (200, 4), (404, 70), (500, 20_000)] {
            let status = StatusCode::from_u16(status).unwrap();
            metrics.answered("/api/chats/{id}", &Method::GET, status, Duration::from_millis(millis));
        }
        metrics.answered(
            "other",
            &Method::from_bytes(b"PURGE").unwrap(),
            StatusCode::NOT_FOUND,
            Duration::ZERO,
        );
        for (name, status) in [("skills.activate", "success"), ("skills_run", "error"), ("weather", "odd")] {
            let (id, name, status) = ("1".to_owned(), name.to_owned(), status.to_owned());
            metrics.happened(&Event::ToolResult { id, name, status, data: json!({}) });
        }
        let usage = Some(Usage { input: 10, output: 2, cached: 1 });
        metrics.ended(&Outcome { message_id: None, end: Ok(End::Finished), usage, activated: Vec::new() });
        let now = Now {
            store: true,
            skills: [3, 0, 0, 1, 0, 0, 0],
            connections: 2,
            turns: (1, 0),
            streams: (1, 7),
        };
        insta::assert_snapshot!(text(&metrics, &now));
    }
}
