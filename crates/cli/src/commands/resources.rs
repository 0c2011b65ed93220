//! `prowess files` and `prowess read`: the files of a skill.

use prowess::resource;
use prowess_tools::shapes;

use super::{Outcome, YES, active};
use crate::args::Global;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, clean};

pub(super) fn files(context: &Context, global: &Global, name: &str, output: &mut Output) -> Outcome {
    let snapshot = context.registry_of(global, &[name]).snapshot();
    let skill = active(&snapshot, name)?;
    let contents =
        resource::list(skill, None).map_err(|error| Failure::new(error.code(), error.to_string()))?;
    if output.json() {
        output.answer(&shapes::files(skill, &contents))?;
        return Ok(YES);
    }
    for file in &contents.files {
        output.line(format!("{:>9}  {}", file.bytes, clean(&file.path)))?;
    }
    for refused in &contents.refused {
        output.remark(format!("{} is a link or a special file and never read", clean(refused)));
    }
    if contents.cut {
        output.remark("there are more files than are listed");
    }
    Ok(YES)
}

pub(super) fn read(
    context: &Context,
    global: &Global,
    name: &str,
    path: &str,
    output: &mut Output,
) -> Outcome {
    let snapshot = context.registry_of(global, &[name]).snapshot();
    let skill = active(&snapshot, name)?;
    let read = resource::read(skill, path, &context.policy().limits).map_err(|error| {
        Failure::new(error.code(), error.to_string())
            .hint(format!("prowess files {} lists its files", clean(name)))
    })?;
    if output.json() {
        output.answer(&shapes::read(&read))?;
        return Ok(YES);
    }
    output.text(&read.content)?;
    if let Some(cut) = read.truncated {
        output.remark(format!("cut: {} of {} bytes are shown", cut.shown, cut.total));
    }
    Ok(YES)
}
