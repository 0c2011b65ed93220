//! Contacts the MCP servers that provide skills.

use prowess::Snapshot;
use prowess::remote::FetchError;
use prowess_mcp::host::ServerReport;

use super::{CheckState, DoctorCheck};
use crate::context::CommandContext;
use crate::output::pluralize;

pub(super) struct ServerResponse {
    label: String,
    answer: Option<Result<ServerReport, FetchError>>,
}

/// Contacts all servers in parallel.
pub(super) fn contact_all(context: &CommandContext) -> Vec<ServerResponse> {
    std::thread::scope(|scope| {
        let configured = context.configuration.mcp_sources.iter();
        let responses: Vec<_> = configured
            .map(|source| {
                let remote = context.sources.get(&source.label);
                (source.label.clone(), remote.map(|remote| scope.spawn(|| remote.refresh())))
            })
            .collect();
        responses
            .into_iter()
            .map(|(label, answer)| {
                let request_failed = |_| Err(FetchError::Malformed("the request failed".to_owned()));
                ServerResponse {
                    label,
                    answer: answer.map(|answer| answer.join().unwrap_or_else(request_failed)),
                }
            })
            .collect()
    })
}

/// Returns a result for each server.
pub(super) fn checks(responses: Vec<ServerResponse>, snapshot: &Snapshot) -> Vec<DoctorCheck> {
    responses.into_iter().map(|response| check_response(response, snapshot)).collect()
}

fn check_response(ServerResponse { label, answer }: ServerResponse, snapshot: &Snapshot) -> DoctorCheck {
    let subject = "mcp source";
    let (state, message, help) = match answer {
        None => (CheckState::Note, format!("{label} is disabled"), None),
        Some(Err(error)) => (
            CheckState::Problem,
            format!("{label}: {error}"),
            Some("see [[sources.mcp]] in your configuration".to_owned()),
        ),
        Some(Ok(report)) => {
            let skills = snapshot
                .all()
                .iter()
                .filter(|skill| skill.remote().is_some_and(|remote| remote.label() == label));
            let approved = skills.filter(|skill| skill.is_enabled()).count();
            let invalid =
                if report.invalid == 0 { String::new() } else { format!(", {} invalid", report.invalid) };
            let message = format!(
                "{label}: {} ({approved} available{invalid}), protocol {}",
                pluralize(report.skills, "skill"),
                report.protocol
            );
            match report.truncated {
                Some(cut) => (CheckState::Note, message, Some(format!("the list is incomplete: {cut}"))),
                None => (CheckState::Fine, message, None),
            }
        }
    };
    DoctorCheck { subject, state, message, help }
}
