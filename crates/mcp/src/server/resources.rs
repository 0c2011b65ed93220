//! The files of skills as resources.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::Skill;
use prowess::resources::{self, RawResource};
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};

use super::Shared;
use super::connection::Connection;
use super::errors::{self, ProtocolError};
use crate::manifest::manifest_file_name;
use crate::uri::{self, SkillUriSegments};

/// The URI template of all files.
pub(super) const URI_TEMPLATE: &str = "skill://{name}/{+path}";

/// The maximum number of resources on a page.
const PAGE_SIZE: usize = 200;

/// Lists the `SKILL.md` of each skill. Clients find the other files from there.
pub(super) async fn list(
    connection: &Connection,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let listed = connection.run_blocking(move |shared| {
        let snapshot = shared.toolbox.snapshot();
        let (page, next) = shared
            .cursors
            .page(
                "resources",
                cursor.as_deref(),
                shared.visible_skills(&snapshot),
                |skill| skill.key(),
                PAGE_SIZE,
            )
            .map_err(ProtocolError::from)?;
        let resources = page.into_iter().map(to_resource).collect();
        let mut result = ListResourcesResult::with_all_items(resources);
        result.next_cursor = next;
        Ok(result)
    });
    listed.await?
}

fn to_resource(skill: &Skill) -> Resource {
    Resource::new(uri::file_uri(skill, &manifest_file_name(skill)), skill.name())
        .with_description(skill.description())
        .with_mime_type("text/markdown")
        .with_size(skill.skill_md_size())
}

/// Returns the URI template.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template =
        ResourceTemplate::new(URI_TEMPLATE, "skill-file").with_title("A file of a skill").with_description(
            "Any file of a skill, by the name of the skill and the path of the file in its directory.",
        );
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// Reads a file.
pub(super) async fn read(connection: &Connection, uri: String) -> Result<ReadResourceResult, ErrorData> {
    let contents = connection.run_blocking(move |shared| {
        let file = read_file(shared, &uri).map_err(|error| errors::with_uri(error, &uri))?;
        let mut result = ReadResourceResult::new(vec![to_contents(uri, file)]);
        // Files are always read anew, so clients should not cache them.
        result.ttl_ms = Some(0);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    });
    contents.await?
}

fn read_file(shared: &Shared, uri: &str) -> Result<RawResource, ErrorData> {
    let parts = SkillUriSegments::parse(uri).map_err(ProtocolError::from)?;
    let snapshot = shared.toolbox.snapshot();
    // Skills that only users can call are not listed, but readable: their prompts refer to these files.
    let (skill, path) =
        parts.resolve(&snapshot).ok_or_else(|| errors::resource_not_found("skill not found"))?;
    if path.is_empty() {
        return Err(errors::invalid_params("the URI is a directory; read it with resources/directory/read"));
    }
    resources::read_bytes(skill, &path).map_err(|error| errors::from_read_error(&error))
}

/// Returns text if the bytes are valid text, else base64. The bytes are preserved exactly, because digests refer to
/// them.
fn to_contents(uri: String, file: RawResource) -> ResourceContents {
    let RawResource { bytes, mime, .. } = file;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ResourceContents::text(text, uri),
        Ok(text) => ResourceContents::blob(BASE64_STANDARD.encode(text), uri),
        Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.into_bytes()), uri),
    }
    .with_mime_type(mime)
}
