//! Answers to questions of chats about scripts.

use axum::extract::State;
use axum::http::StatusCode;
use prowess::ErrorCode;
use prowess_sandbox::ConsentAnswer;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::extract::{JsonBody, Path};
use crate::guard::Admin;
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

/// Answers the question whether a script may run, which `consent` in `GET /api/chats/{id}` and the event `consent` contain. The
/// reply may run on another server with the same store. Only the first answer counts.
#[utoipa::path(post, path = "/api/chats/{id}/consents/{question}", tag = "chats",
    params(("id" = String, Path), ("question" = String, Path)), request_body = DecisionParams,
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn answer(
    // An answer runs code as the user who runs the server, and may change that user's configuration.
    _: Admin,
    State(app): State<App>,
    Path((id, question)): Path<(String, String)>,
    JsonBody(params): JsonBody<DecisionParams>,
) -> ApiResult<StatusCode> {
    if !app.turns.asks_consent() {
        let detail = "scripts cannot be allowed on this server, because other machines can reach it; answer on the machine where \
                      the reply runs, or allow the skill with run.allowed-skills";
        return Err(Problem::new(ErrorCode::AccessDenied, detail));
    }
    let answer = match params.decision {
        Decision::Once => ConsentAnswer::Once,
        Decision::Always => ConsentAnswer::Always,
        Decision::Never => ConsentAnswer::Never,
        Decision::NotNow => ConsentAnswer::NotNow,
    };
    match app.store.answer_question(&id, &question, answer).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => {
            let detail = "this question is no longer open: it was answered, or the reply has ended";
            Err(Problem::new(ErrorCode::NotFound, detail))
        }
    }
}
