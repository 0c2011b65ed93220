//! The files of skills as resources.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::Skill;
use prowess::policy::Policy;
use prowess::resource::{self, RawResource};
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};

use super::Shared;
use super::connection::Connection;
use super::said::{self, Said};
use crate::manifest::own_file;
use crate::uri::{self, Parts};

/// The address of any file, with what can be filled in.
pub(super) const TEMPLATE: &str = "skill://{name}/{+path}";

/// The most resources on a page.
const PAGE: usize = 200;

/// The skills, each by its `SKILL.md`. The other files are found from there.
pub(super) async fn list(
    connection: &Connection,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let listed = connection.work(move |shared| {
        let snapshot = shared.toolbox.snapshot();
        let (page, next) = shared
            .cursors
            .page("resources", cursor.as_deref(), shared.listed(&snapshot), |(called, _)| called, PAGE)
            .map_err(Said::from)?;
        let policy = shared.registry().policy();
        let resources = page.into_iter().map(|(_, skill)| entry(skill, policy)).collect();
        let mut result = ListResourcesResult::with_all_items(resources);
        result.next_cursor = next;
        Ok(result)
    });
    listed.await?
}

fn entry(skill: &Skill, policy: &Policy) -> Resource {
    Resource::new(uri::of(skill, policy, &own_file(skill)), skill.name())
        .with_description(skill.description())
        .with_mime_type("text/markdown")
        .with_size(skill.bytes())
}

/// The one form of all addresses.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "skill-file")
        .with_title("A file of a skill")
        .with_description("Any file of a skill by the skill's name and the file's path inside its folder.");
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// The bytes of a file, exactly.
pub(super) async fn read(connection: &Connection, uri: String) -> Result<ReadResourceResult, ErrorData> {
    let read = connection.work(move |shared| {
        let file = find(shared, &uri).map_err(|error| said::about(error, &uri))?;
        let mut result = ReadResourceResult::new(vec![contents(uri, file)]);
        // Files are read anew each time: who keeps one may keep an old one.
        result.ttl_ms = Some(0);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    });
    read.await?
}

fn find(shared: &Shared, uri: &str) -> Result<RawResource, ErrorData> {
    let parts = Parts::parse(uri).map_err(Said::from)?;
    let (snapshot, policy) = (shared.toolbox.snapshot(), shared.registry().policy());
    let (skill, path) =
        parts.resolve(&snapshot, policy).ok_or_else(|| said::absent("there is no such skill"))?;
    if path.is_empty() {
        return Err(said::invalid("this is a directory; read it with resources/directory/read"));
    }
    resource::read_bytes(skill, &path).map_err(|error| said::access(&error))
}

/// Text where the bytes are text, so that nothing is lost: digests are of the bytes.
fn contents(uri: String, file: RawResource) -> ResourceContents {
    let RawResource { bytes, mime, .. } = file;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ResourceContents::text(text, uri),
        Ok(text) => ResourceContents::blob(BASE64_STANDARD.encode(text), uri),
        Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.into_bytes()), uri),
    }
    .with_mime_type(mime)
}
