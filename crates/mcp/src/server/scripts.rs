//! Calls `skills_run`: inputs from the roots of a client, questions to its user, and artifacts.

use std::sync::{Arc, Mutex, PoisonError};

use prowess::ErrorCode;
use prowess::policy::ScriptDirectory;
use prowess_sandbox::{AccessSummary, ConsentAnswer};
use prowess_tools::{BuiltinTool, Envelope, Session};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CancelledNotificationParam, ClientResult, ElicitResult, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc;

use super::cancellation::CancellationGuard;
use super::connection::Connection;
use super::progress::ProgressReporter;
use super::{Shared, consent, roots};

/// The maximum number of questions to the user of one client at the same time. A client that does not answer them must not
/// use up the requests that it may send.
pub(super) const QUESTIONS_MAX: usize = 8;

/// The keys of requests for input, in the newest revision.
const ROOTS_KEY: &str = "roots";
const CONSENT_KEY: &str = "consent";

/// The end of a message about a path that is not shared.
const ROOTS_HINT: &str =
    "; the user can share the roots of this client with run.client-roots = true in ~/.prowess/config.toml";

/// A call of `skills_run`, with the answers of the client to earlier requests for input.
pub(super) struct RunRequest {
    arguments: Value,
    answers: InputResponses,
    state: Option<String>,
}

impl From<CallToolRequestParams> for RunRequest {
    fn from(params: CallToolRequestParams) -> Self {
        Self {
            arguments: Value::Object(params.arguments.unwrap_or_default()),
            answers: params.input_responses.unwrap_or_default(),
            state: params.request_state,
        }
    }
}

/// The outcome of a call.
pub(super) enum RunCallOutcome {
    Finished(Envelope),
    /// The client must answer first, and repeat the call.
    InputRequired(InputRequiredResult),
}

/// How the user of a client is asked.
enum QuestionChannel {
    /// The client cannot ask its user, or its user is not the one who runs the server.
    Unavailable,
    /// While the call waits.
    Elicitation(mpsc::Receiver<Question>),
    /// By returning the question.
    Returned(Arc<Mutex<Option<AccessSummary>>>),
}

/// A question of a script that waits for the answer.
struct Question {
    summary: AccessSummary,
    answer: std::sync::mpsc::SyncSender<ConsentAnswer>,
}

/// Runs a script.
pub(super) async fn call(
    connection: &Connection,
    request: RunRequest,
    context: &RequestContext<RoleServer>,
) -> Result<RunCallOutcome, ErrorData> {
    let mut session = connection.session();
    let policy = connection.shared.registry().policy();
    if policy.run.directory == ScriptDirectory::Skill
        && request.arguments.get("inputs").is_none()
        && !connection.workspace.is_directory()
    {
        session.call_options.workspace = None;
    }
    // The roots of other users are not directories of this machine that they may read.
    let could_use_roots = roots::has_path_input(&request.arguments)
        && connection.is_owner(context)
        && context.client_capabilities().is_some_and(|capabilities| capabilities.roots.is_some());
    let needs_roots = could_use_roots && policy.run.client_roots;
    let is_offered = BuiltinTool::for_policy(policy, connection.can_ask(context)).contains(&BuiltinTool::Run);
    if needs_roots {
        let listed = match (has_server_requests(context), request.answers.get(ROOTS_KEY)) {
            (true, _) => roots::fetch(context).await,
            (false, Some(answer)) => roots::parse(answer),
            (false, None) => {
                return Ok(RunCallOutcome::InputRequired(InputRequiredResult::from_input_requests(
                    roots_request(),
                )));
            }
        };
        if let Some(listed) = listed {
            let directories = move |shared: &Shared| roots::directories(&listed, shared.registry().host());
            session.call_options.shared_dirs = connection.run_blocking(directories).await?;
        }
    }
    let arguments = request.arguments.clone();
    let mut channel = open_channel(connection, &mut session, request, context);
    let mut envelope = run(connection, session, arguments.clone(), &mut channel, context).await?;
    if could_use_roots
        && !needs_roots
        && is_offered
        && let Some(error) = envelope.error.as_mut().filter(|error| error.code == ErrorCode::AccessDenied)
    {
        error.message.push_str(ROOTS_HINT);
        envelope.text.push_str(ROOTS_HINT);
    }
    if let QuestionChannel::Returned(question) = &channel
        && let Some(summary) = question.lock().unwrap_or_else(PoisonError::into_inner).take()
        && let Some(asked) = consent::question(&summary, context.protocol_version().as_ref())
    {
        let state = connection.shared.questions.add(consent::subject(&arguments, &summary));
        let mut requests = if needs_roots { roots_request() } else { InputRequests::new() };
        requests.insert(CONSENT_KEY.to_owned(), InputRequest::Elicitation(asked));
        return Ok(RunCallOutcome::InputRequired(InputRequiredResult::new(Some(requests), Some(state))));
    }
    Ok(RunCallOutcome::Finished(envelope))
}

/// Returns `true` if the server may send requests to the client.
fn has_server_requests(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28)
}

fn roots_request() -> InputRequests {
    [(ROOTS_KEY.to_owned(), InputRequest::ListRoots(roots::request()))].into()
}

/// Lets the session ask the user, if the client can.
fn open_channel(
    connection: &Connection,
    session: &mut Session,
    request: RunRequest,
    context: &RequestContext<RoleServer>,
) -> QuestionChannel {
    if !connection.can_ask(context) {
        return QuestionChannel::Unavailable;
    }
    if has_server_requests(context) {
        let (sender, receiver) = mpsc::channel(1);
        session.call_options.ask_consent = Some(Arc::new(move |summary: &AccessSummary| {
            let (answer, answered) = std::sync::mpsc::sync_channel(1);
            let question = Question { summary: summary.clone(), answer };
            // Both fail if the call was cancelled.
            match sender.blocking_send(question) {
                Ok(()) => answered.recv().unwrap_or(ConsentAnswer::NotNow),
                Err(_) => ConsentAnswer::NotNow,
            }
        }));
        return QuestionChannel::Elicitation(receiver);
    }
    let question = Arc::<Mutex<Option<AccessSummary>>>::default();
    let (asked, shared) = (Arc::clone(&question), Arc::clone(&connection.shared));
    session.call_options.ask_consent = Some(Arc::new(move |summary: &AccessSummary| {
        if let Some(state) = &request.state
            && shared.questions.take(state, &consent::subject(&request.arguments, summary))
        {
            let answer = request.answers.get(CONSENT_KEY).cloned().unwrap_or_default();
            let answer = serde_json::from_value::<ElicitResult>(answer);
            return answer.map_or(ConsentAnswer::NotNow, |answer| consent::parse_answer(&answer));
        }
        *asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(summary.clone());
        ConsentAnswer::NotNow
    }));
    QuestionChannel::Returned(question)
}

/// Calls the tool and asks the user meanwhile, if necessary. The client may cancel it.
async fn run(
    connection: &Connection,
    mut session: Session,
    arguments: Value,
    channel: &mut QuestionChannel,
    context: &RequestContext<RoleServer>,
) -> Result<Envelope, ErrorData> {
    let _guard = CancellationGuard::new(&mut session, &context.ct, &connection.closed);
    let progress = ProgressReporter::attach(&mut session, context);
    let name = BuiltinTool::Run.name();
    let call = connection.run_blocking(move |shared| shared.toolbox.call(&mut session, name, arguments));
    let mut call = std::pin::pin!(progress.run(call));
    let QuestionChannel::Elicitation(questions) = channel else { return call.await };
    loop {
        tokio::select! {
            envelope = &mut call => return envelope,
            // The question is sent by this task, because the SDK relates it to the request of the task.
            Some(Question { summary, answer }) = questions.recv() => {
                let _ = answer.send(ask(connection, &summary, context).await);
            }
        }
    }
}

/// Asks the user of the client. Without an answer, the script does not run now.
async fn ask(
    connection: &Connection,
    summary: &AccessSummary,
    context: &RequestContext<RoleServer>,
) -> ConsentAnswer {
    let Ok(_permit) = connection.question_permits.try_acquire() else { return ConsentAnswer::NotNow };
    let Some(question) = consent::question(summary, context.protocol_version().as_ref()) else {
        return ConsentAnswer::NotNow;
    };
    let options = PeerRequestOptions::with_timeout(consent::ANSWER_TIMEOUT);
    let request = ServerRequest::ElicitRequest(question);
    let Ok(sent) = context.peer.send_request_with_option(request, options).await else {
        return ConsentAnswer::NotNow;
    };
    let id = sent.id.clone();
    tokio::select! {
        answer = sent.await_response() => match answer {
            Ok(ClientResult::ElicitResult(result)) => consent::parse_answer(&result),
            _ => ConsentAnswer::NotNow,
        },
        () = context.ct.cancelled() => {
            // The client need not show the question any longer.
            let reason = Some("the call was cancelled".to_owned());
            let _ = context.peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
            ConsentAnswer::NotNow
        }
        () = connection.closed.cancelled() => ConsentAnswer::NotNow,
    }
}
