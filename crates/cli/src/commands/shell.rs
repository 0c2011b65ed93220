//! `prowess completions` and `prowess man`.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Outcome, YES};
use crate::args::Args;
use crate::failure::Failure;
use crate::output::{Output, clean};

pub(super) fn completions(shell: Shell, output: &mut Output) -> Outcome {
    // Generating panics where it cannot write, so that it does not write to a pipe that may be closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "prowess", &mut script);
    output.out().write_all(&script)?;
    Ok(YES)
}

pub(super) fn man(path: &[String], output: &mut Output) -> Outcome {
    let mut root = Args::command();
    root.build();
    let mut page = &root;
    for name in path {
        page = page.find_subcommand(name).ok_or_else(|| {
            Failure::call(format!("there is no command {}", clean(&path.join(" "))))
                .hint("prowess help lists them")
        })?;
    }
    let version = concat!("prowess ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(page.clone()).source(version).manual("Prowess").render(output.out())?;
    Ok(YES)
}
