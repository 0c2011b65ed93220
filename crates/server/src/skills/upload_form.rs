//! Reads an upload form, with size limits.

use axum::extract::multipart::{Field, MultipartError, MultipartRejection};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::StatusCode;
use prowess::ErrorCode;
use prowess::format::hidden::escape_for_display;
use prowess_package::Upload;
use prowess_package::archive::ARCHIVE_MAX;
use prowess_package::limits::{FILE_MAX, FILES_MAX};

use crate::extract::Flag;
use crate::problem::{ApiResult, Problem};

/// The maximum size of a request: an archive and the other parts of the form.
pub(super) const REQUEST_MAX: usize = ARCHIVE_MAX as usize + 1024 * 1024;

/// An upload form.
pub(super) struct UploadForm {
    pub(super) upload: Upload,
    pub(super) id: Option<String>,
    pub(super) overwrite: bool,
    pub(super) accept_risk: bool,
    pub(super) accept_findings: bool,
}

impl UploadForm {
    pub(super) async fn read(request: Request) -> ApiResult<Self> {
        let rejected = |error: MultipartRejection| {
            Problem::with_status(error.status(), ErrorCode::InvalidParam, error.body_text())
        };
        let mut form = Multipart::from_request(request, &()).await.map_err(rejected)?;
        let (mut files, mut id) = (Vec::new(), None);
        let (mut overwrite, mut accept_risk, mut accept_findings) = (false, false, false);
        let mut bytes_left = REQUEST_MAX;
        while let Some(field) = form.next_field().await.map_err(multipart_problem)? {
            let name = field.name().unwrap_or_default().to_owned();
            match name.as_str() {
                "file" => {
                    if files.len() >= FILES_MAX {
                        return Err(too_large(format!("the upload has more than {FILES_MAX} files")));
                    }
                    let path = field.file_name().unwrap_or_default().to_owned();
                    let bytes = read_bytes(field, &mut bytes_left).await?;
                    files.push((path, bytes));
                }
                "id" => id = Some(read_text(field, &mut bytes_left).await?).filter(|id| !id.is_empty()),
                "overwrite" => overwrite = read_flag(field, &mut bytes_left).await?,
                "accept_risk" => accept_risk = read_flag(field, &mut bytes_left).await?,
                "accept_findings" => accept_findings = read_flag(field, &mut bytes_left).await?,
                other => {
                    return Err(Problem::invalid(format!(
                        "unknown part {}; known parts are file, id, overwrite, accept_findings and accept_risk",
                        escape_for_display(other)
                    )));
                }
            }
        }
        Ok(Self { upload: upload(files)?, id, overwrite, accept_risk, accept_findings })
    }
}

/// Returns an archive if the only file is one, otherwise the files of a directory.
fn upload(mut files: Vec<(String, Vec<u8>)>) -> ApiResult<Upload> {
    let is_archive = |(name, bytes): &(String, Vec<u8>)| {
        let endings = [".zip", ".skill", ".tar.gz", ".tgz"];
        bytes.starts_with(b"PK")
            || bytes.starts_with(&[0x1f, 0x8b])
            || endings.iter().any(|end| name.ends_with(end))
    };
    if files.is_empty() {
        return Err(Problem::invalid(
            "the upload is empty; send an archive or the files of a directory as parts named file",
        ));
    }
    if files.len() == 1
        && files.first().is_some_and(is_archive)
        && let Some((name, bytes)) = files.pop()
    {
        return Ok(Upload::Archive(name, bytes));
    }
    match files.iter().find(|(_, bytes)| bytes.len() as u64 > FILE_MAX) {
        Some((path, _)) => {
            Err(too_large(format!("{} is larger than {FILE_MAX} bytes", escape_for_display(path))))
        }
        None => Ok(Upload::Files(files)),
    }
}

/// Reads a part. `bytes_left` is the number of bytes that the request may still have.
async fn read_bytes(mut field: Field<'_>, bytes_left: &mut usize) -> ApiResult<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(multipart_problem)? {
        *bytes_left = bytes_left
            .checked_sub(chunk.len())
            .ok_or_else(|| too_large(format!("the request is larger than {REQUEST_MAX} bytes")))?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn read_text(field: Field<'_>, bytes_left: &mut usize) -> ApiResult<String> {
    let name = field.name().unwrap_or_default().to_owned();
    let bytes = read_bytes(field, bytes_left).await?;
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= 1024);
    text.ok_or_else(|| Problem::invalid(format!("{name} must be UTF-8 text of at most 1024 bytes")))
}

async fn read_flag(field: Field<'_>, bytes_left: &mut usize) -> ApiResult<bool> {
    let name = field.name().unwrap_or_default().to_owned();
    let text = read_text(field, bytes_left).await?;
    let flag = Flag::parse(&text).filter(|_| !text.is_empty());
    flag.map(Flag::is_set).ok_or_else(|| Problem::invalid(format!("{name} must be true or false")))
}

fn multipart_problem(error: MultipartError) -> Problem {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(format!("the request is larger than {REQUEST_MAX} bytes")),
        status => Problem::with_status(status, ErrorCode::InvalidParam, error.body_text()),
    }
}

fn too_large(detail: String) -> Problem {
    Problem::new(ErrorCode::TooLarge, detail)
}
