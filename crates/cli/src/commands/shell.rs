//! `prowess completions` and `prowess man`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Outcome, YES};
use crate::args::Args;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean};

pub(super) fn completions(shell: Shell, output: &mut Output) -> Outcome {
    clap_complete::generate(shell, &mut Args::command(), "prowess", output.out());
    Ok(YES)
}

pub(super) fn man(command: Option<&str>, output: &mut Output) -> Outcome {
    let mut root = Args::command();
    root.build();
    let page = match command {
        None => root,
        Some(name) => root.find_subcommand(name).cloned().ok_or_else(|| {
            let failure = Failure::new(ErrorCode::NotFound, format!("there is no command {}", clean(name)));
            failure.hint("prowess help lists them")
        })?,
    };
    clap_mangen::Man::new(page).render(output.out())?;
    Ok(YES)
}
