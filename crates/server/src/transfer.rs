//! Export and import of chats as files.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use prowess::ErrorCode;
use prowess_chat::Message;
use prowess_chat::store::transfer::{ExportSelection, export, parse_export};
use prowess_chat::store::{ChatFile, Store, StoreError, StoredBranch, Topic};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::extract::{self, Path};
use crate::problem::{ApiResult, Problem};
use crate::render::run_blocking;

/// The maximum size of an imported file.
const FILE_MAX: usize = 64 * 1024 * 1024;

/// A file with exported chats.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes what `prowess_chat::store::transfer` writes and reads")]
#[schema(as = ChatsFile)]
pub(crate) struct ChatsFileBody {
    /// `prowess-chats`.
    #[schema(pattern = "^prowess-chats$")]
    format: String,
    /// The version of the format.
    #[schema(minimum = 1, maximum = 3)]
    version: u64,
    /// The chats.
    chats: Vec<ChatInFile>,
}

/// A chat in a file.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes what `prowess_chat::store::transfer` writes and reads")]
#[schema(as = ChatInFile)]
pub(crate) struct ChatInFile {
    /// The id. The import keeps it unless a chat with this id exists.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    id: String,
    /// The title.
    #[schema(required = false, max_length = 200)]
    title: String,
    /// The preset that was active when the chat was created.
    #[schema(required = false)]
    preset: String,
    /// When the chat was created, in milliseconds since 1970.
    #[schema(maximum = 253402300799999_u64)]
    created: u64,
    /// When the last message was added.
    #[schema(maximum = 253402300799999_u64)]
    updated: u64,
    /// The active skills.
    #[schema(required = false)]
    activated_skill_names: Vec<String>,
    /// The messages, in order.
    messages: Vec<Message>,
    /// The files of the workspace.
    #[schema(required = false)]
    files: Vec<ExportedFileBody>,
    /// Other versions of messages.
    #[schema(required = false, max_items = 1000)]
    branches: Vec<StoredBranch>,
    /// Whether the chat is listed first.
    #[schema(required = false)]
    pinned: bool,
    /// Whether the chat is archived.
    #[schema(required = false)]
    archived: bool,
}

/// A file of a chat in a file.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes what `prowess_chat::store::transfer` writes and reads")]
#[schema(as = FileInChatsFile)]
pub(crate) struct ExportedFileBody {
    #[serde(flatten)]
    file: ChatFile,
    /// The content, as Base64.
    content: String,
}

/// Exports one chat as a file.
#[utoipa::path(get, path = "/api/chats/{id}/export", tag = "chats", params(("id" = String, Path)),
    responses((status = 200, body = ChatsFileBody)))]
pub(crate) async fn export_chat(State(app): State<App>, Path(id): Path<String>) -> ApiResult<Response> {
    app.store.chat(&id).await?;
    Ok(export_response(Arc::clone(&app.store), Some(id)))
}

/// Exports all chats as a file. The file is streamed at the speed of the client.
#[utoipa::path(get, path = "/api/export", tag = "chats", responses((status = 200, body = ChatsFileBody)))]
pub(crate) async fn export_chats(State(app): State<App>) -> ApiResult<Response> {
    app.store.check().await?;
    Ok(export_response(Arc::clone(&app.store), None))
}

fn export_response(store: Arc<dyn Store>, chat: Option<String>) -> Response {
    let mut response = Body::from_stream(ExportStream::new(store, chat)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let name = HeaderValue::from_static("attachment; filename=\"prowess-chats.json\"");
    headers.insert(header::CONTENT_DISPOSITION, name);
    response
}

/// An imported chat.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedChat)]
pub(crate) struct ImportedChatJson {
    /// Its id in the file.
    from: String,
    /// Its id on this server: a new one if the id was taken.
    to: String,
}

/// The result of an import.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedChats)]
pub(crate) struct ImportedChatsResponse {
    schema: u32,
    /// The chats, in the order of the file.
    chats: Vec<ImportedChatJson>,
}

/// Imports the chats of a file, all or none. The maximum size is 64 MiB.
#[utoipa::path(post, path = "/api/chats/import", tag = "chats", request_body = ChatsFileBody,
    responses((status = 201, body = ImportedChatsResponse)))]
pub(crate) async fn import_chats(
    State(app): State<App>,
    request: Request,
) -> ApiResult<(StatusCode, Json<ImportedChatsResponse>)> {
    extract::check_json(request.headers())?;
    // The file, its text and its parsed chats are in memory at once.
    let expected = extract::expected_length(request.headers(), FILE_MAX as u64);
    let _permit = app.transfers.acquire(expected.saturating_mul(3))?;
    let bytes = extract::read_body(request, FILE_MAX).await.map_err(|problem| match problem.code {
        ErrorCode::TooLarge => {
            let detail = format!(
                "the file is larger than {} MiB; import it on the machine of the server with `prowess chats import FILE`",
                FILE_MAX / (1024 * 1024)
            );
            Problem::new(ErrorCode::TooLarge, detail)
        }
        _ => problem,
    })?;
    let chats = run_blocking(move || parse_export(&bytes)).await??;
    let from: Vec<_> = chats.iter().map(|chat| chat.id.clone()).collect();
    let to = app.store.add_chats(chats).await?;
    app.store.announce(Topic::Chats);
    let chats = from.into_iter().zip(to).map(|(from, to)| ImportedChatJson { from, to }).collect();
    Ok((StatusCode::CREATED, Json(ImportedChatsResponse { schema: 1, chats })))
}

/// A stream that writes an export file. It advances only when it is polled, and buffers no more than it writes between two reads
/// from the store.
struct ExportStream {
    task: Pin<Box<dyn Future<Output = Result<usize, StoreError>> + Send>>,
    buffer: ExportBuffer,
    finished: bool,
}

/// The bytes that were written and not yet sent.
#[derive(Clone, Default)]
struct ExportBuffer(Arc<Mutex<Vec<u8>>>);

impl ExportBuffer {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl io::Write for ExportBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ExportStream {
    fn new(store: Arc<dyn Store>, chat: Option<String>) -> Self {
        let buffer = ExportBuffer::default();
        let mut out = buffer.clone();
        let task = async move {
            let selection = chat.as_deref().map_or(ExportSelection::All, ExportSelection::One);
            export(&*store, selection, &mut out).await
        };
        Self { task: Box::pin(task), buffer, finished: false }
    }
}

impl Stream for ExportStream {
    type Item = Result<Vec<u8>, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.finished {
            return Poll::Ready(None);
        }
        let polled = self.task.as_mut().poll(context);
        let bytes = self.buffer.take();
        match polled {
            Poll::Ready(Ok(_)) => {
                self.finished = true;
                Poll::Ready(Some(Ok(bytes)))
            }
            // The error aborts the connection, so that a partial file does not look complete.
            Poll::Ready(Err(error)) => {
                self.finished = true;
                tracing::warn!(%error, "chat export failed");
                Poll::Ready(Some(Err(error)))
            }
            Poll::Pending if bytes.is_empty() => Poll::Pending,
            Poll::Pending => Poll::Ready(Some(Ok(bytes))),
        }
    }
}
