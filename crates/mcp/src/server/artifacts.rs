//! The files that scripts write, as links to resources.

use prowess_tools::Envelope;
use rmcp::model::{ContentBlock, Resource};
use serde_json::{Value, json};

use super::workspace::{ConnectionWorkspace, ServedFile};

/// The maximum number of links in a result. The structured content and `resources/list` have all files.
const LINKS_MAX: usize = 50;

/// Returns links to the artifacts of a script, and adds their URIs to the data of the envelope.
pub(super) fn add_links(workspace: &ConnectionWorkspace, envelope: &mut Envelope) -> Vec<ContentBlock> {
    let Some(Value::Array(artifacts)) = envelope.data.get_mut("artifacts") else { return Vec::new() };
    let mut links = Vec::new();
    for artifact in artifacts {
        let text = |key: &str| artifact[key].as_str().map(str::to_owned);
        let (Some(path), Some(size)) = (text("path"), artifact["bytes"].as_u64()) else { continue };
        let file = ServedFile { path, size, media_type: text("media_type") };
        let Some(resource) = to_resource(workspace, file) else { continue };
        artifact["uri"] = json!(resource.uri);
        if links.len() < LINKS_MAX {
            links.push(ContentBlock::resource_link(resource));
        }
    }
    links
}

/// Converts a file; returns `None` if clients cannot read it.
pub(super) fn to_resource(workspace: &ConnectionWorkspace, file: ServedFile) -> Option<Resource> {
    let resource = Resource::new(workspace.uri(&file.path)?, file.path).with_size(file.size);
    Some(match file.media_type {
        Some(media_type) => resource.with_mime_type(media_type),
        None => resource,
    })
}
