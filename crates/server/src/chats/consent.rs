//! Answers to questions of chats about scripts.

use axum::extract::State;
use axum::http::StatusCode;
use prowess::ErrorCode;
use prowess_sandbox::ConsentAnswer;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::extract::{JsonBody, Path};
use crate::problem::{ApiResult, Problem};

/// An answer to a question about a script.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConsentDecision)]
pub(crate) struct DecisionParams {
    decision: Decision,
}

/// What the user decided.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Decision {
    /// This script may run now.
    Once,
    /// Scripts of the skill may run until its files change. Saved in the user's configuration.
    Always,
    /// Scripts of the skill never run. Saved in the user's configuration.
    Never,
    /// This script does not run now.
    NotNow,
}

/// Answers the question whether a script may run, which `consent` in `GET /api/chats/{id}` and the event `consent` contain.
#[utoipa::path(post, path = "/api/chats/{id}/consents/{call}", tag = "chats",
    params(("id" = String, Path), ("call" = String, Path)), request_body = DecisionParams,
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn answer(
    State(app): State<App>,
    Path((id, call)): Path<(String, String)>,
    JsonBody(params): JsonBody<DecisionParams>,
) -> ApiResult<StatusCode> {
    let answer = match params.decision {
        Decision::Once => ConsentAnswer::Once,
        Decision::Always => ConsentAnswer::Always,
        Decision::Never => ConsentAnswer::Never,
        Decision::NotNow => ConsentAnswer::NotNow,
    };
    match app.turns.questions().answer(&id, &call, answer) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::new(ErrorCode::NotFound, "this question is not open on this server")),
    }
}
