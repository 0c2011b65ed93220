//! Results of `prowess test`.

use crate::skill_server::{ADMIN, ServerBuilder, USER, site};
use prowess::Preset;
use serde_json::{Value, json};

/// The content of a `benchmark.json`, with paths of the machine in everything that tools wrote.
fn benchmark(skill: &str, timestamp: &str, stopped: Option<&str>) -> String {
    let rate = json!({"passed": 1, "total": 2, "rate": 0.5, "interval": [0.09, 0.91]});
    let numbers = json!({"mean": 0.5, "stddev": 0.5, "min": 0.0, "max": 1.0});
    let variant = json!({
        "runs": 2, "errors": 0, "passed": rate, "pass_rate": numbers, "tokens": numbers, "time_seconds": numbers,
        "tool_calls": numbers, "dollars": numbers, "triggered": rate,
    });
    let difference = json!({"cases": 2, "mean": 0.25, "interval": [-0.5, 1.0], "p_value": 1.0});
    let report = json!({
        "schema": 1,
        "skill": skill,
        "path": "/srv/data/skills/csv",
        "info": {
            "agent": "prowess chat", "model": "test-model", "judge": null, "timestamp": timestamp, "runs": 1,
            "against": null, "stopped": stopped,
        },
        "variants": {"with_skill": variant, "without_skill": variant},
        "comparisons": [{
            "with": "without_skill", "pass_rate": difference, "tokens": difference, "time_seconds": difference,
            "improved": ["1"], "unchanged": [], "worsened": [],
        }],
        "cases": [{
            "id": "1", "name": null, "prompt": "Sum /data/a/b.csv", "change": "improved", "triggered": rate,
            "pass_rates": {"with_skill": 0.5, "without_skill": 0.25}, "should_trigger": null,
            "failed": [["total.txt exists", "no file /srv/run/total.txt"]],
            "errors": ["cannot run /srv/bin/agent"], "passed": false,
        }],
        "triggers": [{
            "query": "Sum it", "should_trigger": true, "triggered": rate, "old_triggered": null, "errors": [],
            "passed": true,
        }],
        "notes": ["see /srv/data/notes"],
    });
    json!({"metadata": {}, "runs": [], "run_summary": {}, "notes": [], "report": report}).to_string()
}

fn reports(inner: &str) -> String {
    format!("~/.prowess/state/tests/reports/{inner}/benchmark.json")
}

fn env() -> ServerBuilder {
    site(Preset::App)
        .file(&reports("csv/iteration-1"), benchmark("csv", "2026-01-30T12:00:00Z", None))
        .file(&reports("csv/iteration-2"), benchmark("csv", "2026-01-31T12:00:00Z", Some("out of budget")))
        .file(&reports("pdf/iteration-1"), benchmark("pdf", "2026-01-31T08:00:00Z", None))
        .file(&reports("pdf/iteration-2"), "{ damaged")
        .file(&reports("pdf/iteration-x"), benchmark("pdf", "2026-01-31T08:00:00Z", None))
        .file("~/.prowess/state/tests/benchmark.json", benchmark("csv", "2026-01-31T08:00:00Z", None))
}

#[tokio::test]
async fn reports_are_listed_newest_first() {
    let server = env().start().await;
    let (status, listed) = server.get("/api/tests").await;
    assert_eq!(status, 200);
    let report = |skill: &str, iteration: u32, timestamp: &str, complete: bool| {
        json!({
            "skill": skill, "iteration": iteration, "timestamp": timestamp, "pass_rate": 0.5, "change": 0.25,
            "p_value": 1.0, "complete": complete,
        })
    };
    let expected = json!([
        report("csv", 2, "2026-01-31T12:00:00Z", false),
        report("pdf", 1, "2026-01-31T08:00:00Z", true),
        report("csv", 1, "2026-01-30T12:00:00Z", true),
    ]);
    assert_eq!(listed["reports"], expected);
}

#[tokio::test]
async fn there_are_no_reports_before_the_first_test_or_without_a_home_directory() {
    for builder in [site(Preset::App), env().without_home()] {
        let server = builder.start().await;
        assert_eq!(server.get("/api/tests").await, (200, json!({"schema": 1, "reports": []})));
        assert_eq!(server.get("/api/tests/csv/1").await.0, 404);
    }
}

#[tokio::test]
async fn a_report_is_returned_as_it_was_written() {
    let server = env().start().await;
    let (status, report) = server.get("/api/tests/csv/2").await;
    let written: Value =
        serde_json::from_str(&benchmark("csv", "2026-01-31T12:00:00Z", Some("out of budget"))).unwrap();
    assert_eq!((status, &report), (200, &written["report"]));
}

#[tokio::test]
async fn unknown_reports_are_not_found() {
    let server = env().start().await;
    for unknown in ["csv/3", "none/1", "pdf/2", "..%2F..%2Ftests/1", "..%2Freports%2Fcsv/1", "%2Fetc/1"] {
        let (status, problem) = server.get(&format!("/api/tests/{unknown}")).await;
        assert_eq!((status, &problem["code"]), (404, &json!("NOT_FOUND")), "{unknown}");
    }
    for invalid in ["csv/x", "csv/-1", "csv/99999999999"] {
        assert_eq!(server.get(&format!("/api/tests/{invalid}")).await.0, 400, "{invalid}");
    }
}

#[tokio::test]
async fn only_administrators_see_paths() {
    let mut server = env().with_tokens().start().await;
    for path in ["/api/tests", "/api/tests/csv/1"] {
        assert_eq!(server.get(path).await.0, 401, "{path}");
    }
    let (status, report) = server.use_token(USER).get("/api/tests/csv/1").await;
    assert_eq!(status, 200);
    let texts = |report: &Value| {
        let case = &report["cases"][0];
        json!([report["path"], case["prompt"], case["failed"], case["errors"], report["notes"]])
    };
    assert_eq!(
        texts(&report),
        json!([
            "…/csv",
            "Sum /data/a/b.csv",
            [["total.txt exists", "no file …/total.txt"]],
            ["cannot run …/agent"],
            ["see …/notes"]
        ])
    );
    let (_, report) = server.use_token(ADMIN).get("/api/tests/csv/1").await;
    assert_eq!(report["path"], "/srv/data/skills/csv");
}
