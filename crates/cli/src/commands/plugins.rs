//! `prowess plugins` and `prowess skill manage list`: what was installed, marked as document 002 does.

use prowess_package::plugins::{ListedPlugin, Standing, listed};
use serde_json::json;

use super::{Outcome, YES};
use crate::args::Global;
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, Tone, clean};

pub(super) fn run(context: &Context, global: &Global, output: &mut Output) -> Outcome {
    let snapshot = context.registry(global).snapshot();
    let plugins = listed(&context.configuration, &context.surroundings, &snapshot)
        .map_err(|error| Failure::new(ErrorCode::Conflict, error.to_string()))?;
    if output.json() {
        let plugins: Vec<_> = plugins.iter().map(to_json).collect();
        output.answer(&json!({"schema": 1, "plugins": plugins}))?;
        return Ok(YES);
    }
    if plugins.is_empty() {
        output.remark("no plugins are installed; prowess install gets one");
        return Ok(YES);
    }
    let title = output.tone(Tone::Strong, "[Plugins]");
    output.line(title)?;
    for plugin in &plugins {
        entry(plugin, output)?;
    }
    Ok(YES)
}

fn entry(listed: &ListedPlugin, output: &mut Output) -> std::io::Result<()> {
    let ListedPlugin { plugin, standing, reason, .. } = listed;
    let tone = match standing {
        Standing::Enabled => Tone::Good,
        Standing::Disabled => Tone::Faint,
        Standing::Unavailable => Tone::Bad,
    };
    let mark = output.tone(tone, standing.mark());
    output.line(format!("  {mark} {}", clean(plugin.called())))?;
    let reference = plugin.reference.as_ref().map(|reference| format!(" at {reference}")).unwrap_or_default();
    let source = format!("{}{reference}", plugin.url);
    output.line(format!("      {} ({})", clean(&source), standing.as_str()))?;
    for line in reason.as_ref().map(|reason| output.wrapped(&clean(reason), 6)).unwrap_or_default() {
        output.line(format!("      {line}"))?;
    }
    Ok(())
}

fn to_json(listed: &ListedPlugin) -> serde_json::Value {
    let ListedPlugin { plugin, standing, reason, .. } = listed;
    json!({
        "name": plugin.called(),
        "url": plugin.url,
        "ref": plugin.reference,
        "enabled": plugin.enabled,
        "installed_at": plugin.installed_at,
        "status": standing.as_str(),
        "reason": reason,
    })
}
