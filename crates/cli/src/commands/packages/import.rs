//! `prowess import`: skills that are elsewhere already.

use super::super::Outcome;
use super::install;
use crate::args::Global;
use crate::args::packages::{Import, Install};
use crate::context::Context;
use crate::output::Output;

pub(in crate::commands) fn run(
    context: &Context,
    global: &Global,
    call: &Import,
    output: &mut Output,
) -> Outcome {
    let call = Install {
        source: call.source.clone(),
        reference: None,
        name: call.name.clone(),
        skill: call.skill.clone(),
        all: call.all,
        locked: false,
        agent: Vec::new(),
        copy: false,
        scope: call.scope.clone(),
        answers: call.answers.clone(),
        dry_run: call.dry_run,
    };
    install::run(context, global, &call, output)
}
