//! `prowess config`: the effective settings, and where each came from.

use serde_json::json;

use super::{Outcome, YES, print_located};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, Tone, clean};
use crate::report::DiagnosticJson;

pub(super) fn run(context: &Context, output: &mut Output) -> Outcome {
    let configuration = &context.configuration;
    if output.json() {
        let settings: Vec<_> = configuration
            .settings
            .iter()
            .map(|setting| json!({"key": setting.key, "value": setting.value, "origin": setting.origin.to_string()}))
            .collect();
        let diagnostics: Vec<_> = configuration
            .diagnostics
            .iter()
            .map(|located| DiagnosticJson::new(&located.path, &located.diagnostic))
            .collect();
        let files: Vec<_> =
            configuration.files.iter().map(|(path, read)| json!({"path": path, "read": read})).collect();
        output.answer(
            &json!({"schema": 1, "settings": settings, "files": files, "diagnostics": diagnostics}),
        )?;
    } else {
        let widest = configuration.settings.iter().map(|setting| setting.key.len()).max().unwrap_or(0);
        for setting in &configuration.settings {
            let value = clean(&setting.value.to_string()).into_owned();
            let origin = output.tone(Tone::Faint, &format!("# {}", setting.origin));
            output.line(format!("{:widest$} = {value}  {origin}", setting.key))?;
        }
        print_located(output, &configuration.diagnostics);
    }
    match configuration.diagnostics.iter().any(|located| located.diagnostic.is_error()) {
        true if output.json() => Ok(std::process::ExitCode::from(2)),
        true => Err(Failure::call("the configuration is wrong")),
        false => Ok(YES),
    }
}
