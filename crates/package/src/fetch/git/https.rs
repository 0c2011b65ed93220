//! The git protocol over HTTPS.

use std::io::{BufReader, Read};
use std::sync::Arc;

use super::error::GitError;
use super::wire::GitTransport;
use crate::Task;
use crate::fetch::http::{HttpClient, HttpError, HttpResponse, Timeouts, redact_url};
use prowess_archive::limits::DOWNLOAD_MAX;

/// The maximum size of the greeting, which lists all refs in version 0.
const GREETING_MAX: u64 = 64 * 1024 * 1024;

const VERSION: (&str, &str) = ("Git-Protocol", "version=2");

pub(super) struct HttpsTransport {
    http: HttpClient,
    /// The repository. It changes if the first request is redirected.
    url: String,
}

impl HttpsTransport {
    pub(super) fn new(url: &str, timeouts: Timeouts, task: &Arc<Task>) -> Self {
        Self { http: HttpClient::with_timeouts(Arc::clone(task), timeouts), url: url.to_owned() }
    }

    fn check_response(
        &self,
        response: Result<HttpResponse, HttpError>,
        content_type: &str,
    ) -> Result<HttpResponse, GitError> {
        let response = response.map_err(GitError::from_http)?;
        match response.status() {
            200..=299 => {}
            // Many servers ask for a password instead of revealing that a repository does not exist.
            401 | 403 | 404 | 410 => return Err(GitError::NotFound { url: redact_url(&self.url) }),
            status => return Err(HttpError::Status { url: redact_url(response.url()), status }.into()),
        }
        if response.content_type().split(';').next().is_some_and(|value| value.trim() == content_type) {
            return Ok(response);
        }
        let reason = "the web server does not speak git".to_owned();
        Err(GitError::NotGit { url: redact_url(&self.url), reason })
    }
}

/// Returns the host and port of a URL. The default port 443 is removed.
fn authority(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    match authority.strip_suffix(":443") {
        Some(host) => host.to_owned(),
        None => authority,
    }
}

impl GitTransport for HttpsTransport {
    fn greeting(&mut self) -> Result<Box<dyn Read + '_>, GitError> {
        let url = format!("{}/info/refs?service=git-upload-pack", self.url);
        let response = self.http.get_with(&url, GREETING_MAX, "*/*", &[VERSION]);
        let response = self.check_response(response, "application/x-git-upload-pack-advertisement")?;
        // Like git: after a redirect on the same host, later requests go to the new URL.
        match response.url().split_once("/info/refs?") {
            Some((base, _)) if authority(base) == authority(&self.url) => base.clone_into(&mut self.url),
            Some((base, _)) => {
                return Err(GitError::Redirected { url: redact_url(&self.url), to: redact_url(base) });
            }
            None => {
                let reason = "it redirects to a page that is not a repository".to_owned();
                return Err(GitError::NotGit { url: redact_url(&self.url), reason });
            }
        }
        Ok(Box::new(BufReader::new(response)))
    }

    fn request(&mut self, request: &[u8]) -> Result<Box<dyn Read + '_>, GitError> {
        let headers = [
            VERSION,
            ("Content-Type", "application/x-git-upload-pack-request"),
            ("Accept", "application/x-git-upload-pack-result"),
        ];
        let url = format!("{}/git-upload-pack", self.url);
        let response = self.http.post(&url, DOWNLOAD_MAX, &headers, request);
        let response = self.check_response(response, "application/x-git-upload-pack-result")?;
        Ok(Box::new(BufReader::with_capacity(64 * 1024, response)))
    }
}
