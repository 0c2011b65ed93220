//! The servers that skills are taken from: each is asked anew.

use prowess::Snapshot;
use prowess::supply::SupplyError;
use prowess_mcp::host::Report;

use super::{Finding, State};
use crate::context::Context;
use crate::output::counted;

/// What each server answered.
pub(super) struct Asked {
    label: String,
    answer: Option<Result<Report, SupplyError>>,
}

/// Asks all of them, at once.
pub(super) fn ask(context: &Context) -> Vec<Asked> {
    std::thread::scope(|scope| {
        let configured = context.configuration.mcp_sources.iter();
        let asked: Vec<_> = configured
            .map(|source| {
                let found = context.sources.get(&source.label);
                (source.label.clone(), found.map(|source| scope.spawn(|| source.ask())))
            })
            .collect();
        asked
            .into_iter()
            .map(|(label, answer)| {
                let lost = |_| Err(SupplyError::Malformed("it could not be asked".to_owned()));
                Asked { label, answer: answer.map(|answer| answer.join().unwrap_or_else(lost)) }
            })
            .collect()
    })
}

/// What to say of each.
pub(super) fn findings(asked: Vec<Asked>, snapshot: &Snapshot) -> Vec<Finding> {
    asked.into_iter().map(|asked| finding(asked, snapshot)).collect()
}

fn finding(Asked { label, answer }: Asked, snapshot: &Snapshot) -> Finding {
    let what = "mcp source";
    let (state, told, help) = match answer {
        None => (State::Note, format!("{label} is switched off"), None),
        Some(Err(error)) => (
            State::Problem,
            format!("{label}: {error}"),
            Some("see [[sources.mcp]] in your configuration".to_owned()),
        ),
        Some(Ok(report)) => {
            let of_it =
                snapshot.all().iter().filter(|skill| skill.supplied().is_some_and(|of| of.label() == label));
            let approved = of_it.filter(|skill| skill.is_enabled()).count();
            let invalid =
                if report.invalid == 0 { String::new() } else { format!(", {} invalid", report.invalid) };
            let told = format!(
                "{label}: {} ({approved} offered{invalid}), protocol {}",
                counted(report.skills, "skill"),
                report.protocol
            );
            match report.cut {
                Some(cut) => (State::Note, told, Some(format!("not all are listed: {cut}"))),
                None => (State::Fine, told, None),
            }
        }
    };
    Finding { what, state, told, help }
}
