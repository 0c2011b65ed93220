//! The web page: files embedded in the binary, served with a strict content security policy.
//!
//! The document refers to its files below a path with the digest of all files (`/assets/DIGEST/…`), so that browsers cache them
//! permanently and never mix two versions. The same files are available at `/assets/…` with an `ETag`. All files are compressed
//! once, at the first request that accepts gzip, at the best level.

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

/// The content security policy: the page may load scripts, styles and images from this server, show files of chats in frames, and
/// connect to it. Inline code and other origins are forbidden, and HTML must pass through the Trusted Types policy in `lib/html.js`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types prowess";

/// Cache-Control of files whose path contains their digest.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Cache-Control of files that may change.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// The digest of all files, which is part of their paths.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: String = FILES.iter().map(|file| prowess::digest(file.bytes)).collect();
    short_digest(all.as_bytes())
});

/// The document, with versioned paths.
static DOCUMENT: LazyLock<String> =
    LazyLock::new(|| INDEX.replace("\"/assets/", &format!("\"/assets/{}/", *VERSION)));

/// Returns the routes of the page.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/", get(document)).route("/assets/{*path}", get(asset))
}

/// The gzipped files by path; the document has the empty path.
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
    respond(&headers, "text/html; charset=utf-8", REVALIDATE, "", DOCUMENT.as_bytes())
}

async fn asset(Path(path): Path<String>, headers: HeaderMap) -> Response {
    let (file_path, cache_control) = match path.split_once('/') {
        Some((version, file_path)) if version == *VERSION => (file_path, IMMUTABLE),
        Some(_) | None => (path.as_str(), REVALIDATE),
    };
    match FILES.iter().find(|file| file.path == file_path) {
        Some(file) => respond(&headers, media_type(file.path), cache_control, file.path, file.bytes),
        None => Problem::new(ErrorCode::NotFound, format!("no such path: /assets/{path}")).into_response(),
    }
}

fn respond(
    request_headers: &HeaderMap,
    media_type: &'static str,
    cache_control: HeaderValue,
    path: &'static str,
    bytes: &'static [u8],
) -> Response {
    let gzipped = accepts_gzip(request_headers).then(|| COMPRESSED.get(path).map(Vec::as_slice)).flatten();
    let gzipped: Option<&'static [u8]> = gzipped.filter(|gzipped| gzipped.len() < bytes.len());
    let etag = etag(bytes, if gzipped.is_some() { "-gzip" } else { "" });
    let known_etag = request_headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_unchanged =
        known_etag.is_some_and(|tags| tags.split(',').any(|tag| tag.trim().trim_start_matches("W/") == etag));
    let status = if is_unchanged { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let body: &'static [u8] = if is_unchanged { &[] } else { gzipped.unwrap_or(bytes) };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, cache_control);
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if gzipped.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
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
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Returns whether a client accepts gzip: it lists it, and not with a weight of 0.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|item| {
        let (coding, weight) = item.split_once(';').unwrap_or((item, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        coding.trim().eq_ignore_ascii_case("gzip") && weight.is_none_or(|weight| weight > 0.0)
    })
}

fn etag(bytes: &[u8], coding: &str) -> String {
    format!("\"{}{coding}\"", short_digest(bytes))
}

/// Returns the first 16 digits of the digest.
fn short_digest(bytes: &[u8]) -> String {
    prowess::digest(bytes).trim_start_matches("sha256:").chars().take(16).collect()
}
