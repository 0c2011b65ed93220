//! `prowess env`: environments with the packages that scripts of skills need.

mod build;

use prowess_sandbox::environments::{
    EnvironmentError, EnvironmentRecord, EnvironmentStore, StoredEnvironment,
};
use serde_json::{Value, json};

use super::{CommandResult, SUCCESS, check_failed};
use crate::args::{EnvArgs, EnvCommand, GlobalArgs};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean, clean_path, format_time};
pub(super) use build::{BuildConsent, BuildRequest, build, describe_scripts, new_builder};

const SECONDS_PER_DAY: i64 = 86_400;

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &EnvArgs,
    output: &mut Output,
) -> CommandResult {
    let Some(command) = &args.command else { return list(context, false, output) };
    match command {
        EnvCommand::Build { name, yes, upgrade } => {
            let consent = if *yes { BuildConsent::Given } else { BuildConsent::AskInferred };
            build::run(context, global, (name, consent, *upgrade), output)
        }
        EnvCommand::List { verify } => list(context, *verify, output),
        EnvCommand::Remove { name } => remove(context, name, output),
        EnvCommand::Prune { days } => prune(context, global, *days, output),
    }
}

pub(super) fn store(context: &CommandContext) -> Result<EnvironmentStore, Failure> {
    EnvironmentStore::open(&context.policy().run.environments, &context.host_env).map_err(failure)
}

/// Converts an error of an environment.
pub(super) fn failure(error: EnvironmentError) -> Failure {
    let cause = std::error::Error::source(&error)
        .filter(|_| matches!(error, EnvironmentError::Io { .. }))
        .map_or_else(String::new, |cause| format!(": {cause}"));
    let failure = Failure::new(error.code(), format!("{error}{cause}"));
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Formats a number of packages.
pub(super) fn count_packages(count: usize) -> String {
    if count == 1 { "1 package".to_owned() } else { format!("{count} packages") }
}

fn list(context: &CommandContext, verify: bool, output: &mut Output) -> CommandResult {
    let store = store(context)?;
    let all = store.list();
    let checked: Vec<(StoredEnvironment, Option<String>)> = all
        .into_iter()
        .map(|stored| {
            let problem = match (&stored.record, verify) {
                (Err(reason), _) => Some(format!("damaged: {reason}")),
                (Ok(_), true) => store.verify(&stored.id).err().map(|error| error.to_string()),
                (Ok(_), false) => None,
            };
            (stored, problem)
        })
        .collect();
    let is_damaged = checked.iter().any(|(_, problem)| problem.is_some());
    let code = if is_damaged { check_failed() } else { SUCCESS };
    if output.json() {
        let environments: Vec<Value> = checked
            .iter()
            .map(|(stored, problem)| {
                let mut value = match &stored.record {
                    Ok(record) => record_json(record),
                    Err(_) => json!({"id": stored.id}),
                };
                value["skills"] = json!(stored.usage.skills);
                value["last_used"] = json!(stored.usage.last_used);
                value["problem"] = json!(problem);
                value
            })
            .collect();
        output.write_json(&json!({"schema": 1, "directory": store.dir(), "environments": environments}))?;
        return Ok(code);
    }
    if checked.is_empty() {
        output.note(format!(
            "no environments in {}; run `prowess env build NAME` to build one",
            clean_path(store.dir())
        ));
    }
    for (stored, problem) in &checked {
        let skills: Vec<String> = stored.usage.skills.iter().map(|skill| clean(skill).into_owned()).collect();
        let skills = if skills.is_empty() { "no skill".to_owned() } else { skills.join(", ") };
        match (&stored.record, problem) {
            (Ok(record), None) => {
                let used = u64::try_from(stored.usage.last_used).map(format_time).unwrap_or_default();
                output.line(format!(
                    "{}  {} {}  {}  used {used} by {skills}",
                    short_id(&stored.id),
                    record.set.kind,
                    clean(&record.interpreter),
                    size(record.bytes)
                ))?;
                let names: Vec<String> = record
                    .set
                    .packages
                    .iter()
                    .map(|package| format!("{} {}", clean(&package.name), clean(&package.version)))
                    .collect();
                for line in output.wrap(&names.join(", "), 4) {
                    output.line(format!("    {line}"))?;
                }
            }
            (_, problem) => {
                let mark = output.styled_text(TextStyle::Bad, "✗");
                let problem = clean(problem.as_deref().unwrap_or_default()).into_owned();
                output.line(format!("{mark} {}  {problem}; used by {skills}", short_id(&stored.id)))?;
            }
        }
    }
    if is_damaged {
        output
            .note("run `prowess env build NAME` to build them again, or `prowess env prune` to remove them");
    }
    Ok(code)
}

fn remove(context: &CommandContext, name: &str, output: &mut Output) -> CommandResult {
    let removed = store(context)?.remove(name).map_err(failure)?;
    print_removed(&removed, output)?;
    if removed.is_empty() && !output.json() {
        output.note(format!("{} no longer uses its environments, but other skills do", clean(name)));
    }
    Ok(SUCCESS)
}

fn prune(context: &CommandContext, global: &GlobalArgs, days: u32, output: &mut Output) -> CommandResult {
    let registry = context.registry_for(global, &[]);
    let snapshot = registry.snapshot();
    let is_used = |name: &str| snapshot.all().iter().any(|skill| skill.name() == name);
    let before = match days {
        0 => i64::MAX,
        days => prowess_fs::unix_now() - i64::from(days) * SECONDS_PER_DAY,
    };
    let removed = store(context)?.prune(before, is_used).map_err(failure)?;
    print_removed(&removed, output)?;
    if removed.is_empty() && !output.json() {
        output.note("no environments to remove");
    }
    Ok(SUCCESS)
}

fn print_removed(removed: &[String], output: &mut Output) -> std::io::Result<()> {
    if output.json() {
        return output.write_json(&json!({"schema": 1, "removed": removed}));
    }
    for id in removed {
        output.line(format!("removed environment {}", short_id(id)))?;
    }
    Ok(())
}

fn record_json(record: &EnvironmentRecord) -> Value {
    let packages: Vec<Value> = record
        .set
        .packages
        .iter()
        .map(|package| json!({"name": package.name, "version": package.version, "hashes": package.hashes}))
        .collect();
    json!({
        "id": record.id,
        "kind": record.set.kind,
        "interpreter": record.interpreter,
        "tag": record.set.tag,
        "packages": packages,
        "files": record.files,
        "bytes": record.bytes,
        "created": record.created,
    })
}

/// Returns enough of an id to name an environment.
pub(super) fn short_id(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KiB", bytes / 1_024),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
