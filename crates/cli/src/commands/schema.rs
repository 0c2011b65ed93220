//! `prowess schema`: prints the JSON Schema of the frontmatter.

use std::io::Write;

use prowess_format::schema::{SchemaScope, frontmatter_schema};

use super::{CommandResult, SUCCESS};
use crate::args::SchemaArgs;
use crate::output::Output;

pub(super) fn run(args: &SchemaArgs, output: &mut Output) -> CommandResult {
    let scope = if args.strict { SchemaScope::Specification } else { SchemaScope::All };
    let schema = frontmatter_schema(scope);
    let written = match output.json() {
        true => serde_json::to_writer(&mut *output.out(), &schema),
        false => serde_json::to_writer_pretty(&mut *output.out(), &schema),
    };
    written.map_err(std::io::Error::from)?;
    writeln!(output.out())?;
    Ok(SUCCESS)
}
