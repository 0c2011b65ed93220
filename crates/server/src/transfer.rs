//! Chats as files: to take them along, and to bring them back.

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
use prowess_chat::Message;
use prowess_chat::store::transfer::{Which, export, read};
use prowess_chat::store::{Store, StoreError, Topic};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::asked::{self, Path};
use crate::problem::Answer;
use crate::render::apart;

/// The most bytes of a file that is imported at once.
const FILE_MAX: usize = 64 * 1024 * 1024;

/// A file of chats.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes what `prowess_chat::store::transfer` writes and reads")]
#[schema(as = ChatsFile)]
pub(crate) struct File {
    /// `prowess-chats`.
    #[schema(pattern = "^prowess-chats$")]
    format: String,
    /// The version of the format.
    #[schema(minimum = 1, maximum = 1)]
    version: u64,
    /// The chats.
    chats: Vec<Kept>,
}

/// A chat in a file.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes what `prowess_chat::store::transfer` writes and reads")]
#[schema(as = ChatInFile)]
pub(crate) struct Kept {
    /// It keeps it unless there is such a chat already.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    id: String,
    /// What people call it.
    #[schema(required = false, max_length = 200)]
    title: String,
    /// The preset that it was begun with.
    #[schema(required = false)]
    preset: String,
    /// When it was begun, in milliseconds since 1970.
    #[schema(maximum = 253402300799999_u64)]
    created: u64,
    /// When something was last said.
    #[schema(maximum = 253402300799999_u64)]
    updated: u64,
    /// The skills that are active.
    #[schema(required = false)]
    activated_skill_names: Vec<String>,
    /// What was said, in order.
    messages: Vec<Message>,
}

/// One chat as a file.
#[utoipa::path(get, path = "/api/chats/{id}/export", tag = "chats", params(("id" = String, Path)),
    responses((status = 200, body = File)))]
pub(crate) async fn one(State(app): State<App>, Path(id): Path<String>) -> Answer<Response> {
    app.store.chat(&id).await?;
    Ok(file(Arc::clone(&app.store), Some(id)))
}

/// All chats as a file. It is written as fast as it is read.
#[utoipa::path(get, path = "/api/export", tag = "chats", responses((status = 200, body = File)))]
pub(crate) async fn all(State(app): State<App>) -> Answer<Response> {
    app.store.check().await?;
    Ok(file(Arc::clone(&app.store), None))
}

fn file(store: Arc<dyn Store>, one: Option<String>) -> Response {
    let mut response = Body::from_stream(Export::new(store, one)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let name = HeaderValue::from_static("attachment; filename=\"prowess-chats.json\"");
    headers.insert(header::CONTENT_DISPOSITION, name);
    response
}

/// A chat that was imported.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedChat)]
pub(crate) struct Moved {
    /// Its id in the file.
    from: String,
    /// Its id here: another one if that was taken.
    to: String,
}

/// What was imported.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedChats)]
pub(crate) struct Imported {
    schema: u32,
    /// The chats, in the order of the file.
    chats: Vec<Moved>,
}

/// Adds the chats of a file, all or none. At most 64 MiB at once.
#[utoipa::path(post, path = "/api/chats/import", tag = "chats", request_body = File,
    responses((status = 201, body = Imported)))]
pub(crate) async fn import(State(app): State<App>, request: Request) -> Answer<(StatusCode, Json<Imported>)> {
    asked::check_json(request.headers())?;
    let bytes = asked::bytes(request, FILE_MAX).await?;
    let chats = apart(move || read(&bytes)).await??;
    let from: Vec<_> = chats.iter().map(|chat| chat.id.clone()).collect();
    let to = app.store.add_chats(chats).await?;
    app.store.announce(Topic::Chats);
    let chats = from.into_iter().zip(to).map(|(from, to)| Moved { from, to }).collect();
    Ok((StatusCode::CREATED, Json(Imported { schema: 1, chats })))
}

/// A file that is being written: it goes on when somebody reads, and holds no more than what lies between two of its reads
/// from the store.
struct Export {
    work: Pin<Box<dyn Future<Output = Result<usize, StoreError>> + Send>>,
    written: Written,
    over: bool,
}

/// What was written and not yet read.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Export {
    fn new(store: Arc<dyn Store>, one: Option<String>) -> Self {
        let written = Written::default();
        let mut out = written.clone();
        let work = async move {
            let which = one.as_deref().map_or(Which::All, Which::One);
            export(&*store, which, &mut out).await
        };
        Self { work: Box::pin(work), written, over: false }
    }
}

impl Stream for Export {
    type Item = Result<Vec<u8>, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.over {
            return Poll::Ready(None);
        }
        let polled = self.work.as_mut().poll(context);
        let bytes = self.written.take();
        match polled {
            Poll::Ready(Ok(_)) => {
                self.over = true;
                Poll::Ready(Some(Ok(bytes)))
            }
            // The connection breaks off: half a file must not look like a whole one.
            Poll::Ready(Err(error)) => {
                self.over = true;
                tracing::warn!(%error, "a file of chats broke off");
                Poll::Ready(Some(Err(error)))
            }
            Poll::Pending if bytes.is_empty() => Poll::Pending,
            Poll::Pending => Poll::Ready(Some(Ok(bytes))),
        }
    }
}
