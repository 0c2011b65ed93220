//! The files of skills and of workspaces as resources.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::Skill;
use prowess::resources;
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};

use super::connection::Connection;
use super::errors::{self, ProtocolError};
use super::workspace::ConnectionWorkspace;
use super::{Shared, artifacts};
use crate::manifest::manifest_file_name;
use crate::uri::{self, ParseSkillUriError, SkillUriSegments};
use crate::workspace_uri::WorkspaceUri;

/// The URI template of all files.
pub(super) const URI_TEMPLATE: &str = "skill://{name}/{+path}";

/// The URI template of the files of a workspace.
pub(super) const WORKSPACE_URI_TEMPLATE: &str = "workspace://{id}/{+path}";

/// The names of the lists, for cursors.
const SKILLS_LIST: &str = "resources";
const FILES_LIST: &str = "workspace";

/// The maximum number of resources on a page.
const PAGE_SIZE: usize = 200;

/// Lists the `SKILL.md` of each skill, and then the files of the connection's workspace. Clients find the other files of a
/// skill from there.
pub(super) async fn list(
    connection: &Connection,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let workspace = connection.workspace.clone();
    let listed = connection.run_blocking(move |shared| {
        let is_skills = match &cursor {
            Some(cursor) => shared.cursors.decode_cursor(FILES_LIST, cursor).is_err(),
            None => true,
        };
        let (mut resources, mut next) = (Vec::new(), None);
        if is_skills {
            let snapshot = shared.toolbox.snapshot();
            let skills = shared.visible_skills(&snapshot);
            let (page, after) = shared
                .cursors
                .page(SKILLS_LIST, cursor.as_deref(), skills, |skill| skill.key(), PAGE_SIZE)
                .map_err(ProtocolError::from)?;
            resources.extend(page.into_iter().map(to_resource));
            next = after;
        }
        if next.is_none() {
            // A directory that cannot be read has no files.
            let files = workspace.list().unwrap_or_default();
            let cursor = cursor.as_deref().filter(|_| !is_skills);
            let remaining = PAGE_SIZE - resources.len();
            if remaining == 0 && !files.is_empty() {
                next = Some(shared.cursors.cursor_after(FILES_LIST, ""));
            } else if remaining > 0 {
                let (page, after) = shared
                    .cursors
                    .page(FILES_LIST, cursor, files, |file| &file.path, remaining)
                    .map_err(ProtocolError::from)?;
                resources
                    .extend(page.into_iter().filter_map(|file| artifacts::to_resource(&workspace, file)));
                next = after;
            }
        }
        let mut result = ListResourcesResult::with_all_items(resources);
        result.next_cursor = next;
        Ok(result)
    });
    listed.await?
}

fn to_resource(skill: &Skill) -> Resource {
    Resource::new(uri::file_uri(skill, &manifest_file_name(skill)), skill.name())
        .with_description(skill.full_description())
        .with_mime_type("text/markdown")
        .with_size(skill.skill_md_size())
}

/// Returns the URI templates.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template =
        ResourceTemplate::new(URI_TEMPLATE, "skill-file").with_title("A file of a skill").with_description(
            "Any file of a skill, by the name of the skill and the path of the file in its directory.",
        );
    let workspace_template = ResourceTemplate::new(WORKSPACE_URI_TEMPLATE, "workspace-file")
        .with_title("A file of the workspace")
        .with_description(
            "A file that a script of a skill reads or writes. skills_run and resources/list return the URIs.",
        );
    ListResourceTemplatesResult::with_all_items(vec![template, workspace_template])
}

/// Reads a file.
pub(super) async fn read(connection: &Connection, uri: String) -> Result<ReadResourceResult, ErrorData> {
    let workspace = connection.workspace.clone();
    let contents = connection.run_blocking(move |shared| {
        let file = match WorkspaceUri::has_scheme(&uri) {
            true => read_workspace_file(shared, &workspace, &uri),
            false => read_skill_file(shared, &uri),
        };
        let (bytes, mime) = file.map_err(|error| errors::with_uri(error, &uri))?;
        let mut result = ReadResourceResult::new(vec![to_contents(uri, bytes, mime)]);
        // Files are always read anew, so clients should not cache them.
        result.ttl_ms = Some(0);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    });
    contents.await?
}

/// Reads a file of the connection's workspace, or of a retained one. Workspaces of other connections are not found.
fn read_workspace_file(
    shared: &Shared,
    workspace: &ConnectionWorkspace,
    uri: &str,
) -> Result<(Vec<u8>, &'static str), ErrorData> {
    let WorkspaceUri { id, path } = WorkspaceUri::parse(uri).map_err(ProtocolError::from)?;
    let retained = if id == workspace.id() { None } else { Some(shared.workspaces.find_retained(&id)) };
    let workspace = match &retained {
        None => workspace,
        Some(Some(retained)) => retained,
        Some(None) => {
            return Err(errors::resource_not_found(
                "workspace not found; its files can be read until its connection ends, or for ten minutes without sessions",
            ));
        }
    };
    let bytes = workspace.read(&path).map_err(|error| errors::from_workspace_error(&error))?;
    let mime = resources::guess_mime_type(&path, &bytes);
    Ok((bytes, mime))
}

fn read_skill_file(shared: &Shared, uri: &str) -> Result<(Vec<u8>, &'static str), ErrorData> {
    let parts = SkillUriSegments::parse(uri).map_err(|error| match error {
        ParseSkillUriError::Scheme => {
            errors::invalid_params("only skill:// and workspace:// URIs are supported")
        }
        error => ProtocolError::from(error).into(),
    })?;
    let snapshot = shared.toolbox.snapshot();
    // Skills that only users can call are not listed, but readable: their prompts refer to these files.
    let (skill, path) =
        parts.resolve(&snapshot).ok_or_else(|| errors::resource_not_found("skill not found"))?;
    if path.is_empty() {
        return Err(errors::invalid_params("the URI is a directory; read it with resources/directory/read"));
    }
    let file = resources::read_bytes(skill, &path).map_err(|error| errors::from_read_error(&error))?;
    Ok((file.bytes, file.mime))
}

/// Returns text if the bytes are valid text, else base64. The bytes are preserved exactly, because digests refer to
/// them.
fn to_contents(uri: String, bytes: Vec<u8>, mime: &str) -> ResourceContents {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ResourceContents::text(text, uri),
        Ok(text) => ResourceContents::blob(BASE64_STANDARD.encode(text), uri),
        Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.into_bytes()), uri),
    }
    .with_mime_type(mime)
}
