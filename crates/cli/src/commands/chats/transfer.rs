//! `prowess chats export` and `import`: chats as JSON.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use prowess_chat::store::transfer::{self, IMPORT_MAX, Which};
use prowess_chat::store::{Store, StoreError};
use serde_json::json;

use super::{about, of_store};
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean, clean_path, counted};
use crate::report::json::Passing;

pub(super) async fn export(
    store: &dyn Store,
    id: Option<&str>,
    to: Option<&Path>,
    output: &mut Output,
) -> Result<(), Failure> {
    let which = id.map_or(Which::All, Which::One);
    let failed = |error: StoreError| match id {
        Some(id) => about(id)(error),
        None => of_store(error),
    };
    let Some(path) = to else {
        let mut out = Passing::new(output.out());
        transfer::export(store, which, &mut out).await.map_err(failed)?;
        return Ok(());
    };
    if let Which::One(id) = which {
        store.chat(id).await.map_err(about(id))?;
    }
    // What was said is nobody else's business, and nothing that is there is written over.
    let file = prowess_fs::create_private(path);
    let file = file.map_err(|error| unwritable(path, &error))?;
    let mut out = BufWriter::new(file);
    let written = transfer::export(store, which, &mut out).await;
    let whole = written.map_err(failed).and_then(|count| {
        out.flush().and_then(|()| out.get_ref().sync_all()).map_err(|error| unwritable(path, &error))?;
        Ok(count)
    });
    let count = whole.inspect_err(|_| {
        // A part of a copy is no copy.
        let _ = std::fs::remove_file(path);
    })?;
    if output.json() {
        return Ok(output.answer(&json!({"schema": 1, "exported": count, "file": path}))?);
    }
    Ok(output.line(format!("{} exported to {}", counted(count, "chat"), clean_path(path)))?)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} cannot be written: {error}", clean_path(path));
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::new(ErrorCode::Conflict, format!("{} is there already", clean_path(path)))
                .hint("name another file")
        }
        std::io::ErrorKind::PermissionDenied => Failure::new(ErrorCode::PermissionDenied, message),
        std::io::ErrorKind::StorageFull => Failure::new(ErrorCode::Unavailable, message).hint("make room"),
        _ => Failure::call(message),
    }
}

/// The bytes of a file of chats; they are judged later.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let most = IMPORT_MAX + 1;
    let taken = match path.as_os_str() == "-" {
        true => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        false => File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    match taken {
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::missing_path(format!("there is no file {}", clean_path(path))))
        }
        Err(error) => Err(Failure::call(format!("{} cannot be read: {error}", clean_path(path)))),
    }
}

pub(super) async fn import(store: &dyn Store, bytes: &[u8], output: &mut Output) -> Result<(), Failure> {
    let imported = transfer::import(store, bytes).await.map_err(of_store)?;
    if output.json() {
        let chats: Vec<_> = imported.iter().map(|chat| json!({"from": chat.from, "chat": chat.to})).collect();
        return Ok(output.answer(&json!({"schema": 1, "imported": chats}))?);
    }
    for chat in &imported {
        match chat.from == chat.to {
            true => output.line(format!("imported {}", clean(&chat.to)))?,
            false => output.line(format!("imported {} as {}", clean(&chat.from), clean(&chat.to)))?,
        }
    }
    if imported.is_empty() {
        output.remark("there are no chats in the file");
    }
    Ok(())
}
