//! The packages that the scripts of a skill need, and whether they are installed.

use prowess::Skill;
use prowess::resources::read_skill_files;
use prowess_sandbox::Cancel;
use prowess_sandbox::environments::{EnvironmentPlan, EnvironmentState, RequirementSource, script_language};
use serde_json::{Value, json};

use super::super::env::{describe_scripts, new_builder, short_id, size};
use crate::context::CommandContext;
use crate::output::{clean, first_few};

/// What the scripts of a skill need, in groups that share an environment, or why that is unknown.
pub(super) type ScriptPackages = Result<Vec<(EnvironmentPlan, EnvironmentState)>, String>;

/// The maximum number of packages in a row.
const NAMES_MAX: usize = 8;

/// Returns what the scripts of a skill need. Nothing is fetched.
pub(super) fn collect(skill: &Skill, context: &CommandContext) -> ScriptPackages {
    // The files of skills that cannot be used are not read.
    let Ok(files) = read_skill_files(skill) else { return Ok(Vec::new()) };
    if !files.files().any(|(path, file)| script_language(path, &file.bytes).is_some()) {
        return Ok(Vec::new());
    }
    let mut builder = new_builder(context, Cancel::default()).map_err(|failure| failure.into_message())?;
    builder.pins = skill.lock_entry().map(|locked| locked.environments).unwrap_or_default();
    let plans = builder.plan(&files).map_err(|error| error.to_string())?;
    let is_relevant = |plan: &EnvironmentPlan| {
        !plan.requirements.packages.is_empty() || !plan.requirements.unknown.is_empty()
    };
    let plans = plans.into_iter().filter(is_relevant);
    Ok(plans
        .map(|plan| {
            let state = builder.state(&plan);
            (plan, state)
        })
        .collect())
}

/// Returns a row for each group of scripts.
pub(super) fn rows(packages: &ScriptPackages, skill: &str) -> Vec<(String, String)> {
    let groups = match packages {
        Ok(groups) => groups,
        Err(reason) => return vec![("packages".to_owned(), format!("unknown: {reason}"))],
    };
    let mut rows = Vec::new();
    for (plan, state) in groups {
        let needed = &plan.requirements;
        if !needed.packages.is_empty() {
            let origin = match needed.source {
                RequirementSource::Imports => "inferred from imports".to_owned(),
                RequirementSource::InlineMetadata => "inline metadata".to_owned(),
                RequirementSource::RequirementsFile
                | RequirementSource::Pyproject
                | RequirementSource::PackageJson => needed.file.clone(),
            };
            let names = first_few(needed.packages.iter().map(ToString::to_string), NAMES_MAX, " and");
            let state = match state {
                EnvironmentState::Built(record) => {
                    format!("environment {}, {}", short_id(&record.id), size(record.bytes))
                }
                EnvironmentState::Missing => {
                    format!("not installed; run `prowess env build {}`", clean(skill))
                }
                EnvironmentState::Broken { reason, .. } => {
                    format!("{reason}; run `prowess env build {}`", clean(skill))
                }
            };
            rows.push((
                "packages".to_owned(),
                format!("{names} for {} ({origin}): {state}", describe_scripts(&plan.scripts)),
            ));
        }
        if !needed.unknown.is_empty() {
            let names = first_few(needed.unknown.iter().cloned(), NAMES_MAX, " and");
            rows.push((
                "unknown imports".to_owned(),
                format!("{names}; list their packages in requirements.txt, or in a `# /// script` block"),
            ));
        }
    }
    rows
}

/// Adds the groups of scripts to the JSON of a skill.
pub(super) fn add_json(packages: &ScriptPackages, value: &mut Value) {
    let groups = match packages {
        Ok(groups) => groups,
        Err(reason) => {
            value["environments"] = json!([]);
            value["environments_error"] = json!(reason);
            return;
        }
    };
    let groups: Vec<Value> = groups
        .iter()
        .map(|(plan, state)| {
            let needed = &plan.requirements;
            let mut group = json!({
                "source": needed.source,
                "file": if needed.file.is_empty() { Value::Null } else { json!(needed.file) },
                "scripts": plan.scripts,
                "requires": needed.packages.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "unknown": needed.unknown,
                "interpreter": plan.interpreter_tag(),
            });
            let (name, id) = match state {
                EnvironmentState::Built(record) => ("built", Some(&record.id)),
                EnvironmentState::Missing if needed.packages.is_empty() => ("not-needed", None),
                EnvironmentState::Missing => ("missing", None),
                EnvironmentState::Broken { id, .. } => ("broken", Some(id)),
            };
            group["state"] = json!(name);
            group["id"] = json!(id);
            match state {
                EnvironmentState::Built(record) => {
                    group["bytes"] = json!(record.bytes);
                    group["packages"] = json!(record.set.packages);
                }
                EnvironmentState::Broken { reason, .. } => group["problem"] = json!(reason),
                EnvironmentState::Missing => {}
            }
            group
        })
        .collect();
    value["environments"] = json!(groups);
}
