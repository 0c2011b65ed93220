//! Results of `prowess test`: the list of reports, and one report.

use axum::Json;
use axum::extract::State;
use prowess::ErrorCode;
use prowess::format::hidden;
use prowess_evals::TestPaths;
use prowess_evals::report::{self, SkillReport, StoredReport};
use serde::Serialize;
use utoipa::ToSchema;

use super::blocking;
use super::redact::PathRedactor;
use crate::app::App;
use crate::extract::Path;
use crate::guard::Access;
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// The maximum number of reports to list.
const LISTED_MAX: usize = 200;

/// The newest reports of `prowess test`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TestReports)]
pub(crate) struct TestReportsResponse {
    schema: u32,
    /// The reports, newest first; at most 200.
    reports: Vec<StoredReport>,
}

/// Lists the newest reports of `prowess test`.
#[utoipa::path(get, path = "/api/tests", tag = "skills", responses((status = 200, body = TestReportsResponse)))]
pub(crate) async fn list(State(app): State<App>) -> ApiResult<Json<TestReportsResponse>> {
    let paths = test_paths(&app.reloadable.current());
    let list = move || paths.map(|paths| report::list_reports(&paths.all_reports(), LISTED_MAX));
    let reports = blocking(list).await?.unwrap_or_default();
    Ok(Json(TestReportsResponse { schema: 1, reports }))
}

/// Returns a report of `prowess test`.
#[utoipa::path(get, path = "/api/tests/{skill}/{iteration}", tag = "skills",
    params(("skill" = String, Path), ("iteration" = u32, Path)),
    responses((status = 200, body = SkillReport), (status = 404, body = Problem)))]
pub(crate) async fn one(
    State(app): State<App>,
    access: Access,
    Path((skill, iteration)): Path<(String, u32)>,
) -> ApiResult<Json<SkillReport>> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let read = blocking(move || {
        let mut report = test_paths(&loaded)
            .and_then(|paths| report::read_report(&paths.all_reports(), &skill, iteration))
            .ok_or_else(|| not_found(&skill, iteration))?;
        if access != Access::Admin {
            redact(&mut report, &PathRedactor::new(&snapshot, loaded.registry.host()));
        }
        Ok(report)
    });
    read.await?.map(Json)
}

/// Returns the directories of test results; `None` without a home directory.
fn test_paths(loaded: &LoadedState) -> Option<TestPaths> {
    loaded.registry.host().state_dir().map(|state| TestPaths::new(&state))
}

fn not_found(skill: &str, iteration: u32) -> Problem {
    let skill = hidden::escape_for_display(skill);
    Problem::new(ErrorCode::NotFound, format!("no report of iteration {iteration} of the skill {skill}"))
}

/// Removes paths from everything that was not written by the author of the evaluations.
fn redact(report: &mut SkillReport, redactor: &PathRedactor) {
    let SkillReport { path, info, cases, triggers, notes, .. } = report;
    let texts = std::iter::once(path)
        .chain(info.against.iter_mut())
        .chain(info.stopped.iter_mut())
        .chain(notes)
        .chain(cases.iter_mut().flat_map(|case| {
            let evidence = case.failed.iter_mut().map(|(_, evidence)| evidence);
            evidence.chain(&mut case.errors)
        }))
        .chain(triggers.iter_mut().flat_map(|trigger| &mut trigger.errors));
    for text in texts {
        *text = redactor.redact_text(text);
    }
}
