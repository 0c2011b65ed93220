//! `prowess info`: shows details about a skill.

mod script_packages;

use prowess::catalog::manual_reason;
use prowess::lock::GrantedAccess;
use prowess::{Skill, short_path};
use prowess_tools::json::{Provenance, SkillDetails, manifest_fields};
use prowess_tools::tokens;

use super::packages::origin;
use super::{
    CommandResult, SUCCESS, display_root, find_skill, mcp_trust, print_diagnostics, status_and_reason,
};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean, clean_path, pluralize};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    name: &str,
    output: &mut Output,
) -> CommandResult {
    let registry = context.registry_for(global, &[name]);
    let snapshot = registry.snapshot();
    let skill = find_skill(&snapshot, name)?;
    let details = SkillDetails::collect(skill, context.policy(), &context.host_env);
    let packages = script_packages::collect(skill, context);
    if output.json() {
        let mut value = details.to_json(skill);
        script_packages::add_json(&packages, &mut value);
        output.write_json(&value)?;
    } else {
        print_details(&details, &packages, skill, context, output)?;
        let diagnostics: Vec<_> = skill
            .diagnostics()
            .iter()
            .map(|diagnostic| prowess::FileDiagnostic::new(skill.skill_md_path(), diagnostic.clone()))
            .collect();
        print_diagnostics(output, &diagnostics);
    }
    Ok(SUCCESS)
}

fn print_details(
    details: &SkillDetails,
    packages: &script_packages::ScriptPackages,
    skill: &Skill,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    let (catalog, file) = details.tokens(skill);
    let title = output.styled_text(TextStyle::Strong, &skill.name());
    output.line(format!("{title}  {}", clean(skill.description())).trim_end())?;
    output.line("")?;
    let status = match status_and_reason(skill) {
        None => match manual_reason(skill, context.policy()) {
            None => "enabled".to_owned(),
            Some(reason) => format!("enabled, but not offered to models: {}", reason.describe()),
        },
        Some((status, reason)) => format!("{status} {reason}"),
    };
    let short = |path: &std::path::Path| clean_path(&short_path(path, &context.host_env));
    let size = pluralize(usize::try_from(skill.skill_md_size()).unwrap_or(usize::MAX), "byte");
    let mut rows: Vec<(String, String)> = vec![
        ("status".into(), status),
        ("id".into(), skill.id().into_owned()),
        ("location".into(), short(&skill.skill_md_path())),
        (
            "source".into(),
            match skill.root().is_embedded() {
                true => display_root(skill.root(), context),
                false => {
                    format!("{} ({})", display_root(skill.root(), context), skill.root().scope().as_str())
                }
            },
        ),
        (
            "size".into(),
            match (size, skill.is_command()) {
                (size, true) => size,
                (size, false) => format!(
                    "{size} in SKILL.md, {} in {}",
                    details.files.total_bytes(),
                    pluralize(details.files.files.len(), "file")
                ),
            },
        ),
        (
            "tokens".into(),
            match skill.remote() {
                None => {
                    format!("about {catalog} in the catalog, {file} when activated ({})", tokens::ENCODING)
                }
                Some(_) => format!("about {catalog} in the catalog ({})", tokens::ENCODING),
            },
        ),
    ];
    rows.extend(skill.remote().into_iter().flat_map(mcp_trust::rows));
    if let Some(source) = &details.source {
        rows.push(("digest".into(), prowess::digest(source)));
    }
    match &details.tree_hash {
        Ok(hash) => rows.push(("tree".into(), hash.clone())),
        Err(error) => rows.push(("tree".into(), format!("unavailable: {error}"))),
    }
    rows.extend(details.provenance.iter().flat_map(|installed| provenance_rows(installed, context)));
    if let Some(link) = skill.link() {
        rows.push(("symlink to".into(), clean_path(&link.target)));
    }
    rows.extend(details.variables.iter().map(|variable| {
        let state = match (variable.granted, variable.is_set) {
            (true, true) => "granted and set",
            (true, false) => "granted, but not set",
            (false, true) => "set, but not granted (see run.env)",
            (false, false) => "neither granted nor set (see run.env)",
        };
        (format!("needs {}", variable.name), state.to_owned())
    }));
    let recorded =
        details.provenance.as_ref().and_then(|installed| differing_grants(installed, &details.granted));
    if !details.granted.is_empty() || recorded.is_some() {
        let recorded = recorded.map(|recorded| format!("; the lock file has {recorded}")).unwrap_or_default();
        rows.push(("granted".into(), format!("{}{recorded}", clean(&details.granted.describe()))));
    }
    rows.extend(script_packages::rows(packages, &skill.name()));
    if let serde_json::Value::Object(fields) = manifest_fields(skill) {
        // These are printed above.
        let printed = ["name", "description", "brief_description"];
        for (key, value) in fields.into_iter().filter(|(key, _)| !printed.contains(&key.as_str())) {
            match value {
                // Print a row for each entry of metadata and triggers.
                serde_json::Value::Object(entries) => {
                    let entries = entries.into_iter();
                    rows.extend(entries.map(|(inner, value)| (format!("{key}.{inner}"), plain_text(&value))));
                }
                value => rows.push((key, plain_text(&value))),
            }
        }
    }
    for (key, value) in rows {
        let key = output.styled_text(TextStyle::Faint, &format!("{key:24}"));
        output.line(format!("  {key} {}", clean(&value)))?;
    }
    output.line("")?;
    for file in &details.files.files {
        let mark = if file.executable { "*" } else { "" };
        output.line(format!("  {:>9}  {}{mark}", file.bytes, clean(&file.path)))?;
    }
    for path in &details.files.skipped {
        output.line(format!("  {:>9}  {} (not readable)", "skipped", clean(path)))?;
    }
    if details.files.truncated {
        output.line("  … more files are not listed")?;
    }
    Ok(())
}

/// Returns a value without JSON syntax.
fn plain_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(plain_text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Returns the grants of the lock file if they differ from the current ones.
fn differing_grants(installed: &Provenance, granted: &GrantedAccess) -> Option<String> {
    (installed.entry.granted != *granted).then(|| clean(&installed.entry.granted.describe()).into_owned())
}

/// Returns the rows about the provenance of an installed skill: its source, version and grants.
fn provenance_rows(installed: &Provenance, context: &CommandContext) -> Vec<(String, String)> {
    let locked = &installed.entry;
    let lock = clean_path(&short_path(&installed.lock_path, &context.host_env));
    let name = locked.renamed_from.as_ref().map(|name| ("original name", name.clone()));
    let plugin = locked.plugin.as_ref().map(|plugin| ("plugin", clean(&plugin.describe()).into_owned()));
    let installed_at = locked.installed_at.as_ref().map(|time| ("installed at", time.clone()));
    let state = installed.describe_changes().unwrap_or_else(|| "unmodified".to_owned());
    let rows = [("installed from", origin(&installed.entry))]
        .into_iter()
        .chain(name)
        .chain(plugin)
        .chain(installed_at)
        .chain([("state", state)])
        .chain([("audit", format!("{} (rules {})", locked.audit.verdict, locked.audit.rules))])
        .chain([("lock", lock)]);
    rows.map(|(key, value)| (key.to_owned(), value)).collect()
}
