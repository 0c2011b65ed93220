//! Code lenses on the first line: what a skill costs, and which skills are similar.

use std::path::Path;

use gen_lsp_types::{CodeLens, Command, Range};
use prowess_format::hidden::escape_for_display;
use prowess_format::{Rules, parse};
use prowess_routing::SkillTexts;
use prowess_tools::tokens;
use serde_json::json;

use crate::neighbours::NeighbourIndex;

/// The command of both lenses: shows the details in a message.
pub(crate) const SHOW_COMMAND: &str = "prowess.showDetails";

/// The maximum size of a text whose tokens are counted, in bytes.
const COUNTED_MAX: usize = 1024 * 1024;

/// Returns the lenses of a skill.
pub(crate) fn lenses(
    text: &str,
    path: Option<&Path>,
    rules: &Rules,
    index: Option<&NeighbourIndex>,
) -> Vec<CodeLens> {
    let source = text.as_bytes();
    let dir_name = path.and_then(Path::parent).and_then(Path::file_name).and_then(|name| name.to_str());
    let Some(document) = parse(source, dir_name, rules).document else { return Vec::new() };
    let manifest = &document.manifest;
    let catalog = tokens::count(&format!("{}: {}", manifest.name(), manifest.description()));
    let body = text.get(document.body as usize..).unwrap_or_default();
    let mut lenses = Vec::new();
    if body.len() <= COUNTED_MAX {
        let body = tokens::count(body);
        let title = format!("{catalog} tokens in the catalog, {body} when loaded");
        let details = format!(
            "The name and description of this skill cost about {catalog} tokens in every conversation, and its \
             instructions about {body} more once it is loaded ({}).",
            tokens::ENCODING
        );
        lenses.push(lens(title, details));
    }
    if let Some(index) = index {
        let texts = SkillTexts::from_manifest(manifest, &[]);
        let neighbours = index.neighbours(&texts.about, path);
        let names: Vec<_> = neighbours.nearest.iter().map(|name| escape_for_display(name)).collect();
        match neighbours.confusable {
            _ if names.is_empty() => {}
            0 => lenses.push(lens(
                format!("nearest skills: {}", names.join(", ")),
                format!("The descriptions of these skills are the most similar ones: {}.", names.join(", ")),
            )),
            count => {
                let confusable = names.get(..count).unwrap_or(&names).join(", ");
                lenses.push(lens(
                    format!("hard to tell from {confusable}"),
                    format!(
                        "A message that matches the description of this skill matches these about as well: \
                         {confusable}. Say in both descriptions when to use which."
                    ),
                ));
            }
        }
    }
    lenses
}

fn lens(title: String, details: String) -> CodeLens {
    let arguments = Some(vec![json!(details)]);
    let command = Command { title, tooltip: None, command: SHOW_COMMAND.to_owned(), arguments };
    CodeLens { range: Range::default(), command: Some(command), data: None }
}
