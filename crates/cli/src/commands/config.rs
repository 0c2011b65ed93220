//! `prowess config`: the effective settings, and where each came from.

use prowess::short_path;
use prowess_tools::shapes;

use super::{Outcome, YES, print_located};
use crate::columns;
use crate::context::Context;
use crate::output::{Output, Tone, clean, clean_path};

pub(super) fn run(context: &Context, output: &mut Output) -> Outcome {
    let configuration = &context.configuration;
    let wrong = context.wrong(output);
    if output.json() {
        let mut answer = shapes::settings(configuration);
        let Some(failure) = wrong else {
            output.answer(&answer)?;
            return Ok(YES);
        };
        answer["error"] = failure.to_json();
        output.answer(&answer)?;
        return Ok(failure.exit());
    }
    people(context, output)?;
    print_located(output, &configuration.diagnostics);
    wrong.map_or(Ok(YES), Err)
}

/// Settings and files, in the form of a configuration file.
fn people(context: &Context, output: &mut Output) -> std::io::Result<()> {
    let configuration = &context.configuration;
    let widest = configuration.settings.iter().map(|setting| setting.key.len()).max().unwrap_or(0);
    for setting in &configuration.settings {
        let value = clean(&setting.value.to_string()).into_owned();
        let origin = output.tone(Tone::Faint, &format!("# {}", setting.origin));
        output.line(format!("{:widest$} = {value}  {origin}", setting.key))?;
    }
    let files: Vec<_> = configuration
        .files
        .iter()
        .map(|(path, read)| (clean_path(&short_path(path, &context.surroundings)), *read))
        .collect();
    let widest = files.iter().map(|(path, _)| columns::width(path)).max().unwrap_or(0);
    if !files.is_empty() {
        output.line("")?;
    }
    for (path, read) in files {
        let state = if read { "was read" } else { "is not there" };
        output.line(output.tone(Tone::Faint, &format!("# {} {state}", columns::pad(&path, widest))))?;
    }
    Ok(())
}
