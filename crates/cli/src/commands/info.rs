//! `prowess info`: everything about one skill.

use prowess::lock::Granted;
use prowess::{Skill, short_path};
use prowess_tools::shapes::{Facts, Provenance, fields};
use prowess_tools::tokens;

use super::packages::origin;
use super::{Outcome, YES, find, place, print_located, served, standing};
use crate::args::Global;
use crate::context::Context;
use crate::output::{Output, Tone, clean, clean_path, counted};

pub(super) fn run(context: &Context, global: &Global, name: &str, output: &mut Output) -> Outcome {
    let registry = context.registry_of(global, &[name]);
    let snapshot = registry.snapshot();
    let skill = find(&snapshot, name)?;
    let facts = Facts::gather(skill, context.policy(), &context.surroundings);
    if output.json() {
        output.answer(&facts.json(skill))?;
    } else {
        print(&facts, skill, context, output)?;
        let said: Vec<_> = skill
            .diagnostics()
            .iter()
            .map(|diagnostic| prowess::Located::new(skill.location(), diagnostic.clone()))
            .collect();
        print_located(output, &said);
    }
    Ok(YES)
}

fn print(facts: &Facts, skill: &Skill, context: &Context, output: &mut Output) -> std::io::Result<()> {
    let (catalog, file) = facts.tokens(skill);
    let title = output.tone(Tone::Strong, &skill.name());
    output.line(format!("{title}  {}", clean(skill.description())).trim_end())?;
    output.line("")?;
    let status = match standing(skill) {
        None => "enabled".to_owned(),
        Some((status, rest)) => format!("{status} {rest}"),
    };
    let short = |path: &std::path::Path| clean_path(&short_path(path, &context.surroundings));
    let mut rows: Vec<(String, String)> = vec![
        ("status".into(), status),
        ("id".into(), skill.id().into_owned()),
        ("location".into(), short(&skill.location())),
        (
            "source".into(),
            match skill.root().is_embedded() {
                true => place(skill.root(), context),
                false => format!("{} ({})", place(skill.root(), context), skill.root().scope().as_str()),
            },
        ),
        (
            "size".into(),
            format!(
                "{} in SKILL.md, {} in {}",
                counted(usize::try_from(skill.bytes()).unwrap_or(usize::MAX), "byte"),
                facts.contents.bytes(),
                counted(facts.contents.files.len(), "file")
            ),
        ),
        (
            "tokens".into(),
            match skill.supplied() {
                None => {
                    format!("about {catalog} in the catalog, {file} when activated ({})", tokens::ENCODING)
                }
                Some(_) => format!("about {catalog} in the catalog ({})", tokens::ENCODING),
            },
        ),
    ];
    rows.extend(skill.supplied().into_iter().flat_map(served::rows));
    if let Some(source) = &facts.source {
        rows.push(("digest".into(), prowess::digest(source)));
    }
    match &facts.tree_hash {
        Ok(hash) => rows.push(("tree".into(), hash.clone())),
        Err(why) => rows.push(("tree".into(), format!("none: {why}"))),
    }
    rows.extend(facts.provenance.iter().flat_map(|installed| provenance_rows(installed, context)));
    if let Some(link) = skill.link() {
        rows.push(("link to".into(), clean_path(&link.target)));
    }
    rows.extend(facts.variables.iter().map(|variable| {
        let told = match (variable.granted, variable.is_set) {
            (true, true) => "granted and set",
            (true, false) => "granted, not set",
            (false, true) => "set, not granted: see run.env",
            (false, false) => "neither granted nor set: see run.env",
        };
        (format!("needs {}", variable.name), told.to_owned())
    }));
    let recorded = facts.provenance.as_ref().and_then(|installed| recorded(installed, &facts.granted));
    if !facts.granted.is_empty() || recorded.is_some() {
        let recorded = recorded.map(|told| format!("; the lock still says {told}")).unwrap_or_default();
        rows.push(("granted".into(), format!("{}{recorded}", clean(&facts.granted.told()))));
    }
    if let serde_json::Value::Object(fields) = fields(skill) {
        // These were told above, or follow from them.
        let told = ["name", "description", "brief_description"];
        for (key, value) in fields.into_iter().filter(|(key, _)| !told.contains(&key.as_str())) {
            match value {
                // Metadata and triggers: one row for each of their entries.
                serde_json::Value::Object(entries) => {
                    let entries = entries.into_iter();
                    rows.extend(entries.map(|(inner, value)| (format!("{key}.{inner}"), plain(&value))));
                }
                value => rows.push((key, plain(&value))),
            }
        }
    }
    for (key, value) in rows {
        let key = output.tone(Tone::Faint, &format!("{key:24}"));
        output.line(format!("  {key} {}", clean(&value)))?;
    }
    output.line("")?;
    for file in &facts.contents.files {
        let mark = if file.executable { "*" } else { "" };
        output.line(format!("  {:>9}  {}{mark}", file.bytes, clean(&file.path)))?;
    }
    for refused in &facts.contents.refused {
        output.line(format!("  {:>9}  {} (never read)", "link", clean(refused)))?;
    }
    if facts.contents.cut {
        output.line("  … and more files than are listed")?;
    }
    Ok(())
}

/// A value as people write it.
fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What the lock says was granted, where that is not what is.
fn recorded(installed: &Provenance, granted: &Granted) -> Option<String> {
    (installed.locked.granted != *granted).then(|| clean(&installed.locked.granted.told()).into_owned())
}

/// For people, one row a fact.
fn provenance_rows(installed: &Provenance, context: &Context) -> Vec<(String, String)> {
    let locked = &installed.locked;
    let lock = clean_path(&short_path(&installed.lock, &context.surroundings));
    let name = locked.renamed_from.as_ref().map(|name| ("called there", name.clone()));
    let when = locked.installed_at.as_ref().map(|time| ("installed at", time.clone()));
    let state = installed.changed().unwrap_or_else(|| "as installed".to_owned());
    let rows = [("installed from", origin(&installed.locked))]
        .into_iter()
        .chain(name)
        .chain(when)
        .chain([("state", state)])
        .chain([("audit", format!("{} (rules of {})", locked.audit.verdict, locked.audit.rules))])
        .chain([("lock", lock)]);
    rows.map(|(key, value)| (key.to_owned(), value)).collect()
}
