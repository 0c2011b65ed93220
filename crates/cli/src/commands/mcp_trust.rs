//! `prowess trust --mcp` and `prowess untrust --mcp`: approves skills of MCP servers. An approval covers exactly the files
//! that the server lists at that time.

use std::sync::Arc;

use prowess::remote::approvals::{
    ApprovalGrants, ApprovalStatus, Approvals, approve as record_approval, withdraw as revoke_approval,
};
use prowess::remote::{RemoteEntry, RemoteSkill, RemoteSource};
use prowess::{ErrorCode, Skill, Snapshot};
use prowess_mcp::host::McpRemoteSource;
use prowess_tools::json;
use serde_json::json;

use super::{CommandResult, SUCCESS, check_failed, find_skill, trust};
use crate::args::{GlobalArgs, McpTrustArgs};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean, pluralize};

/// Approves the version of a skill that its server lists. The files of the skill are not fetched.
pub(super) fn approve(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &McpTrustArgs,
    output: &mut Output,
) -> CommandResult {
    let name = args.name.as_deref().unwrap_or_default();
    let source = source(context, name)?;
    request_by_uri(source, name)?;
    let snapshot = context.registry(global).snapshot();
    let skill = find_remote(&snapshot, source, name)?;
    let remote = require_remote(skill)?;
    let entry = remote.entry();
    if skill.manifest().is_none() {
        let reason = skill.reason().unwrap_or_default();
        return Err(Failure::new(
            ErrorCode::AccessDenied,
            format!("cannot approve {}: {reason}", clean(&entry.name)),
        ));
    }
    let grants = ApprovalGrants { allow_tools: args.allow_tools, allow_run: args.allow_run };
    let instructions = match args.dry_run {
        true => Some(instructions(skill)?),
        false => None,
    };
    let previous = match args.dry_run {
        true => Approvals::load(&context.host_env).get(remote.label(), &entry.uri).cloned(),
        false => record_approval(remote.label(), entry, grants, &context.host_env).map_err(trust::failure)?,
    };
    if output.json() {
        let mut answer = json::remote_json(remote);
        let approved = if args.dry_run { answer["approved"].clone() } else { json!(true) };
        for (key, value) in [
            ("schema", json!(1)),
            ("name", json!(entry.name)),
            ("description", json!(skill.description())),
            ("dry_run", json!(args.dry_run)),
            ("approved", approved),
            ("was_approved", json!(previous.as_ref().is_some_and(|previous| !previous.revoked))),
            ("allow_tools", json!(grants.allow_tools)),
            ("allow_run", json!(grants.allow_run)),
            ("allowed_tools", json!(skill.manifest().and_then(|manifest| manifest.allowed_tools()))),
            ("instructions", json!(instructions)),
        ] {
            answer[key] = value;
        }
        output.write_json(&answer)?;
        return Ok(SUCCESS);
    }
    if !args.dry_run {
        output.line(format!(
            "{} approved the current version of {}",
            output.styled_text(TextStyle::Good, "✓"),
            clean(&entry.name)
        ))?;
    }
    print_skill(skill, remote, grants, output)?;
    if let Some(text) = instructions {
        output.line("")?;
        output.text(&text)?;
        output.note("dry run: not approved");
    }
    Ok(SUCCESS)
}

/// Prints the origin, the description and the files of a skill.
fn print_skill(
    skill: &Skill,
    remote: &RemoteSkill,
    grants: ApprovalGrants,
    output: &mut Output,
) -> std::io::Result<()> {
    let entry = remote.entry();
    let tools = skill.manifest().and_then(|manifest| manifest.allowed_tools());
    let tools = tools.map(|tools| tools.iter().map(|tool| &**tool).collect::<Vec<_>>().join(" "));
    let mut rows = vec![
        ("from", remote.origin()),
        ("uri", entry.uri.clone()),
        ("description", skill.description().to_owned()),
    ];
    if let Some(tools) = tools {
        let granted =
            if grants.allow_tools { "granted" } else { "not granted; pass --allow-tools to grant them" };
        rows.push(("allowed tools", format!("{tools} ({granted})")));
    }
    if grants.allow_run {
        rows.push(("granted", "scripts and tools of other skills may run while it is loaded".to_owned()));
    }
    for (key, value) in rows {
        output.line(format!(
            "    {} {}",
            output.styled_text(TextStyle::Faint, &format!("{key:14}")),
            clean(&value)
        ))?;
    }
    let total: u64 = entry.files.iter().map(|file| file.size).sum();
    output.line(format!("    {}, {total} bytes:", pluralize(entry.files.len(), "file")))?;
    for file in &entry.files {
        output.line(format!("    {:>9}  {}  {}", file.size, clean(&file.path), file.digest))?;
    }
    Ok(())
}

/// Reads `SKILL.md` for review, verified like any other read.
fn instructions(skill: &Skill) -> Result<String, Failure> {
    let fetched = skill.fetch_for_review("SKILL.md").ok_or_else(|| not_remote(skill))?;
    let bytes = fetched.map_err(|error| Failure::new(error.code(), error.to_string()))?;
    Ok(prowess::contained::strip_terminal_escapes(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Revokes the approval of a skill, or of all skills of a server and deletes its cache.
pub(super) fn revoke(
    context: &CommandContext,
    global: &GlobalArgs,
    name: &str,
    output: &mut Output,
) -> CommandResult {
    let (label, inner) = name.split_once('/').map_or((name, None), |(label, inner)| (label, Some(inner)));
    let uri = match inner {
        None => None,
        Some(inner) if inner.contains("://") => Some(inner.to_owned()),
        // An approved skill can be named without contacting its server.
        Some(inner) if is_approved(context, label, &format!("skill://{inner}/SKILL.md")) => {
            Some(format!("skill://{inner}/SKILL.md"))
        }
        Some(_) => {
            let snapshot = context.registry(global).snapshot();
            Some(require_remote(find_skill(&snapshot, name)?)?.entry().uri.clone())
        }
    };
    let host_env = &context.host_env;
    let revoked = revoke_approval(label, uri.as_deref(), host_env).map_err(trust::failure)?;
    let cache_removed = inner.is_none() && prowess_mcp::host::remove_cache(label, host_env);
    let uris: Vec<_> = revoked.iter().map(|approval| approval.uri.as_str()).collect();
    if output.json() {
        output.write_json(
            &json!({"schema": 1, "server": label, "withdrawn": uris, "forgotten": cache_removed}),
        )?;
    } else {
        for uri in &uris {
            output.line(format!("revoked the approval of {} from {}", clean(uri), clean(label)))?;
        }
        if cache_removed {
            output.line(format!("deleted the cache of {}", clean(label)))?;
        }
        if uris.is_empty() && !cache_removed {
            output.note(format!("{} was not approved", clean(name)));
        }
    }
    Ok(if uris.is_empty() && !cache_removed { check_failed() } else { SUCCESS })
}

fn is_approved(context: &CommandContext, label: &str, uri: &str) -> bool {
    Approvals::load(&context.host_env).get(label, uri).is_some()
}

/// Returns the server of a skill name.
fn source<'c>(context: &'c CommandContext, name: &str) -> Result<&'c Arc<McpRemoteSource>, Failure> {
    let label = name.split('/').next().unwrap_or_default();
    let source = context.sources.get(label).filter(|_| name.contains('/'));
    source.ok_or_else(|| {
        let labels: Vec<_> = context.sources.all().iter().map(|source| source.label()).collect();
        let failure =
            Failure::new(ErrorCode::NotFound, format!("no MCP server is configured for {}", clean(name)));
        match labels.is_empty() {
            true => {
                failure.hint("add a [[sources.mcp]] entry to ~/.prowess/config.toml; see docs/mcp-sources.md")
            }
            false => {
                failure.hint(format!("configured servers: {}; name a skill as LABEL/NAME", labels.join(", ")))
            }
        }
    })
}

/// Requests a skill by URI from the server, if the name contains a URI.
fn request_by_uri(source: &McpRemoteSource, name: &str) -> Result<(), Failure> {
    let Some((_, uri)) = name.split_once('/').filter(|(_, inner)| inner.contains("://")) else {
        return Ok(());
    };
    let added: Result<Arc<RemoteEntry>, _> = source.add_by_uri(uri);
    added.map(|_| ()).map_err(|error| Failure::new(error.code(), format!("{}: {error}", clean(name))))
}

fn find_remote<'s>(
    snapshot: &'s Snapshot,
    source: &McpRemoteSource,
    name: &str,
) -> Result<&'s Skill, Failure> {
    let uri = name.split_once('/').map(|(_, inner)| inner).filter(|inner| inner.contains("://"));
    let Some(uri) = uri else { return find_skill(snapshot, name) };
    let matches = |skill: &&Skill| {
        skill.remote().is_some_and(|remote| remote.label() == source.label() && remote.entry().uri == uri)
    };
    snapshot.all().iter().find(matches).map_or_else(|| find_skill(snapshot, name), Ok)
}

fn require_remote(skill: &Skill) -> Result<&RemoteSkill, Failure> {
    skill.remote().ok_or_else(|| not_remote(skill))
}

fn not_remote(skill: &Skill) -> Failure {
    let message = format!("{} is not a skill of an MCP server", clean(&skill.name()));
    Failure::new(ErrorCode::InvalidParam, message).hint("run `prowess trust PATH` to trust a directory")
}

/// Returns the rows of `info` about the origin and approval of a skill.
pub(super) fn rows(remote: &RemoteSkill) -> Vec<(String, String)> {
    let approved = match remote.approval() {
        ApprovalStatus::New => "no".to_owned(),
        ApprovalStatus::Changed => "no, changed since it was approved".to_owned(),
        ApprovalStatus::Approved(grants) => {
            let granted = [
                (grants.allow_tools, "its allowed-tools"),
                (grants.allow_run, "running scripts of other skills"),
            ];
            let granted: Vec<_> =
                granted.iter().filter(|(granted, _)| *granted).map(|(_, description)| *description).collect();
            if granted.is_empty() { "yes".to_owned() } else { format!("yes, with {}", granted.join(" and ")) }
        }
    };
    let rows = [("server", remote.origin()), ("uri", remote.entry().uri.clone()), ("approved", approved)];
    rows.map(|(key, value)| (key.to_owned(), value)).to_vec()
}
