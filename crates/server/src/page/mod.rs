//! The page: plain files inside the program, with headers that let it load and do nothing but what we wrote.
//!
//! The document names its files below a folder that is called after all their bytes (`/assets/DIGEST/…`), so that browsers keep
//! them for good and never mix two versions. The same files are at `/assets/…` with an `ETag`, for those who want to look at one.
//! Each is compressed once, at the first request of a browser that takes gzip, as well as gzip can.

mod files;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::Write;
use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use prowess::ErrorCode;

use crate::app::App;
use crate::problem::Problem;
use files::{FILES, INDEX};

/// What the page may do: load scripts, styles and pictures from here and talk to here. Nothing inline, nothing from elsewhere, and
/// markup only through the one policy of `lib/html.js`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types prowess";

/// For files that are asked for by what is in them.
const FOR_GOOD: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// For those that may be others tomorrow.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// The folder that the files are asked for in: a digest of all of them.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: String = FILES.iter().map(|file| prowess::digest(file.bytes)).collect();
    short(all.as_bytes())
});

/// The document, with the folder in it.
static DOCUMENT: LazyLock<String> =
    LazyLock::new(|| INDEX.replace("\"/assets/", &format!("\"/assets/{}/", *VERSION)));

/// The routes of the page.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/", get(document)).route("/assets/{*path}", get(asset))
}

/// The document and each file in gzip, by the path; the document is at the empty one.
static COMPRESSED: LazyLock<HashMap<&'static str, Vec<u8>>> = LazyLock::new(|| {
    let files = FILES.iter().map(|file| (file.path, file.bytes));
    let all = files.chain([("", DOCUMENT.as_bytes())]);
    all.filter_map(|(path, bytes)| Some((path, gzip(bytes).ok()?))).collect()
});

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

async fn document(headers: HeaderMap) -> Response {
    answer(&headers, "text/html; charset=utf-8", ASK_AGAIN, "", DOCUMENT.as_bytes())
}

async fn asset(Path(path): Path<String>, headers: HeaderMap) -> Response {
    let (inside, keep) = match path.split_once('/') {
        Some((folder, inside)) if folder == *VERSION => (inside, FOR_GOOD),
        Some(_) | None => (path.as_str(), ASK_AGAIN),
    };
    match FILES.iter().find(|file| file.path == inside) {
        Some(file) => answer(&headers, media_type(file.path), keep, file.path, file.bytes),
        None => {
            Problem::new(ErrorCode::NotFound, format!("there is nothing at /assets/{path}")).into_response()
        }
    }
}

fn answer(
    asked: &HeaderMap,
    media_type: &'static str,
    keep: HeaderValue,
    path: &'static str,
    bytes: &'static [u8],
) -> Response {
    let gzipped = takes_gzip(asked).then(|| COMPRESSED.get(path).map(Vec::as_slice)).flatten();
    let gzipped: Option<&'static [u8]> = gzipped.filter(|gzipped| gzipped.len() < bytes.len());
    let tag = tag(bytes, if gzipped.is_some() { "-gzip" } else { "" });
    let known = asked.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_known =
        known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag));
    let status = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let body: &'static [u8] = if is_known { &[] } else { gzipped.unwrap_or(bytes) };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, keep);
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if gzipped.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// Whether a client takes gzip: it names it, and not with a weight of 0.
fn takes_gzip(asked: &HeaderMap) -> bool {
    let lines = asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| {
        let (coding, weight) = one.split_once(';').unwrap_or((one, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        coding.trim().eq_ignore_ascii_case("gzip") && weight.is_none_or(|weight| weight > 0.0)
    })
}

fn tag(bytes: &[u8], coding: &str) -> String {
    format!("\"{}{coding}\"", short(bytes))
}

/// Enough of a digest to tell versions apart.
fn short(bytes: &[u8]) -> String {
    prowess::digest(bytes).trim_start_matches("sha256:").chars().take(16).collect()
}
