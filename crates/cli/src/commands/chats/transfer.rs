//! `prowess chats export` and `import`: converts chats to and from JSON.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use prowess_chat::store::transfer::{self, ExportSelection, IMPORT_MAX};
use prowess_chat::store::{Store, StoreError};
use serde_json::json;

use super::{chat_failure, store_failure};
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, TextStyle, clean, clean_path, format_size, pluralize};
use crate::report::json::EscapingWriter;

pub(super) async fn export(
    store: &dyn Store,
    id: Option<&str>,
    file_path: Option<&Path>,
    output: &mut Output,
) -> Result<(), Failure> {
    let selection = id.map_or(ExportSelection::All, ExportSelection::One);
    let convert_error = |error: StoreError| match id {
        Some(id) => chat_failure(id)(error),
        None => store_failure(error),
    };
    let Some(path) = file_path else {
        let mut out = EscapingWriter::new(output.out());
        transfer::export(store, selection, &mut out).await.map_err(convert_error)?;
        return Ok(());
    };
    if let ExportSelection::One(id) = selection {
        store.chat(id).await.map_err(chat_failure(id))?;
    }
    // The file is private, and an existing file is not overwritten.
    let file = prowess_fs::create_private(path);
    let file = file.map_err(|error| unwritable(path, &error))?;
    let mut out = BufWriter::new(file);
    let exported = transfer::export(store, selection, &mut out).await;
    let result = exported.map_err(convert_error).and_then(|count| {
        out.flush().and_then(|()| out.get_ref().sync_all()).map_err(|error| unwritable(path, &error))?;
        Ok(count)
    });
    let count = result.inspect_err(|_| {
        // Do not leave a partial file.
        let _ = std::fs::remove_file(path);
    })?;
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > IMPORT_MAX) {
        output.styled_note(TextStyle::Caution, &oversized_warning(path, id));
    }
    if output.json() {
        return Ok(output.write_json(&json!({"schema": 1, "exported": count, "file": path}))?);
    }
    Ok(output.line(format!("exported {} to {}", pluralize(count, "chat"), clean_path(path)))?)
}

/// Returns the warning about a file that cannot be imported.
fn oversized_warning(path: &Path, id: Option<&str>) -> String {
    let remedy = match id {
        None => "export single chats with `prowess chats export ID`".to_owned(),
        Some(id) => format!("save large files with `prowess chats save {} PATH` instead", clean(id)),
    };
    let (path, max) = (clean_path(path), format_size(IMPORT_MAX));
    format!("warning: {path} is larger than {max} and cannot be imported; {remedy}")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot write {}: {error}", clean_path(path));
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::new(ErrorCode::Conflict, format!("{} already exists", clean_path(path)))
                .hint("pass another file name")
        }
        std::io::ErrorKind::PermissionDenied => Failure::new(ErrorCode::PermissionDenied, message),
        std::io::ErrorKind::StorageFull => {
            Failure::new(ErrorCode::Unavailable, message).hint("free some disk space")
        }
        _ => Failure::usage(message),
    }
}

/// Reads an exported file without validating it.
pub(super) fn read_export(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = IMPORT_MAX + 1;
    let result = match path.as_os_str() == "-" {
        true => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
        false => File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    match result {
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::missing_path(format!("file {} not found", clean_path(path))))
        }
        Err(error) => Err(Failure::usage(format!("cannot read {}: {error}", clean_path(path)))),
    }
}

pub(super) async fn import(store: &dyn Store, bytes: &[u8], output: &mut Output) -> Result<(), Failure> {
    let imported = transfer::import(store, bytes).await.map_err(store_failure)?;
    if output.json() {
        let chats: Vec<_> = imported.iter().map(|chat| json!({"from": chat.from, "chat": chat.to})).collect();
        return Ok(output.write_json(&json!({"schema": 1, "imported": chats}))?);
    }
    for chat in &imported {
        match chat.from == chat.to {
            true => output.line(format!("imported {}", clean(&chat.to)))?,
            false => output.line(format!("imported {} as {}", clean(&chat.from), clean(&chat.to)))?,
        }
    }
    if imported.is_empty() {
        output.note("the file contains no chats");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warning_about_a_file_that_cannot_be_imported() {
        let warnings = [None, Some("0190")].map(|id| oversized_warning(Path::new("all.json"), id));
        insta::assert_snapshot!(warnings.join("\n"), @r"
        warning: all.json is larger than 512.0 MiB and cannot be imported; export single chats with `prowess chats export ID`
        warning: all.json is larger than 512.0 MiB and cannot be imported; save large files with `prowess chats save 0190 PATH` instead
        ");
    }
}
