//! `prowess completions` and `prowess man`.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use super::{CommandResult, SUCCESS};
use crate::args::Args;
use crate::completers;
use crate::failure::Failure;
use crate::output::{Output, clean};

pub(super) fn completions(shell: Shell, dynamic: bool, output: &mut Output) -> CommandResult {
    let script = match dynamic {
        true => completers::registration(&shell.to_string()).ok_or_else(|| {
            Failure::usage(format!("{shell} has no dynamic completion")).hint("omit --dynamic")
        })?,
        false => {
            // Generate into memory, because the generator panics if it cannot write.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "prowess", &mut script);
            script
        }
    };
    if output.json() {
        let content = String::from_utf8_lossy(&script);
        output.write_json(&json!({"schema": 1, "shell": shell.to_string(), "content": content}))?;
    } else {
        output.out().write_all(&script)?;
    }
    Ok(SUCCESS)
}

pub(super) fn man(path: &[String], output: &mut Output) -> CommandResult {
    let mut root = Args::command();
    root.build();
    let mut page = &root;
    for name in path {
        page = page.find_subcommand(name).ok_or_else(|| {
            Failure::usage(format!("unknown command {}", clean(&path.join(" "))))
                .hint("run `prowess help` for a list of commands")
        })?;
    }
    let version = concat!("prowess ", env!("CARGO_PKG_VERSION"));
    let man = clap_mangen::Man::new(page.clone()).source(version).manual("Prowess");
    if output.json() {
        let mut text = Vec::new();
        man.render(&mut text)?;
        let content = String::from_utf8_lossy(&text);
        output.write_json(&json!({"schema": 1, "command": path, "content": content}))?;
    } else {
        man.render(output.out())?;
    }
    Ok(SUCCESS)
}
