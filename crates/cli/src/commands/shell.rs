//! `prowess completions` and `prowess man`.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use super::{Outcome, YES};
use crate::args::Args;
use crate::failure::Failure;
use crate::output::{Output, clean};

pub(super) fn completions(shell: Shell, output: &mut Output) -> Outcome {
    // Generating panics where it cannot write, so that it does not write to a pipe that may be closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "prowess", &mut script);
    if output.json() {
        let content = String::from_utf8_lossy(&script);
        output.answer(&json!({"schema": 1, "shell": shell.to_string(), "content": content}))?;
    } else {
        output.out().write_all(&script)?;
    }
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
    let man = clap_mangen::Man::new(page.clone()).source(version).manual("Prowess");
    if output.json() {
        let mut text = Vec::new();
        man.render(&mut text)?;
        let content = String::from_utf8_lossy(&text);
        output.answer(&json!({"schema": 1, "command": path, "content": content}))?;
    } else {
        man.render(output.out())?;
    }
    Ok(YES)
}
