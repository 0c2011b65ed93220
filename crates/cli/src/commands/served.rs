//! Skills of servers: `prowess trust --mcp` and `prowess untrust --mcp`, and what the other commands tell of them.

use std::sync::Arc;

use prowess::supply::approvals::{Approvals, Grants, Standing, approve as keep, withdraw as take_back};
use prowess::supply::{Offered, Supplied, Supply};
use prowess::{ErrorCode, Skill, Snapshot};
use prowess_mcp::host::Source;
use prowess_tools::shapes;
use serde_json::json;

use super::{Outcome, YES, find, no, trust};
use crate::args::{Global, OfServer};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, Tone, clean, counted};

/// Approves a skill exactly as its server lists it now. Nothing of it is fetched for that.
pub(super) fn approve(context: &Context, global: &Global, call: &OfServer, output: &mut Output) -> Outcome {
    let name = call.name.as_deref().unwrap_or_default();
    let source = source(context, name)?;
    refer(source, name)?;
    let snapshot = context.registry(global).snapshot();
    let skill = named(&snapshot, source, name)?;
    let supplied = supplied(skill)?;
    let offered = supplied.offered();
    if skill.manifest().is_none() {
        let why = skill.reason().unwrap_or_default();
        return Err(Failure::new(
            ErrorCode::AccessDenied,
            format!("{} cannot be approved: {why}", clean(&offered.name)),
        ));
    }
    let grants = Grants { allow_tools: call.allow_tools, allow_run: call.allow_run };
    let instructions = match call.dry_run {
        true => Some(instructions(skill)?),
        false => None,
    };
    let before = match call.dry_run {
        true => Approvals::load(&context.surroundings).of(supplied.label(), &offered.uri).cloned(),
        false => keep(supplied.label(), offered, grants, &context.surroundings).map_err(trust::failure)?,
    };
    if output.json() {
        let mut answer = shapes::served(supplied);
        let approved = if call.dry_run { answer["approved"].clone() } else { json!(true) };
        for (key, value) in [
            ("schema", json!(1)),
            ("name", json!(offered.name)),
            ("description", json!(skill.description())),
            ("dry_run", json!(call.dry_run)),
            ("approved", approved),
            ("was_approved", json!(before.as_ref().is_some_and(|before| !before.revoked))),
            ("allow_tools", json!(grants.allow_tools)),
            ("allow_run", json!(grants.allow_run)),
            ("allowed_tools", json!(skill.manifest().and_then(|manifest| manifest.allowed_tools()))),
            ("instructions", json!(instructions)),
        ] {
            answer[key] = value;
        }
        output.answer(&answer)?;
        return Ok(YES);
    }
    if !call.dry_run {
        output.line(format!(
            "{} approved, as it is now: {}",
            output.tone(Tone::Good, "✓"),
            clean(&offered.name)
        ))?;
    }
    tell(skill, supplied, grants, output)?;
    if let Some(text) = instructions {
        output.line("")?;
        output.text(&text)?;
        output.remark("nothing was approved");
    }
    Ok(YES)
}

/// What is approved: where it comes from, what it says of itself, and every file.
fn tell(skill: &Skill, supplied: &Supplied, grants: Grants, output: &mut Output) -> std::io::Result<()> {
    let offered = supplied.offered();
    let tools = skill.manifest().and_then(|manifest| manifest.allowed_tools());
    let tools = tools.map(|tools| tools.iter().map(|tool| &**tool).collect::<Vec<_>>().join(" "));
    let mut rows = vec![
        ("from", supplied.origin()),
        ("uri", offered.uri.clone()),
        ("description", skill.description().to_owned()),
    ];
    if let Some(tools) = tools {
        let counts = if grants.allow_tools {
            "which is granted"
        } else {
            "which does not count; --allow-tools grants it"
        };
        rows.push(("asks for tools", format!("{tools}, {counts}")));
    }
    if grants.allow_run {
        rows.push(("granted", "scripts and tools of other skills run while it is loaded".to_owned()));
    }
    for (key, value) in rows {
        output.line(format!("    {} {}", output.tone(Tone::Faint, &format!("{key:14}")), clean(&value)))?;
    }
    let total: u64 = offered.files.iter().map(|file| file.size).sum();
    output.line(format!("    {}, {total} bytes:", counted(offered.files.len(), "file")))?;
    for file in &offered.files {
        output.line(format!("    {:>9}  {}  {}", file.size, clean(&file.path), file.digest))?;
    }
    Ok(())
}

/// The text of `SKILL.md` for the user who decides, verified like any other read.
fn instructions(skill: &Skill) -> Result<String, Failure> {
    let read = skill.inspect("SKILL.md").ok_or_else(|| not_served(skill))?;
    let bytes = read.map_err(|error| Failure::new(error.code(), error.to_string()))?;
    Ok(prowess::contained::without_escapes(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Takes approval back: of one skill, or of all skills of a server, whose files are then forgotten, too.
pub(super) fn withdraw(context: &Context, global: &Global, name: &str, output: &mut Output) -> Outcome {
    let (label, inner) = name.split_once('/').map_or((name, None), |(label, inner)| (label, Some(inner)));
    let uri = match inner {
        None => None,
        Some(inner) if inner.contains("://") => Some(inner.to_owned()),
        // What was approved can be named without its server.
        Some(inner) if approved(context, label, &format!("skill://{inner}/SKILL.md")) => {
            Some(format!("skill://{inner}/SKILL.md"))
        }
        Some(_) => {
            let snapshot = context.registry(global).snapshot();
            Some(supplied(find(&snapshot, name)?)?.offered().uri.clone())
        }
    };
    let world = &context.surroundings;
    let taken = take_back(label, uri.as_deref(), world).map_err(trust::failure)?;
    let forgotten = inner.is_none() && prowess_mcp::host::forget(label, world);
    let uris: Vec<_> = taken.iter().map(|approval| approval.uri.as_str()).collect();
    if output.json() {
        output.answer(&json!({"schema": 1, "server": label, "withdrawn": uris, "forgotten": forgotten}))?;
    } else {
        for uri in &uris {
            output.line(format!("no longer approved: {} of {}", clean(uri), clean(label)))?;
        }
        if forgotten {
            output.line(format!("what {} sent is forgotten", clean(label)))?;
        }
        if uris.is_empty() && !forgotten {
            output.remark(format!("{} was not approved", clean(name)));
        }
    }
    Ok(if uris.is_empty() && !forgotten { no() } else { YES })
}

fn approved(context: &Context, label: &str, uri: &str) -> bool {
    Approvals::load(&context.surroundings).of(label, uri).is_some()
}

/// The server that a name belongs to.
fn source<'c>(context: &'c Context, name: &str) -> Result<&'c Arc<Source>, Failure> {
    let label = name.split('/').next().unwrap_or_default();
    let found = context.sources.get(label).filter(|_| name.contains('/'));
    found.ok_or_else(|| {
        let labels: Vec<_> = context.sources.all().iter().map(|source| source.label()).collect();
        let failure =
            Failure::new(ErrorCode::NotFound, format!("there is no server of skills for {}", clean(name)));
        match labels.is_empty() {
            true => failure
                .hint("name one in ~/.prowess/config.toml: [[sources.mcp]]; docs/mcp-sources.md shows how"),
            false => {
                failure.hint(format!("the servers are {}; skills are called LABEL/NAME", labels.join(", ")))
            }
        }
    })
}

/// Asks the server for a skill by its URI, where that is what was typed.
fn refer(source: &Source, name: &str) -> Result<(), Failure> {
    let Some((_, uri)) = name.split_once('/').filter(|(_, inner)| inner.contains("://")) else {
        return Ok(());
    };
    let found: Result<Arc<Offered>, _> = source.refer(uri);
    found.map(|_| ()).map_err(|error| Failure::new(error.code(), format!("{}: {error}", clean(name))))
}

fn named<'s>(snapshot: &'s Snapshot, source: &Source, name: &str) -> Result<&'s Skill, Failure> {
    let uri = name.split_once('/').map(|(_, inner)| inner).filter(|inner| inner.contains("://"));
    let Some(uri) = uri else { return find(snapshot, name) };
    let is_it = |skill: &&Skill| {
        skill.supplied().is_some_and(|of| of.label() == source.label() && of.offered().uri == uri)
    };
    snapshot.all().iter().find(is_it).map_or_else(|| find(snapshot, name), Ok)
}

fn supplied(skill: &Skill) -> Result<&Supplied, Failure> {
    skill.supplied().ok_or_else(|| not_served(skill))
}

fn not_served(skill: &Skill) -> Failure {
    let message = format!("{} does not come from a server", clean(&skill.name()));
    Failure::new(ErrorCode::InvalidParam, message).hint("prowess trust PATH trusts a folder")
}

/// Where a skill of a server comes from, and what the user said about it, as rows of `info`.
pub(super) fn rows(supplied: &Supplied) -> Vec<(String, String)> {
    let approved = match supplied.standing() {
        Standing::New => "no".to_owned(),
        Standing::Changed => "no: it has changed since".to_owned(),
        Standing::Approved(grants) => {
            let granted = [
                (grants.allow_tools, "its allowed-tools"),
                (grants.allow_run, "running other skills' scripts"),
            ];
            let granted: Vec<_> =
                granted.iter().filter(|(granted, _)| *granted).map(|(_, what)| *what).collect();
            if granted.is_empty() { "yes".to_owned() } else { format!("yes, with {}", granted.join(" and ")) }
        }
    };
    let rows =
        [("server", supplied.origin()), ("uri", supplied.offered().uri.clone()), ("approved", approved)];
    rows.map(|(key, value)| (key.to_owned(), value)).to_vec()
}
