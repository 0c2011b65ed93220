//! `prowess lsp`: runs the language server on standard input and output.

use std::io::IsTerminal;
use std::sync::Arc;

use prowess::policy::RootLocation;
use prowess_lsp::{ServerOptions, SessionEnd, Settings, serve_stdio};

use super::{CommandResult, SUCCESS, check, check_failed};
use crate::args::LspArgs;
use crate::context::CommandContext;
use crate::failure::Failure;

pub(super) fn run(context: &CommandContext, args: &LspArgs) -> CommandResult {
    let LspArgs { strict, agents, stdio: _ } = args;
    if std::io::stdin().is_terminal() {
        return Err(Failure::usage("the language server reads messages of an editor, not of a terminal").hint(
            "configure your editor to start `prowess lsp`; see docs/editors.md. To check skills here, run `prowess check`",
        ));
    }
    let roots = context.policy().scan.roots.iter().filter(|root| root.is_explicit);
    let roots = roots.filter_map(|root| match &root.location {
        RootLocation::Absolute(path) => Some(path.clone()),
        RootLocation::Project(path) => Some(context.host_env.project.join(path)),
        RootLocation::Home(_) | RootLocation::Embedded => None,
    });
    let options = ServerOptions {
        rules: context.policy().manifest.clone(),
        roots: roots.collect(),
        settings: Settings { strict: *strict, agents: agents.clone(), ..Settings::default() },
        check_files: Some(Arc::new(check::check_toolsets)),
    };
    // The protocol defines the codes: 0 after a request to shut down, otherwise 1.
    Ok(match serve_stdio(options)? {
        SessionEnd::Exit => SUCCESS,
        SessionEnd::Aborted => check_failed(),
    })
}
