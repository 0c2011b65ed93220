//! The files of a chat: lists, uploads, downloads and deletes them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use prowess_chat::store::{ChatFile, FileChanges, FileOrigin, NewFile};
use prowess_config::ChatFileLimits;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use utoipa::{IntoParams, ToSchema};

use super::file_headers::{ContentDisplay, file_headers, is_known_etag};
use crate::app::App;
use crate::extract::{Flag, Path, QueryString, expected_length, read_body};
use crate::limits::{BodyTimeout, TransferPermit, body_deadline};
use crate::problem::{ApiResult, Problem};

/// The size of a chunk of a download.
const CHUNK_BYTES: usize = 64 * 1024;

/// The files of a chat.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatFiles)]
pub(crate) struct ChatFilesResponse {
    schema: u32,
    /// The files, sorted by path.
    files: Vec<ChatFile>,
    /// The size of all files, in bytes.
    bytes: u64,
    limits: FileLimitsJson,
}

/// The limits of the files of a chat.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatFileLimits)]
pub(crate) struct FileLimitsJson {
    /// The maximum size of a file, in bytes.
    file_bytes: u64,
    /// The maximum size of all files of a chat, in bytes.
    workspace_bytes: u64,
    /// The maximum number of files of a chat.
    workspace_files: u32,
}

/// Lists the files of a chat.
#[utoipa::path(get, path = "/api/chats/{id}/files", tag = "chats", params(("id" = String, Path)),
    responses((status = 200, body = ChatFilesResponse)))]
pub(crate) async fn list(
    State(app): State<App>,
    Path(id): Path<String>,
) -> ApiResult<Json<ChatFilesResponse>> {
    let files = app.store.files(&id).await?;
    let ChatFileLimits { file_bytes, workspace_bytes, workspace_files } = limits(&app);
    Ok(Json(ChatFilesResponse {
        schema: 1,
        bytes: files.iter().map(|file| file.size).sum(),
        files,
        limits: FileLimitsJson { file_bytes, workspace_bytes, workspace_files },
    }))
}

fn limits(app: &App) -> ChatFileLimits {
    app.reloadable.current().configuration.chat.files
}

/// A chat and the path of one of its files.
pub(crate) struct FilePath {
    chat: String,
    path: String,
}

impl<S: Send + Sync> FromRequestParts<S> for FilePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        // An encoded slash is decoded by some proxies and not by others, so that its meaning is not certain.
        if parts.uri.path().to_ascii_lowercase().contains("%2f") {
            return Err(Problem::invalid("the path of a file must not contain an encoded slash (%2F)"));
        }
        let Path((chat, path)) = Path::<(String, String)>::from_request_parts(parts, state).await?;
        Ok(Self { chat, path })
    }
}

/// A file that was written.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WrittenChatFile)]
pub(crate) struct WrittenChatFileResponse {
    schema: u32,
    file: ChatFile,
}

/// Uploads a file: the body is its content, of any type. An existing file is replaced, unless the header `If-None-Match: *` is
/// sent. The media type is detected from the name and the content.
#[utoipa::path(put, path = "/api/chats/{id}/files/{*path}", tag = "chats",
    params(("id" = String, Path), ("path" = String, Path)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = WrittenChatFileResponse), (status = 409, body = Problem)))]
pub(crate) async fn upload(
    State(app): State<App>,
    FilePath { chat, path }: FilePath,
    request: Request,
) -> ApiResult<Json<WrittenChatFileResponse>> {
    // Everything that does not depend on the content is checked before the content is received.
    NewFile::new(&path, vec![], FileOrigin::Uploaded)?;
    app.store.chat(&chat).await?;
    let must_be_new = request.headers().get(header::IF_NONE_MATCH).is_some_and(|tag| tag == "*");
    let limits = limits(&app);
    let _permit = app.transfers.acquire(expected_length(request.headers(), limits.file_bytes))?;
    let content = read_body(request, usize::try_from(limits.file_bytes).unwrap_or(usize::MAX)).await?;
    let file = NewFile::new(&path, content, FileOrigin::Uploaded)?;
    let changes = if must_be_new { FileChanges::add(file) } else { FileChanges::write(file) };
    let written = app.store.change_files(&chat, changes, limits).await?;
    let file = written.into_iter().next().ok_or_else(|| Problem::invalid("no file was written"))?;
    Ok(Json(WrittenChatFileResponse { schema: 1, file }))
}

/// How to return a file.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct DownloadParams {
    /// `1` lets the browser display images, PDF and text. Other types are always downloads.
    #[serde(default)]
    #[param(value_type = Option<String>, example = "1")]
    inline: Flag,
}

/// Downloads a file. It is never displayed as HTML or SVG.
#[utoipa::path(get, path = "/api/chats/{id}/files/{*path}", tag = "chats",
    params(("id" = String, Path), ("path" = String, Path), DownloadParams),
    responses((status = 200, content((Vec<u8> = "application/octet-stream"), (String = "text/plain"))), (status = 304)))]
pub(crate) async fn download(
    State(app): State<App>,
    FilePath { chat, path }: FilePath,
    QueryString(params): QueryString<DownloadParams>,
    request_headers: HeaderMap,
) -> ApiResult<Response> {
    let display = if params.inline.is_set() { ContentDisplay::Inline } else { ContentDisplay::Attachment };
    let file = app.store.file(&chat, &path).await?;
    if is_known_etag(&request_headers, &file) {
        return Ok((StatusCode::NOT_MODIFIED, file_headers(&file, display)).into_response());
    }
    let permit = app.transfers.acquire(file.size)?;
    let (file, content) = app.store.read_file(&chat, &path).await?;
    let mut headers = file_headers(&file, display);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(content.len()));
    // As long as a request body of this size may take.
    let deadline = body_deadline(app.limits.body_timeout, content.len() as u64);
    Ok((headers, body(content, permit, deadline)).into_response())
}

/// A file that is being sent. It is dropped when it was sent, or when that takes too long: a client that does not read must not
/// hold memory and a permit forever.
struct OutgoingFile(Mutex<Option<(Bytes, TransferPermit)>>);

impl OutgoingFile {
    /// Returns the chunk that starts here, if there is one; an error if the file was dropped.
    fn chunk(&self, start: usize) -> Option<Result<Bytes, BodyTimeout>> {
        let content = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((content, _)) = &*content else { return Some(Err(BodyTimeout)) };
        let end = content.len().min(start + CHUNK_BYTES);
        (start < end).then(|| Ok(content.slice(start..end)))
    }
}

/// Returns a body that holds its permit until it was sent, or until the deadline.
fn body(content: Vec<u8>, permit: TransferPermit, deadline: Duration) -> Body {
    let file = Arc::new(OutgoingFile(Mutex::new(Some((Bytes::from(content), permit)))));
    let sent = Arc::downgrade(&file);
    tokio::spawn(async move {
        sleep(deadline).await;
        if let Some(file) = sent.upgrade() {
            file.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    });
    let chunks = stream::unfold((file, 0), |(file, start)| async move {
        let chunk = file.chunk(start)?;
        Some((chunk, (file, start + CHUNK_BYTES)))
    });
    // A body that is compressed is polled again after its end.
    Body::from_stream(chunks.fuse())
}

/// Deletes a file.
#[utoipa::path(delete, path = "/api/chats/{id}/files/{*path}", tag = "chats",
    params(("id" = String, Path), ("path" = String, Path)), responses((status = 204)))]
pub(crate) async fn remove(
    State(app): State<App>,
    FilePath { chat, path }: FilePath,
) -> ApiResult<StatusCode> {
    app.store.change_files(&chat, FileChanges::remove(&path), limits(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::TransferLimit;

    #[tokio::test]
    async fn a_client_that_does_not_read_loses_the_file_and_its_permit() {
        let limit = TransferLimit::default();
        let permit = || limit.acquire(1024 * 1024 * 1024).unwrap();
        let content: Vec<u8> = (0..CHUNK_BYTES * 2 + 1).map(|n| n as u8).collect();
        let mut sent = body(content.clone(), permit(), Duration::from_secs(600)).into_data_stream();
        let mut received = Vec::new();
        while let Some(chunk) = sent.next().await {
            received.extend_from_slice(&chunk.unwrap());
        }
        assert_eq!(received, content);
        drop(sent);
        let mut stalled = body(content, permit(), Duration::from_millis(1)).into_data_stream();
        while limit.acquire(1).is_err() {
            sleep(Duration::from_millis(1)).await;
        }
        assert!(stalled.next().await.unwrap().is_err(), "a partial file does not look complete");
    }
}
