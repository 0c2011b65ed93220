//! `prowess mcp uninstall`.

use prowess_package::connect::{Name, plan_uninstall};

use super::super::{Outcome, YES};
use super::{agreed, chosen, failure, machine, plans, scope, told};
use crate::args::{Disconnect, Global};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean_path};

pub(super) fn run(context: &Context, global: &Global, call: &Disconnect, output: &mut Output) -> Outcome {
    let machine = machine(context, global);
    let (which, scope) = (&call.which, scope(&call.which));
    let name = Name::parse(&which.name).map_err(failure)?;
    let clients: Vec<_> = chosen(which, &machine)?.into_iter().map(|client| (client, ())).collect();
    let plans =
        plans(&clients, which.all, output, |client, ()| plan_uninstall(&machine, client, scope, &name))?;
    if !call.dry_run && !call.yes {
        for plan in plans.iter().filter(|plan| plan.action.needs_consent()) {
            if !output.json() {
                told::one(plan, false, context, output)?;
            }
            let line = plan.present.as_ref().map_or(1, |(_, line)| *line);
            let (file, name) = (clean_path(&plan.file), name.as_str());
            let refusal = Failure::new(
                ErrorCode::Conflict,
                format!("{file}:{line}: {name} does not start Prowess; somebody else may have put it there"),
            );
            output.finish()?;
            agreed(global, "Remove it?", refusal.hint("--yes removes it all the same"))?;
        }
    }
    for plan in plans.iter().filter(|_| !call.dry_run) {
        plan.perform(&machine).map_err(failure)?;
    }
    told::all(&plans, &name, scope, !call.dry_run, context, output)?;
    if call.dry_run && !output.json() {
        output.remark("nothing was changed");
    }
    Ok(YES)
}
