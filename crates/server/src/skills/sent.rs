//! A form with files in it, read within bounds.

use axum::extract::multipart::{Field, MultipartError, MultipartRejection};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::StatusCode;
use prowess::ErrorCode;
use prowess::format::hidden::shown;
use prowess_package::Upload;
use prowess_package::archive::ARCHIVE_MAX;
use prowess_package::limits::{FILE_MAX, FILES_MAX};

use crate::asked::Flag;
use crate::problem::{Answer, Problem};

/// The largest request: an archive, and what stands around it.
pub(super) const REQUEST_MAX: usize = ARCHIVE_MAX as usize + 1024 * 1024;

/// What came with a request.
pub(super) struct Sent {
    pub(super) upload: Upload,
    pub(super) id: Option<String>,
    pub(super) overwrite: bool,
    pub(super) accept_risk: bool,
    pub(super) accept_findings: bool,
}

impl Sent {
    pub(super) async fn read(request: Request) -> Answer<Self> {
        let unfit = |error: MultipartRejection| {
            Problem::with_status(error.status(), ErrorCode::InvalidParam, error.body_text())
        };
        let mut form = Multipart::from_request(request, &()).await.map_err(unfit)?;
        let (mut files, mut id) = (Vec::new(), None);
        let (mut overwrite, mut accept_risk, mut accept_findings) = (false, false, false);
        let mut left = REQUEST_MAX;
        while let Some(field) = form.next_field().await.map_err(broken)? {
            let name = field.name().unwrap_or_default().to_owned();
            match name.as_str() {
                "file" => {
                    if files.len() >= FILES_MAX {
                        return Err(too_large(format!("there are more than {FILES_MAX} files")));
                    }
                    let path = field.file_name().unwrap_or_default().to_owned();
                    let bytes = whole(field, &mut left).await?;
                    files.push((path, bytes));
                }
                "id" => id = Some(text(field, &mut left).await?).filter(|id| !id.is_empty()),
                "overwrite" => overwrite = flag(field, &mut left).await?,
                "accept_risk" => accept_risk = flag(field, &mut left).await?,
                "accept_findings" => accept_findings = flag(field, &mut left).await?,
                other => {
                    return Err(Problem::invalid(format!(
                        "there is no part {}; there are file, id, overwrite, accept_findings and accept_risk",
                        shown(other)
                    )));
                }
            }
        }
        Ok(Self { upload: upload(files)?, id, overwrite, accept_risk, accept_findings })
    }
}

/// One part that is an archive, or the files of a folder.
fn upload(mut files: Vec<(String, Vec<u8>)>) -> Answer<Upload> {
    let is_archive = |(name, bytes): &(String, Vec<u8>)| {
        let endings = [".zip", ".skill", ".tar.gz", ".tgz"];
        bytes.starts_with(b"PK")
            || bytes.starts_with(&[0x1f, 0x8b])
            || endings.iter().any(|end| name.ends_with(end))
    };
    if files.is_empty() {
        return Err(Problem::invalid(
            "nothing was sent: an archive, or the files of a folder, as parts named file",
        ));
    }
    if files.len() == 1
        && files.first().is_some_and(is_archive)
        && let Some((name, bytes)) = files.pop()
    {
        return Ok(Upload::Archive(name, bytes));
    }
    match files.iter().find(|(_, bytes)| bytes.len() as u64 > FILE_MAX) {
        Some((path, _)) => Err(too_large(format!("{} is larger than {FILE_MAX} bytes", shown(path)))),
        None => Ok(Upload::Files(files)),
    }
}

/// All bytes of a part, as long as the request has room for them.
async fn whole(mut field: Field<'_>, left: &mut usize) -> Answer<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(broken)? {
        *left = left
            .checked_sub(chunk.len())
            .ok_or_else(|| too_large(format!("there are more than {REQUEST_MAX} bytes")))?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn text(field: Field<'_>, left: &mut usize) -> Answer<String> {
    let name = field.name().unwrap_or_default().to_owned();
    let bytes = whole(field, left).await?;
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= 1024);
    text.ok_or_else(|| Problem::invalid(format!("{name} is no short text")))
}

async fn flag(field: Field<'_>, left: &mut usize) -> Answer<bool> {
    let name = field.name().unwrap_or_default().to_owned();
    let text = text(field, left).await?;
    let flag = Flag::parse(&text).filter(|_| !text.is_empty());
    flag.map(Flag::is_set).ok_or_else(|| Problem::invalid(format!("{name} is true or false")))
}

fn broken(error: MultipartError) -> Problem {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(format!("there are more than {REQUEST_MAX} bytes")),
        status => Problem::with_status(status, ErrorCode::InvalidParam, error.body_text()),
    }
}

fn too_large(detail: String) -> Problem {
    Problem::new(ErrorCode::TooLarge, detail)
}
